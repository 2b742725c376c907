//! Keeps sessions: record lines in an append-only log, a checkpoint of the state beside it, snapshots by content.
//!
//! A store knows bytes and heads. It does not know guards, events, or what a record says beyond `seq` and `hash`.

mod fault;
pub mod files;
pub(crate) mod link;
pub mod memory;
#[cfg(test)]
mod suite;

use std::borrow::Cow;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;

pub use fault::StoreFault;

/// Bytes of one record line with its line end: arguments and outputs are clipped far below, so longer means damage.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Bytes of one commit: the records of one event, each clipped, with room for a stop that settles hundreds of todos.
pub const COMMIT_BYTES_MAX: usize = 16 << 20;
/// Bytes of a session's state: it is read and written with every event, so it must stay a small multiple of a page.
pub const STATE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a session id: hosts use some forty, and every record repeats it.
pub const SESSION_BYTES_MAX: usize = 4096;
/// Bytes that are looked at together where a line's start is sought: fewer than most lines have.
const PIECE_BYTES: usize = 128;
/// Snapshots of one session: a person keeps a few to go back to, and each may be as large as the state.
pub const SNAPSHOTS_MAX: usize = 16;

/// Bytes of what is carried over a retired beginning: a state and what its snapshots hold, as text that needs several times
/// the room.
pub const CARRIED_BYTES_MAX: usize = 128 << 20;

/// Record lines in order, each without its line end; nothing follows the first fault.
pub type Lines = Box<dyn Iterator<Item = Result<Vec<u8>, StoreFault>> + Send>;

/// Where sessions and their records are kept.
pub trait Store: Send + std::marker::Sync + fmt::Debug {
    /// What is kept of a session; an unknown session is empty.
    fn load(&self, session: &str) -> Result<Loaded, StoreFault>;

    /// Appends `commit.lines` if the head is still `commit.expected`, makes them durable, then writes the checkpoint.
    ///
    /// After a fault nothing of the commit is kept; a checkpoint that could not be written is no fault.
    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreFault>;

    /// Writes checkpoints that commits left for later, in a store that leaves any: of each such session the state at its
    /// head, as far as `state` still knows it. They are caches, so nothing is told.
    fn catch_up(&self, state: &StateAt<'_>) {
        let _ = state;
    }

    /// Every session that has a record, sorted by id.
    fn sessions(&self) -> Result<Vec<SessionEntry>, StoreFault>;

    /// What was carried over when the records up to `seq` were retired; nothing in a store that retires none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn carried(&self, _session: &str, _seq: u64) -> Result<Option<Vec<u8>>, StoreFault> {
        Ok(None)
    }

    /// The record lines of a session that begin at or after the offset `from`, read as they are asked for; an incomplete last line is left out ([`Loaded::torn`] tells of it).
    fn lines(&self, session: &str, from: u64) -> Result<Lines, StoreFault>;

    /// Keeps a state by its content; refused when [`SNAPSHOTS_MAX`] others are kept.
    fn snapshot_put(&self, session: &str, state: &[u8]) -> Result<Digest, StoreFault>;

    /// The state kept under a digest, checked against it.
    fn snapshot_get(&self, session: &str, digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault>;

    /// Forgets a snapshot; one that is not there is forgotten already.
    fn snapshot_drop(&self, session: &str, digest: &Digest) -> Result<(), StoreFault>;

    /// The digests of all snapshots kept, sorted: what a crash left behind can be found and dropped.
    fn snapshots(&self, session: &str) -> Result<Vec<Digest>, StoreFault>;
}

/// The last record of a log: its number, its hash, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub seq: u64,
    pub hash: Digest,
    /// Bytes of the log up to and including the record.
    pub offset: u64,
}

impl Head {
    /// The head of a log without records.
    pub const EMPTY: Self = Self { seq: 0, hash: Digest::ZERO, offset: 0 };
}

impl Default for Head {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// What is kept of a session.
pub struct Loaded {
    pub head: Head,
    /// The newest state whose head is in the log; without one the state is folded from the whole log, or from what was
    /// carried over its retired beginning.
    pub checkpoint: Option<Checkpoint>,
    /// The record lines after the checkpoint up to `head`, oldest first.
    pub tail: Lines,
    /// What follows `head` and is no whole line; a commit with `cut` removes it.
    pub torn: Option<Torn>,
    /// What was given back and no record tells of yet; a commit that tells of it says so.
    pub restored: Option<Restored>,
}

impl Loaded {
    fn empty() -> Self {
        Self { head: Head::EMPTY, checkpoint: None, tail: Box::new(std::iter::empty()), torn: None, restored: None }
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head, checkpoint, tail: _, torn, restored } = self;
        f.debug_struct("Loaded")
            .field("head", head)
            .field("checkpoint", checkpoint)
            .field("torn", torn)
            .field("restored", restored)
            .finish_non_exhaustive()
    }
}

