//! The hosts that can be wired, as a table: which are here, where their settings are, what they do when a hook fails,
//! and how a hook is tried out as they would start it.

mod basis;
mod broken;
pub(crate) mod chosen;
pub(crate) mod claude;
mod codex;
mod copilot;
mod cursor;
mod folder;
mod gemini;
mod line;
mod opencode;
mod plugins;
mod qwen;
mod settings;
mod trial;
mod version;
mod vscode;

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::nearest;
use jackline_runtime::trees;
use jackline_runtime::wiring::servers::{self, Place};
use jackline_runtime::wiring::{Rewired, Scope, Trust, TrustedFile, Wiring};

use crate::error::CommandError;
use crate::place;

pub(crate) use basis::{Basis, Oldest};
pub(crate) use broken::AtBroken;
pub(crate) use folder::{Folder, listing};
pub(crate) use line::{hook_line, server_line, text, user};
pub(crate) use settings::Settings;
pub(crate) use trial::{Trial, told_to_deny};
pub(crate) use version::Version;

/// A host that asks us. One row per host, in its own file.
pub(crate) struct Host {
    /// Its name on the command line and in records.
    pub(crate) name: &'static str,
    /// What people call it.
    pub(crate) title: &'static str,
    /// Its program's name, where it is one that is found by its name.
    pub(crate) program: Option<&'static str>,
    /// The directory in which it keeps the user's settings.
    pub(crate) home: fn() -> Option<PathBuf>,
    /// Whose settings may hold the wiring, the usual ones first.
    pub(crate) scopes: &'static [Scope],
    /// The settings file of one of those scopes.
    pub(crate) file: fn(Scope, &Path) -> Option<PathBuf>,
    /// Whether a person's settings at the top of a repository's first work tree count in all of it, other work trees included.
    pub(crate) shares_trees: bool,
    /// Whose settings at a repository's top count where it is started in a directory below, the user's apart, which always do;
    /// nothing where that is not known.
    pub(crate) below: Option<&'static [Scope]>,
    /// Settings of the machine's administrator, which no other can switch off: files, and directories of files that count
    /// after them.
    pub(crate) managed: &'static [&'static str],
    /// Where it lists MCP servers of a scope. For hosts that we register with.
    pub(crate) servers: Option<Servers>,
    /// What stands in its settings.
    pub(crate) wiring: &'static dyn Wiring,
    /// For a host that runs only hooks that a person trusted: how it keeps that, and in which of the user's files.
    pub(crate) trust: Option<Trusting>,
    /// How we know what it does, and since when it does.
    pub(crate) basis: Basis,
    /// What it does with settings that it cannot read.
    pub(crate) at_broken: AtBroken,
    /// What becomes of a call whose hook fails: cannot be started, crashes, hangs.
    pub(crate) at_failure: AtFailure,
    /// What becomes of a call when our program is not there.
    pub(crate) at_missing: AtMissing,
    /// Whether it runs the hooks in a folder's own settings.
    pub(crate) folder: fn(&Path) -> Folder,
    /// Variables with which it runs no hooks.
    pub(crate) silenced_by: &'static [SilencedBy],
    /// Variables that it hands on to hooks from files which it reads, and that lead them elsewhere.
    pub(crate) diverted_by: &'static [&'static str],
    /// Other files of a project that may switch hooks off, with their form.
    pub(crate) beside: &'static [(&'static str, &'static dyn Wiring)],
    /// Other files of the user's that may switch hooks off or hold others', with their form.
    pub(crate) also: fn() -> Vec<(PathBuf, &'static dyn Wiring)>,
    /// Programs that it finds in a project or at the user's, and runs beside hooks; or the files that name them.
    pub(crate) extensions: fn(&Path) -> Vec<PathBuf>,
    /// What the user's settings leave open although they could close it, with the remedy.
    pub(crate) open: fn() -> Option<(&'static str, &'static str)>,
    /// What no settings of a user can close, with the remedy.
    pub(crate) holes: &'static [(&'static str, &'static str)],
    /// How a hook is tried out.
    pub(crate) trial: Trial,
}

type Servers = for<'a> fn(Scope, &'a Path) -> Result<Listed<'a>, CommandError>;

/// Where a host lists the MCP servers of a scope.
pub(crate) struct Listed<'a> {
    pub(crate) file: PathBuf,
    /// Where in it.
    pub(crate) place: Place<'a>,
    /// How a server there is told the project's directory, where the one that it is started in may be another, or a
    /// variable might name one.
    pub(crate) workspace: Option<&'static str>,
}

