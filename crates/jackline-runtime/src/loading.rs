//! A session as a store has it: its checkpoint, and the changes of the records after it folded in.

use std::borrow::Cow;
use std::cell::Cell;

use jackline_core::session::Session;
use jackline_core::sha::Digest;

use crate::replay::Fold;
use crate::store::{Head, Lines, Restored, State, Store, StoreFault, Torn};

/// What is held of a session between two events.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) session: Session,
    pub(crate) head: Head,
    pub(crate) torn: Option<Torn>,
    pub(crate) restored: Option<Restored>,
    /// Bytes that its checkpoint took last.
    pub(crate) bytes: usize,
}

/// Bytes by which a checkpoint is expected to grow with one event; more only costs a copy.
const GROWTH_BYTES: usize = 512;

/// A session as a checkpoint keeps it: encoded where that is asked for, in about the room that the last one took.
#[derive(Debug)]
pub(crate) struct Encoding<'a> {
    pub(crate) session: &'a Session,
    /// Bytes that its checkpoint took last.
    pub(crate) bytes: Cell<usize>,
}

impl Encoding<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let encoded = self.session.encode_in_room_of(self.bytes.get() + GROWTH_BYTES);
        self.bytes.set(encoded.len());
        encoded
    }
}

impl State for Encoding<'_> {
    fn bytes(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.encode())
    }
}

impl Held {
    /// It as a checkpoint keeps it.
    pub(crate) fn encoded(&mut self) -> Vec<u8> {
        let encoding = Encoding { session: &self.session, bytes: Cell::new(self.bytes) };
        let encoded = encoding.encode();
        self.bytes = encoded.len();
        encoded
    }
}

/// What is handed on whole from step to step: one place for all of it, which none of them copies.
pub(crate) fn load(store: &dyn Store, session: &str) -> Result<Box<Held>, StoreFault> {
    let loaded = store.load(session)?;
    let checkpoint = loaded.checkpoint.as_ref().and_then(|checkpoint| Session::decode(&checkpoint.state));
    let mut fold = match checkpoint {
        Some(state) => fold(store, session, Fold::from(state), loaded.tail)?,
        // A checkpoint of another version cannot be read: the log is the truth.
        None if loaded.checkpoint.is_some() => whole(store, session, store.lines(session, 0)?)?,
        None => whole(store, session, loaded.tail)?,
    };
    if fold.lost() {
        fold = whole(store, session, store.lines(session, 0)?)?;
    }
    let bytes = loaded.checkpoint.map_or(0, |checkpoint| checkpoint.state.len());
    let (torn, restored) = (loaded.torn, loaded.restored);
    Ok(Box::new(Held { session: fold.session, head: loaded.head, torn, restored, bytes }))
}

/// Folds a log from its first line on.
pub(crate) fn whole(store: &dyn Store, session: &str, lines: Lines) -> Result<Fold, StoreFault> {
    let mut lines = lines.peekable();
    let first = match lines.peek() {
        Some(Ok(first)) => Fold::before(first, &|seq| store.carried(session, seq).ok().flatten()),
        Some(Err(_)) | None => Ok(Fold::default()),
    };
    let fold = fold(store, session, first.map_err(|why| StoreFault::corrupt(session, 0, why))?, Box::new(lines))?;
    if fold.is_unsaid() {
        return Err(StoreFault::corrupt(session, 0, "no record says that its beginning was retired"));
    }
    Ok(fold)
}

fn fold(store: &dyn Store, session: &str, mut fold: Fold, lines: Lines) -> Result<Fold, StoreFault> {
    let stored = |digest: &Digest| store.snapshot_get(session, digest).ok().flatten();
    for line in lines {
        fold.line(&line?, &stored).map_err(|_| unfoldable(session))?;
    }
    Ok(fold)
}

fn unfoldable(session: &str) -> StoreFault {
    StoreFault::corrupt(session, 0, "a record's changes cannot be read")
}
