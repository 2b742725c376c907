//! Where a session's files are, and how they are opened and created without following a planted link.
//!
//! The root may be reached through links: a person chose it. Everything below it is ours and must be plain.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::disk;
use crate::store::{StoreFault, Sync, check_session};

pub(super) const LOG: &str = "audit.jsonl";
pub(super) const STATE: &str = "state";
pub(super) const JOURNAL: &str = "journal";
/// A journal that is to get its name, while it is written.
pub(super) const JOURNAL_NEXT: &str = "journal.next";
pub(super) const ID: &str = "id";
/// A log that is to take the present one's place, while it is written.
pub(super) const NEXT: &str = "audit.jsonl.next";
/// How the file begins that holds what was carried over a retired beginning; the number of its last record follows.
pub(super) const CARRIED: &str = "carried-";
pub(super) const SNAPSHOTS: &str = "snapshots";
pub(super) const SESSIONS: &str = "sessions";

/// Readable and writable for the owner alone: records hold what an agent saw.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIRECTORY_MODE: Mode = Mode::RWXU;
/// The same for the standard library, whose type for it is not the same everywhere.
const DIRECTORY_BITS: u32 = 0o700;

/// For everything we open: not inherited, no link as last part, no terminal taken, no wait for a planted pipe.
const OPEN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::NONBLOCK);
pub(super) const READ: OFlags = OPEN.union(OFlags::RDONLY);
pub(super) const READ_WRITE: OFlags = OPEN.union(OFlags::RDWR);
pub(super) const CREATE: OFlags = READ_WRITE.union(OFlags::CREATE);
pub(super) const DIRECTORY: OFlags = READ.union(OFlags::DIRECTORY);

/// The directory of one session. Its name is a digest, because an id is a host's text and must not be a path.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) session: String,
    pub(super) name: Digest,
    pub(super) directory: PathBuf,
    root: PathBuf,
    hex: String,
}

impl Place {
    pub(super) fn new(root: &Path, session: &str) -> Result<Self, StoreFault> {
        check_session(session)?;
        let name = Digest::of(session.as_bytes());
        let hex = name.hex();
        let directory = root.join(SESSIONS).join(&hex);
        Ok(Self { session: session.to_owned(), name, directory, root: root.to_owned(), hex })
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// The root's directory; `None` when there is none.
    pub(super) fn root(&self) -> Result<Option<OwnedFd>, StoreFault> {
        open_root(&self.root)
    }

    /// A file of the session; `None` when it is not there.
    pub(super) fn open(&self, root: &OwnedFd, file: &[&str], flags: OFlags) -> Result<Option<File>, Errno> {
        let mut parts = vec![SESSIONS, self.hex.as_str()];
        parts.extend(file);
        found(open_below(root, &parts, flags)).map(|opened| opened.map(File::from))
    }

    /// The session's directory; `None` when it is not there.
    pub(super) fn own(&self, root: &OwnedFd) -> Result<Option<OwnedFd>, StoreFault> {
        found(open_below(root, &[SESSIONS, self.hex.as_str()], DIRECTORY))
            .map_err(|error| StoreFault::unreadable(&self.directory, error))
    }

    /// The name of the session's directory.
    pub(super) fn directory_name(&self) -> &str {
        &self.hex
    }

    /// Creates what is missing of the session's directory, down to its id; returns the root and the directory.
    pub(super) fn create(&self, sync: Sync) -> Result<(OwnedFd, OwnedFd), StoreFault> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(DIRECTORY_BITS);
        builder.create(&self.root).map_err(|error| StoreFault::unwritable(&self.root, error))?;
        let root = self.root()?.ok_or_else(|| StoreFault::unwritable(&self.root, Errno::NOENT))?;
        let sessions =
            directory(&root, SESSIONS).map_err(|error| StoreFault::unwritable(&self.root.join(SESSIONS), error))?;
        let own = directory(&sessions, &self.hex).map_err(|error| StoreFault::unwritable(&self.directory, error))?;
        // Before the log exists, so that a log without an id means that someone removed it.
        self.write_id(&own, sync).map_err(|error| StoreFault::unwritable(&self.path(ID), error))?;
        Ok((root, own))
    }

    /// Makes the entries of the session's directory, and the directory's own, durable.
    pub(super) fn sync(&self, root: &OwnedFd) -> Result<(), StoreFault> {
        for parts in [&[SESSIONS, self.hex.as_str()][..], &[SESSIONS]] {
            let opened =
                open_below(root, parts, DIRECTORY).map_err(|error| StoreFault::unwritable(&self.directory, error))?;
            File::from(opened).sync_all().map_err(|error| StoreFault::unwritable(&self.directory, error))?;
        }
        // The root's own entry: best effort, because its parent is not ours and may not be readable.
        if let Ok(parent) = open_at(root, "..", DIRECTORY) {
            let _ = File::from(parent).sync_all();
        }
        let root = root.try_clone().map_err(|error| StoreFault::unwritable(&self.root, error))?;
        File::from(root).sync_all().map_err(|error| StoreFault::unwritable(&self.root, error))
    }

