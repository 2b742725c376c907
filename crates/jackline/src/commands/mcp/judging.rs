//! What judges the calls of MCP clients: the same options and the same runtime for the proxy and for our own server.

use std::path::PathBuf;

use jackline_core::event::SESSION_ID_BYTES_MAX;
use jackline_runtime::definitions::{Kept, Steady};
use jackline_runtime::{Runtime, RuntimeBuilder};

use crate::commands::eval;
use crate::error::CommandError;
use crate::place::{self, Baked, Hooked, Where};

/// Options of everything that judges MCP calls.
#[derive(Debug, clap::Args)]
pub(crate) struct Judging {
    /// The project's root, where the search for the definition begins (default: the one the host names)
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Judge by exactly this definition, with no memory of what was accepted
    #[arg(long, value_name = "FILE")]
    definition: Option<PathBuf>,
    /// The state directory (default: $JACKLINE_HOME, else the user's state directory)
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The user's home directory (default: $HOME)
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Where the user's settings lie, and the user's own definition in `jackline` there (default: `.config` in a home that is
    /// named, else $XDG_CONFIG_HOME, else ~/.config)
    #[arg(long, value_name = "DIR")]
    settings: Option<PathBuf>,
    /// The session that calls belong to (default: the one whose hook saw the call, else the only live one, else new)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Judging {
    /// The session that is named, where it can be one's name.
    pub(crate) fn session(&self) -> Result<Option<String>, CommandError> {
        let unfit = |id: &String| id.is_empty() || id.len() > SESSION_ID_BYTES_MAX;
        if self.session.as_ref().is_some_and(unfit) {
            let why = format!("the name of a session has 1 to {SESSION_ID_BYTES_MAX} bytes");
            return Err(CommandError::input(why).hint("`jackline sessions` lists those that there are"));
        }
        Ok(self.session.clone())
    }

    /// A runtime that lets everything pass where nobody declared anything, and leaves for later what can be; and its state
    /// directory.
    pub(crate) fn idling(&self) -> Result<(Runtime, PathBuf), CommandError> {
        self.runtime(RuntimeBuilder::default().checkpoints_follow(), RuntimeBuilder::idle_without_definition)
    }

    /// A runtime that refuses everything there.
    pub(crate) fn refusing(&self) -> Result<(Runtime, PathBuf), CommandError> {
        self.runtime(RuntimeBuilder::default(), |builder| builder)
    }

    /// What judges. What stands on the command line wins over the environment, which an agent might reach.
    fn runtime(
        &self,
        builder: RuntimeBuilder,
        found: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Result<(Runtime, PathBuf), CommandError> {
        // A directory that is not there has no definition, and without one a proxy judges nothing.
        if self.workspace.is_some() {
            Where { workspace: self.workspace.clone(), store: None }.workspace()?;
        }
        let baked = Baked {
            store: self.store.clone(),
            root: self.workspace.clone(),
            home: self.home.clone(),
            settings: self.settings.clone(),
        };
        let Hooked { state, definitions, settings, home, started_in } =
            place::served(&baked).map_err(CommandError::input)?;
        let mut builder = builder.state(&state);
        builder = builder.host_settings(settings).environment(place::environment);
        builder = builder.web(crate::web::Client).outcomes_follow().started_in(started_in);
        builder = match &self.definition {
            Some(file) => {
                let at = Where { workspace: self.workspace.clone(), store: self.store.clone() };
                builder.definitions(eval::given(&at, file, Some(&Kept::below(&state)))?)
            }
            None => found(builder.definitions(Steady::new(definitions))),
        };
        if let Some(home) = home {
            builder = builder.home(home);
        }
        let runtime = builder.build().map_err(|fault| CommandError::internal(fault.to_string()))?;
        Ok((runtime, state))
    }
}
