//! The right to retire what is kept: one process at a time has it. Writers do not wait for it.

use std::fmt;
use std::fs::{File, TryLockError};
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};

use jackline_core::sha::Digest;
use rustix::fs::{AtFlags, Dir};

use super::place::{self, ID, LOG, Place, STATE};
use super::session::OpenSession;
use super::session::retire::Rest;
use super::{FileStore, disk};
use crate::store::{Head, StoreFault};

/// The file that is locked.
const LOCK: &str = "retiring";
/// Seconds that a directory without a log is left alone: a session that begins makes its log some milliseconds later.
const BEGINNING_S_MAX: u64 = 60;

/// What is retired of a log, and what takes its place.
pub struct Retirement<'a> {
    /// The last record that goes.
    pub last: Head,
    /// What folding goes on from.
    pub carried: &'a [u8],
    /// The line that says so, linked after a head.
    pub word: &'a dyn Fn(Head) -> Vec<u8>,
}

impl fmt::Debug for Retirement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { last, carried, word: _ } = self;
        f.debug_struct("Retirement").field("last", last).field("carried", &carried.len()).finish_non_exhaustive()
    }
}

/// The right to retire, until it is dropped.
#[derive(Debug)]
pub struct Retiring<'a> {
    store: &'a FileStore,
    /// Its lock is let go of when it is closed.
    _lock: File,
}

impl<'a> Retiring<'a> {
    pub(super) fn of(store: &'a FileStore) -> Result<Self, StoreFault> {
        let path = store.root.join(LOCK);
        let unwritable = |error: std::io::Error| StoreFault::unwritable(&path, error);
        let Some(root) = place::open_root(&store.root)? else {
            return Err(unwritable(std::io::ErrorKind::NotFound.into()));
        };
        let lock =
            place::open_at(&root, LOCK, place::CREATE).map(File::from).map_err(|error| unwritable(error.into()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { store, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(StoreFault::Retiring),
            Err(TryLockError::Error(error)) => Err(unwritable(error)),
        }
    }

    /// Retires the beginning of a session's log; the head afterwards, or nothing when the log is not what the caller saw.
    ///
    /// # Errors
    /// Why it cannot be done; then nothing has changed.
    pub fn records(&self, session: &str, retirement: &Retirement<'_>) -> Result<Option<Head>, StoreFault> {
        match OpenSession::existing(self.place(session)?)? {
            Some(open) => open.retire_records(retirement),
            None => Ok(None),
        }
    }

    /// Retires a whole session, if `expected` is still its head; `said` is called before anything goes, and may stop it.
    ///
    /// # Errors
    /// Why it cannot be done.
    pub fn session(
        &self,
        session: &str,
        expected: Head,
        said: &mut dyn FnMut() -> Result<(), StoreFault>,
    ) -> Result<bool, StoreFault> {
        match OpenSession::existing(self.place(session)?)? {
            Some(open) => open.retire(expected, said),
            None => Ok(false),
        }
    }

    /// Removes what killed processes left of their retiring.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sweep(&self) -> Result<(), StoreFault> {
        let Some(sessions) = place::open_sessions(&self.store.root)? else { return Ok(()) };
        let unreadable = |error| StoreFault::unreadable(&self.store.records(), error);
        for entry in Dir::read_from(&sessions).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if let Some(name) = entry.file_name().to_str().ok().filter(|name| Digest::parse(name).is_some()) {
                sweep_remains(&sessions, name);
            }
        }
        for entry in super::listing::sessions(&self.store.root)? {
            if let Some(open) = OpenSession::existing(self.place(&entry.id)?)? {
                open.sweep()?;
            }
        }
        Ok(())
    }

    fn place(&self, session: &str) -> Result<Place, StoreFault> {
        Place::new(&self.store.root, session)
    }
}

/// Removes what is left of a session whose log is gone.
fn sweep_remains(sessions: &OwnedFd, name: &str) {
    let Ok(own) = place::open_at(sessions, name, place::DIRECTORY) else { return };
    let gone = matches!(place::open_at(&own, LOG, place::READ), Err(rustix::io::Errno::NOENT));
    let old = own.try_clone().ok().and_then(|own| File::from(own).metadata().ok()?.modified().ok());
    let age = old.and_then(|modified| SystemTime::now().duration_since(modified).ok());
    if !gone || age.is_none_or(|age| age < Duration::from_secs(BEGINNING_S_MAX)) {
        return;
    }
    let Ok(rest) = Rest::of(&own) else { return };
    rest.remove(&own);
    for file in [STATE, ID] {
        let _ = disk::remove(&own, file);
    }
    let _ = rustix::fs::unlinkat(sessions, name, AtFlags::REMOVEDIR);
}
