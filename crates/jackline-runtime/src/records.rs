//! What the log keeps of one event: the event, what changed and deserves a line, and the decision last.
//!
//! INVARIANT: all changes stand on the decision's record, which is written last. A torn write then leaves an event
//! without consequences, never half of them.

use jackline_core::audit::{ARGUMENT_BYTES_MAX, Actor, Record, clip};
use jackline_core::decision::{Decision, Edit, EditTarget, Note, Verdict};
use jackline_core::event::{Body, Event};
use jackline_core::json::canonical;
use jackline_core::operation::Operation;
use jackline_core::probe::Facts;
use jackline_core::redact::Redactor;
use jackline_core::session::{Change, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Stack};
use serde_json::{Map, Value, json};

use crate::runner::Kept;
use crate::runner::artifacts::Artifact;
use crate::store::{Head, Restored, Torn};

/// Bytes that a decision's own data may take; findings and facts are ours and short, but there may be many.
const DECISION_BYTES_MAX: usize = 64 * 1024;

/// Bytes for which there is room before the first record is written: those of an ordinary call take less.
const LINES_BYTES: usize = 4096;

/// Everything the records of one event are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) event: &'a Event,
    /// The event as it was sent.
    pub(crate) raw: &'a Value,
    /// Whether a person's own command sent it.
    pub(crate) by_person: bool,
    /// Whether it was decided by more, or by less, than the record says.
    pub(crate) partial: bool,
    pub(crate) decision: &'a Decision,
    pub(crate) facts: &'a Facts,
    pub(crate) stack: &'a Stack,
    /// The session before the event.
    pub(crate) session: &'a Session,
    pub(crate) torn: Option<Torn>,
    pub(crate) restored: Option<Restored>,
    pub(crate) redactor: &'a Redactor,
    /// Where the event is kept whole, when it is.
    pub(crate) artifact: Option<Artifact>,
}

/// What is worked out once for all records of an event.
#[derive(Debug)]
struct Common {
    step: u64,
    definition: Value,
}

/// Linked record lines, ready to be committed.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) lines: Vec<u8>,
    pub(crate) head: Head,
}

