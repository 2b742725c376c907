//! A definition that is there already: told of where it cannot be used, and trust in it asked for where its commands
//! would not run without.

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

/// Says so where a definition cannot be used: what is wired then refuses every call.
pub(super) fn warn_of_faults(there: &Path, state: &Path) {
    let root = there.parent().unwrap_or(there);
    if place::judged_by(state.to_owned(), root.to_owned()).stack(None, None).is_err() {
        let shown = place::shown(there);
        screen::complain(&format!(
            "warning: `{shown}` cannot be used as it is, and every call is refused until it can"
        ));
        screen::complain("  help: jackline check");
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
