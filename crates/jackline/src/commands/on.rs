//! `jackline on`: a person ends exceptions before their time.

use jackline_core::exception::Exception;
use jackline_runtime::clock;

use crate::error::CommandError;
use crate::exceptions::Ground;
use crate::place::Where;
use crate::{person, screen, timeline};

/// End exceptions early: what `allow` and `off` let pass is refused again
#[derive(Debug, clap::Args)]
pub(crate) struct On {
    /// The exception to end (default: every one of the workspace)
    #[arg(value_name = "ID")]
    id: Option<String>,
    #[command(flatten)]
    at: Where,
}

impl On {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        // It only tightens, so nothing is asked.
        person::is_there()?;
        let ground = Ground::of(&self.at)?;
        let wanted = self.wanted(ground.exceptions.in_force(clock::now())?)?;
        if wanted.is_empty() {
            return Ok(screen::line("no exception is in force")?);
        }
        wanted.iter().try_for_each(|exception| ground.end(exception))
    }

    fn wanted(&self, known: Vec<Exception>) -> Result<Vec<Exception>, CommandError> {
        let Some(id) = &self.id else { return Ok(known) };
        let named: Vec<Exception> = known.into_iter().filter(|exception| exception.id == *id).collect();
        if named.is_empty() {
            let why = format!("there is no exception `{}` in force here", timeline::shown(id));
            return Err(CommandError::input(why).hint("`jackline status` lists them"));
        }
        Ok(named)
    }
}
