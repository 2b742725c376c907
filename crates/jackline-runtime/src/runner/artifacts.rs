//! Outputs kept whole, each under its digest, below the state directory and outside the agent's reach.
//!
//! Bounded in number and bytes: the oldest go first. A record names an artifact by digest, so that one that is gone is
//! missed and one that was changed is noticed. Only what was redacted gets here: a [`Kept`] is.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, process};

use jackline_core::sha::Digest;
use rustix::fs::{Mode, OFlags};

use super::kept::{KEPT_BYTES_MAX, Kept};
use crate::private;

/// Artifacts at a time: the outputs of some days' checks.
pub const ARTIFACTS_MAX: usize = 512;
/// Bytes of all artifacts together: what a state directory may cost without being asked.
pub const ARTIFACTS_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Entries that are looked at when making room: every artifact, and what crashes left behind. More go later.
const ENTRIES_MAX: usize = 4 * ARTIFACTS_MAX;

/// The artifacts of one state directory.
#[derive(Debug, Clone)]
pub struct Artifacts {
    dir: PathBuf,
    count_max: usize,
    bytes_max: u64,
}

/// What became of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Artifact {
    /// Its name.
    pub digest: Digest,
    /// Its length.
    pub bytes: u64,
    /// How many older ones had to go for it.
    pub pruned: usize,
}

/// Why an artifact cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactFault {
    /// The directory cannot be used.
    #[error("artifacts cannot be kept: {0}")]
    Unusable(#[from] io::Error),
    /// It is not what was kept.
    #[error("the artifact `{0}` was changed")]
    Changed(Digest),
}

impl Artifacts {
    /// Those below a state directory.
    #[must_use]
    pub fn of(state: &Path) -> Self {
        Self { dir: state.join("artifacts"), count_max: ARTIFACTS_MAX, bytes_max: ARTIFACTS_BYTES_MAX }
    }

