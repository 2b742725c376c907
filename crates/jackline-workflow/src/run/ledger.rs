//! Writes a run's records: one hash chain in the store, the same form as every session's. What is sensitive is taken out
//! before anything is written, and whoever watches is shown what was written, nothing else.

use std::sync::{Mutex, PoisonError};

use jackline_core::audit::{ARGUMENT_BYTES_MAX, Actor, Record, clip};
use jackline_core::session::Session;
use jackline_core::sha::Digest;
use jackline_runtime::clock;
use jackline_runtime::store::{Commit, Committed, Head, Loaded, Restored, Store, Sync};
use serde_json::{Map, Value, json};

use super::fault::RunFault;
use super::hidden::Hidden;
use super::kept::Kept;

/// The host that records of runs name.
const HOST: &str = "workflow";

/// Members of an entry that hold words and numbers of our own; a run is taken up again by them.
const OWN: &[&str] = &[
    "kept",
    "status",
    "kind",
    "state",
    "attempt",
    "on_failure",
    "gate",
    "passed",
    "iteration",
    "depth",
    "usage",
    "budget",
    "budgets",
    "iterations",
    "agent_runs",
    "elapsed_ms",
    "delay_ms",
    "spent_ms",
];

/// Bytes of a member that stays whatever else an entry holds: our own words, counts and reasons are far shorter.
const SMALL_BYTES_MAX: usize = 4 * 1024;

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What happened, such as `agent.finished`.
    pub kind: &'static str,
    /// Who it is about; the workflow's name where it is about the whole run.
    pub agent: String,
    /// The step: one try of one agent, or one judgement. Once in a run.
    pub step: Option<String>,
    pub data: Value,
}

impl Entry {
    pub(super) fn new(kind: &'static str, agent: &str, data: Value) -> Self {
        Self { kind, agent: agent.to_owned(), step: None, data }
    }

    pub(super) fn of_step(self, step: &str) -> Self {
        Self { step: Some(step.to_owned()), ..self }
    }
}

/// Is shown what a run records, right after.
pub trait Observer: std::marker::Sync {
    fn saw(&self, entry: &Entry);
}

/// The record of a run.
pub(super) struct Ledger<'a> {
    store: &'a dyn Store,
    run: String,
    workspace: String,
    definition: Value,
    hidden: &'a Hidden,
    pub(super) kept: Kept,
    observer: &'a dyn Observer,
    written: Mutex<Written>,
}

#[derive(Debug, Clone, Copy)]
struct Written {
    head: Head,
    /// Whether what a crash left of a write must be cut first.
    torn: bool,
    /// What was written back after a loss of power, until a record tells of it.
    restored: Option<Restored>,
}

impl Written {
    const fn of(loaded: &Loaded) -> Self {
        Self { head: loaded.head, torn: loaded.torn.is_some(), restored: loaded.restored }
    }

    /// What was done to the log before the next entries.
    fn repairs(self) -> Vec<Entry> {
        let restored = self.restored.map(|Restored { at, bytes }| json!({"restored_at": at, "bytes": bytes}));
        let cut = self.torn.then(|| json!({"cut": true}));
        restored.into_iter().chain(cut).map(|what| Entry::new("session.repaired", HOST, what)).collect()
    }
}

/// What belongs to every record of a run.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) run: String,
    pub(super) workspace: String,
    pub(super) workflow: String,
    pub(super) digest: Digest,
}