    /// Creates or opens a file in the session's directory.
    pub(super) fn create_file(&self, own: &OwnedFd, file: &str) -> Result<File, StoreFault> {
        open_at(own, file, CREATE).map(File::from).map_err(|error| StoreFault::unwritable(&self.path(file), error))
    }

    fn write_id(&self, own: &OwnedFd, sync: Sync) -> io::Result<()> {
        let id = serde_json::to_vec(&self.session)?;
        let file = File::from(open_at(own, ID, CREATE)?);
        let mut kept = vec![0; id.len() + 1];
        let len = disk::read_at(&file, &mut kept, 0)?;
        if kept.get(..len) == Some(&id) {
            return Ok(());
        }
        disk::write_all_at(&file, &id, 0)?;
        disk::cut(&file, id.len() as u64)?;
        if sync == Sync::Full { disk::sync(&file) } else { Ok(()) }
    }
}

pub(super) fn open_root(root: &Path) -> Result<Option<OwnedFd>, StoreFault> {
    let flags = OFlags::CLOEXEC.union(OFlags::DIRECTORY).union(OFlags::RDONLY);
    match rustix::fs::open(root, flags, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(StoreFault::Unreadable { what: root.display().to_string(), source: error.into() }),
    }
}

/// The directory that holds all sessions; `None` when there is none.
pub(super) fn open_sessions(root: &Path) -> Result<Option<OwnedFd>, StoreFault> {
    let Some(opened) = open_root(root)? else { return Ok(None) };
    found(open_below(&opened, &[SESSIONS], DIRECTORY))
        .map_err(|error| StoreFault::unreadable(&root.join(SESSIONS), error))
}

/// A directory inside `parent`, created when it is missing.
pub(super) fn directory(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match open_at(parent, name, DIRECTORY) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    match rustix::fs::mkdirat(parent, name, DIRECTORY_MODE) {
        Ok(()) | Err(Errno::EXIST) => open_at(parent, name, DIRECTORY),
        Err(error) => Err(error),
    }
}

/// A path below a directory, no part of which may be a link.
#[cfg(target_os = "linux")]
pub(super) fn open_below(from: &impl AsFd, parts: &[&str], flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = rustix::fs::ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(from, parts.join("/"), flags, mode(flags), resolve) {
        // An old kernel, or a sandbox that does not know the call: the same, a part at a time.
        Err(Errno::NOSYS | Errno::PERM) => walk_below(from, parts, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_below(from: &impl AsFd, parts: &[&str], flags: OFlags) -> Result<OwnedFd, Errno> {
    walk_below(from, parts, flags)
}

fn walk_below(from: &impl AsFd, parts: &[&str], flags: OFlags) -> Result<OwnedFd, Errno> {
    let Some((last, parents)) = parts.split_last() else { return Err(Errno::NOENT) };
    let mut held: Option<OwnedFd> = None;
    for parent in parents {
        let at = held.as_ref().map_or_else(|| from.as_fd(), AsFd::as_fd);
        held = Some(open_at(&at, parent, DIRECTORY)?);
    }
    let at = held.as_ref().map_or_else(|| from.as_fd(), AsFd::as_fd);
    open_at(&at, last, flags)
}

/// One name inside a directory.
pub(super) fn open_at(parent: &impl AsFd, name: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(parent, name, flags, mode(flags))
}

fn mode(flags: OFlags) -> Mode {
    if flags.contains(OFlags::CREATE) { FILE_MODE } else { Mode::empty() }
}

/// "Not there" as a value.
pub(super) fn found<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    type Open = fn(&OwnedFd, &[&str], OFlags) -> Result<OwnedFd, Errno>;

    #[test]
    fn both_ways_of_opening_refuse_links_anywhere() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/file"), "x").unwrap();
        symlink("a", dir.path().join("to_a")).unwrap();
        symlink("file", dir.path().join("a/b/to_file")).unwrap();
        let root = open_root(dir.path()).unwrap().unwrap();
        for open in [open_below as Open, walk_below as Open] {
            assert!(open(&root, &["a", "b", "file"], READ).is_ok());
            assert_eq!(open(&root, &["a", "b", "none"], READ).unwrap_err(), Errno::NOENT);
            assert!(matches!(open(&root, &["to_a", "b", "file"], READ), Err(Errno::LOOP | Errno::NOTDIR)));
            assert_eq!(open(&root, &["a", "b", "to_file"], READ).unwrap_err(), Errno::LOOP);
            assert_eq!(open(&root, &["a", "b", "file", "x"], READ).unwrap_err(), Errno::NOTDIR);
        }
    }
}
