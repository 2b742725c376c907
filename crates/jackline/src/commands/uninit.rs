//! `jackline uninit`: takes our hooks and our MCP server out of hosts' settings, and nothing else.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use jackline_runtime::wiring::{Removed, SERVERS_BYTES_MAX, Scope, SettingsFault, servers};

use crate::error::CommandError;
use crate::hosts::{self, Host, Listed, ScopeName, Settings, chosen};
use crate::place::{self, Where};
use crate::{diff, person, screen};

/// Take our hooks and our MCP server out of hosts' settings
///
/// Everything else in them stays byte for byte, and a `version` that a host wants there stays too. The definition and
/// the store stay too. Asks on a terminal, because afterwards nothing is judged any more.
#[derive(Debug, clap::Args)]
pub(crate) struct Uninit {
    /// Which hosts, by name (default: every one that is wired for this project)
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Only in this scope (default: wherever one is wired for this project)
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

/// Settings, and what they are afterwards; `None` where they go.
type Change = (Settings, Option<String>);

impl Uninit {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let mut hosts = chosen::named(&self.hosts)?;
        if hosts.is_empty() {
            hosts = Host::all().collect();
        }
        let mut changes = Vec::new();
        let left = chosen::each(&hosts, |host| {
            for (settings, after) in self.changes(host, &hosts)? {
                // Hosts share a project's list of servers.
                if !changes.iter().any(|(known, _): &Change| known.path == settings.path) {
                    changes.push((settings, after));
                }
            }
            Ok(())
        })?;
        if changes.is_empty() && left.is_empty() {
            return Ok(screen::line(&format!("nothing to do: {}", self.unwired()))?);
        }
        self.carry_out(&changes)?;
        chosen::left_alone("not taken out", &left)
    }

    fn carry_out(&self, changes: &[Change]) -> Result<(), CommandError> {
        for (settings, after) in changes {
            let shown = place::shown(&settings.path);
            screen::line(&diff::unified(&shown, settings.text.as_deref(), after.as_deref()))?;
        }
        if self.dry_run {
            return Ok(screen::line("nothing was written (`--dry-run`)")?);
        }
        if changes.is_empty() {
            return Ok(());
        }
        person::agrees("Take them out?", self.yes)?;
        for (settings, after) in changes {
            settings.replace(after.as_deref())?;
            let what = if after.is_some() { "wrote" } else { "removed" };
            screen::line(&format!("{what} {}", place::shown(&settings.path)))?;
        }
        Ok(screen::line("the definition and the store are as they were")?)
    }

    fn unwired(&self) -> String {
        match self.hosts.as_slice() {
            [] => "no host is wired here".to_owned(),
            [host] => format!("{host} is not wired here"),
            hosts => format!("none of these is wired here: {}", hosts.join(", ")),
        }
    }

    /// The settings that hold our hooks or our server, and what they are without them.
    fn changes(&self, host: &Host, chosen: &[&'static Host]) -> Result<Vec<Change>, CommandError> {
        let root = self.at.project()?;
        let asked = |scope: Scope| self.scope.is_none_or(|asked| asked.scope() == scope);
        let mut changes = Vec::new();
        let files = host.settings_files(&root).into_iter().filter(|(scope, path)| asked(*scope) && names_us(path));
        for (_, path) in files {
            let found = without(Settings::read(path)?, None, |text| host.wiring.remove(text))?;
            if let Some((settings, after)) = &found {
                untrust(host, (settings, after.as_deref()), &mut changes)?;
            }
            changes.extend(found);
        }
        for (_, Listed { file: path, place, .. }) in host.lists(&root).into_iter().filter(|(scope, _)| asked(*scope)) {
            if !names_us(&path) || is_needed(&path, &root, chosen) {
                continue;
            }
            // Two scopes may share a file: the second takes out of what the first has left.
            let before = changes.iter().position(|(settings, _): &(Settings, _)| settings.path == path);
            let before = before.map(|at| changes.remove(at));
            let (first, left) = before.map_or((None, None), |(settings, left)| (Some(settings), left));
            match without(Settings::read_servers(path)?, left.clone(), |text| servers::remove_own(text, place))? {
                Some((settings, rest)) => changes.push((first.unwrap_or(settings), rest)),
                None => changes.extend(first.map(|settings| (settings, left))),
            }
        }
        Ok(changes)
    }
}

/// Whether a host that stays wired has its servers in this list as well.
fn is_needed(path: &Path, root: &Path, chosen: &[&'static Host]) -> bool {
    let others = Host::all().filter(|host| !chosen.iter().any(|going| going.name == host.name));
    let lists = others.flat_map(|host| host.lists(root).into_iter().map(move |(scope, listed)| (host, scope, listed)));
    lists.into_iter().any(|(host, scope, listed)| listed.file == path && host.is_wired_in(scope, root))
}

/// Takes a person's trust in these hooks out, where the host keeps one; the hooks of two scopes share its file.
fn untrust(
    host: &Host,
    (hooks, after): (&Settings, Option<&str>),
    changes: &mut Vec<Change>,
) -> Result<(), CommandError> {
    let Some((trust, file)) = host.trusting() else { return Ok(()) };
    let before = changes.iter().position(|(settings, _)| settings.path == file).map(|at| changes.remove(at));
    let (settings, text) = match before {
        Some(change) => change,
        None => Settings::read(file).map(|settings| (settings.clone(), settings.text))?,
    };
    let left =
        trust.follow(text.as_deref(), hosts::rewired(hooks, after)?).map_err(|fault| settings.refused(&fault))?;
    if left != settings.text {
        changes.push((settings, left));
    }
    Ok(())
}

/// A settings file without what is ours in it; nothing where nothing is. `text` is what it holds by now.
fn without(
    settings: Settings,
    text: Option<String>,
    remove: impl FnOnce(&str) -> Result<Removed, SettingsFault>,
) -> Result<Option<Change>, CommandError> {
    let Some(text) = text.or_else(|| settings.text.clone()) else { return Ok(None) };
    Ok(match remove(&text).map_err(|fault| settings.refused(&fault))? {
        Removed::Nothing => None,
        Removed::Rest(rest) => Some((settings, Some(rest))),
        Removed::All => Some((settings, None)),
    })
}

/// Whether a file may hold something of ours. One that does not even name us need not be understood, however odd or
/// long it is; one that cannot be looked through may.
fn names_us(path: &Path) -> bool {
    const NAME: &[u8] = b"jackline";
    match std::fs::metadata(path) {
        Ok(there) if there.is_file() && there.len() <= SERVERS_BYTES_MAX as u64 => {}
        Ok(_) | Err(_) => return true,
    }
    let Ok(file) = File::open(path) else { return true };
    let mut lines = BufReader::new(file.take(SERVERS_BYTES_MAX as u64));
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) => return false,
            Ok(_) if line.windows(NAME.len()).any(|part| part == NAME) => return true,
            Ok(_) => {}
            Err(_) => return true,
        }
    }
}