/// A state and the record it was folded up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub head: Head,
    pub state: Vec<u8>,
}

/// An incomplete last line: what a crash left of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn {
    pub at: u64,
    pub bytes: u64,
}

/// Records that a loss of power took from the log, and that were written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    pub at: u64,
    pub bytes: u64,
}

/// Tells the state of a session at a head, where that is known.
pub type StateAt<'a> = dyn Fn(&str, Head) -> Option<Vec<u8>> + 'a;

/// A session's state, made into bytes only where a checkpoint is written.
pub trait State: fmt::Debug {
    /// Its bytes.
    fn bytes(&self) -> Cow<'_, [u8]>;
}

impl State for Vec<u8> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self)
    }
}

/// One step of a session.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'a> {
    /// The head that the caller decided on.
    pub expected: Head,
    /// Whether a torn tail may be cut.
    pub cut: bool,
    /// What the lines tell was given back.
    pub restored: Option<Restored>,
    /// Whole lines, each ending in `\n`.
    pub lines: &'a [u8],
    /// The head afterwards.
    pub head: Head,
    /// The state afterwards.
    pub state: &'a dyn State,
    pub sync: Sync,
}

/// How far a commit goes before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// To the disk: survives a loss of power.
    Full,
    /// To the operating system: survives the end of the process, however sudden.
    Os,
}

/// What became of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Committed {
    Done,
    /// Someone committed in between, or the session is gone; nothing was written. Load again.
    Moved,
}

/// A session as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    pub id: String,
    /// Bytes of the log.
    pub bytes: u64,
    pub modified: Timestamp,
}

impl Commit<'_> {
    /// Checks what every store must be able to rely on, before anything is touched.
    fn check(&self) -> Result<(), StoreFault> {
        within("commit", self.lines.len(), COMMIT_BYTES_MAX)?;
        // In what is no longer than a record may be, no record is.
        if self.lines.len() > RECORD_BYTES_MAX {
            self.each_line().try_for_each(|line| within("record", line.len(), RECORD_BYTES_MAX))?;
        }
        let Some(last) = self.last_line() else {
            return Err(StoreFault::Malformed { why: "its lines do not end in a line end" });
        };
        let records = self.lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        if self.expected.offset.checked_add(self.lines.len() as u64) != Some(self.head.offset) {
            return Err(StoreFault::Malformed { why: "its head is not where its lines end" });
        }
        if self.expected.seq.checked_add(records) != Some(self.head.seq) {
            return Err(StoreFault::Malformed { why: "its head does not count its lines" });
        }
        if link::head(last, self.head.offset) != Some(self.head) {
            return Err(StoreFault::Malformed { why: "its head is not its last line" });
        }
        Ok(())
    }

    fn each_line(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split_inclusive(|byte| *byte == b'\n')
    }

    /// The state as it may be kept.
    fn state_bytes(&self) -> Result<Cow<'_, [u8]>, StoreFault> {
        let state = self.state.bytes();
        within("state", state.len(), STATE_BYTES_MAX).map(|()| state)
    }

    /// The last line with its end; nothing when the lines do not end in one.
    fn last_line(&self) -> Option<&[u8]> {
        let before = self.lines.strip_suffix(b"\n")?;
        self.lines.get(line_start(before)..)
    }

    /// Bytes of the last line with its line end.
    fn last_line_bytes(&self) -> usize {
        self.last_line().map_or(0, <[u8]>::len)
    }
}

/// Where the last of some lines starts; whole pieces without a line end are passed over at once.
fn line_start(lines: &[u8]) -> usize {
    let mut start = lines.len();
    for piece in lines.rchunks(PIECE_BYTES) {
        start -= piece.len();
        if piece.contains(&b'\n') {
            return start + piece.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        }
    }
    0
}

fn check_session(session: &str) -> Result<(), StoreFault> {
    within("session id", session.len(), SESSION_BYTES_MAX)
}

fn within(what: &'static str, bytes: usize, max: usize) -> Result<(), StoreFault> {
    if bytes <= max { Ok(()) } else { Err(StoreFault::TooLarge { what, bytes: bytes as u64, max: max as u64 }) }
}

/// Milliseconds since 1970; a file's time before that counts as 1970.
fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
