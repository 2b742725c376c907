//! Where one session happens: a repository, a home and a directory for temporary files, all its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Three directories that go when the stage goes.
#[derive(Debug)]
pub struct Stage {
    _whole: TempDir,
    top: PathBuf,
}

impl Stage {
    /// An empty stage.
    pub fn new() -> io::Result<Self> {
        let whole = TempDir::with_prefix("rehearsal-")?;
        // Hosts name files by their canonical path, so the script has to as well.
        let stage = Self { top: whole.path().canonicalize()?, _whole: whole };
        [stage.repo(), stage.home(), stage.tmp()].iter().try_for_each(fs::create_dir)?;
        Ok(stage)
    }

    /// The repository, which is the session's working directory.
    pub fn repo(&self) -> PathBuf {
        self.top.join("repo")
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.top.join("home")
    }

    /// For temporary files.
    pub fn tmp(&self) -> PathBuf {
        self.top.join("tmp")
    }

    /// Writes a file, by its path below the stage's top: `repo/a.txt`, `home/.claude/settings.json`.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.top.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    /// Writes a program.
    pub fn write_program(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text)?;
        let path = self.top.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// What a file holds now; none if it cannot be read.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.top.join(name)).ok()
    }

    /// Whether a file is there.
    pub fn has(&self, name: &str) -> bool {
        self.top.join(name).exists()
    }

    /// The stage's top.
    pub fn top(&self) -> &Path {
        &self.top
    }
}
