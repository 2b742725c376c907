//! `jackline mcp wrap`: puts the MCP servers of a host behind the proxy, and takes them out again.

use std::path::PathBuf;

use jackline_runtime::wiring::servers::{self, Place, Wrapped};

use crate::error::CommandError;
use crate::hosts::Settings;
use crate::place::{self, Where};
use crate::{diff, person, screen};

/// Put the MCP servers of a host's configuration behind the proxy
///
/// Shows what it changes and changes nothing else; running it again changes nothing, and `--undo` takes it back byte for
/// byte. Without `--config` these are the project's `.mcp.json` and Claude Code's own servers, the user's and those of
/// this project. With `--workspace` all of them judge by that project, wherever the host starts them.
#[derive(Debug, clap::Args)]
pub(crate) struct Wrap {
    /// A configuration with `mcpServers` in it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    /// Take the servers out from behind the proxy again (asks on a terminal)
    #[arg(long)]
    undo: bool,
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long, requires = "undo")]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

impl Wrap {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        if !self.undo {
            person::outside_a_session()?;
        }
        let root = self.at.project()?;
        let mut changes = Vec::new();
        for path in self.configurations(&root) {
            let settings = Settings::read_servers(path)?;
            let Some(text) = settings.text.clone() else {
                self.must_be_there(&settings)?;
                continue;
            };
            let after = self.changed(&settings, &text, &root)?;
            if after != text {
                changes.push((settings, after));
            }
        }
        self.carry_out(&changes)
    }

    /// The files in question; one that is named must be there.
    fn configurations(&self, root: &std::path::Path) -> Vec<PathBuf> {
        match &self.config {
            Some(file) => vec![file.clone()],
            None => std::iter::once(root.join(".mcp.json")).chain(place::claude_servers()).collect(),
        }
    }

    fn must_be_there(&self, settings: &Settings) -> Result<(), CommandError> {
        if self.config.is_none() {
            return Ok(());
        }
        let why = format!("there is no `{}`", place::shown(&settings.path));
        Err(CommandError::input(why).hint("name a file that exists with `--config FILE`"))
    }

    fn changed(&self, settings: &Settings, text: &str, root: &std::path::Path) -> Result<String, CommandError> {
        let shown = place::shown(&settings.path);
        let root = root.to_str().unwrap_or_default();
        let places = [Place::Top, Place::Project(root)];
        let Wrapped { text, listed, servers, left } =
            if self.undo { servers::unwrap(text, &places) } else { servers::wrap(text, &places, &self.line(root)?) }
                .map_err(|fault| settings.refused(&fault))?;
        if !listed && self.config.is_some() {
            let why = format!("`{shown}` has no `mcpServers`, so nothing in it can be put behind the proxy");
            return Err(CommandError::input(why).hint("write `jackline mcp proxy` before each server by hand"));
        }
        let what = if self.undo { "no longer behind the proxy" } else { "behind the proxy" };
        let shared = settings.path.file_name().is_some_and(|name| name == ".mcp.json");
        if !self.undo && !servers.is_empty() && shared {
            screen::complain(&format!(
                "note: {shown} names paths of this machine now: take it back with `--undo` before it goes to others"
            ));
        }
        if !self.undo && !servers.is_empty() && self.starts_elsewhere(settings, root) {
            screen::complain(&format!(
                "note: {shown} is no file of this project: its proxies judge by the directory that they are started in"
            ));
            screen::complain("  help: name the project for all of them with `--workspace DIR`");
        }
        for name in servers {
            screen::line(&format!("{shown}: `{name}`: {what}"))?;
        }
        for (name, why) in left {
            screen::complain(&format!("note: {shown}: `{name}` is left as it is: {why}"));
        }
        Ok(text)
    }

    /// Whether the host that reads a named file may start its servers anywhere, and nobody said where they belong.
    fn starts_elsewhere(&self, settings: &Settings, root: &str) -> bool {
        let inside = settings.path.canonicalize().is_ok_and(|file| file.starts_with(root));
        self.config.is_some() && self.at.workspace.is_none() && !inside
    }

    /// What runs the proxy: this program, with the store and the project that it would find now.
    fn line(&self, root: &str) -> Result<servers::Line, CommandError> {
        let text = |path: PathBuf| {
            path.into_os_string().into_string().map_err(|_| CommandError::input("a path is not UTF-8; rename it"))
        };
        let mut options = vec!["--store".to_owned(), text(self.at.state()?)?];
        let mut project = vec!["--workspace".to_owned(), root.to_owned()];
        // A project that was named is meant for all of them.
        if self.at.workspace.is_some() {
            options.append(&mut project);
        }
        Ok(servers::Line { program: text(place::this_program()?)?, options, project, root: root.to_owned() })
    }

    fn carry_out(&self, changes: &[(Settings, String)]) -> Result<(), CommandError> {
        if changes.is_empty() {
            return Ok(screen::line("nothing to do")?);
        }
        for (settings, after) in changes {
            let shown = place::shown(&settings.path);
            screen::line(&diff::unified(&shown, settings.text.as_deref(), Some(after)))?;
        }
        if self.dry_run {
            return Ok(screen::line("nothing was written (`--dry-run`)")?);
        }
        if self.undo {
            person::agrees("Take them out?", self.yes)?;
        }
        for (settings, after) in changes {
            settings.replace(Some(after))?;
            screen::line(&format!("wrote {}", place::shown(&settings.path)))?;
        }
        Ok(screen::line("sessions that run already keep the servers they have; start new ones")?)
    }
}
