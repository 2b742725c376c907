//! A session as a store has it: its checkpoint, and the changes of the records after it folded in.

use jackline_core::session::Session;
use jackline_core::sha::Digest;

use crate::replay::Fold;
use crate::store::{Head, Lines, Store, StoreFault, Torn};

/// What is held of a session between two events.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) session: Session,
    pub(crate) head: Head,
    pub(crate) torn: Option<Torn>,
    /// Bytes that its checkpoint took last.
    pub(crate) bytes: usize,
}

pub(crate) fn load(store: &dyn Store, session: &str) -> Result<Held, StoreFault> {
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
    Ok(Held { session: fold.session, head: loaded.head, torn: loaded.torn, bytes })
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