impl Entry<'_> {
    /// Links all records of the event after `head`.
    pub(crate) fn link(&self, head: Head) -> Linked {
        let mut linked = Linked { lines: Vec::with_capacity(LINES_BYTES), head };
        let common = &self.common();
        let offset = head.offset;
        for repair in self.repairs() {
            linked.push(self.record(common, "session.repaired", Actor::Runtime, repair, true));
        }
        linked.push(self.event_record(common));
        for note in &self.decision.notes {
            linked.push(self.note_record(common, note));
        }
        linked.push(self.decision_record(common));
        linked.head.offset = offset + linked.lines.len() as u64;
        linked
    }

    /// What was done to the log before the event.
    fn repairs(&self) -> impl Iterator<Item = Value> {
        let cut = self.torn.map(|Torn { at, bytes }| json!({ "cut_at": at, "bytes": bytes }));
        let restored = self.restored.map(|Restored { at, bytes }| json!({ "restored_at": at, "bytes": bytes }));
        restored.into_iter().chain(cut)
    }

    fn event_record(&self, common: &Common) -> Record {
        let (mut data, whole) = self.presentable(Value::Object(self.event_data()), ARGUMENT_BYTES_MAX);
        if let (Value::Object(data), Some(Artifact { digest, bytes, .. })) = (&mut data, self.artifact) {
            data.insert("artifact".into(), json!({ "sha256": digest.hex(), "bytes": bytes }));
        }
        self.record(common, self.event.body.name(), self.actor(), data, whole)
    }

    /// What an event's record says of it beside what every record says.
    fn event_data(&self) -> Map<String, Value> {
        let is_own = |key: &str| !["event", "session", "at", "agent", "host"].contains(&key);
        let own = self.raw.as_object().into_iter().flatten().filter(|(key, _)| is_own(key));
        own.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// The event's data without secrets, whole, where the record keeps only a part of it and someone will want to see
    /// what went wrong.
    pub(crate) fn clipped_fault(&self) -> Option<Kept> {
        if !went_wrong(self.event, self.decision) {
            return None;
        }
        let (data, _) = self.redactor.value(&Value::Object(self.event_data()));
        let mut shortened = data.clone();
        clip(&mut shortened, ARGUMENT_BYTES_MAX).then(|| Kept::of(&data.to_string(), self.redactor))
    }

    /// Who sent the event: the surface says so, nothing in the event does.
    fn actor(&self) -> Actor {
        match &self.event.body {
            _ if self.by_person => Actor::Human,
            // An agent had the host say it.
            Body::PromptSubmitted { prompt } if self.session.is_scheduled(*prompt) => Actor::Host,
            body => actor(body),
        }
    }

    /// Who did what a note tells of. What is ours to do is the runtime's: to verify, and to add what is required.
    fn doer(&self, note: &Note) -> Actor {
        let Body::Operation { operation, .. } = &self.event.body else { return Actor::Runtime };
        let required = note.kind == "todo.created" && note.after.get("author") == Some(&json!("owner"));
        let verifies = *operation == Operation::TodoVerify && note.before != note.after;
        if required || verifies { Actor::Runtime } else { self.actor() }
    }

    fn note_record(&self, common: &Common, note: &Note) -> Record {
        let (data, whole) = self.presentable(note.data.clone(), DECISION_BYTES_MAX);
        let record = self.record(common, note.kind, self.doer(note), data, whole);
        Record {
            before: self.redactor.value(&note.before).0,
            after: self.redactor.value(&note.after).0,
            target: target(note).or(record.target),
            ..record
        }
    }

    fn decision_record(&self, common: &Common) -> Record {
        let (data, whole) = self.presentable(Value::Object(self.decision_data()), DECISION_BYTES_MAX);
        let changes = serde_json::to_value(&self.decision.changes).unwrap_or_default();
        Record { changes, ..self.record(common, "decision", Actor::Runtime, data, whole) }
    }

    fn decision_data(&self) -> Map<String, Value> {
        let decision = self.decision;
        let facts = self.facts.iter().map(|(probe, fact)| json!({ "probe": probe, "fact": fact }));
        let told = [
            ("verdict", json!(decision.verdict)),
            ("code", json!(decision.code)),
            ("reason", decision.reason.clone().into()),
            ("findings", json!(decision.findings)),
            ("consulted", decision.consulted.iter().map(String::as_str).collect()),
            ("facts", facts.collect()),
        ];
        let optional = [
            ("feedback", decision.feedback.clone().into()),
            ("edits", decision.edits.iter().map(kept_edit).collect()),
            ("constraint", decision.constraint.clone().unwrap_or_default()),
            ("emitted", decision.emitted.iter().cloned().collect()),
            ("stop", json!(decision.stop)),
            ("result", decision.result.clone().unwrap_or_default()),
        ];
        let says = |(_, value): &(&str, Value)| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
        let members = told.into_iter().chain(optional.into_iter().filter(says)).chain(decision.data.clone());
        members.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// A value as it may be kept: without secrets, and short; and whether it is still whole.
    fn presentable(&self, mut value: Value, bytes_max: usize) -> (Value, bool) {
        let redacted = self.redactor.redact(&mut value);
        let clipped = clip(&mut value, bytes_max);
        (value, !redacted && !clipped && !self.partial)
    }

    fn is_second_sighting(&self) -> bool {
        let has = |is: fn(&Change) -> bool| self.decision.changes.iter().any(is);
        has(|change| matches!(change, Change::Sighted { .. }))
            && !has(|change| matches!(change, Change::Requested { .. }))
    }

    /// What all records of the event say.
    fn common(&self) -> Common {
        let call = self.event.call();
        // An outcome belongs to the step that asked for the call, whatever was asked for in between.
        let finished = call.and_then(|call| self.session.step_of(call.id.as_deref()?));
        let asked = match self.event.body {
            // One that was seen before keeps the step that asked for it.
            Body::CallRequested(_) => !self.is_second_sighting(),
            Body::CallSettled(_) => finished.is_none(),
            _ => false,
        };
        let step = if asked { self.session.steps + 1 } else { finished.unwrap_or(self.session.steps) };
        Common { step, definition: definition(self.stack) }
    }

    fn record(&self, common: &Common, kind: &str, actor: Actor, data: Value, whole: bool) -> Record {
        let call = self.event.call();
        Record {
            seq: 0,
            at: self.event.at,
            session: self.event.session.clone(),
            workspace: Some(self.stack.root.clone()).filter(|root| !root.is_empty()),
            host: self.event.host.clone(),
            agent: self.event.agent().to_owned(),
            actor,
            kind: kind.to_owned(),
            call: call.and_then(|call| call.id.clone()),
            step: common.step,
            target: call.map(|call| format!("tool:{}", call.tool)),
            before: Value::Null,
            after: Value::Null,
            definition: common.definition.clone(),
            data,
            changes: Value::Null,
            replayable: whole,
            prev_hash: Digest::ZERO,
        }
    }
}

/// An edit as it is kept. What came back is kept with its event, clipped; of what was shown the hash is enough.
fn kept_edit(edit: &Edit) -> Value {
    let mut kept = json!(edit);
    if let (EditTarget::Output, Value::Object(kept)) = (edit.target, &mut kept) {
        let shown = canonical(&edit.value);
        kept.insert("value".into(), json!({ "sha256": Digest::of(&shown).hex(), "bytes": shown.len() }));
    }
    kept
}

impl Linked {
    fn push(&mut self, record: Record) {
        let record = Record { seq: self.head.seq + 1, prev_hash: self.head.hash, ..record };
        self.head.hash = record.link(&mut self.lines);
        self.head.seq = record.seq;
    }
}

/// The todo or fact that a note is about.
fn target(note: &Note) -> Option<String> {
    let (family, _) = note.kind.split_once('.').filter(|(family, _)| matches!(*family, "todo" | "fact"))?;
    let id = [&note.after, &note.before].into_iter().find_map(|value| value.get("id")?.as_str())?;
    Some(format!("{family}:{id}"))
}

/// Whether the run was halted or held, something of ours failed, or the call itself did.
fn went_wrong(event: &Event, decision: &Decision) -> bool {
    let failed = matches!(&event.body, Body::CallFinished(_, outcome) if !outcome.ok);
    let told = |code: &str| code.starts_with("fault/") || code.starts_with("schema/") || code.starts_with("loop/");
    failed || decision.verdict == Verdict::Halt || decision.findings.iter().any(|finding| told(finding.code.as_str()))
}

const fn actor(body: &Body) -> Actor {
    match body {
        Body::Operation { operation, .. } if operation.is_persons_own() => Actor::Human,
        Body::Operation { .. } => Actor::Agent,
        Body::CallRequested(_)
        | Body::CallSettled(_)
        | Body::OutputProduced(_)
        | Body::StopRequested(_)
        | Body::Park { .. } => Actor::Agent,
        Body::PromptSubmitted { .. }
        | Body::ExceptionGranted(_)
        | Body::ExceptionRevoked(_)
        | Body::Extended(_)
        | Body::PoliciesCleared
        | Body::Resumed => Actor::Human,
        Body::SessionStarted { .. }
        | Body::CallFinished(..)
        | Body::AgentStarted
        | Body::SessionEnded
        | Body::Rerooted { .. }
        | Body::SettingsChanged { .. }
        | Body::Noted { .. }
        | Body::Snapshot { .. }
        | Body::Restore { .. }
        | Body::OverrideSet(_)
        | Body::ToolsListed(_)
        | Body::PoliciesChecked { .. }
        | Body::Reset => Actor::Host,
    }
}

/// Which definition judged: the project's identity and digest, and the other layers' digests where there are any.
fn definition(stack: &Stack) -> Value {
    let Some(face) = stack.face() else { return Value::Null };
    let named = |layer: &Layer| format!("sha256:{}", layer.digest);
    let mut value = json!({ "ns": face.model.agent.ns, "key": face.model.agent.key, "digest": named(face) });
    if let (Value::Object(value), true) = (&mut value, stack.layers.len() > 1) {
        value.insert("layers".into(), stack.layers.iter().map(named).collect());
    }
    value
}
