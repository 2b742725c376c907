//! Finds the part of a log that may go, and checks the whole chain on the way: what is broken is evidence, and stays.

use jackline_core::audit::{Broken, Format, Verifier};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde::Deserialize;

use super::{Beginning, Settings, Why};
use crate::store::files::FileStore;
use crate::store::{Head, Store, StoreFault};

/// The kind of the last record of an event: only between two events a log may be taken apart.
const EVENT_END: &str = "decision";

#[derive(Deserialize)]
struct Peek<'a> {
    seq: u64,
    hash: &'a str,
    #[serde(borrow)]
    at: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
}

/// Whether the chain of a session holds up to its head; why it stays if not.
pub(super) fn verified(store: &FileStore, session: &str, head: Head) -> Result<Result<(), Why>, StoreFault> {
    walk(store, session, head, &mut |_, _| {})
}

/// The longest part that may go; nothing where too little may.
pub(super) fn find(
    store: &FileStore,
    session: &str,
    head: Head,
    settings: &Settings,
) -> Result<Result<Option<Beginning>, Why>, StoreFault> {
    let (mut found, mut first, mut old): (Option<Beginning>, Option<u64>, bool) = (None, None, true);
    let end_max = head.offset.saturating_sub(settings.tail_bytes);
    let walked = walk(store, session, head, &mut |line, end| {
        if !old || end > end_max {
            return;
        }
        let Ok(Peek { seq, hash, at, kind }) = serde_json::from_slice(line) else { return };
        let first = *first.get_or_insert(seq);
        // In order: behind a record that is young enough to stay, all stay.
        old = Timestamp::parse(&at).is_some_and(|at| settings.is_old(at));
        if let (true, EVENT_END, Some(hash)) = (old, kind.as_ref(), Digest::parse(hash)) {
            found = Some(Beginning { last: Head { seq, hash, offset: end }, records: seq + 1 - first });
        }
    })?;
    Ok(walked.map(|()| found.filter(|found| found.last.offset >= settings.beginning_bytes)))
}

/// Verifies a log, and shows each line with where it ends.
fn walk(
    store: &FileStore,
    session: &str,
    head: Head,
    see: &mut dyn FnMut(&[u8], u64),
) -> Result<Result<(), Why>, StoreFault> {
    let mut verifier = Verifier::new(Format::Ours).expecting(session, head.seq, head.hash);
    let mut end = 0;
    for line in store.lines(session, 0)? {
        let line = line?;
        if let Err(broken) = verifier.line(&line) {
            return Ok(Err(why(&broken)));
        }
        end += line.len() as u64 + 1;
        see(&line, end);
    }
    Ok(verifier.finish().map(drop).map_err(|broken| why(&broken)))
}

fn why(broken: &Broken) -> Why {
    Why::Broken(broken.to_string())
}
