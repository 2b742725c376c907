//! One session with its files open: looks where the log ends and which checkpoint holds, and commits under the lock.

mod durable;
pub(super) mod retire;

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;

use super::journal::Journal;
use super::lock::{self, Mode};
use super::log::{self, End, LogLines, Trouble};
use super::place::{self, LOG, Place, STATE};
use super::slots::{self, Label, Which};
use crate::store::{Checkpoint, Commit, Committed, Head, Loaded, STATE_BYTES_MAX, StateAt, StoreFault, Sync};

/// Looks without the lock before it is taken: a write that seems torn is mostly one that is still going on.
const LOOKS_MAX: u32 = 3;
/// Microseconds between two such looks: several times what a write takes.
const LOOK_PAUSE_US: u64 = 100;
/// Bytes of log that are folded to rebuild a state: more takes minutes, and no host waits for that.
const REBUILD_BYTES_MAX: u64 = 4 << 30;
/// Records by which a checkpoint that is left for later may fall behind: a load folds them, which takes some microseconds each.
const LEFT_RECORDS_MAX: u64 = 16;

/// A session whose files are open.
#[derive(Debug)]
pub(super) struct OpenSession {
    place: Place,
    root: OwnedFd,
    log: Arc<File>,
    state: OnceLock<File>,
    journal: Mutex<Option<Arc<Journal>>>,
    turn: Mutex<()>,
    settled: Mutex<Option<Settled>>,
    left: Mutex<Option<Left>>,
    identity: OnceLock<(u64, u64)>,
    writable: bool,
}

/// The newest checkpoint known, and up to where nobody but us wrote since.
#[derive(Debug, Clone, Copy)]
struct Settled {
    which: Which,
    generation: u64,
    /// The number of the checkpoint's record, which was there before the checkpoint was, so it can no longer change.
    seq: u64,
    /// Where the log ended when we last looked.
    head: Head,
}

impl Settled {
    const NONE: Self = Self { which: Which::B, generation: 0, seq: 0, head: Head::EMPTY };

    /// The checkpoint that follows.
    const fn next(self) -> (Which, u64) {
        (self.which.other(), self.generation.saturating_add(1))
    }
}

/// A checkpoint that was left for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Left {
    which: Which,
    label: Label,
}

/// What a look at the files found.
#[derive(Debug)]
struct Seen {
    end: End,
    checkpoint: Option<(Settled, Vec<u8>)>,
}

/// What became of an attempt to commit.
#[derive(Debug)]
pub(super) enum Attempt {
    Done,
    Moved,
    /// The log was deleted while we held it open.
    Gone,
}

impl OpenSession {
    /// Opens what is kept of a session; `None` when nothing is.
    pub(super) fn existing(place: Place) -> Result<Option<Self>, StoreFault> {
        let Some(root) = place.root()? else { return Ok(None) };
        let (opened, writable) = match place.open(&root, &[LOG], place::READ_WRITE) {
            // Operators may look at a store that they cannot change.
            Err(Errno::ACCESS | Errno::ROFS) => (place.open(&root, &[LOG], place::READ), false),
            opened => (opened, true),
        };
        let opened = opened.map_err(|error| StoreFault::unreadable(&place.path(LOG), error))?;
        Ok(opened.map(|log| Self::new(place, root, log, writable)))
    }

    /// Opens a session for its first record, creating what is missing.
    pub(super) fn create(place: Place, sync: Sync) -> Result<Self, StoreFault> {
        match Self::created(place.clone(), sync) {
            // A session of this id was retired in this moment, and its directory went.
            Err(StoreFault::Unwritable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self::created(place, sync)
            }
            created => created,
        }
    }

    fn created(place: Place, sync: Sync) -> Result<Self, StoreFault> {
        let (root, own) = place.create(sync)?;
        let log = place.create_file(&own, LOG)?;
        Ok(Self::new(place, root, log, true))
    }

    fn new(place: Place, root: OwnedFd, log: File, writable: bool) -> Self {
        Self {
            place,
            root,
            log: Arc::new(log),
            state: OnceLock::new(),
            journal: Mutex::new(None),
            turn: Mutex::new(()),
            settled: Mutex::new(None),
            left: Mutex::new(None),
            identity: OnceLock::new(),
            writable,
        }
    }

    pub(super) const fn writable(&self) -> bool {
        self.writable
    }

    pub(super) const fn place(&self) -> &Place {
        &self.place
    }

    /// Whether the log that we hold open is still the one that others open.
    pub(super) fn fresh(&self) -> bool {
        let there = fs::symlink_metadata(self.place.path(LOG)).map(|there| (there.dev(), there.ino())).ok();
        there.is_some() && there == self.identity()
    }