/// How editors name the project's directory in their lists of servers, which they start somewhere else.
pub(crate) const WORKSPACE_FOLDER: &str = "${workspaceFolder}";

/// How a list names the project of a host that starts its servers there.
pub(crate) const STARTED_IN: &str = ".";

/// How a host keeps a person's trust in hooks.
pub(crate) struct Trusting {
    pub(crate) how: &'static dyn Trust,
    /// The user's file that keeps it.
    pub(crate) file: fn() -> Option<PathBuf>,
    /// A project's file of the same kind, which keeps no trust but may switch hooks off.
    pub(crate) beside: &'static str,
    /// The user's files of the same kind that count where a start names them.
    pub(crate) layers: fn() -> Vec<PathBuf>,
}

/// What a host does with a call when our program is not there, as for a colleague who never installed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtMissing {
    Blocks,
    Passes,
}

/// A variable with which a host runs no hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SilencedBy {
    pub(crate) variable: &'static str,
    /// The one scope whose hooks it switches off; all of them otherwise.
    pub(crate) only_in: Option<Scope>,
    /// Whether it is a switch, which some values leave off.
    pub(crate) unless_absent: bool,
}

/// Values with which such a switch was seen to be off, in letters of either size.
const ABSENT: [&str; 5] = ["", "0", "false", "no", "off"];

impl SilencedBy {
    const fn all(variable: &'static str) -> Self {
        Self { variable, only_in: None, unless_absent: false }
    }

    /// The same for a variable that switches something on by its value.
    const fn switch(variable: &'static str) -> Self {
        Self { variable, only_in: None, unless_absent: true }
    }

    /// Whether the host runs no hooks where the variable has this value.
    pub(crate) fn silences(self, value: &str) -> bool {
        let absent = if self.unless_absent { &ABSENT[..] } else { &ABSENT[..1] };
        !absent.contains(&value.to_ascii_lowercase().as_str())
    }
}

/// What a host does with a call whose hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtFailure {
    /// It blocks the call, but for this.
    Blocks { but: &'static str },
    /// The call runs when this happens.
    Passes { when: &'static str, remedy: &'static str },
}

