//! The store of plain files: one directory per session with its log, a two-slot state file, its id, its snapshots.
//!
//! The log is the truth. An event costs the same however long the log is: a checkpoint, the record it names, one
//! append. Nothing runs in the background and nothing is kept in memory that another process could make untrue.

mod disk;
mod journal;
mod listing;
mod lock;
mod log;
mod network;
mod place;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod retired;
mod retiring;
mod room;
mod session;
mod slots;
mod snapshots;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jackline_core::sha::Digest;

use super::{CARRIED_BYTES_MAX, Commit, Committed, Head, Lines, Loaded, SessionEntry, StateAt, Store, StoreFault};
pub use listing::OddSession;
use log::{LogLines, Trouble};
pub use network::network_file_system;
use place::Place;
pub use retiring::{Retirement, Retiring};
pub use room::room_bytes;
use session::{Attempt, OpenSession};

/// Sessions whose files stay open: a host works on one or two at a time, and descriptors are few.
const SESSIONS_OPEN_MAX: usize = 8;

/// Keeps sessions below a directory of this user.
#[derive(Debug)]
pub struct FileStore {
    root: PathBuf,
    /// Most recently used last.
    open: Mutex<Vec<Arc<OpenSession>>>,
    checkpoints_follow: bool,
}

impl FileStore {
    /// The store below `root`. Nothing is touched yet; the first commit creates what is missing.
    #[must_use]
    pub fn open(root: PathBuf) -> Self {
        let root = std::path::absolute(&root).unwrap_or(root);
        Self { root, open: Mutex::new(Vec::new()), checkpoints_follow: false }
    }

    /// Leaves checkpoints for [`Store::catch_up`], as long as they do not fall far behind: for a process that stays, and
    /// has time once it has answered.
    #[must_use]
    pub fn checkpoints_follow(mut self) -> Self {
        self.checkpoints_follow = true;
        self
    }

    /// The directory below which everything is kept.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory in which the records of all sessions are.
    #[must_use]
    pub fn records(&self) -> PathBuf {
        self.root.join(place::SESSIONS)
    }

    /// What follows a session's last whole line: what a crash left of a write, or what somebody made of a line.
    ///
    /// # Errors
    /// When the log cannot be read, or what follows is longer than any record.
    pub fn unfinished(&self, session: &str) -> Result<Vec<u8>, StoreFault> {
        let place = Place::new(&self.root, session)?;
        let path = place.path(place::LOG);
        let Some(root) = place.root()? else { return Ok(Vec::new()) };
        let opened = place.open(&root, &[place::LOG], place::READ);
        let Some(log) = opened.map_err(|error| StoreFault::unreadable(&path, error))? else { return Ok(Vec::new()) };
        log::after_last_line(&log).map_err(|trouble| match trouble {
            Trouble::Disk(error) => StoreFault::unreadable(&path, error),
            Trouble::Damaged { at, why } => StoreFault::corrupt(session, at, why),
        })
    }

