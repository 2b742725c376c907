//! File policies are looked at by themselves: by a person's command, or where no agent runs.

use serde_json::{Value, json};

use super::Ground;
use crate::completion::files::{fault, findings, shown};
use crate::decision::{Decision, Step};
use crate::files::evaluator::{Evaluated, Evaluator, Outstanding};
use crate::files::memory::Step as Remembering;
use crate::files::queue::Entry;
use crate::files::seen::PolicyFault;
use crate::session::Change;

/// Says what is outstanding; refuses when something is, or when a policy cannot be used.
pub(super) fn decide(ground: &Ground<'_>, base: Option<&str>) -> Step {
    let Ground { stack, session, event, facts } = *ground;
    let evaluator = Evaluator { stack, session, event, facts, message: None, base, idle: None };
    let files = match evaluator.evaluate() {
        Ok(files) => files,
        Err(probes) => return Step::Need(ground.unanswered(probes)),
    };
    let unclear = files.unclear.as_ref().map(|why| fault(why));
    let decision = Decision::merge(findings(&files, |_| true).into_iter().chain(unclear).collect());
    let result = Some(result(&files));
    // Nobody goes on in such a session: it is over until the next look.
    let changes = files.changes.into_iter().chain([Change::Over]).collect();
    super::done(Decision { changes, notes: files.notes, queue: files.queue, result, ..decision })
}

/// A person has everything forgotten.
pub(super) fn clear() -> Step {
    let changes = vec![Change::Files { step: Remembering::Cleared }];
    super::done(Decision { changes, ..Decision::default() })
}

fn result(files: &Evaluated) -> Value {
    let text = shown(files.outstanding.iter(), files).unwrap_or_default();
    json!({
        "outstanding": files.outstanding.iter().map(outstanding).collect::<Vec<_>>(),
        "settled": files.settled.iter().map(settled).collect::<Vec<_>>(),
        "faults": files.faults.iter().map(PolicyFault::to_value).collect::<Vec<_>>(),
        "rewritten": files.rewritten,
        "unclear": files.unclear,
        "text": text,
    })
}

fn outstanding(open: &Outstanding) -> Value {
    let mut value = settled(&open.entry);
    if let Value::Object(value) = &mut value {
        value.insert("pairs".to_owned(), json!(open.firing.pairs));
        value.insert("file".to_owned(), json!(open.firing.file));
        value.insert("left_out".to_owned(), json!(open.firing.left_out));
    }
    value
}

fn settled(entry: &Entry) -> Value {
    json!({
        "policy": entry.policy_name, "name": entry.name, "status": entry.status, "trigger_hash": entry.trigger_hash,
        "baseline_ref": entry.baseline_ref, "trigger_files": entry.trigger_files,
        "expected_files": entry.expected_files, "matched_files": entry.matched_files, "pairs": [],
        "settled_by": entry.settled_by, "action_result": entry.action_result,
    })
}
