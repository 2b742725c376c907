//! Checks a log record by record and names the first one that is broken.
//!
//! Shares no code with the writer: the canonical form comes from another implementation, and only the format of
//! the record is known here. A chain proves nothing about a tail that was cut; for that a head must be known. A beginning may
//! be missing only where a record of the chain says that it was retired, and which hash it ended with.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::{
    json::{JSON_DEPTH_MAX, decode_to_depth},
    sha::Digest,
    time::Timestamp,
};

/// Levels of one record: what it wraps may use [`JSON_DEPTH_MAX`], the rest is for the members around it.
pub const RECORD_DEPTH_MAX: usize = JSON_DEPTH_MAX + 32;

/// The largest number that a double, and so RFC 8785, tells from its neighbours.
pub const SEQ_MAX: u64 = (1 << 53) - 1;

/// Sessions in one log. Heads are kept in memory; a million is more than any store we know of holds.
pub const SESSIONS_MAX: usize = 1_000_000;

/// Bytes of a session id. Hosts use UUIDs; the bound keeps the heads small.
pub const SESSION_BYTES_MAX: usize = 1024;

/// The kind of the record that says that those before a certain one were retired.
const RETIRED: &str = "records.retired";

/// How strictly a line is compared with its canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Our own store: a line is its canonical form, byte by byte.
    Ours,
    /// An export that passed through other hands: the same value, however it is spelled.
    Foreign,
}

/// The first record that does not hold, and why.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {why}")]
pub struct Broken {
    /// Line of the log, from 1; one past the last when something is missing at the end.
    pub line: u64,
    /// Number of the record, as far as it could be read.
    pub seq: Option<u64>,
    /// Session of the record, as far as it could be read.
    pub session: Option<String>,
    pub why: String,
}

/// What a log that holds contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The chains, by session id.
    pub sessions: Vec<Chain>,
}

/// One session's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    pub session: String,
    /// Records seen in this log.
    pub records: u64,
    /// Number of the last record.
    pub seq: u64,
    /// Hash of the last record.
    pub head: Digest,
    /// What is missing before the first of them, and who says so.
    pub retired: Option<Retired>,
}

/// The beginning of a chain that is not in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    /// Number of the last record that is missing.
    pub last: u64,
    /// Its hash: what the first record that is left links to.
    pub hash: Digest,
    /// What the chain itself says of it; nothing where only the caller does.
    pub said: Option<Said>,
    /// Numbers of records that are known from elsewhere and are among the missing: they can be compared with nothing.
    pub heads: Vec<u64>,
    /// Whether a known head stands behind the record that says so, or the caller does.
    pub vouched: bool,
}

/// A record's word that those up to a certain one were retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// Its number.
    pub record: u64,
    pub at: Option<Timestamp>,
    /// Digest of the state that was carried over.
    pub carried: Option<Digest>,
}

/// How a chain begins in this log.
#[derive(Debug, Clone, Copy)]
enum Start {
    /// With record 1.
    First,
    /// Later, and the caller says so.
    Told,
    /// Later, at this line, and nobody has said why yet.
    Missing { line: u64 },
    /// Later, and a record says so.
    Said(Said),
}

/// Where a chain stands, and what its first record in this log links to.
#[derive(Debug, Clone, Copy)]
struct Head {
    seq: u64,
    hash: Digest,
    records: u64,
    base: Digest,
    start: Start,
}

impl Head {
    const fn after(seq: u64, hash: Digest, start: Start) -> Self {
        Self { seq, hash, records: 0, base: hash, start }
    }

    /// Number of the record before the first one.
    const fn base_seq(&self) -> u64 {
        self.seq - self.records
    }

    /// Whether a known record was met: in the log, where its hash was compared, or as what the log links to.
    fn covers(&self, seq: u64, hash: Digest) -> bool {
        let base_seq = self.base_seq();
        if seq == base_seq { hash == self.base } else { base_seq < seq && seq <= self.seq }
    }

    /// The same after one more record of its chain.
    fn next(&self, link: &Link) -> Self {
        let says = |word: &&Word| word.last == self.base_seq() && word.hash == self.base;
        let start = match (self.start, link.word.as_ref().filter(says)) {
            (Start::Missing { .. }, Some(word)) => Start::Said(Said { record: link.seq, ..word.said }),
            (start, _) => start,
        };
        Self { seq: link.seq, hash: link.hash, records: self.records + 1, start, ..*self }
    }
}

