//! `jackline tour`: the first minute, for someone who has only the program.

use crate::error::CommandError;
use crate::tour;

/// Watch a scripted agent meet the guard, in a scratch repository
///
/// Plays a session through the real hook and shows each call, decision and reason; then verifies the record, tampers
/// with a copy and shows that it is found. Nothing of yours is touched. Exits with 0 when everything was as scripted.
#[derive(Debug, clap::Args)]
pub(crate) struct Tour {
    /// Without pauses
    #[arg(long)]
    fast: bool,
    /// Leave the scratch directory there, and say where it is
    #[arg(long)]
    keep: bool,
}

impl Tour {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        tour::play(self.keep, self.fast)
    }
}
