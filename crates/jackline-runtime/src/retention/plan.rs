//! Which sessions go, which are shortened, and why the others stay.

use std::collections::BTreeMap;
use std::path::Path;

use jackline_core::files::queue::Entry;
use jackline_core::session::Session;
use serde_json::Value;

use super::{Fate, GONE_SESSION, Planned, Settings, Why, beginning};
use crate::exceptions::Exceptions;
use crate::files;
use crate::files::queue::Queue;
use crate::live::LIVE_MS_MAX;
use crate::loading;
use crate::replay;
use crate::runtime::CHECKING_SESSION;
use crate::store::files::FileStore;
use crate::store::{Head, SessionEntry, Store, StoreFault};

/// The host that records of workflows' runs name.
const RUN_HOST: &str = "workflow";

/// A session as far as it can be read without reading all of its log.
struct Looked {
    entry: SessionEntry,
    first: Value,
    session: Option<Session>,
    head: Head,
    trouble: Option<String>,
}

/// What becomes of every session of a store, the one written last first. Nothing is changed.
///
/// # Errors
/// Why the store does not tell.
pub fn plan(store: &FileStore, state: &Path, settings: &Settings) -> Result<Vec<Planned>, StoreFault> {
    let mut looked = Vec::new();
    for entry in store.sessions()? {
        looked.push(Looked::at(store, entry)?);
    }
    looked.sort_by(|a, b| (b.latest(), &a.entry.id).cmp(&(a.latest(), &b.entry.id)));
    let mut ranks: BTreeMap<String, usize> = BTreeMap::new();
    let mut planned = Vec::new();
    for one in looked {
        let rank = ranks.entry(one.workspace().to_owned()).or_default();
        *rank += 1;
        let fate = one.fate(store, state, settings, *rank)?;
        planned.push(one.planned(fate));
    }
    Ok(planned)
}

impl Looked {
    fn at(store: &FileStore, entry: SessionEntry) -> Result<Self, StoreFault> {
        let first = store.lines(&entry.id, 0)?.next().and_then(Result::ok);
        let first = first.and_then(|line| replay::record(&line).ok()).unwrap_or_default();
        Ok(match loading::load(store, &entry.id) {
            Ok(held) => Self { entry, first, session: Some(held.session), head: held.head, trouble: None },
            Err(fault) => Self { entry, first, session: None, head: Head::EMPTY, trouble: Some(fault.to_string()) },
        })
    }

    fn planned(self, fate: Fate) -> Planned {
        Planned {
            workspace: self.workspace().to_owned(),
            latest: self.latest(),
            bytes: self.entry.bytes,
            head: self.head,
            first: self.first.get("seq").and_then(Value::as_u64).unwrap_or_default(),
            session: self.entry.id,
            fate,
        }
    }

    /// Where it is at home, wherever it has moved to since.
    fn workspace(&self) -> &str {
        let pinned = self.session.as_ref().and_then(|session| session.pin.as_ref());
        let pinned = pinned.map(|pin| pin.home.as_str()).filter(|home| !home.is_empty());
        pinned.unwrap_or_else(|| self.first.get("workspace").and_then(Value::as_str).unwrap_or_default())
    }

    /// The latest time of its own records; where they tell none, its file's.
    fn latest(&self) -> jackline_core::time::Timestamp {
        self.session.as_ref().and_then(|session| session.latest).unwrap_or(self.entry.modified)
    }

    fn fate(&self, store: &FileStore, state: &Path, settings: &Settings, rank: usize) -> Result<Fate, StoreFault> {
        let Some(session) = &self.session else {
            return Ok(Fate::Kept(Why::Broken(self.trouble.clone().unwrap_or_default())));
        };
        if let Some(why) = self.never(settings) {
            return Ok(Fate::Kept(why));
        }
        let why = self.wanted(session, settings, rank).or_else(|| excepted(state, self.workspace(), settings));
        match why {
            None => Ok(match beginning::verified(store, &self.entry.id, self.head)? {
                Ok(()) => Fate::Retired,
                Err(why) => Fate::Kept(why),
            }),
            Some(why) if self.entry.bytes < settings.tail_bytes + settings.beginning_bytes => Ok(Fate::Kept(why)),
            Some(why) => Ok(match beginning::find(store, &self.entry.id, self.head, settings)? {
                Ok(Some(beginning)) => Fate::Shortened(beginning),
                Ok(None) => Fate::Kept(why),
                Err(broken) => Fate::Kept(broken),
            }),
        }
    }

    /// Why it is left alone altogether.
    fn never(&self, settings: &Settings) -> Option<Why> {
        let run = self.first.get("host").and_then(Value::as_str) == Some(RUN_HOST);
        match self.entry.id.as_str() {
            GONE_SESSION => Some(Why::Ours),
            _ if run => Some(Why::Run),
            id if settings.signed.contains(id) => Some(Why::Signed),
            _ => None,
        }
    }

    /// Why it stays, though the beginning of a long log may go.
    fn wanted(&self, session: &Session, settings: &Settings, rank: usize) -> Option<Why> {
        let written = self.latest().max(self.entry.modified);
        let policies = || self.entry.id.starts_with(CHECKING_SESSION) || self.backs(session);
        let reasons = [
            (!settings.is_old(self.latest()), Why::Recent),
            (rank <= settings.keep, Why::Newest),
            (!session.ended && settings.now.since(written) <= LIVE_MS_MAX, Why::Open),
            (session.parked_for().is_some(), Why::Parked),
            (session.todos.open().next().is_some(), Why::Todos),
        ];
        let plain = reasons.into_iter().find(|(holds, _)| *holds).map(|(_, why)| why);
        plain.or_else(|| policies().then_some(Why::Policies))
    }

    /// Whether file policies of its workspace hold it, or rest on what it settled.
    fn backs(&self, session: &Session) -> bool {
        let kept = &session.files.kept;
        if kept.iter().any(|kept| !kept.status.is_settled()) {
            return true;
        }
        let Some(folder) = files::find(Path::new(self.workspace()), None).filter(|_| !kept.is_empty()) else {
            return false;
        };
        let (entries, _) = Queue::of(&folder).all();
        let rests =
            |entry: &Entry| entry.session == self.entry.id && kept.iter().any(|kept| kept.hash == entry.trigger_hash);
        entries.iter().any(rests)
    }
}

/// Exceptions belong to a workspace; while one is in force, what it was granted for and used in stays.
fn excepted(state: &Path, workspace: &str, settings: &Settings) -> Option<Why> {
    // What cannot be told may be in force.
    let none = Exceptions::of(state, workspace).in_force(settings.now).is_ok_and(|known| known.is_empty());
    (!none).then_some(Why::Excepted)
}