/// Every host, the one most used first.
const ALL: [&Host; 8] = [
    &claude::HOST,
    &codex::HOST,
    &opencode::HOST,
    &gemini::HOST,
    &copilot::HOST,
    &qwen::HOST,
    &cursor::HOST,
    &vscode::HOST,
];

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Host {
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        ALL.into_iter()
    }

    /// The names of all, for people to choose from.
    pub(crate) fn names() -> Vec<&'static str> {
        Self::all().map(|host| host.name).collect()
    }

    /// The host of a name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, CommandError> {
        Self::all().find(|host| host.name == name).ok_or_else(|| {
            let error = CommandError::input(format!("`{name}` is no host that can be wired"));
            match nearest::names(name, Self::names(), 1).first() {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("these can: {}", Self::names().join(", "))),
            }
        })
    }

    /// Its program, if it would be found.
    pub(crate) fn found(&self) -> Option<PathBuf> {
        self.program.and_then(place::on_path)
    }

    /// Whether it seems to be used on this machine.
    pub(crate) fn is_here(&self) -> bool {
        self.found().is_some() || (self.home)().is_some_and(|dir| dir.is_dir())
    }

    /// The settings file of a scope.
    pub(crate) fn settings_file(&self, scope: Scope, root: &Path) -> Result<PathBuf, CommandError> {
        if !self.scopes.contains(&scope) {
            let known: Vec<&str> = self.scopes.iter().map(|scope| scope.name()).collect();
            let why = format!("{} has no settings of the scope `{}`", self.title, scope.name());
            return Err(CommandError::input(why).hint(format!("it has these: {}", known.join(", "))));
        }
        (self.file)(scope, root).ok_or_else(|| self.homeless())
    }

    /// An error: nobody knows where the user's settings would lie.
    fn homeless(&self) -> CommandError {
        CommandError::input(format!("there is no place for the user's settings of {}", self.title)).hint("set HOME")
    }

    /// Where it lists MCP servers, of every scope that has a place.
    pub(crate) fn lists<'a>(&self, root: &'a Path) -> Vec<(Scope, Listed<'a>)> {
        let servers =
            self.servers.into_iter().flat_map(|servers| self.scopes.iter().map(move |scope| (servers, scope)));
        servers.filter_map(|(servers, scope)| Some((*scope, servers(*scope, root).ok()?))).collect()
    }

    /// The scope that is wired unless another is named.
    pub(crate) fn usual_scope(&self) -> Scope {
        self.scopes.first().copied().unwrap_or(Scope::User)
    }

    /// Whether it reads the settings of a scope that stand in this directory where it is started in that one; nothing where that
    /// is not known.
    pub(crate) fn reads(&self, scope: Scope, dir: &Path, start: &Path) -> Option<bool> {
        if dir == start { Some(true) } else { self.reads_from(scope, dir, start) }
    }

    /// The same for directories below.
    pub(crate) fn reads_below(&self, scope: Scope, dir: &Path) -> Option<bool> {
        self.reads_from(scope, dir, dir)
    }

    /// What is a person's counts at the top of the repository's first work tree, and what is the project's at the top of each.
    fn reads_from(&self, scope: Scope, dir: &Path, start: &Path) -> Option<bool> {
        let top = match scope {
            Scope::User => return Some(true),
            Scope::Local => trees::first_top,
            Scope::Project => trees::top_of,
        };
        self.below.map(|below| below.contains(&scope) && top(start).is_some_and(|top| top == dir))
    }

    /// What to do where it does not read the settings of a scope below this top.
    pub(crate) fn to_count_below(&self, scope: Scope, root: &Path) -> String {
        let (name, there) = (self.name, place::shown(root));
        match self.scopes.iter().find(|other| self.reads_below(**other, root) == Some(true)) {
            Some(other) => format!(
                "start it in `{there}`, or wire it otherwise: `jackline uninit {name} --scope {}`, then `jackline init {name} --scope {}`",
                scope.name(),
                other.name()
            ),
            None => format!("start it in `{there}`"),
        }
    }

    /// The settings files of every scope that has a place; they need not exist.
    pub(crate) fn settings_files(&self, root: &Path) -> Vec<(Scope, PathBuf)> {
        let own = self.scopes.iter().filter_map(|scope| Some((*scope, self.settings_file(*scope, root).ok()?)));
        own.chain(self.shared(root)).collect()
    }

    /// A person's settings that count here although they stand elsewhere: at the top of the repository's first work tree.
    fn shared(&self, root: &Path) -> Option<(Scope, PathBuf)> {
        let first =
            Some(root).filter(|_| self.shares_trees).and_then(trees::first_top).filter(|first| first != root)?;
        Some((Scope::Local, self.settings_file(Scope::Local, &first).ok()?))
    }

    /// The root that these hooks are wired for, where a session here is judged by what is declared there: around it in the same
    /// work tree, or in another one.
    pub(crate) fn home_of(&self, baked: &Path, root: &Path) -> Option<PathBuf> {
        let [baked, root] = [baked, root].map(|dir| jackline_runtime::canonical(dir).ok());
        let (baked, root) = (baked.filter(|_| self.shares_trees)?, root?);
        let around = root != baked && root.starts_with(&baked) && trees::top_of(&root) == trees::top_of(&baked);
        (around || trees::other(&baked, &root).is_some()).then_some(baked)
    }

    /// The machine's settings, where there are any.
    pub(crate) fn managed_files(&self) -> Vec<PathBuf> {
        self.managed.iter().map(PathBuf::from).filter(|place| place.exists()).flat_map(managed).collect()
    }

    /// Whether our own server is on one of its lists. What is unreadable is for `jackline doctor` to explain.
    pub(crate) fn serves(&self, root: &Path) -> bool {
        self.lists(root).into_iter().any(|(_, Listed { file, place, .. })| {
            let text = Settings::read_servers(file).ok().and_then(|settings| settings.text).unwrap_or_default();
            servers::own(&text, place).is_ok_and(|line| line.is_some())
        })
    }

    /// Whether any settings for this workspace hold our hooks.
    pub(crate) fn is_wired(&self, root: &Path) -> bool {
        self.settings_files(root).into_iter().any(|(_, path)| self.asks(path))
    }

    /// Whether it would ask us here, by anybody's settings: the machine's too.
    pub(crate) fn asks_here(&self, root: &Path) -> bool {
        self.is_wired(root) || self.managed_files().into_iter().any(|path| self.asks(path))
    }

    /// Whether the settings of one scope hold our hooks.
    pub(crate) fn is_wired_in(&self, scope: Scope, root: &Path) -> bool {
        self.settings_file(scope, root).is_ok_and(|path| self.asks(path))
    }

    /// The settings that keep a person's trust in this host's hooks, with what keeps it.
    pub(crate) fn trusting(&self) -> Option<(&'static dyn Trust, PathBuf)> {
        let trust = self.trust.as_ref()?;
        Some((trust.how, (trust.file)()?))
    }

    /// Whether a file holds our hooks. What is unreadable is for `jackline doctor` to explain.
    fn asks(&self, path: PathBuf) -> bool {
        let text = Settings::read(path).ok().and_then(|settings| settings.text).unwrap_or_default();
        self.wiring.survey(text.as_bytes()).is_ok_and(|survey| !survey.entries.is_empty())
    }
}

