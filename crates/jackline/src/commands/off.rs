//! `jackline off`: a person pauses all guards but self-protection.

use jackline_core::exception::What;

use crate::error::CommandError;
use crate::exceptions::{Ground, Wish};
use crate::place::Where;

/// Pause all guards of the workspace for a while
///
/// Everything is still judged and recorded, and nothing is refused, except for what guards Jackline itself. `jackline
/// on` ends it early.
#[derive(Debug, clap::Args)]
pub(crate) struct Off {
    /// For how long, such as `30m`; 24h at most
    #[arg(long = "for", id = "lasting", value_name = "DURATION")]
    lasting: String,
    /// Why; the log keeps it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Off {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        Ground::of(&self.at)?.grant(Wish {
            what: What::All,
            once: false,
            lasting: Some(&self.lasting),
            reason: &self.reason,
            yes: self.yes,
        })
    }
}
