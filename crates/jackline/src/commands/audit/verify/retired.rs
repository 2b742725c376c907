//! What `audit verify` says of records that were retired: told, never taken for fine, and never for forged.

use jackline_core::audit::{Broken, Retired, Summary};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use jackline_runtime::replay;
use jackline_runtime::retention::{GONE_SESSION, Gone};
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::Value;

use super::Known;
use crate::error::CommandError;
use crate::timeline;

/// Numbers of retired records that are named on a line; more are counted.
const NAMED_MAX: usize = 5;

/// A known head of a session that was retired whole.
pub(super) struct GoneHead {
    gone: Gone,
    seq: u64,
}

/// What is missing of a chain, in words; `doubted` where heads are known and none stands behind it.
pub(super) fn words(retired: &Retired, doubted: bool) -> Vec<String> {
    let when = retired.said.and_then(|said| said.at).map(|at| format!(" on {}", day(at))).unwrap_or_default();
    let by = retired.said.map(|said| format!(" (record {})", said.record)).unwrap_or_default();
    let mut lines = vec![format!("records 1 to {} were retired{when}{by}", retired.last)];
    if !retired.heads.is_empty() {
        let named: Vec<String> = retired.heads.iter().take(NAMED_MAX).map(u64::to_string).collect();
        let more = retired.heads.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (are, their) = if retired.heads.len() == 1 { ("is", "its") } else { ("are", "their") };
        let named = named.join(", ");
        lines
            .push(format!("record {named}{more} of a known head {are} retired: what is left cannot show {their} hash"));
    }
    lines.extend(doubted.then(|| {
        "no known head stands behind that: note or sign a head after `jackline store gc`, or look who did it".to_owned()
    }));
    lines
}

/// What was carried over, where it is not what the chain says.
pub(super) fn changed(store: &FileStore, summary: &Summary) -> Result<Option<Broken>, CommandError> {
    for chain in &summary.sessions {
        let Some(retired) = &chain.retired else { continue };
        let carried = store.carried(&chain.session, retired.last)?.map(|bytes| Digest::of(&bytes));
        if carried.is_none() || carried != retired.said.and_then(|said| said.carried) {
            let what = if carried.is_none() { "is missing" } else { "was changed" };
            return Ok(Some(Broken {
                line: 1,
                seq: Some(retired.last + 1),
                session: Some(chain.session.clone()),
                why: format!("the state that was carried over its retired beginning {what}"),
            }));
        }
    }
    Ok(None)
}

/// Known heads that the log must hold, and known heads of what is gone.
type Split<'a> = (Vec<&'a Known>, Vec<GoneHead>);

/// The known heads that the log must hold, and those of which the session was retired whole since.
pub(super) fn split<'a>(
    store: &FileStore,
    known: Vec<&'a Known>,
    graves: &[Gone],
) -> Result<Result<Split<'a>, Broken>, CommandError> {
    if graves.is_empty() || known.is_empty() {
        return Ok(Ok((known, Vec::new())));
    }
    let (mut here, mut gone) = (Vec::new(), Vec::new());
    for head in known {
        let covering = graves.iter().rev().filter(|grave| head.seq <= grave.last);
        // The last record's hash is in the grave; of one before it, nothing is.
        let fits = |grave: &&Gone| head.seq < grave.last || head.hash == grave.hash;
        match (covering.clone().find(fits), covering.clone().next()) {
            (_, None) => here.push(head),
            _ if holds(store, head)? => here.push(head),
            (Some(grave), _) => gone.push(GoneHead { gone: grave.clone(), seq: head.seq }),
            (None, Some(_)) => {
                return Ok(Err(Broken {
                    line: 1,
                    seq: Some(head.seq),
                    session: Some(head.session.clone()),
                    why: "it is retired, and its hash is not the one known from elsewhere".to_owned(),
                }));
            }
        }
    }
    Ok(Ok((here, gone)))
}

/// Whether the log of a session that began anew holds a head.
fn holds(store: &FileStore, head: &Known) -> Result<bool, CommandError> {
    for line in store.lines(&head.session, 0)? {
        let Ok(record) = replay::record(&line?) else { continue };
        if record.get("seq").and_then(Value::as_u64) == Some(head.seq) {
            return Ok(timeline::text(&record, "hash") == head.hash.hex());
        }
    }
    Ok(false)
}

impl GoneHead {
    /// Whether a known head of the store's own chain stands behind the record that says so.
    pub(super) fn is_vouched(&self, heads: &[Known]) -> bool {
        heads.iter().any(|known| known.session == GONE_SESSION && known.seq >= self.gone.record)
    }

    pub(super) fn words(&self, doubted: bool) -> String {
        let Gone { session, first, last, record, .. } = &self.gone;
        let (session, when) = (timeline::shown(session), day(self.gone.at));
        let hash =
            if self.seq == *last { "its hash is the one that is known" } else { "nothing is left to show its hash" };
        let doubt = if doubted {
            format!("; no known head stands behind that: note or sign one of `{GONE_SESSION}`, or look who did it")
        } else {
            String::new()
        };
        format!(
            "{session}: records {first} to {last} were retired on {when} (record {record} of {GONE_SESSION}); record {} is retired, {hash}{doubt}",
            self.seq
        )
    }
}

fn day(at: Timestamp) -> String {
    at.to_string().get(..10).unwrap_or_default().to_owned()
}