    /// Places of sessions whose log is there and tells nobody's story: no session has them, so no list does.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn odd_sessions(&self) -> Result<Vec<OddSession>, StoreFault> {
        listing::odd_sessions(&self.root)
    }

    /// The right to retire what is kept, which one process has at a time.
    ///
    /// # Errors
    /// When another has it, or the store cannot be written.
    pub fn retiring(&self) -> Result<Retiring<'_>, StoreFault> {
        Retiring::of(self)
    }

    /// The session's open files; `None` when nothing is kept of it.
    fn find(&self, place: Place) -> Result<Option<Arc<OpenSession>>, StoreFault> {
        if let Some(open) = self.remembered(&place.name) {
            return Ok(Some(open));
        }
        Ok(OpenSession::existing(place)?.map(|open| self.remember(open)))
    }

    fn remembered(&self, name: &Digest) -> Option<Arc<OpenSession>> {
        let mut open = self.opened();
        let at = open.iter().position(|open| open.place().name == *name)?;
        let found = open.remove(at);
        open.push(Arc::clone(&found));
        Some(found)
    }

    fn remember(&self, session: OpenSession) -> Arc<OpenSession> {
        let session = Arc::new(session);
        // One that we could only open for reading is opened again, so that a commit says what is wrong.
        if session.writable() {
            let mut open = self.opened();
            open.push(Arc::clone(&session));
            if open.len() > SESSIONS_OPEN_MAX {
                // One that waits for its checkpoint goes last; without it the next load folds some records.
                let written = open.iter().position(|open| !open.is_behind());
                open.remove(written.filter(|at| *at < SESSIONS_OPEN_MAX).unwrap_or_default());
            }
        }
        session
    }

    fn forget(&self, session: &Arc<OpenSession>) {
        self.opened().retain(|open| !Arc::ptr_eq(open, session));
    }

    fn opened(&self) -> MutexGuard<'_, Vec<Arc<OpenSession>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for FileStore {
    fn load(&self, session: &str) -> Result<Loaded, StoreFault> {
        let place = Place::new(&self.root, session)?;
        if let Some(open) = self.remembered(&place.name) {
            if open.fresh() {
                return open.load();
            }
            self.forget(&open);
        }
        match self.find(place)? {
            Some(open) => open.load(),
            None => Ok(Loaded::empty()),
        }
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreFault> {
        commit.check()?;
        let place = Place::new(&self.root, session)?;
        let open = match self.find(place.clone())? {
            Some(open) => open,
            None if commit.expected == Head::EMPTY => self.remember(OpenSession::create(place, commit.sync)?),
            None => return Ok(Committed::Moved),
        };
        let attempt = open.commit(commit, self.checkpoints_follow)?;
        if matches!(attempt, Attempt::Gone) {
            self.forget(&open);
        }
        Ok(attempt.into())
    }

    fn catch_up(&self, state: &StateAt<'_>) {
        let behind: Vec<_> = self.opened().iter().filter(|open| open.is_behind()).cloned().collect();
        behind.iter().for_each(|open| open.catch_up(state));
    }

    fn sessions(&self) -> Result<Vec<SessionEntry>, StoreFault> {
        listing::sessions(&self.root)
    }

    fn carried(&self, session: &str, seq: u64) -> Result<Option<Vec<u8>>, StoreFault> {
        let place = Place::new(&self.root, session)?;
        let name = session::retire::carried_name(seq);
        let unreadable = |error: std::io::Error| StoreFault::unreadable(&place.path(&name), error);
        let Some(root) = place.root()? else { return Ok(None) };
        let opened = place.open(&root, &[name.as_str()], place::READ).map_err(|error| unreadable(error.into()))?;
        let Some(file) = opened else { return Ok(None) };
        let len = file.metadata().map_err(unreadable)?.len();
        let len = usize::try_from(len).ok().filter(|len| *len <= CARRIED_BYTES_MAX);
        let Some(len) = len else { return Err(StoreFault::corrupt(session, 0, "what was carried over is too long")) };
        disk::read_exact(&file, 0, len).map_err(unreadable)
    }

    fn lines(&self, session: &str, from: u64) -> Result<Lines, StoreFault> {
        let place = Place::new(&self.root, session)?;
        let Some(root) = place.root()? else { return Ok(Box::new(std::iter::empty())) };
        // What the power took is given back first; where that fails, whoever reads shall see what is there.
        if let Ok(Some(open)) = OpenSession::existing(place.clone()) {
            let _ = open.restore();
        }
        let path = place.path(place::LOG);
        let opened = place.open(&root, &[place::LOG], place::READ);
        let Some(log) = opened.map_err(|error| StoreFault::unreadable(&path, error))? else {
            return Ok(Box::new(std::iter::empty()));
        };
        let len = log.metadata().map_err(|error| StoreFault::unreadable(&path, error))?.len();
        let from = from.min(len);
        let end = match log::line_start(&log, from, len) {
            Ok(end) => end,
            Err(Trouble::Disk(error)) => return Err(StoreFault::unreadable(&path, error)),
            // What was whole is still worth reading; the reader stops with the damage.
            Err(Trouble::Damaged { .. }) => len,
        };
        // Only lines that begin here or later: of one that began before, the rest is left out.
        let inside = from > 0 && log::line_start(&log, from - 1, from).is_ok_and(|start| start != from);
        Ok(Box::new(LogLines::new(Arc::new(log), session, from, end).skip(usize::from(inside))))
    }

    fn snapshot_put(&self, session: &str, state: &[u8]) -> Result<Digest, StoreFault> {
        snapshots::put(&Place::new(&self.root, session)?, state)
    }

    fn snapshot_get(&self, session: &str, digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault> {
        snapshots::get(&Place::new(&self.root, session)?, digest)
    }

    fn snapshot_drop(&self, session: &str, digest: &Digest) -> Result<(), StoreFault> {
        snapshots::remove(&Place::new(&self.root, session)?, digest)
    }

    fn snapshots(&self, session: &str) -> Result<Vec<Digest>, StoreFault> {
        snapshots::list(&Place::new(&self.root, session)?)
    }
}
