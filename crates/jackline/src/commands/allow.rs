//! `jackline allow`: a person lets pass what one policy, code or family of codes would refuse.

use crate::error::CommandError;
use crate::exceptions::{Ground, Wish};
use crate::place::Where;

/// Let pass what a policy or a code would refuse, once or for a while
///
/// The exception holds for every session of the workspace, for at most 24h, and each use of it is recorded.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("how_long").required(true).multiple(true).args(["once", "lasting"])))]
pub(crate) struct Allow {
    /// A policy's name, a code (`sequence/missing`), or the first part of codes (`loop`)
    #[arg(value_name = "POLICY|CODE")]
    name: String,
    /// For the first call that needs it
    #[arg(long)]
    once: bool,
    /// For so long, such as `10m`
    #[arg(long = "for", id = "lasting", value_name = "DURATION")]
    lasting: Option<String>,
    /// Why; the log keeps it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Allow {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let ground = Ground::of(&self.at)?;
        ground.grant(Wish {
            what: ground.resolve(&self.name)?,
            once: self.once,
            lasting: self.lasting.as_deref(),
            reason: &self.reason,
            yes: self.yes,
        })
    }
}
