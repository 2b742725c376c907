//! Trust in a definition that is there already: asked for where its commands would not run without it.

use std::path::Path;

use jackline_core::stack::Origin;
use jackline_runtime::definitions::Definitions as _;

use crate::commands::trust::Trust;
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::{person, screen};

/// Trusts a definition: as `--trust` wants it, or because a person at a terminal agrees. A person who does not still gets
/// their hosts wired.
pub(super) fn trust(there: &Path, at: &Where, state: &Path, wanted: bool) -> Result<(), CommandError> {
    let workspace = there.parent().map(Path::to_owned);
    let trust = Trust::of(Where { workspace, ..at.clone() });
    if wanted {
        return trust.run();
    }
    if !waits(state, there.parent().unwrap_or(there)) {
        return Ok(());
    }
    let told = person::is_there().and_then(|()| trust.run());
    match told {
        Err(error) if error.is_broken_pipe() => Err(error),
        Err(_) => {
            let shown = place::shown(there);
            screen::complain(&format!("note: the commands that `{shown}` names do not run: nobody trusted it"));
            screen::complain("  help: jackline trust");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Whether the project's definition names commands and nobody trusted it.
fn waits(state: &Path, root: &Path) -> bool {
    let standing = place::judged_by(state.to_owned(), root.to_owned()).stack(None, None);
    standing.is_ok_and(|standing| {
        let own = standing.stack.layers.iter().filter(|layer| layer.origin == Origin::Project);
        own.into_iter().any(|layer| !layer.trusted && !layer.model.commands().is_empty())
    })
}
