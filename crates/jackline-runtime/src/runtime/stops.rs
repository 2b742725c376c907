//! Stops: what the person is told of how a run ended, and what becomes of a stop when we cannot decide.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jackline_core::completion::Stopped;
use jackline_core::decision::{Decision, Finding, Note};
use jackline_core::event::{Body, Event};
use jackline_core::probe::Facts;
use jackline_core::redact::Redactor;
use jackline_core::session::Change;
use jackline_core::stack::Stack;
use serde_json::{Value, json};

use super::{Fault, Judging, Runtime, refusal};
use crate::adapters::Message;
use crate::answer::Answer;
use crate::definitions::Standing;
use crate::probes::{Ground, WorkspaceProber};
use crate::store::Sync;

/// Characters of what was open that a person is told; the log has the rest.
const NOTICE_CHARS_MAX: usize = 300;

/// What a person should know of a stop that was let through without everything holding.
pub(super) fn notice(decision: &Decision) -> Option<String> {
    let note = decision.notes.iter().find(|note| note.kind == "stop.decided")?;
    let parked = note.data.get("parked").and_then(Value::as_str);
    let open = || {
        let mut told: Vec<&str> = decision.findings.iter().map(Finding::shown).collect();
        told.dedup();
        told.join(" ")
    };
    let told = match (note.data.get("stopped").and_then(Value::as_str)?, parked) {
        ("fault", None) if !decision.findings.is_empty() => {
            format!("the agent stopped, and nobody judged it: {}", open())
        }
        // What an earlier turn left open was told then.
        ("incomplete", _) if decision.findings.is_empty() => return None,
        ("incomplete", _) => format!("the agent stopped, and it is incomplete: {}", open()),
        (_, Some(reason)) => format!("the agent parked: {reason}"),
        _ => return None,
    };
    let line = told.split_whitespace().filter(|word| !word.contains("blocker>")).collect::<Vec<_>>().join(" ");
    Some(line.chars().take(NOTICE_CHARS_MAX).collect())
}

/// What a person should know of file policies: what the agent gave its word for, and what cannot be used.
pub(super) fn of_policies(decision: &Decision) -> Vec<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut told = Vec::new();
    for note in &decision.notes {
        if note.kind == "policy.settled" && text(&note.data, "settled_by") == "promise" {
            told.push(format!("the agent promised that nothing needs to change: {}", text(&note.data, "name")));
        }
        if note.kind == "policy.settled" && text(&note.data, "settled_by") == "deleted" {
            let name = text(&note.data, "name");
            told.push(format!("a command was not run, since its files are deleted, or links: {name}"));
        }
        if note.kind == "policy.rewrote" {
            let names = listed(&note.data, "names");
            told.push(format!("commands of file policies ({names}) changed {}", listed(&note.data, "files")));
        }
        let faults =
            (note.kind == "policy.faulty").then(|| note.data.get("faults").and_then(Value::as_array)).flatten();
        told.extend(faults.into_iter().flatten().map(|fault| {
            let (file, message) = (text(fault, "file"), text(fault, "message"));
            match fault.get("warning").and_then(Value::as_bool) {
                Some(true) => format!("file policies, `{file}`: {message}"),
                _ => format!("the file policy `{file}` cannot be used: {message}"),
            }
        }));
    }
    told.iter().map(|line| line.chars().take(NOTICE_CHARS_MAX).collect()).collect()
}

/// What a note names, and of files how many more there are.
fn listed(data: &Value, key: &str) -> String {
    let named = data.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let more = data.get("left_out").and_then(Value::as_u64).filter(|more| key == "files" && *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    format!("{}{more}", named.collect::<Vec<_>>().join(", "))
}

impl Runtime {
    /// A fault of ours blocks a stop once and then lets it through, both on record where the store can be used: a
    /// broken guard must not keep an agent running for ever. Whether it blocked before is in the session; where that
    /// cannot be read, the host's own mark of a held stop tells.
    pub(super) fn stop_at_fault(&self, message: &Message, fault: &Fault) -> Option<Answer> {
        let Body::StopRequested(ask) = &message.event.body else { return None };
        // What failed before may fail again here.
        let kept = catch_unwind(AssertUnwindSafe(|| self.keep_fault(message, fault))).ok().flatten();
        Some(kept.unwrap_or_else(|| {
            let decision = at_fault(&message.event, refusal(fault), ask.again);
            let notices = notice(&decision).into_iter().collect();
            Answer { notices, ..Answer::unkept(decision) }
        }))
    }

    fn keep_fault(&self, message: &Message, fault: &Fault) -> Option<Answer> {
        let held = self.load(&message.event.session).ok()?;
        let faulted = held.session.agent(message.event.agent()).is_some_and(|agent| agent.faulted);
        let decision = at_fault(&message.event, refusal(fault), faulted);
        let root = self.definitions.root(held.session.pin.as_ref());
        self.commit(message, &bare(root), held, decision, &Facts::default()).ok()?.ok()
    }
}

fn at_fault(event: &Event, finding: Finding, blocked_before: bool) -> Decision {
    let agent = event.agent().to_owned();
    if !blocked_before {
        let changes = vec![Change::StopBlocked { agent, fault: true }];
        return Decision { changes, ..Decision::merge(vec![finding]) };
    }
    let stopped = Stopped::Fault;
    let data = json!({ "stopped": stopped, "reason": stopped.reason() });
    Decision {
        changes: vec![Change::Stopped { agent, stopped, parked: None }],
        notes: vec![Note { kind: "stop.decided", before: Value::Null, after: Value::Null, data }],
        data: Some(("stopped", json!(stopped))),
        ..Decision::merge(vec![Finding { enforced: false, ..finding }])
    }
}

/// What keeps a record where no definition can be used.
fn bare(root: Option<String>) -> Judging {
    let ground = || Ground { root: "/".into(), home: None, own: Vec::new(), schemas: Default::default() };
    Judging {
        scripts: std::collections::BTreeSet::new(),
        standing: Standing::default().into(),
        adapted: Some(Stack { root: root.unwrap_or_default(), ..Stack::default() }),
        prober: std::sync::LazyLock::new(Box::new(move || WorkspaceProber::new(ground()))),
        redactor: Redactor::new([]),
        sync: Sync::Full,
    }
}
