//! The tour's scratch directory: a repository, a home and a store of its own. Nothing outside it is touched.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jackline_runtime::wiring::{CommandLine, Timeouts, Wiring as _, claude};
use tempfile::TempDir;

use super::script::FILES;
use crate::error::CommandError;
use crate::place;

/// Who makes the scratch repository's commits; its directory of hooks stays empty.
const GIT_SETTINGS: &str =
    "[user]\n\tname = tour\n\temail = tour@localhost\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n";

pub(super) struct Scratch {
    place: TempDir,
    /// The same with links resolved, as the guard will see it.
    top: PathBuf,
    hook: CommandLine,
    git: bool,
}

impl Scratch {
    /// Makes it, only for its owner's eyes. It goes when the value goes.
    pub(super) fn new() -> Result<Self, CommandError> {
        let dir = place::temporary();
        let unmade = |why: &str| {
            CommandError::internal(format!("no scratch directory can be made in `{}`: {why}", dir.display()))
                .hint("set TMPDIR to a directory that can be written")
        };
        let only_ours = fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix("jackline-tour-").permissions(only_ours).tempdir_in(&dir);
        let made = made.map_err(|fault| unmade(&fault.to_string()))?;
        let top = made.path().canonicalize().map_err(|fault| unmade(&fault.to_string()))?;
        let program = place::this_program()?;
        let hook = wired(&program, &top).ok_or_else(|| unmade("its path, or this program's, is not UTF-8"))?;
        let mut scratch = Self { place: made, top, hook, git: false };
        scratch.furnish().map_err(|fault| unmade(&fault.to_string()))?;
        scratch.git = scratch.runs("git init -q && git add .")?;
        Ok(scratch)
    }

    fn furnish(&self) -> io::Result<()> {
        fs::create_dir(self.path("home"))?;
        fs::create_dir_all(self.path("repository/.claude"))?;
        fs::write(self.path("home/.gitconfig"), GIT_SETTINGS)?;
        for (name, text) in FILES {
            fs::write(self.file(name), text)?;
        }
        let settings = claude::FORM
            .add(None, &self.hook, Timeouts::default())
            .map_err(|fault| io::Error::other(fault.to_string()))?;
        fs::write(self.file(".claude/settings.local.json"), settings)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// The repository's root.
    pub(super) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    /// A file of the repository.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.repository().join(name)
    }

    /// The copy of the log that is tampered with.
    pub(super) fn copy(&self) -> PathBuf {
        self.path("copy.jsonl")
    }

    /// Whether git works here, so that commits can be made.
    pub(super) fn has_git(&self) -> bool {
        self.git
    }

    /// The hook, started as the scratch repository's settings tell the client to.
    pub(super) fn hook(&self) -> Command {
        let mut command = self.program(&self.hook.program);
        command.args(&self.hook.arguments).env("CLAUDE_PROJECT_DIR", self.repository());
        command
    }

    /// A command of ours about the scratch store.
    pub(super) fn jackline(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(&self.hook.program);
        command.args(arguments).arg("--store").arg(self.path("store"));
        command
    }

    /// A shell text of the agent's.
    pub(super) fn shell(&self, text: &str) -> Command {
        let mut command = self.program("/bin/sh");
        command.args(["-c", text]);
        command
    }

    fn runs(&self, text: &str) -> Result<bool, CommandError> {
        Ok(self.shell(text).output()?.status.success())
    }

    /// A program in the repository. From the user's environment it gets where programs are, and nothing else; git does
    /// not look for a repository above the scratch directory.
    fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repository()).stdin(Stdio::null()).env_clear();
        command
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", &self.top);
        if let Some(path) = place::search_path() {
            command.env("PATH", path);
        }
        command
    }

    /// Removes it, or leaves it there and says where.
    pub(super) fn end(self, keep: bool) -> Result<Option<PathBuf>, CommandError> {
        if keep {
            return Ok(Some(self.place.keep()));
        }
        let dir = self.place.path().display().to_string();
        self.place.close().map_err(|fault| CommandError::internal(format!("`{dir}` could not be removed: {fault}")))?;
        Ok(None)
    }
}

/// What the client is told to start, in the form that `init` writes; settings are UTF-8.
fn wired(program: &Path, top: &Path) -> Option<CommandLine> {
    let (store, root) = (top.join("store"), top.join("repository"));
    let arguments = ["hook", "claude", "--store", store.to_str()?, "--root", root.to_str()?, "--wired", "local"];
    Some(CommandLine { program: program.to_str()?.to_owned(), arguments: arguments.map(str::to_owned).to_vec() })
}
