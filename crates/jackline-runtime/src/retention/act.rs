//! Takes away what was planned: archived first, said in a chain, then gone.

use std::path::{Path, PathBuf};

use jackline_core::audit::Record;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde_json::json;

use super::gone::{Gone, by_person};
use super::{Archive, Beginning, Fate, GONE_SESSION, Planned, RetentionFault};
use crate::carried::RECORDS_RETIRED;
use crate::checkpoint;
use crate::replay::Fold;
use crate::store::files::{FileStore, Retirement, Retiring};
use crate::store::{Head, Store, StoreFault};

/// Who retires, when, and where to.
#[derive(Debug, Clone)]
pub struct Order {
    pub at: Timestamp,
    pub by: String,
    pub archive: Option<Archive>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It stays, as planned.
    Kept,
    /// Somebody wrote to it since it was looked at: it stays until the next time.
    Moved,
    /// All of it is gone; its archive, if any.
    Retired { archive: Option<PathBuf> },
    /// The beginning of its log is gone; the head afterwards, and the archive, if any.
    Shortened { head: Head, archive: Option<PathBuf> },
}

/// Carries out what was planned for one session, and signs the heads that vouch for it.
///
/// # Errors
/// Why it could not be done; what was to stay is there in any case.
pub fn carry_out(
    store: &FileStore,
    retiring: &Retiring<'_>,
    planned: &Planned,
    order: &Order,
) -> Result<Done, RetentionFault> {
    match &planned.fate {
        Fate::Kept(_) => Ok(Done::Kept),
        Fate::Retired => retire(store, retiring, planned, order),
        Fate::Shortened(beginning) => shorten(store, retiring, (planned, *beginning), order),
    }
}

fn retire(
    store: &FileStore,
    retiring: &Retiring<'_>,
    planned: &Planned,
    order: &Order,
) -> Result<Done, RetentionFault> {
    let archive = archived(store, planned, planned.head, order)?;
    let gone = Gone {
        session: planned.session.clone(),
        first: planned.first,
        last: planned.head.seq,
        hash: planned.head.hash,
        bytes: planned.bytes,
        workspace: planned.workspace.clone(),
        latest: planned.latest,
        at: order.at,
        by: order.by.clone(),
        archive: archive.as_deref().map(shown),
        record: 0,
    };
    let mut said = None;
    let went = retiring.session(&planned.session, planned.head, &mut || {
        said = Some(gone.say(store)?);
        Ok(())
    })?;
    let Some(head) = said.filter(|_| went) else { return Ok(Done::Moved) };
    let kept = checkpoint::kept_below(store.root());
    if let Some(archive) = &order.archive {
        // They are signed, and the archive's records are what they vouch for.
        let _ = archive.take_checkpoints(&planned.session, &kept.of(&planned.session));
    }
    kept.forget(&planned.session);
    sign(store.root(), GONE_SESSION, head, order.at);
    Ok(Done::Retired { archive })
}

fn shorten(
    store: &FileStore,
    retiring: &Retiring<'_>,
    (planned, beginning): (&Planned, Beginning),
    order: &Order,
) -> Result<Done, RetentionFault> {
    let session = planned.session.as_str();
    let Some((carried, steps)) = carry(store, session, beginning.last)? else { return Ok(Done::Moved) };
    let archive = archived(store, planned, beginning.last, order)?;
    let data = json!({
        "first": planned.first, "last": beginning.last.seq, "records": beginning.records, "hash": beginning.last.hash.hex(),
        "bytes": beginning.last.offset, "carried": Digest::of(&carried).hex(), "by": order.by,
        "archive": archive.as_deref().map(shown),
    });
    let workspace = Some(planned.workspace.clone()).filter(|workspace| !workspace.is_empty());
    let word = |head: Head| {
        let record = by_person(session, RECORDS_RETIRED, order.at, head);
        let mut line = Vec::new();
        Record { data: data.clone(), workspace: workspace.clone(), step: steps, ..record }.link(&mut line);
        line
    };
    let retirement = Retirement { last: beginning.last, carried: &carried, word: &word };
    let Some(head) = retiring.records(session, &retirement)? else { return Ok(Done::Moved) };
    sign(store.root(), session, head, order.at);
    Ok(Done::Shortened { head, archive })
}

fn archived(
    store: &FileStore,
    planned: &Planned,
    last: Head,
    order: &Order,
) -> Result<Option<PathBuf>, RetentionFault> {
    order.archive.as_ref().map(|archive| archive.add(store, &planned.session, last)).transpose()
}

/// The state up to a record, once it is sure that what is left leads from it to the state that the whole log leads to; and
/// the steps so far. Nothing when the log does not have that record.
fn carry(store: &FileStore, session: &str, last: Head) -> Result<Option<(Vec<u8>, u64)>, RetentionFault> {
    let unfoldable = || StoreFault::corrupt(session, 0, "a record's changes cannot be read");
    let stored = |digest: &Digest| store.snapshot_get(session, digest).ok().flatten();
    let (mut whole, mut left): (Option<Fold>, Option<(Fold, Vec<u8>)>) = (None, None);
    let mut end = 0;
    for line in store.lines(session, 0)? {
        let line = line?;
        let fold = match &mut whole {
            Some(fold) => fold,
            None => {
                let carried = |seq| store.carried(session, seq).ok().flatten();
                let begun = Fold::before(&line, &carried).map_err(|why| StoreFault::corrupt(session, 0, why))?;
                whole.insert(begun)
            }
        };
        if end == last.offset && left.is_none() {
            let carried = fold.carried(last.seq, last.hash).ok_or_else(unfoldable)?;
            let Ok(begun) = Fold::before(&line, &|_| Some(carried.clone())) else { return Ok(None) };
            left = Some((begun, carried));
        }
        fold.line(&line, &stored).map_err(|_| unfoldable())?;
        if let Some((left, _)) = &mut left {
            left.line(&line, &stored).map_err(|_| unfoldable())?;
        }
        end += line.len() as u64 + 1;
    }
    let (Some(whole), Some((left, carried))) = (whole, left) else { return Ok(None) };
    if !left.is_like(&whole) {
        return Err(RetentionFault::Differs { session: session.to_owned() });
    }
    Ok(Some((carried, whole.session.steps)))
}

/// A signed head behind the record that says so vouches for it. One that cannot be signed is noted by nobody else: the
/// caller shows the head.
fn sign(state: &Path, session: &str, head: Head, at: Timestamp) {
    drop(checkpoint::kept_below(state).sign(session, (head.seq, head.hash), at));
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
