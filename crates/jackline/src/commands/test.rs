//! `jackline test`: runs an owner's cases against the workspace's definition.

use std::path::PathBuf;

use jackline_runtime::definitions::{DEFINITION_FILE, discover, read_text};

use crate::cases::{self, DIRECTORY};
use crate::error::CommandError;
use crate::place::{self, Where};
use crate::screen;

/// Run cases against the workspace's definition
///
/// Without FILE those in `.jackline/tests`. Each case runs in a scratch workspace, and nothing of it is kept. Exits with
/// 0 when all are decided as wanted, 1 when one is not, 2 when there is nothing to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Files of cases
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The definition (default: the workspace's)
    #[arg(long, value_name = "FILE")]
    definition: Option<PathBuf>,
    /// The workspace (default: the present directory)
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl Test {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let definition = self.definition()?;
        let shown = place::shown(&definition);
        let text = read_text(&definition);
        let text = text.map_err(|why| CommandError::input(format!("`{shown}` cannot be read: {why}")))?;
        let paths = if self.files.is_empty() { cases::beside(&definition) } else { self.files.clone() };
        if paths.is_empty() {
            let message = format!("there are no cases in `{DIRECTORY}` beside `{shown}`");
            return Err(CommandError::input(message).hint("write some, or name a file: `jackline test FILE`"));
        }
        let ran = cases::run(&definition, &text, &cases::load(&paths)?)?;
        for failure in &ran.failures {
            screen::line(&format!("{failure}\n"))?;
        }
        let noun = if ran.cases == 1 { "case" } else { "cases" };
        let failed = ran.failures.len();
        let end = if failed == 0 { "all as wanted".to_owned() } else { format!("{failed} not as wanted") };
        screen::line(&format!("{} {noun}, {end}", ran.cases))?;
        if failed == 0 { Ok(()) } else { Err(CommandError::not_fine()) }
    }

    fn definition(&self) -> Result<PathBuf, CommandError> {
        let at = Where { workspace: self.workspace.clone(), store: None };
        if let Some(named) = &self.definition {
            return std::path::absolute(named).map_err(|fault| CommandError::input(fault.to_string()));
        }
        let places = at.places_but_home()?;
        places.named.or_else(|| discover(&places.start)).ok_or_else(|| {
            let start = place::shown(&places.start);
            CommandError::input(format!("there is no {DEFINITION_FILE} in `{start}` or above it"))
                .hint("write one that begins with `jackline: 1`, or name one with `--definition FILE`")
        })
    }
}