const START: Head = Head::after(0, Digest::ZERO, Start::First);

/// Checks lines as they come.
#[derive(Debug)]
pub struct Verifier {
    format: Format,
    lines: u64,
    heads: BTreeMap<String, Head>,
    expected: BTreeMap<(String, u64), Digest>,
}

/// Checks a whole log.
pub fn verify(format: Format, log: &[u8]) -> Result<Summary, Broken> {
    let mut verifier = Verifier::new(format);
    log.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| verifier.line(line))?;
    verifier.finish()
}

impl Verifier {
    /// A verifier for whole chains: each session starts at record 1.
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Self { format, lines: 0, heads: BTreeMap::new(), expected: BTreeMap::new() }
    }

    /// The session's records up to `seq` were retired; the next one links to `hash`.
    #[must_use]
    pub fn starting(mut self, session: &str, seq: u64, hash: Digest) -> Self {
        self.heads.insert(session.to_owned(), Head::after(seq, hash, Start::Told));
        self
    }

    /// Record `seq` of the session is known to have this hash: it must occur, so a cut tail is found.
    #[must_use]
    pub fn expecting(mut self, session: &str, seq: u64, hash: Digest) -> Self {
        self.expected.insert((session.to_owned(), seq), hash);
        self
    }

    /// Checks the next line, with or without its line end.
    pub fn line(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.lines += 1;
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        if self.format == Format::Foreign && bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        let mut object = self.read(bytes)?;
        let entry = Entry::read(&object);
        entry.check(self.format, bytes, &mut object).and_then(|link| self.accept(link)).map_err(|why| Broken {
            line: self.lines,
            seq: entry.seq,
            session: entry.session.clone(),
            why,
        })
    }

    /// Gives the chains, unless an expected record never came or a beginning is missing without a word.
    pub fn finish(self) -> Result<Summary, Broken> {
        self.check_beginnings()?;
        self.check_expected()?;
        let chain = |(session, head): (&String, &Head)| Chain {
            session: session.clone(),
            records: head.records,
            seq: head.seq,
            head: head.hash,
            retired: self.retired(session, head),
        };
        Ok(Summary { sessions: self.heads.iter().map(chain).collect() })
    }

    fn check_beginnings(&self) -> Result<(), Broken> {
        let unsaid = |(session, head): (&String, &Head)| match head.start {
            Start::Missing { line } if !self.knows(session, head.base_seq(), head.base) => Some(Broken {
                line,
                seq: Some(head.base_seq() + 1),
                session: Some(session.clone()),
                why: format!(
                    "`seq` is {} where 1 comes next, and no record says that those before it were retired",
                    head.base_seq() + 1
                ),
            }),
            _ => None,
        };
        self.heads.iter().filter_map(unsaid).min_by_key(|broken| broken.line).map_or(Ok(()), Err)
    }

    fn check_expected(&self) -> Result<(), Broken> {
        for ((session, seq), hash) in &self.expected {
            let head = self.heads.get(session).copied().unwrap_or(START);
            if head.covers(*seq, *hash) || *seq < head.base_seq() {
                continue;
            }
            let id = session.escape_debug();
            let why = if *seq == head.base_seq() {
                format!("record {seq} of session `{id}` is retired, and its hash is not the one known from elsewhere")
            } else {
                format!("record {seq} of session `{id}` is known to exist and is not in the log")
            };
            return Err(Broken { line: self.lines + 1, seq: Some(*seq), session: Some(session.clone()), why });
        }
        Ok(())
    }

    fn knows(&self, session: &str, seq: u64, hash: Digest) -> bool {
        self.expected.get(&(session.to_owned(), seq)) == Some(&hash)
    }

    /// What is missing of a chain, once everything else about it holds.
    fn retired(&self, session: &str, head: &Head) -> Option<Retired> {
        let known = || self.expected.keys().filter(|(of, _)| of == session).map(|(_, seq)| *seq);
        let (said, vouched) = match head.start {
            Start::First => return None,
            Start::Told | Start::Missing { .. } => (None, true),
            Start::Said(said) => (Some(said), known().any(|seq| seq >= said.record)),
        };
        let heads = known().filter(|seq| *seq < head.base_seq()).collect();
        Some(Retired { last: head.base_seq(), hash: head.base, said, heads, vouched })
    }

    fn read(&self, bytes: &[u8]) -> Result<Map<String, Value>, Broken> {
        let broken = |why| Broken { line: self.lines, seq: None, session: None, why };
        match decode_to_depth(bytes, RECORD_DEPTH_MAX) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(broken("record is not a JSON object".to_owned())),
            Err(fault) => Err(broken(format!("record is not JSON: {} (column {})", fault.message, fault.column))),
        }
    }

    /// Moves the session's head to the record, if the record is its next one.
    fn accept(&mut self, link: Link) -> Result<(), String> {
        if !self.heads.contains_key(&link.session) && self.heads.len() >= SESSIONS_MAX {
            return Err(format!("log has more than {SESSIONS_MAX} sessions"));
        }
        let head = self.heads.get(&link.session).copied().unwrap_or_else(|| self.beginning(&link));
        let next = head.seq.saturating_add(1);
        if link.seq != next {
            return Err(format!("`seq` is {} where {next} comes next", link.seq));
        }
        if link.prev_hash != head.hash {
            return Err(format!("`prev_hash` is not the hash of record {}", head.seq));
        }
        if link.hash != link.computed {
            return Err(format!("`hash` does not fit the record, which hashes to `{}`", link.computed));
        }
        let next = head.next(&link);
        let place = (link.session, link.seq);
        if self.expected.get(&place).is_some_and(|known| *known != link.hash) {
            return Err("`hash` is not the one known from elsewhere".to_owned());
        }
        self.heads.insert(place.0, next);
        Ok(())
    }

    /// Where a chain begins whose first record this is. Whether it may begin there is known at the end.
    fn beginning(&self, link: &Link) -> Head {
        match link.seq.checked_sub(1) {
            None | Some(0) => START,
            Some(before) => Head::after(before, link.prev_hash, Start::Missing { line: self.lines }),
        }
    }
}

