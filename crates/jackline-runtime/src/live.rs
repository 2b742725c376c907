//! Which sessions of a workspace are live: for a surface that is not told which one its calls belong to.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use jackline_core::decide::awaits;
use jackline_core::event::Event;
use jackline_core::session::{Key, Session};
use jackline_core::sha::Digest;

use crate::clock;
use crate::runtime::{CHECKING_SESSION, Runtime};
use crate::store::StoreFault;
use crate::store::files::FileStore;

/// Milliseconds without a record after which a session that nobody ended counts as left behind: a host that crashed
/// leaves one, and a person's break is shorter.
pub const LIVE_MS_MAX: i64 = 60 * 60 * 1_000;
/// Sessions of the whole store that are looked at, each of which is read: people have a handful at once, and machines some
/// hundred. Where there are more, none is meant plainly.
const LOOKED_AT_MAX: usize = 1024;

/// Seconds for which a list of sessions is taken for the present one, while none is begun: one that was left behind may be
/// taken up again.
const LISTED_SECONDS: u64 = 10;
/// Milliseconds that a change of the directory must be older than a look, so that none is missed within one tick of its clock.
const TICK_MS: u64 = 100;

/// Sessions that may be live, as they were listed.
#[derive(Debug, Clone)]
pub struct Listed {
    ids: Vec<String>,
    at: Instant,
    /// When the last one was begun or removed.
    changed: SystemTime,
}

/// A session that is not over.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    pub id: String,
    pub session: Session,
}

impl Live {
    /// Whether a call of this id was requested in it and has not finished; and by which agent.
    #[must_use]
    pub fn asked_by(&self, call: &str) -> Option<&str> {
        asked_by(&self.session, call)
    }
}

/// The agent that requested the call of this id, while it has not finished.
#[must_use]
pub fn asked_by<'a>(session: &'a Session, call: &str) -> Option<&'a str> {
    let key: Key = Digest::of(call.as_bytes()).short();
    session.open.iter().rev().find(|open| open.is_named(key)).map(|open| open.agent.as_str())
}

impl Runtime {
    /// The agent that requested a call of this id in a session of this workspace, while neither has ended.
    ///
    /// For a surface that is told both by someone whom it need not believe: what the record does not hold is nobody's.
    #[must_use]
    pub fn requested_by(&self, session: &str, call: &str) -> Option<String> {
        let standing = self.definitions.stack(None, None).ok()?;
        let known = self.session(session).ok()?;
        let here = known.pin.as_ref().is_some_and(|pin| pin.home == standing.stack.home());
        asked_by(&known, call).filter(|_| here && !known.ended).map(str::to_owned)
    }

    /// Whether this call, which comes by, is one that a hook let through in that session, and that has not come by yet.
    #[must_use]
    pub fn awaits(&self, live: &Live, event: &Event) -> bool {
        let standing = self.definitions.stack(live.session.pin.as_ref(), None);
        standing.is_ok_and(|standing| awaits(&standing.stack, &live.session, event))
    }

    /// The live sessions of the workspace, the one written last first.
    ///
    /// # Errors
    /// Why the store does not tell.
    pub fn live(&self) -> Result<Vec<Live>, StoreFault> {
        self.live_of(&self.listed()?)
    }

    /// The same, by the list that was made `before`, unless a session was begun since.
    ///
    /// # Errors
    /// Why the store does not tell.
    pub fn live_again(&self, before: &mut Option<Listed>) -> Result<Vec<Live>, StoreFault> {
        let (changed, now) = (self.sessions_changed(), Instant::now());
        let holds = |listed: &&Listed| {
            Some(listed.changed) == changed && listed.at.elapsed() < Duration::from_secs(LISTED_SECONDS)
        };
        if let Some(listed) = before.as_ref().filter(holds) {
            return self.live_of(&listed.ids);
        }
        let ids = self.listed()?;
        let settled = |changed: &SystemTime| changed.elapsed().is_ok_and(|age| age > Duration::from_millis(TICK_MS));
        *before = changed.filter(settled).map(|changed| Listed { ids: ids.clone(), at: now, changed });
        self.live_of(&ids)
    }

    /// When a session was last begun or removed, where that can be told.
    fn sessions_changed(&self) -> Option<SystemTime> {
        let records = FileStore::open(self.state.clone()?).records();
        fs::metadata(records).and_then(|records| records.modified()).ok()
    }

    /// Sessions that were written lately, the last one first.
    fn listed(&self) -> Result<Vec<String>, StoreFault> {
        let now = clock::now();
        let mut entries = self.store.sessions()?;
        entries.retain(|entry| now.since(entry.modified) <= LIVE_MS_MAX);
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
        if entries.len() > LOOKED_AT_MAX {
            return Err(StoreFault::TooMany { what: "sessions that may be live", max: LOOKED_AT_MAX });
        }
        Ok(entries.into_iter().map(|entry| entry.id).filter(|id| !id.starts_with(CHECKING_SESSION)).collect())
    }

    /// Those of them that are this workspace's and not over.
    fn live_of(&self, ids: &[String]) -> Result<Vec<Live>, StoreFault> {
        let Ok(standing) = self.definitions.stack(None, None) else { return Ok(Vec::new()) };
        let mut live = Vec::new();
        for id in ids {
            // A session that cannot be read is nobody's to join.
            let Ok(session) = self.session(id) else { continue };
            let here = session.pin.as_ref().is_some_and(|pin| pin.home == standing.stack.home());
            if here && !session.ended {
                live.push(Live { id: id.clone(), session });
            }
        }
        Ok(live)
    }
}