impl<'a> Ledger<'a> {
    /// Goes on where the log ends.
    pub(super) fn new(
        store: &'a dyn Store,
        loaded: &Loaded,
        frame: Frame,
        (kept, hidden): (Kept, &'a Hidden),
        observer: &'a dyn Observer,
    ) -> Self {
        let digest = format!("sha256:{}", frame.digest.hex());
        let definition = json!({"ns": "workflow", "key": frame.workflow, "digest": digest});
        let written = Mutex::new(Written::of(loaded));
        let Frame { run, workspace, .. } = frame;
        Self { store, run, workspace, definition, hidden, kept, observer, written }
    }

    /// Records what happened, all of it or nothing; once this returns it survives the end of the process.
    ///
    /// INVARIANT: a crash may leave a prefix of the entries. So the one that has consequences comes last.
    pub(super) fn commit(&self, mut entries: Vec<Entry>) -> Result<(), RunFault> {
        let altered: Vec<bool> = entries.iter_mut().map(|entry| self.clean(&mut entry.data)).collect();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let repairs = written.repairs();
        let repaired = repairs.len();
        entries.splice(0..0, repairs);
        let mut lines = Vec::new();
        let mut head = written.head;
        let whole = std::iter::repeat_n(false, repaired).chain(altered);
        for (entry, altered) in entries.iter().zip(whole) {
            let record = self.record(entry, head, !altered);
            head = Head { seq: record.seq, hash: record.link(&mut lines), offset: 0 };
        }
        head.offset = written.head.offset + lines.len() as u64;
        // What a session's memory would be: a run has none beside its records.
        let state = Session::default().encode();
        let Written { head: expected, torn: cut, restored } = *written;
        let commit = Commit { expected, cut, restored, lines: &lines, head, state: &state, sync: Sync::Full };
        match self.store.commit(&self.run, &commit)? {
            Committed::Done => *written = Written { head, torn: false, restored: None },
            Committed::Moved => return Err(RunFault::Moved),
        }
        // Still under the lock: whoever watches sees things in their order.
        entries.iter().for_each(|entry| self.observer.saw(entry));
        Ok(())
    }

    /// Takes out what is sensitive, then what is too long; whether anything was. The names of an entry's own members are
    /// ours, so that no field of a workflow's can have one of them taken out.
    fn clean(&self, data: &mut Value) -> bool {
        let members = data.as_object_mut().into_iter().flatten();
        let redacted = members
            .filter(|(name, _)| !OWN.contains(&name.as_str()))
            .fold(false, |redacted, (_, value)| self.hidden.clean(value) || redacted);
        clipped(data) || redacted
    }

    fn record(&self, entry: &Entry, after: Head, replayable: bool) -> Record {
        Record {
            seq: after.seq + 1,
            at: clock::now(),
            session: self.run.clone(),
            workspace: Some(self.workspace.clone()),
            host: Some(HOST.to_owned()),
            agent: entry.agent.clone(),
            actor: if entry.kind == "agent.finished" { Actor::Agent } else { Actor::Runtime },
            kind: entry.kind.to_owned(),
            call: entry.step.clone(),
            step: after.seq + 1,
            target: Some(format!("agent:{}", entry.agent)),
            before: Value::Null,
            after: Value::Null,
            definition: self.definition.clone(),
            data: entry.data.clone(),
            changes: Value::Null,
            replayable,
            prev_hash: after.hash,
        }
    }
}

/// Takes out what is too long; whether anything was. Small members stay: what an agent says may be long, and a run is told
/// and taken up again by what stands beside it.
fn clipped(data: &mut Value) -> bool {
    let Some(members) = data.as_object_mut() else { return clip(data, ARGUMENT_BYTES_MAX) };
    let is_small = |value: &Value| value.to_string().len() <= SMALL_BYTES_MAX;
    let (small, large): (Map<_, _>, Map<_, _>) =
        std::mem::take(members).into_iter().partition(|(_, value)| is_small(value));
    // There are few members, so that small ones need no bound together; what is deep is cut in them, too.
    let parts = [(small, usize::MAX), (large, ARGUMENT_BYTES_MAX)];
    parts.into_iter().fold(false, |before, (part, bytes_max)| {
        let mut part = Value::Object(part);
        let cut = clip(&mut part, bytes_max);
        members.extend(part.as_object_mut().map(std::mem::take).into_iter().flatten());
        cut || before
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_members_stay_beside_large_ones() {
        let rows: Vec<Value> = (0..3_000).map(|at| json!({"id": at, "name": format!("row number {at}")})).collect();
        let mut data =
            json!({"answer": {"rows": rows}, "kept": "ab", "attempt": 1, "state": "aa", "reason": "x".repeat(900)});
        assert!(clipped(&mut data));
        assert_eq!((&data["kept"], &data["attempt"], &data["state"]), (&json!("ab"), &json!(1), &json!("aa")));
        assert!(data["reason"].is_string() && data.to_string().len() < 2 * ARGUMENT_BYTES_MAX, "{data}");
        assert!(!clipped(&mut json!({"answer": {"n": 1}, "kept": "ab"})));
    }

    #[test]
    fn what_is_deep_is_cut_however_small_it_is() {
        let mut data = json!({"answer": (0..200).fold(json!(1), |inner, _| json!([inner])), "kept": "ab"});
        assert!(clipped(&mut data));
        assert_eq!(data["kept"], "ab");
    }
}
