//! The store's own chain: which sessions were retired whole, and what their heads were.

use std::collections::BTreeMap;

use jackline_core::audit::{Actor, Record};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde_json::{Value, json};

use crate::replay;
use crate::store::{Commit, Committed, Head, Store, StoreFault, Sync};

/// The session that holds the chain. Hosts' ids are none of ours, and look otherwise.
pub const GONE_SESSION: &str = "store-retired";
/// The kind of its records.
const SESSION_RETIRED: &str = "session.retired";
/// Times that a commit is tried: nobody else writes there but who retires, and one does at a time.
const TRIES_MAX: u32 = 16;

/// A session that was retired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    pub session: String,
    /// The first record that its log had, and the last.
    pub first: u64,
    pub last: u64,
    /// The last one's hash.
    pub hash: Digest,
    pub bytes: u64,
    pub workspace: String,
    /// When it was last written to.
    pub latest: Timestamp,
    /// When it was retired, and who did.
    pub at: Timestamp,
    pub by: String,
    /// Where its records were archived.
    pub archive: Option<String>,
    /// The number of the record that says so; the chain gives it.
    pub record: u64,
}

impl Gone {
    /// Says so in the chain; its head afterwards.
    pub(super) fn say(&self, store: &dyn Store) -> Result<Head, StoreFault> {
        for _ in 0..TRIES_MAX {
            let loaded = store.load(GONE_SESSION)?;
            let mut lines = Vec::new();
            let hash = self.after(loaded.head).link(&mut lines);
            let head = Head { seq: loaded.head.seq + 1, hash, offset: loaded.head.offset + lines.len() as u64 };
            let state = Session::default().encode();
            let cut = loaded.torn.is_some();
            let commit = Commit {
                expected: loaded.head,
                cut,
                // This chain tells of nothing but what went.
                restored: loaded.restored,
                lines: &lines,
                head,
                state: &state,
                sync: Sync::Full,
            };
            if store.commit(GONE_SESSION, &commit)? == Committed::Done {
                return Ok(head);
            }
        }
        Err(StoreFault::Retiring)
    }

    fn after(&self, head: Head) -> Record {
        let data = json!({
            "session": self.session, "first": self.first, "last": self.last, "hash": self.hash.hex(),
            "records": self.last + 1 - self.first.min(self.last), "bytes": self.bytes, "workspace": self.workspace,
            "latest": self.latest.to_string(), "by": self.by, "archive": self.archive,
        });
        Record { data, ..by_person(GONE_SESSION, SESSION_RETIRED, self.at, head) }
    }

    fn read(record: &Value) -> Option<Self> {
        let data =
            record.get("data").filter(|_| record.get("kind").and_then(Value::as_str) == Some(SESSION_RETIRED))?;
        let text = |member: &str| data.get(member).and_then(Value::as_str).map(str::to_owned);
        let number = |member: &str| data.get(member).and_then(Value::as_u64);
        Some(Self {
            session: text("session")?,
            first: number("first")?,
            last: number("last")?,
            hash: Digest::parse(&text("hash")?)?,
            bytes: number("bytes").unwrap_or_default(),
            workspace: text("workspace").unwrap_or_default(),
            latest: Timestamp::parse(&text("latest")?)?,
            at: Timestamp::parse(record.get("at").and_then(Value::as_str)?)?,
            by: text("by").unwrap_or_default(),
            archive: text("archive"),
            record: record.get("seq").and_then(Value::as_u64)?,
        })
    }
}

/// A record of what a person did, after a head.
pub(super) fn by_person(session: &str, kind: &str, at: Timestamp, head: Head) -> Record {
    Record {
        seq: head.seq + 1,
        at,
        session: session.to_owned(),
        workspace: None,
        host: None,
        agent: jackline_core::event::MAIN_AGENT.to_owned(),
        actor: Actor::Human,
        kind: kind.to_owned(),
        call: None,
        step: 0,
        target: None,
        before: Value::Null,
        after: Value::Null,
        definition: Value::Null,
        data: Value::Null,
        changes: Value::Null,
        replayable: true,
        prev_hash: head.hash,
    }
}

/// The sessions that were retired, by id; one that began anew may have been retired more than once.
#[derive(Debug, Clone, Default)]
pub struct Graves(BTreeMap<String, Vec<Gone>>);

impl Graves {
    /// Reads the chain. Whether it holds is the verifier's question.
    ///
    /// # Errors
    /// Why the store does not tell.
    pub fn of(store: &dyn Store) -> Result<Self, StoreFault> {
        let mut graves: BTreeMap<String, Vec<Gone>> = BTreeMap::new();
        for line in store.lines(GONE_SESSION, 0)? {
            if let Some(gone) = replay::record(&line?).ok().and_then(|record| Gone::read(&record)) {
                graves.entry(gone.session.clone()).or_default().push(gone);
            }
        }
        Ok(Self(graves))
    }

    /// The times that a session was retired, the latest last.
    #[must_use]
    pub fn session(&self, id: &str) -> &[Gone] {
        self.0.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}