/// Files of the machine's settings that a directory holds, in the order of their names, in which hosts read them; a file
/// is itself.
fn managed(place: PathBuf) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(&place) else { return vec![place] };
    let counts = |path: &PathBuf| {
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        !hidden && path.extension().is_some_and(|extension| extension == "json")
    };
    let files = entries.take(MANAGED_ENTRIES_MAX).filter_map(Result::ok).map(|entry| entry.path()).filter(counts);
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

/// Entries of such a directory that are looked at; an administrator's tools leave a handful.
const MANAGED_ENTRIES_MAX: usize = 1_024;

/// A settings file with this text, as hosts name it in their trust.
pub(crate) fn trusted_file<'a>(path: &'a Path, text: &'a str) -> Result<TrustedFile<'a>, CommandError> {
    Ok(TrustedFile { file: line::text(path)?, text })
}

/// A change of such a file.
pub(crate) fn rewired<'a>(hooks: &'a Settings, after: Option<&'a str>) -> Result<Rewired<'a>, CommandError> {
    Ok(Rewired { file: line::text(&hooks.path)?, before: hooks.text.as_deref(), after })
}

/// A host whose settings name our hook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) host: &'static Host,
    pub(crate) scope: Scope,
    /// Whether it reads them where it is started in the directory in question.
    pub(crate) here: bool,
}

/// The hosts whose settings name our hook for this workspace, seen from a directory in it.
pub(crate) fn wired(root: &Path, here: &Path) -> Vec<Asking> {
    let asking = |host: &'static Host, (scope, path): (Scope, PathBuf)| {
        let stands_here = host.settings_file(scope, root).is_ok_and(|own| own == path);
        let here = !stands_here || host.reads(scope, root, here) != Some(false);
        host.asks(path).then_some(Asking { host, scope, here })
    };
    Host::all()
        .flat_map(|host| host.settings_files(root).into_iter().filter_map(move |file| asking(host, file)))
        .collect()
}

/// The project where sessions that begin here are at home, if that is another directory: a host is wired there for all of the
/// repository.
pub(crate) fn at_home_in(here: &Path) -> Option<PathBuf> {
    Host::all().find_map(|host| {
        let (_, path) = host.shared(here)?;
        let text = Settings::read(path).ok()?.text?;
        let survey = host.wiring.survey(text.as_bytes()).ok()?;
        host.home_of(Path::new(survey.entries.first()?.line.after("--root")?), here)
    })
}

/// The hosts that seem to be used here, or are wired.
pub(crate) fn used(root: &Path) -> Vec<&'static Host> {
    Host::all().filter(|host| host.is_here() || host.is_wired(root)).collect()
}

/// Whose settings hold the wiring, as the command line spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScopeName {
    /// Yours, for this project: not tracked, with this program's absolute path
    Local,
    /// Yours, for every project
    User,
    /// The project's, tracked and shared: finds the program by its name
    Project,
}

impl ScopeName {
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Local => Scope::Local,
            Self::User => Scope::User,
            Self::Project => Scope::Project,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_into_a_directory_of_the_machines_counts_in_the_order_of_names() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["20-b.json", "10-a.json", ".hidden.json", "notes.md", "30-c.json.bak"] {
            fs::write(at(name), "{}").unwrap();
        }
        assert_eq!(managed(dir.path().to_owned()), [at("10-a.json"), at("20-b.json")]);
        assert_eq!(managed(at("notes.md")), [at("notes.md")]);
    }
}
