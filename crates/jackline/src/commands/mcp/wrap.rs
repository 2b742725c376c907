//! `jackline mcp wrap`: puts the MCP servers of a host behind the proxy, and takes them out again.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::servers::{self, Place, Wrapped};

use crate::error::CommandError;
use crate::hosts::{self, Host, Listed, STARTED_IN, Settings, WORKSPACE_FOLDER};
use crate::place::{self, Where};
use crate::{diff, person, screen};

/// Put the MCP servers of a host's configuration behind the proxy
///
/// Shows what it changes and changes nothing else; running it again changes nothing, and `--undo` takes it back byte for
/// byte. Without `--config` these are the project's lists, `.mcp.json`, `.cursor/mcp.json` and `.vscode/mcp.json`, and your
/// own of Claude Code, Copilot CLI and Cursor. With `--workspace` all of them judge by that
/// project, wherever the host starts them.
#[derive(Debug, clap::Args)]
pub(crate) struct Wrap {
    /// A configuration with `mcpServers` in it, or with `servers` as VS Code has them
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

/// A configuration in question: where it lists servers, and how those are told the project's directory.
struct Configuration<'a> {
    path: PathBuf,
    places: Vec<Place<'a>>,
    workspace: Option<&'static str>,
}

impl Wrap {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        if !self.undo {
            person::outside_a_session()?;
        }
        let root = self.at.project()?;
        let (mut changes, mut left) = (Vec::new(), Vec::new());
        for configuration in self.configurations(&root) {
            let shown = place::shown(&configuration.path);
            match self.planned(configuration, &root) {
                Ok(change) => changes.extend(change),
                Err(error) if self.config.is_some() || error.is_broken_pipe() => return Err(error),
                // One host's odd list leaves no other unguarded.
                Err(error) => {
                    error.warn();
                    left.push(shown);
                }
            }
        }
        self.carry_out(&changes)?;
        if left.is_empty() {
            return Ok(());
        }
        Err(CommandError::input(format!("left alone: {}", left.join(", ")))
            .hint("mend what the warnings above say, then run it again; no other list was held up"))
    }

    /// A configuration and what becomes of it; nothing where it stays as it is.
    fn planned(
        &self,
        configuration: Configuration<'_>,
        root: &Path,
    ) -> Result<Option<(Settings, String)>, CommandError> {
        let settings = Settings::read_servers(configuration.path.clone())?;
        let Some(text) = settings.text.clone() else {
            self.must_be_there(&settings)?;
            return Ok(None);
        };
        let after = self.changed((&settings, &text), configuration, root)?;
        Ok((after != text).then_some((settings, after)))
    }

    /// The files in question; one that is named must be there.
    fn configurations<'a>(&self, root: &'a Path) -> Vec<Configuration<'a>> {
        let lists = Host::all().flat_map(|host| host.lists(root)).map(|(_, listed)| listed);
        if let Some(path) = self.config.clone() {
            let real = path.canonicalize().ok();
            let known = lists.into_iter().find(|listed| real.is_some() && listed.file.canonicalize().ok() == real);
            let places = vec![Place::Top, Place::Project(root.to_str().unwrap_or_default())];
            return vec![Configuration { path, places, workspace: known.and_then(|listed| listed.workspace) }];
        }
        let mut found: Vec<Configuration<'a>> = Vec::new();
        for Listed { file, place, workspace } in lists {
            match found.iter_mut().find(|known| known.path == file) {
                Some(known) if known.places.contains(&place) => {}
                Some(known) => known.places.push(place),
                None => found.push(Configuration { path: file, places: vec![place], workspace }),
            }
        }
        found
    }

    fn must_be_there(&self, settings: &Settings) -> Result<(), CommandError> {
        if self.config.is_none() {
            return Ok(());
        }
        let why = format!("there is no `{}`", place::shown(&settings.path));
        Err(CommandError::input(why).hint("name a file that exists with `--config FILE`"))
    }

    fn changed(
        &self,
        (settings, text): (&Settings, &str),
        Configuration { mut places, mut workspace, .. }: Configuration<'_>,
        root: &Path,
    ) -> Result<String, CommandError> {
        let shown = place::shown(&settings.path);
        if self.config.is_some() && servers::is_editors(text) {
            (places, workspace) = (vec![Place::Editor], Some(WORKSPACE_FOLDER));
        }
        let changed = if self.undo {
            servers::unwrap(text, &places)
        } else {
            servers::wrap(text, &places, &self.line(root, workspace, is_inside(settings, root))?)
        };
        let Wrapped { text, listed, servers, left } = changed.map_err(|fault| settings.refused(&fault))?;
        if !listed && self.config.is_some() {
            let why = format!("`{shown}` has no list of servers, so nothing in it can be put behind the proxy");
            return Err(CommandError::input(why).hint("write `jackline mcp proxy` before each server by hand"));
        }
        let what = if self.undo { "no longer behind the proxy" } else { "behind the proxy" };
        let shared = settings.path.starts_with(root) || settings.path.ends_with(".mcp.json");
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
    fn starts_elsewhere(&self, settings: &Settings, root: &Path) -> bool {
        self.config.is_some() && self.at.workspace.is_none() && !is_inside(settings, root)
    }

    /// What runs the proxy: this program, with the store, the home and the project that it would find now, whatever
    /// variables its client has then. `inside` where the list is one of the project's own.
    fn line(&self, root: &Path, workspace: Option<&str>, inside: bool) -> Result<servers::Line, CommandError> {
        let root = hosts::text(root)?.to_owned();
        let mut options = vec!["--store".to_owned(), hosts::text(&self.at.state()?)?.to_owned()];
        options.extend(hosts::user()?);
        // A project that was named is meant for all of them.
        let given = self.at.workspace.as_ref().map(|_| root.as_str());
        let named = workspace.filter(|told| given.is_none() || *told != STARTED_IN).or(given);
        options.extend(named.into_iter().flat_map(|named| ["--workspace", named]).map(str::to_owned));
        let project = if named.is_some() { Vec::new() } else { vec!["--workspace".to_owned(), root.clone()] };
        let placed = named.map_or(inside, |named| named != STARTED_IN);
        let apart = placed.then(|| project.clone());
        Ok(servers::Line { program: hosts::text(&place::this_program()?)?.to_owned(), options, project, apart, root })
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

/// Whether a list lies in the project, and so is the project's own.
fn is_inside(settings: &Settings, root: &Path) -> bool {
    settings.path.canonicalize().is_ok_and(|file| file.starts_with(root))
}