    /// Keeps an output, whole or not at all; older ones make room.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn keep(&self, kept: &Kept) -> Result<Artifact, ArtifactFault> {
        private::create_dir(&self.dir)?;
        self.plain()?;
        let file = self.file(&kept.digest);
        let beside = self.dir.join(format!("{}.{}.new", kept.digest, process::id()));
        let mut new = private::create_file(&beside)?;
        new.write_all(kept.whole().as_bytes())?;
        new.sync_data()?;
        // One that is there already is replaced by its like: it is the newest again, and whole.
        fs::rename(&beside, &file)?;
        let pruned = self.prune(&file)?;
        Ok(Artifact { digest: kept.digest, bytes: kept.whole().len() as u64, pruned })
    }

    /// An output that was kept; `None` when it is gone.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was kept.
    pub fn read(&self, digest: &Digest) -> Result<Option<String>, ArtifactFault> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::open(self.file(digest), flags, Mode::empty()) {
            Ok(file) => fs::File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(fault) => return Err(io::Error::from(fault).into()),
        };
        let mut bytes = Vec::new();
        if file.metadata()?.is_file() {
            file.take(KEPT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
        }
        let text = String::from_utf8(bytes).ok().filter(|text| Digest::of(text.as_bytes()) == *digest);
        text.map(Some).ok_or(ArtifactFault::Changed(*digest))
    }

    fn file(&self, digest: &Digest) -> PathBuf {
        self.dir.join(digest.hex())
    }

    /// A link in its place could lead into the workspace.
    fn plain(&self) -> io::Result<()> {
        let plain = fs::symlink_metadata(&self.dir)?.is_dir();
        if plain { Ok(()) } else { Err(io::Error::other("their place is no directory")) }
    }

    /// Removes the oldest until all fit; never the one that was just kept.
    fn prune(&self, newest: &Path) -> io::Result<usize> {
        let mut entries = self.entries()?;
        entries.retain(|entry| entry.path != newest);
        entries.sort_by(|a, b| (a.changed, &a.path).cmp(&(b.changed, &b.path)));
        let mut count = entries.len() + 1;
        let mut bytes = entries.iter().map(|entry| entry.bytes).sum::<u64>() + fs::symlink_metadata(newest)?.len();
        let mut pruned = 0;
        for entry in entries {
            if count <= self.count_max && bytes <= self.bytes_max {
                break;
            }
            // Another process may have been quicker, which makes room too.
            drop(fs::remove_file(&entry.path));
            (count, bytes, pruned) = (count - 1, bytes - entry.bytes, pruned + 1);
        }
        Ok(pruned)
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let all = fs::read_dir(&self.dir)?.take(ENTRIES_MAX);
        let seen = |path: PathBuf| {
            let there = fs::symlink_metadata(&path).ok()?;
            Some(Entry { path, changed: there.modified().ok()?, bytes: there.len() })
        };
        Ok(all.filter_map(|entry| seen(entry.ok()?.path())).collect())
    }
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    changed: SystemTime,
    bytes: u64,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::time::Duration;

    use jackline_core::redact::Redactor;

    use super::*;
    use crate::runner::kept::Printed;

    fn kept(text: &str) -> Kept {
        let mut printed = Printed::default();
        printed.push(text.as_bytes());
        printed.keep(&Redactor::new([]))
    }

    fn aged(artifacts: &Artifacts, text: &str, seconds: u64) -> Digest {
        let digest = artifacts.keep(&kept(text)).unwrap().digest;
        let file = fs::File::options().write(true).open(artifacts.file(&digest)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        digest
    }

    #[test]
    fn what_is_kept_reads_back_and_belongs_to_its_owner() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::of(state.path());
        let kept = kept("token=ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2\nok\n");
        let artifact = artifacts.keep(&kept).unwrap();
        assert_eq!((artifact.digest, artifact.pruned), (kept.digest, 0));
        let read = artifacts.read(&artifact.digest).unwrap().unwrap();
        assert!(read.ends_with("\nok\n") && !read.contains("a1B2"), "{read}");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&artifacts.dir), mode(&artifacts.file(&kept.digest))), (0o700, 0o600));
        assert_eq!(artifacts.keep(&kept).unwrap(), artifact);
        assert_eq!(artifacts.entries().unwrap().len(), 1);
        assert_eq!(artifacts.read(&Digest::of(b"other")).unwrap(), None);
    }

    #[test]
    fn a_changed_artifact_is_not_handed_out() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::of(state.path());
        let digest = artifacts.keep(&kept("failed\n")).unwrap().digest;
        fs::write(artifacts.file(&digest), "passed\n").unwrap();
        assert!(matches!(artifacts.read(&digest), Err(ArtifactFault::Changed(changed)) if changed == digest));
        // Printed once more, it is whole again.
        artifacts.keep(&kept("failed\n")).unwrap();
        assert_eq!(artifacts.read(&digest).unwrap().unwrap(), "failed\n");
    }

    #[test]
    fn the_oldest_make_room() {
        let state = tempfile::tempdir().unwrap();
        let mut artifacts = Artifacts { count_max: 3, ..Artifacts::of(state.path()) };
        let [old, older, new] = [("a", 20), ("b", 30), ("c", 10)].map(|(text, age)| aged(&artifacts, text, age));
        let artifact = artifacts.keep(&kept("d")).unwrap();
        assert_eq!(artifact.pruned, 1);
        assert_eq!(artifacts.read(&older).unwrap(), None);
        assert!(artifacts.read(&old).unwrap().is_some());
        artifacts.bytes_max = 12;
        let artifact = artifacts.keep(&kept("ten bytes!")).unwrap();
        assert_eq!(artifact.pruned, 1);
        assert_eq!(artifacts.read(&old).unwrap(), None);
        assert!(artifacts.read(&new).unwrap().is_some() && artifacts.read(&artifact.digest).unwrap().is_some());
        // One that is too large for all is kept all the same, alone.
        artifacts.bytes_max = 1;
        assert_eq!(artifacts.keep(&kept("long")).unwrap().pruned, 3);
        assert_eq!(artifacts.entries().unwrap().len(), 1);
    }

    #[test]
    fn planted_links_lead_nowhere() {
        let (state, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let artifacts = Artifacts::of(state.path());
        let kept = kept("x");
        private::create_dir(&artifacts.dir).unwrap();
        symlink(elsewhere.path().join("f"), artifacts.file(&kept.digest)).unwrap();
        assert!(artifacts.read(&kept.digest).is_err());
        artifacts.keep(&kept).unwrap();
        assert!(fs::symlink_metadata(artifacts.file(&kept.digest)).unwrap().is_file());
        fs::remove_dir_all(&artifacts.dir).unwrap();
        symlink(elsewhere.path(), &artifacts.dir).unwrap();
        assert!(artifacts.keep(&kept).is_err());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
