//! Which sessions of a workspace are live: for a surface that is not told which one its calls belong to.

use jackline_core::session::{Key, Session};
use jackline_core::sha::Digest;

use crate::clock;
use crate::runtime::{CHECKING_SESSION, Runtime};
use crate::store::StoreFault;

/// Milliseconds without a record after which a session that nobody ended counts as left behind: a host that crashed
/// leaves one, and a person's break is shorter.
pub const LIVE_MS_MAX: i64 = 60 * 60 * 1_000;
/// Sessions of the whole store that are looked at, each of which is read: people have a handful at once, and machines some
/// hundred. Where there are more, none is meant plainly.
const LOOKED_AT_MAX: usize = 1024;

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
        let here = known.pin.as_ref().is_some_and(|pin| pin.home == standing.stack.root);
        asked_by(&known, call).filter(|_| here && !known.ended).map(str::to_owned)
    }

    /// The live sessions of the workspace, the one written last first.
    ///
    /// # Errors
    /// Why the store does not tell.
    pub fn live(&self) -> Result<Vec<Live>, StoreFault> {
        let Ok(standing) = self.definitions.stack(None, None) else { return Ok(Vec::new()) };
        let now = clock::now();
        let mut entries = self.store.sessions()?;
        entries.retain(|entry| now.since(entry.modified) <= LIVE_MS_MAX);
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
        if entries.len() > LOOKED_AT_MAX {
            return Err(StoreFault::TooMany { what: "sessions that may be live", max: LOOKED_AT_MAX });
        }
        let mut live = Vec::new();
        for entry in entries {
            // A session that cannot be read is nobody's to join.
            let Ok(session) = self.session(&entry.id) else { continue };
            let here = session.pin.as_ref().is_some_and(|pin| pin.home == standing.stack.root);
            if here && !session.ended && !entry.id.starts_with(CHECKING_SESSION) {
                live.push(Live { id: entry.id, session });
            }
        }
        Ok(live)
    }
}