/// What could be read of a record, for naming it even when it is broken.
struct Entry {
    seq: Option<u64>,
    session: Option<String>,
}

/// A record's place in its chain.
struct Link {
    session: String,
    seq: u64,
    prev_hash: Digest,
    hash: Digest,
    computed: Digest,
    word: Option<Word>,
}

/// What a record says of those that were retired.
struct Word {
    last: u64,
    hash: Digest,
    said: Said,
}

impl Word {
    fn read(object: &Map<String, Value>) -> Option<Self> {
        let data = object.get("data").filter(|_| object.get("kind").and_then(Value::as_str) == Some(RETIRED))?;
        let digest = |member: &str| data.get(member).and_then(Value::as_str).and_then(Digest::parse);
        let at = object.get("at").and_then(Value::as_str).and_then(Timestamp::parse);
        let said = Said { record: 0, at, carried: digest("carried") };
        Some(Self { last: data.get("last").and_then(whole)?, hash: digest("hash")?, said })
    }
}

impl Entry {
    fn read(object: &Map<String, Value>) -> Self {
        let session = object.get("session").and_then(Value::as_str);
        let session = session.filter(|session| session.len() <= SESSION_BYTES_MAX).map(str::to_owned);
        Self { seq: object.get("seq").and_then(whole), session }
    }

    fn check(&self, format: Format, bytes: &[u8], object: &mut Map<String, Value>) -> Result<Link, String> {
        let session = self.session.clone().ok_or("`session` is not a short text")?;
        let seq = self.seq.ok_or("`seq` is not a record number")?;
        let prev_hash = digest(object, "prev_hash")?;
        let hash = digest(object, "hash")?;
        if format == Format::Ours && canonical(object)? != bytes {
            return Err("line is not in canonical form".to_owned());
        }
        object.remove("hash");
        let computed = Digest(Sha256::digest(canonical(object)?).into());
        Ok(Link { session, seq, prev_hash, hash, computed, word: Word::read(object) })
    }
}

/// A number by its meaning: `1`, `1.0` and `1e0` are the same record number.
fn whole(value: &Value) -> Option<u64> {
    let double = value.as_f64()?;
    let exact = double >= 0.0 && double.fract() == 0.0 && double <= SEQ_MAX as f64;
    exact.then_some(double as u64)
}

fn digest(object: &Map<String, Value>, member: &str) -> Result<Digest, String> {
    let text = object.get(member).and_then(Value::as_str);
    text.and_then(Digest::parse).ok_or_else(|| format!("`{member}` is not 64 lowercase hexadecimal digits"))
}

fn canonical(object: &Map<String, Value>) -> Result<Vec<u8>, String> {
    serde_json_canonicalizer::to_vec(object).map_err(|error| format!("record has no canonical form: {error}"))
}
