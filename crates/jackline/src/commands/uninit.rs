//! `jackline uninit`: takes our hooks out of a host's settings, and nothing else.

use jackline_runtime::wiring::{Removed, claude};

use crate::error::CommandError;
use crate::hosts::{Host, ScopeName, Settings};
use crate::place::{self, Where};
use crate::{diff, person, screen};

/// Take our hooks out of a host's settings
///
/// Everything else in them stays byte for byte; the definition and the store stay too. Asks on a terminal, because
/// afterwards nothing is judged any more.
#[derive(Debug, clap::Args)]
pub(crate) struct Uninit {
    /// Which host: claude
    #[arg(value_name = "HOST")]
    host: String,
    /// Only in this scope (default: wherever it is wired for this project)
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Uninit {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let host = Host::named(&self.host)?;
        let changes = self.changes(host)?;
        if changes.is_empty() {
            return Ok(screen::line(&format!("nothing to do: {} is not wired here", host.name()))?);
        }
        for (settings, after) in &changes {
            let shown = place::shown(&settings.path);
            screen::line(&diff::unified(&shown, settings.text.as_deref(), after.as_deref()))?;
        }
        if self.dry_run {
            return Ok(screen::line("nothing was written (`--dry-run`)")?);
        }
        person::agrees("Take them out?", self.yes)?;
        for (settings, after) in &changes {
            settings.replace(after.as_deref())?;
            let what = if after.is_some() { "wrote" } else { "removed" };
            screen::line(&format!("{what} {}", place::shown(&settings.path)))?;
        }
        Ok(screen::line("the definition and the store are as they were")?)
    }

    /// The settings that hold our hooks, and what they are without them.
    fn changes(&self, host: Host) -> Result<Vec<(Settings, Option<String>)>, CommandError> {
        let mut changes = Vec::new();
        for (scope, path) in host.settings_files(&self.at.project()?) {
            if self.scope.is_some_and(|asked| asked.scope() != scope) {
                continue;
            }
            let settings = Settings::read(path)?;
            let Some(text) = settings.text.as_deref() else { continue };
            match claude::remove(text).map_err(|fault| settings.refused(&fault))? {
                Removed::Nothing => {}
                Removed::Rest(rest) => changes.push((settings, Some(rest))),
                Removed::All => changes.push((settings, None)),
            }
        }
        Ok(changes)
    }
}
