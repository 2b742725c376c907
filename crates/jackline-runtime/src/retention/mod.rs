//! What of a store may go, and how it goes: whole sessions, and the old beginnings of long logs.
//!
//! It decides nothing about calls and is no part of any hook. What it takes away it says in a chain first: in the session's own
//! for a beginning, in the store's for a whole session. So whoever verifies is told what is missing, and since when.

mod act;
mod archive;
mod beginning;
mod gone;
mod plan;

use std::collections::BTreeSet;

use jackline_core::calls::SCAN_BYTES_MAX;
use jackline_core::time::Timestamp;

use crate::carried::Carried;
use crate::store::{Head, Store, StoreFault};

pub use act::{Done, Order, carry_out};
pub use archive::{Archive, ArchiveFault};
pub use gone::{GONE_SESSION, Gone, Graves};
pub use plan::plan;

/// Bytes of a log's end that stay whatever their age: guards look that far back for calls that prove something.
const TAIL_BYTES: u64 = SCAN_BYTES_MAX;
/// Bytes that must go for a log to be written anew: less is not worth the copy.
const BEGINNING_BYTES_MIN: u64 = 64 * 1024;

/// What may go.
#[derive(Debug, Clone)]
pub struct Settings {
    pub now: Timestamp,
    /// Only what has not been written to for this long.
    pub older_than_ms: i64,
    /// Sessions of each workspace that stay whatever their age: the latest ones.
    pub keep: usize,
    /// Sessions of which somebody holds a head elsewhere: they stay whole.
    pub signed: BTreeSet<String>,
    /// Bytes of a log's end that stay.
    pub tail_bytes: u64,
    /// Bytes that must go for a log to be written anew.
    pub beginning_bytes: u64,
}

impl Settings {
    /// What is older than this, with the bounds that guards need.
    #[must_use]
    pub fn older_than(now: Timestamp, older_than_ms: i64) -> Self {
        let (keep, signed) = (0, BTreeSet::new());
        Self { now, older_than_ms, keep, signed, tail_bytes: TAIL_BYTES, beginning_bytes: BEGINNING_BYTES_MIN }
    }

    fn is_old(&self, at: Timestamp) -> bool {
        self.now.since(at) >= self.older_than_ms
    }
}

/// A session, and what is to become of it.
#[derive(Debug, Clone)]
pub struct Planned {
    pub session: String,
    pub workspace: String,
    /// When it was last written to, by its own records.
    pub latest: Timestamp,
    /// Bytes of its log.
    pub bytes: u64,
    pub head: Head,
    /// The first record that is in its log.
    pub first: u64,
    pub fate: Fate,
}

/// What is to become of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    Kept(Why),
    /// All that is kept of it goes.
    Retired,
    /// The beginning of its log goes.
    Shortened(Beginning),
}

/// The part of a log that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    /// Its last record.
    pub last: Head,
    /// How many records it has.
    pub records: u64,
}

/// Why a session stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was written to lately.
    Recent,
    /// It is one of the latest of its workspace.
    Newest,
    /// It goes on.
    Open,
    /// It waits for a person.
    Parked,
    /// It has todos that are not done.
    Todos,
    /// File policies hold it, or were compared to it.
    Policies,
    /// An exception is in force in its workspace.
    Excepted,
    /// Somebody holds a head of it.
    Signed,
    /// It is the run of a workflow.
    Run,
    /// It is the store's own record of what was retired.
    Ours,
    /// Its chain does not hold, or it cannot be read: somebody must look at it.
    Broken(String),
}

impl Why {
    /// The word for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::Newest => "newest",
            Self::Open => "open",
            Self::Parked => "parked",
            Self::Todos => "todos",
            Self::Policies => "policies",
            Self::Excepted => "excepted",
            Self::Signed => "signed",
            Self::Run => "run",
            Self::Ours => "ours",
            Self::Broken(_) => "broken",
        }
    }
}

/// What is known of a session before the first record that is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    pub began: Option<Timestamp>,
    /// Where it is at home.
    pub workspace: Option<String>,
}

/// What was carried over when the records up to `last` were retired tells of a session's beginning.
#[must_use]
pub fn before(store: &dyn Store, session: &str, last: u64) -> Option<Before> {
    let carried = Carried::decode(&store.carried(session, last).ok()??)?;
    Some(Before { began: carried.session.began, workspace: carried.session.pin.map(|pin| pin.home) })
}

/// Why something could not be retired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetentionFault {
    #[error(transparent)]
    Store(#[from] StoreFault),
    #[error(transparent)]
    Archive(#[from] ArchiveFault),
    /// Nothing has changed: the fold of what would be left is not the fold of the whole.
    #[error("session `{session}`: what is left of its log would not lead to the state that it has")]
    Differs { session: String },
}
