//! What an agent's day asks of the program, played to a build of it: to see which functions run, or to record a profile.

mod commands;
mod day;
mod hook;
mod place;
mod proxy;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traps;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "play/no_traps.rs"]
mod traps;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::{fs, io};

use tempfile::TempDir;

use traps::Functions;

/// The functions that were run, where somebody watched.
pub(crate) type Ran = BTreeSet<String>;

/// A build, and a place of its own where it is played to, which is gone afterwards.
pub(crate) struct Play {
    program: PathBuf,
    place: TempDir,
    watching: Option<Functions>,
    /// Where a build that records how it runs is to put that.
    profile: Option<PathBuf>,
}

/// Whether a place can be had where a program may be played to.
pub(crate) fn place() -> Result<(), String> {
    place::made().map(drop)
}

/// Whether it can be seen here which functions of a program run.
pub(crate) fn can_watch() -> Result<(), String> {
    Functions::can_watch().map_err(|fault| fault.to_string())
}

impl Play {
    /// To see which functions of a build with names run.
    pub(crate) fn watched(program: &Path) -> Result<Self, String> {
        Self::new(program, Some(Functions::of(program)?), None)
    }

    /// To have a build that was made for it record how it runs.
    pub(crate) fn recorded(program: &Path, profile: PathBuf) -> Result<Self, String> {
        Self::new(program, None, Some(profile))
    }

    fn new(program: &Path, watching: Option<Functions>, profile: Option<PathBuf>) -> Result<Self, String> {
        let play = Self { program: program.to_owned(), place: place::made()?, watching, profile };
        play.furnish().map_err(|fault| format!("a place to play cannot be made: {fault}"))?;
        Ok(play)
    }

    fn furnish(&self) -> io::Result<()> {
        fs::create_dir_all(self.workspace().join("lib"))?;
        fs::create_dir_all(self.place().join("home/.claude"))?;
        let (file, content) = day::FILE;
        fs::write(self.workspace().join(file), content)
    }

    fn place(&self) -> &Path {
        self.place.path()
    }

    fn workspace(&self) -> PathBuf {
        self.place().join("workspace")
    }

    /// Puts the workspace under the play's twenty policies, or under ten rules and all packs besides.
    fn define(&self, are_all: bool) -> io::Result<()> {
        let rules = day::RULES.to_owned() + if are_all { day::MORE } else { "" };
        fs::write(self.workspace().join("jackline.yaml"), rules)
    }

    /// The program, about to be started.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.place().join("home"));
        command.env("CLAUDE_PROJECT_DIR", self.workspace());
        if let Some(profile) = &self.profile {
            command.env("LLVM_PROFILE_FILE", profile);
        }
        command.current_dir(self.workspace());
        command
    }

    /// Runs it to its end.
    fn run(&self, command: &mut Command) -> io::Result<(ExitStatus, Ran)> {
        match &self.watching {
            Some(functions) => Functions::start(command).and_then(|child| functions.watch(&child)),
            None => command.status().map(|status| (status, Ran::new())),
        }
    }
}
