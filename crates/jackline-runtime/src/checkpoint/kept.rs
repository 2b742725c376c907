//! Signed heads kept below the state directory, one file a session: they show a cut tail to whoever trusts the key.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;

use super::{SignFault, load_or_create_key, sign};
use crate::private;

/// The key in the state directory, made at its first use together with its directory.
///
/// # Errors
/// Why it cannot be used or made.
pub fn default_key(state: &Path) -> Result<SigningKey, SignFault> {
    let place = state.join("keys");
    let path = place.join("checkpoint.key");
    private::create_dir(&place).map_err(|source| SignFault::File { path: place, done: "created", source })?;
    load_or_create_key(&path)
}

/// The checkpoints kept below a state directory.
#[must_use]
pub fn kept_below(state: &Path) -> KeptCheckpoints {
    KeptCheckpoints { state: state.to_owned() }
}

/// Signed heads of sessions, each session's in a file of its own.
#[derive(Debug, Clone)]
pub struct KeptCheckpoints {
    state: PathBuf,
}

impl KeptCheckpoints {
    /// The file of a session's checkpoints; it need not exist.
    #[must_use]
    pub fn of(&self, session: &str) -> PathBuf {
        self.state.join("checkpoints").join(format!("{}.jsonl", Digest::of(session.as_bytes())))
    }

    /// Every file of checkpoints, sorted: those of sessions that are gone from the store too.
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    pub fn files(&self) -> std::io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(self.state.join("checkpoints")) {
            Ok(entries) => entries,
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort_unstable();
        Ok(files)
    }

    /// Forgets a session's checkpoints, which vouch for records that are gone. Those that cannot be removed tell of retired ones.
    pub fn forget(&self, session: &str) {
        let _ = std::fs::remove_file(self.of(session));
    }

    /// Signs a head with the default key and appends it.
    ///
    /// # Errors
    /// Why the key cannot be used or the file cannot be written.
    pub fn sign(&self, session: &str, head: (u64, Digest), at: Timestamp) -> Result<(), SignFault> {
        let file = self.of(session);
        let fault = |source| SignFault::File { path: file.clone(), done: "written", source };
        private::create_dir(&self.state.join("checkpoints")).map_err(fault)?;
        let mut line = sign(&default_key(&self.state)?, session, head, at).render();
        line.push(b'\n');
        append(&file, &line).map_err(fault)
    }
}

fn append(file: &Path, line: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(line)
}
