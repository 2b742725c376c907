//! Reads the log back: the changes of a record for the fold, and whole decisions for replay and `explain`.

use std::cell::Cell;
use std::collections::BTreeMap;

use jackline_core::event::{self, Event};
use jackline_core::json;
use jackline_core::probe::{Fact, Facts, Probe};
use jackline_core::session::{Change, Memory, Session};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde_json::{Map, Value};

use crate::carried::{Carried, RECORDS_RETIRED};
use crate::store::link;

/// The changes that a record line carries, with its time; `None` for a record without any.
///
/// # Errors
/// Why the line is no record of ours.
pub fn changes(line: &[u8]) -> Result<Option<(Timestamp, Vec<Change>)>, String> {
    let record: Value = serde_json::from_slice(line).map_err(|fault| fault.to_string())?;
    let Some(changes) = record.get("changes").filter(|changes| !changes.is_null()) else { return Ok(None) };
    let changes = serde_json::from_value(changes.clone()).map_err(|fault| fault.to_string())?;
    Ok(Some((time(&record)?, changes)))
}

/// Folds record lines into a session.
///
/// The log alone says what a snapshot held: the memory at the record that took it. The store's copy is a shortcut,
/// and is gone once the name was taken again.
#[derive(Debug, Default)]
pub struct Fold {
    pub session: Session,
    /// What snapshots held that were taken in the lines so far, and still have a name.
    taken: BTreeMap<Digest, Vec<u8>>,
    lost: Cell<bool>,
    /// The last record that was retired, and the digest of what was carried over it, until a record says so.
    unsaid: Option<(u64, Digest)>,
}

impl Fold {
    /// Goes on from a state.
    #[must_use]
    pub fn from(session: Session) -> Self {
        Self { session, ..Self::default() }
    }

    /// What a log that begins with this line is folded upon: nothing, or what was `carried` over its retired beginning.
    ///
    /// # Errors
    /// Why there is nothing that it could go on from.
    pub fn before(first: &[u8], carried: &dyn Fn(u64) -> Option<Vec<u8>>) -> Result<Self, &'static str> {
        let Some((last, hash)) = link::before(first).and_then(|(seq, hash)| Some((seq.checked_sub(1)?, hash))) else {
            return Ok(Self::default());
        };
        if last == 0 {
            return Ok(Self::default());
        }
        let bytes = carried(last).ok_or("what was carried over its retired beginning is missing")?;
        let known = Carried::decode(&bytes).filter(|known| known.seq == last && known.hash == hash);
        let known = known.ok_or("what was carried over its retired beginning cannot be read")?;
        let unsaid = Some((last, Digest::of(&bytes)));
        Ok(Self { taken: known.snapshots(), session: known.session, unsaid, ..Self::default() })
    }

    /// What is carried over when the records so far are retired, the last of them with this number and hash.
    #[must_use]
    pub fn carried(&self, seq: u64, hash: Digest) -> Option<Vec<u8>> {
        let memory = |(digest, bytes): (&Digest, &Vec<u8>)| Some((digest.hex(), Memory::decode(bytes)?));
        let taken = self.taken.iter().map(memory).collect::<Option<_>>()?;
        Carried { seq, hash, session: self.session.clone(), taken }.encode()
    }

    /// Whether both lead to the same, now and whatever is gone back to.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.session == other.session && self.taken == other.taken && !self.lost() && !other.lost()
    }

    /// Whether it goes on from something of which no record says that it was carried over.
    #[must_use]
    pub fn is_unsaid(&self) -> bool {
        self.unsaid.is_some()
    }

    /// Folds one line; `stored` gives a snapshot that was taken before the first of them.
    ///
    /// # Errors
    /// Why the line is no record of ours.
    pub fn line(&mut self, line: &[u8], stored: &dyn Fn(&Digest) -> Option<Vec<u8>>) -> Result<(), String> {
        self.hear(line);
        let Some((at, changes)) = changes(line)? else { return Ok(()) };
        for change in &changes {
            if let Change::Snapshot { digest, .. } = change {
                self.taken.insert(*digest, self.session.memory.encode());
            }
        }
        let held = |digest: &Digest| {
            let held = self.taken.get(digest).cloned().or_else(|| stored(digest));
            self.lost.set(self.lost.get() || held.is_none());
            held
        };
        self.session.apply(at, &changes, &held);
        let named = &self.session.snapshots;
        self.taken.retain(|digest, _| named.iter().any(|(_, known)| known == digest));
        Ok(())
    }

    /// Takes a record's word for what was carried over.
    fn hear(&mut self, line: &[u8]) {
        let Some((last, digest)) = self.unsaid else { return };
        let Ok(record) = record(line) else { return };
        let said = |member: &str| record.get("data").and_then(|data| data.get(member));
        let same = said("last").and_then(Value::as_u64) == Some(last)
            && said("carried").and_then(Value::as_str).and_then(Digest::parse) == Some(digest);
        if same && record.get("kind").and_then(Value::as_str) == Some(RECORDS_RETIRED) {
            self.unsaid = None;
        }
    }

    /// Whether a snapshot was gone back to that is neither in the lines nor in the store.
    #[must_use]
    pub fn lost(&self) -> bool {
        self.lost.get()
    }
}

/// The event that a record of one keeps.
///
/// # Errors
/// Why it cannot be read back.
pub fn event(record: &Value) -> Result<Event, String> {
    let mut fields: Map<String, Value> = record.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
    for (field, member) in
        [("event", "kind"), ("session", "session"), ("at", "at"), ("agent", "agent"), ("host", "host")]
    {
        fields.insert(field.to_owned(), record.get(member).cloned().unwrap_or_default());
    }
    event::read(&Value::Object(fields), time(record)?).map_err(|fault| fault.to_string())
}

/// The facts that a decision's record keeps.
#[must_use]
pub fn facts(record: &Value) -> Facts {
    let mut facts = Facts::default();
    let kept = record.pointer("/data/facts").and_then(Value::as_array).into_iter().flatten();
    for pair in kept {
        let probe: Option<Probe> = pair.get("probe").and_then(|probe| serde_json::from_value(probe.clone()).ok());
        let fact: Option<Fact> = pair.get("fact").and_then(|fact| serde_json::from_value(fact.clone()).ok());
        if let (Some(probe), Some(fact)) = (probe, fact) {
            facts.keep(probe, fact);
        }
    }
    facts
}

/// A record line as JSON.
///
/// # Errors
/// Why it is none.
pub fn record(line: &[u8]) -> Result<Value, String> {
    json::decode_to_depth(line, jackline_core::audit::RECORD_DEPTH_MAX).map_err(|fault| fault.to_string())
}

fn time(record: &Value) -> Result<Timestamp, String> {
    record
        .get("at")
        .and_then(Value::as_str)
        .and_then(Timestamp::parse)
        .ok_or_else(|| "the record has no time".to_owned())
}