    fn identity(&self) -> Option<(u64, u64)> {
        if let Some(identity) = self.identity.get() {
            return Some(*identity);
        }
        let metadata = self.log.metadata().ok()?;
        Some(*self.identity.get_or_init(|| (metadata.dev(), metadata.ino())))
    }

    /// What is kept of the session, looked at without the lock unless something seems to be torn.
    pub(super) fn load(&self) -> Result<Loaded, StoreFault> {
        self.restore()?;
        for look in 0..LOOKS_MAX {
            if look > 0 {
                thread::sleep(Duration::from_micros(LOOK_PAUSE_US));
            }
            match self.look() {
                Ok(seen) if seen.end.torn.is_none() => return self.loaded(seen),
                Ok(_) | Err(StoreFault::Corrupt { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        let _held = self.hold(Mode::Shared)?;
        self.loaded(self.look()?)
    }

    fn loaded(&self, seen: Seen) -> Result<Loaded, StoreFault> {
        let End { head, torn } = seen.end;
        let from = seen.checkpoint.as_ref().map_or(0, |(settled, _)| settled.head.offset);
        let bytes = head.offset.saturating_sub(from);
        if bytes > REBUILD_BYTES_MAX {
            return Err(StoreFault::TooLarge { what: "log without a state", bytes, max: REBUILD_BYTES_MAX });
        }
        self.settle(seen.checkpoint.as_ref().map(|(settled, _)| *settled));
        let checkpoint = seen.checkpoint.map(|(settled, state)| Checkpoint { head: settled.head, state });
        let tail = LogLines::new(Arc::clone(&self.log), &self.place.session, from, head.offset);
        Ok(Loaded { head, checkpoint, tail: Box::new(tail), torn, restored: self.restored(head) })
    }

    fn look(&self) -> Result<Seen, StoreFault> {
        let checkpoint = self.checkpoint()?;
        let (start, more) = checkpoint.as_ref().map_or((Head::EMPTY, true), |found| (found.0.head, found.2));
        let end = if more { self.end(start) } else { Ok(End { head: start, torn: None }) }?;
        Ok(Seen { end, checkpoint: checkpoint.map(|(settled, state, _)| (settled, state)) })
    }

    /// The newest slot that is whole and whose record is in the log, and whether anything follows that record.
    fn checkpoint(&self) -> Result<Option<(Settled, Vec<u8>, bool)>, StoreFault> {
        let Some(state) = self.state()? else { return Ok(None) };
        let drafts = match slots::drafts(state) {
            Ok(drafts) => drafts,
            Err(error) => match StoreFault::unreadable(&self.place.path(STATE), error) {
                planted @ StoreFault::Planted { .. } => return Err(planted),
                // The state is a cache: what cannot be read is folded again.
                _ => return Ok(None),
            },
        };
        for draft in drafts {
            let Label { generation, head, line_bytes } = draft.label;
            let settled = Settled { which: draft.which, generation, seq: head.seq, head };
            let Some(more) = log::follows(&self.log, &head, line_bytes).map_err(|error| self.unreadable(error))? else {
                continue;
            };
            if let Some(bytes) = draft.state(state) {
                return Ok(Some((settled, bytes, more)));
            }
        }
        Ok(None)
    }

    fn end(&self, start: Head) -> Result<End, StoreFault> {
        let len = self.log.metadata().map_err(|error| self.unreadable(error))?.len();
        log::end(&self.log, start, len).map_err(|trouble| self.trouble(trouble))
    }

    /// The state file, opened again when it was not there before.
    fn state(&self) -> Result<Option<&File>, StoreFault> {
        if let Some(state) = self.state.get() {
            return Ok(Some(state));
        }
        let flags = if self.writable { place::READ_WRITE } else { place::READ };
        let opened = self.place.open(&self.root, &[STATE], flags);
        let opened = opened.map_err(|error| StoreFault::unreadable(&self.place.path(STATE), error))?;
        Ok(opened.map(|state| self.state.get_or_init(|| state)))
    }

    /// Commits if the head is still the expected one; `later` where the checkpoint may be left for [`OpenSession::catch_up`].
    pub(super) fn commit(&self, commit: &Commit<'_>, later: bool) -> Result<Attempt, StoreFault> {
        if !self.writable {
            return Err(StoreFault::unwritable(&self.place.path(LOG), Errno::ACCESS));
        }
        let _held = self.hold(Mode::Exclusive)?;
        let metadata = self.log.metadata().map_err(|error| self.unreadable(error))?;
        if metadata.nlink() == 0 {
            return Ok(Attempt::Gone);
        }
        let settled = match self.unmoved(commit.expected, metadata.len()) {
            Some(settled) => settled,
            None => match self.prepare(commit)? {
                Some(settled) => settled,
                None => return Ok(Attempt::Moved),
            },
        };
        let left = later && commit.head.seq.saturating_sub(settled.seq) <= LEFT_RECORDS_MAX;
        // A log whose directory entry is lost with the power is lost whole, so the entry comes first.
        if commit.expected == Head::EMPTY && commit.sync == Sync::Full {
            self.place.sync(&self.root)?;
        }
        let (which, generation) = settled.next();
        let label = Label { generation, head: commit.head, line_bytes: commit.last_line_bytes() };
        let (mut kept, mut fault) = (None, None);
        let appended = log::append(&self.log, commit.expected.offset, commit.lines, || {
            // The checkpoint is made while the disk takes the records: it counts only as long as the log has them.
            let begun = if left { None } else { self.start_pressing(commit) };
            match (!left).then(|| commit.state_bytes()).transpose() {
                Ok(state) => kept = state.map(|state| self.write_slot(which, &label, &state)),
                Err(oversized) => {
                    fault = Some(oversized);
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
            self.press(commit, begun)
        });
        appended.map_err(|error| fault.unwrap_or_else(|| StoreFault::unwritable(&self.place.path(LOG), error)))?;
        *self.left() = left.then_some(Left { which, label });
        self.settle(kept.unwrap_or(Some(Settled { head: commit.head, ..settled })));
        Ok(Attempt::Done)
    }

    /// Whether a checkpoint was left for later.
    pub(super) fn is_behind(&self) -> bool {
        self.left().is_some()
    }

    /// Writes the checkpoint that was left, where its state is known, unless someone committed since: then theirs is newer.
    pub(super) fn catch_up(&self, state: &StateAt<'_>) {
        let Some(left @ Left { which, label }) = *self.left() else { return };
        // Before the lock is taken: others need not wait for that.
        let Some(state) = state(&self.place.session, label.head) else { return };
        let Ok(_held) = self.hold(Mode::Exclusive) else { return };
        // Under the lock, so that what a commit left meanwhile is not lost.
        if self.left().take_if(|now| *now == left).is_none() || state.len() > STATE_BYTES_MAX {
            return;
        }
        if self.log.metadata().is_ok_and(|log| log.nlink() > 0 && log.len() == label.head.offset) {
            self.settle(self.write_slot(which, &label, &state));
        }
    }

    fn left(&self) -> MutexGuard<'_, Option<Left>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What we know of the checkpoint when nothing happened since: every commit makes the log longer.
    fn unmoved(&self, expected: Head, len: u64) -> Option<Settled> {
        let settled = (*self.settled.lock().unwrap_or_else(PoisonError::into_inner))?;
        (settled.head == expected && len == expected.offset).then_some(settled)
    }

    /// Looks again under the lock, cuts a torn tail if that is allowed, and returns the checkpoint that is there.
    fn prepare(&self, commit: &Commit<'_>) -> Result<Option<Settled>, StoreFault> {
        let seen = self.look()?;
        if seen.end.head != commit.expected || (seen.end.torn.is_some() && !commit.cut) {
            return Ok(None);
        }
        if let Some(torn) = seen.end.torn {
            super::disk::cut(&self.log, torn.at)
                .map_err(|error| StoreFault::unwritable(&self.place.path(LOG), error))?;
        }
        Ok(Some(seen.checkpoint.map_or(Settled::NONE, |(settled, _)| settled)))
    }

    /// Writes the checkpoint. Its failure costs the next load a few more lines to fold, nothing else.
    fn write_slot(&self, which: Which, label: &Label, state: &[u8]) -> Option<Settled> {
        let written = self.state_created().is_some_and(|file| slots::write(file, which, label, state).is_ok());
        let settled = Settled { which, generation: label.generation, seq: label.head.seq, head: label.head };
        written.then_some(settled)
    }

    fn state_created(&self) -> Option<&File> {
        if let Some(state) = self.state().ok()? {
            return Some(state);
        }
        let created = self.place.open(&self.root, &[STATE], place::CREATE).ok()??;
        Some(self.state.get_or_init(|| created))
    }

    fn settle(&self, settled: Option<Settled>) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = settled;
    }

    fn hold(&self, mode: Mode) -> Result<lock::Held<'_>, StoreFault> {
        lock::hold(&self.log, &self.turn, mode, &|| self.place.path(LOG))
    }

    fn unreadable(&self, error: io::Error) -> StoreFault {
        StoreFault::unreadable(&self.place.path(LOG), error)
    }

    fn trouble(&self, trouble: Trouble) -> StoreFault {
        match trouble {
            Trouble::Disk(error) => self.unreadable(error),
            Trouble::Damaged { at, why } => StoreFault::corrupt(&self.place.session, at, why),
        }
    }
}

impl From<Attempt> for Committed {
    fn from(attempt: Attempt) -> Self {
        match attempt {
            Attempt::Done => Self::Done,
            Attempt::Moved | Attempt::Gone => Self::Moved,
        }
    }
}
