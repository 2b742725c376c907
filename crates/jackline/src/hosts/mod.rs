//! The hosts that can be wired: which are here, which version, and where their settings are.

pub(crate) mod claude;
mod settings;

use std::path::{Path, PathBuf};

use jackline_core::nearest;
use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::claude::survey;

use crate::error::CommandError;
use crate::place;

pub(crate) use settings::Settings;

/// A host that asks us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    Claude,
}

impl Host {
    pub(crate) const ALL: [Self; 1] = [Self::Claude];

    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
        }
    }

    /// What people call it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
        }
    }

    /// The host of a name.
    pub(crate) fn named(name: &str) -> Result<Self, CommandError> {
        let names = || Self::ALL.iter().map(|host| host.name());
        Self::ALL.into_iter().find(|host| host.name() == name).ok_or_else(|| {
            let error = CommandError::input(format!("`{name}` is no host that can be wired"));
            match nearest::names(name, names(), 1).first() {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("these can: {}", names().collect::<Vec<_>>().join(", "))),
            }
        })
    }

    /// Its program, if it would be found.
    pub(crate) fn program(self) -> Option<PathBuf> {
        place::on_path(self.name())
    }

    /// Whether it seems to be used on this machine.
    pub(crate) fn is_here(self) -> bool {
        match self {
            Self::Claude => self.program().is_some() || place::claude_home().is_some_and(|dir| dir.is_dir()),
        }
    }

    /// The settings file of a scope.
    pub(crate) fn settings_file(self, scope: Scope, root: &Path) -> Result<PathBuf, CommandError> {
        match self {
            Self::Claude => claude::settings_file(scope, root),
        }
    }

    /// The settings files of every scope that has a place; they need not exist.
    pub(crate) fn settings_files(self, root: &Path) -> Vec<(Scope, PathBuf)> {
        Scope::ALL.into_iter().filter_map(|scope| Some((scope, self.settings_file(scope, root).ok()?))).collect()
    }
}

/// The hosts whose settings name our hook for this workspace, and which settings do. What is unreadable is for
/// `jackline doctor` to explain.
pub(crate) fn wired(root: &Path) -> Vec<(Host, Scope)> {
    let files = Host::ALL
        .into_iter()
        .flat_map(|host| host.settings_files(root).into_iter().map(move |(scope, path)| (host, scope, path)));
    let asks =
        |path: PathBuf| Settings::read(path).ok().and_then(|settings| settings.text).is_some_and(|text| holds(&text));
    files.filter(|(_, _, path)| asks(path.clone())).map(|(host, scope, _)| (host, scope)).collect()
}

fn holds(text: &str) -> bool {
    survey(text.as_bytes()).is_ok_and(|survey| !survey.entries.is_empty())
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
