//! `jackline audit checkpoint`: signs the present head of a session.

use std::path::PathBuf;

use jackline_runtime::checkpoint;
use jackline_runtime::clock;
use jackline_runtime::store::Store as _;

use crate::error::CommandError;
use crate::place::Where;
use crate::screen;

/// Sign the present head of a session, so that a cut tail can be found
///
/// Prints one line of JSON: keep it where the agent cannot write, and give it to `jackline audit verify
/// --checkpoint`. The key is created at its first use; put it where the agent's user cannot read it.
#[derive(Debug, clap::Args)]
pub(crate) struct Sign {
    /// The session (default: the one of this workspace that was written last)
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The Ed25519 key file (default: in the state directory)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    at: Where,
}

impl Sign {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let session = super::log::chosen(&store, &self.at, self.session.as_deref())?;
        let head = store.load(&session)?.head;
        let key = match &self.key {
            Some(named) => checkpoint::load_or_create_key(named),
            None => checkpoint::default_key(&self.at.state()?),
        };
        let key = key.map_err(|fault| {
            let error = CommandError::input(fault.to_string());
            fault.help().into_iter().fold(error, CommandError::hint)
        })?;
        let signed = checkpoint::sign(&key, &session, (head.seq, head.hash), clock::now());
        Ok(screen::line(&String::from_utf8_lossy(&signed.render()))?)
    }
}
