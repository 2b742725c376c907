//! `jackline hook`: described here for people; hosts take the short way in [`crate::hook`].

use std::path::PathBuf;
use std::process::ExitCode;

use jackline_runtime::adapters::HOSTS;

use crate::hook::{self, Options};
use crate::place::Baked;

/// Answer one message of a host's hook: its JSON on standard input, its own kind of reply on standard output
///
/// `jackline init` writes this command into the host's settings. It ends with 0, or what `--pass` says, or with 2, which
/// blocks the tool call.
#[derive(Debug, clap::Args)]
pub(crate) struct Hook {
    /// The host that asks
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(HOSTS))]
    host: String,
    /// The state directory (default: $JACKLINE_HOME, else the user's state directory)
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// The project's root, where the search for the definition begins (default: the one the host names)
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// The user's home directory (default: $HOME)
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Where the user's settings lie, and the user's own definition in `jackline` there (default: `.config` in a home that is
    /// named, else $XDG_CONFIG_HOME, else ~/.config)
    #[arg(long, value_name = "DIR")]
    settings: Option<PathBuf>,
    /// The settings that hold this hook; a change that takes it out of them is refused
    #[arg(long, value_parser = ["user", "local", "project"])]
    wired: Option<String>,
    /// The exit code that lets pass: another than any failure has, for who must not take silence for consent
    #[arg(long, value_name = "CODE", default_value_t = 0)]
    pass: u8,
}

impl Hook {
    pub(crate) fn run(&self) -> ExitCode {
        let baked = Baked {
            store: self.store.clone(),
            root: self.root.clone(),
            home: self.home.clone(),
            settings: self.settings.clone(),
        };
        hook::run(&Options { host: self.host.clone(), baked, wired: self.wired.clone(), pass: self.pass })
    }
}
