//! What a gate says, and what all of them say together.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Gate, Source};
use crate::loop_control::{End, Status};
use crate::visible::visible;

/// Findings that one gate lists; more help nobody.
const FINDINGS_MAX: usize = 50;

/// What one gate says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub gate: Gate,
    pub passed: bool,
    /// Whether it had anything to judge.
    pub applicable: bool,
    /// Whether a run that it rejects is not complete.
    pub blocking: bool,
    /// Why it rejects, in one sentence.
    pub reason: Option<String>,
    pub payload: Payload,
}

/// What exactly is wrong.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Payload {
    /// Declared deliverables that are not there, and those that are empty.
    pub missing: Vec<String>,
    pub empty: Vec<String>,
    /// Where deliverables were declared.
    pub source: Option<Source>,
    /// Everything found, each in one line.
    pub findings: Vec<String>,
    /// Files that must be made anew or mended.
    pub files: Vec<String>,
    /// Of these, what the plan declares and a worker can make: what a repair may ask for.
    #[serde(default)]
    pub makeable: Vec<String>,
    /// What was seen and does not reject.
    pub notes: Vec<String>,
    pub score: Option<f64>,
    /// What the score asks for.
    pub action: Option<Action>,
}

/// What a score that is too low leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    RetryWithRepair,
    /// The run ends, failed.
    FailWorkflow,
}

impl Action {
    /// Its name in reports, as R30 knows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetryWithRepair => "retry_with_repair",
            Self::FailWorkflow => "fail_workflow",
        }
    }
}

impl Outcome {
    /// A gate with nothing to judge.
    pub(super) fn not_applicable(gate: Gate) -> Self {
        Self { applicable: false, ..Self::passed(gate, Payload::default()) }
    }

    pub(super) const fn passed(gate: Gate, payload: Payload) -> Self {
        Self { gate, passed: true, applicable: true, blocking: true, reason: None, payload }
    }

    pub(super) fn rejected(gate: Gate, reason: impl Into<String>, mut payload: Payload) -> Self {
        let more = payload.findings.len().saturating_sub(FINDINGS_MAX);
        payload.findings.truncate(FINDINGS_MAX);
        payload.findings.extend((more > 0).then(|| format!("and {more} more")));
        Self { gate, passed: false, applicable: true, blocking: true, reason: Some(reason.into()), payload }
    }

    /// Rejected if anything was found.
    pub(super) fn of(gate: Gate, reason: &str, payload: Payload) -> Self {
        if payload.findings.is_empty() { Self::passed(gate, payload) } else { Self::rejected(gate, reason, payload) }
    }

    /// Whether it keeps the run from being complete.
    #[must_use]
    pub const fn rejects(&self) -> bool {
        !self.passed && self.blocking
    }

    /// What a worker would have to make, if the defect can be mended by making something: paths, which may be none. What
    /// lies outside of the run, and what the plan does not ask for, is no path of them: nobody could ever bring it.
    #[must_use]
    pub fn repair(&self) -> Option<Vec<String>> {
        let concrete = match self.gate {
            Gate::DeliverablePresence | Gate::Placeholder | Gate::File | Gate::StructuralIntegrity => self.rejects(),
            // A low score, or a file that nobody named, says what is missed and not what to make.
            Gate::Critique | Gate::Deliverable | Gate::Eval => false,
        };
        concrete.then(|| {
            let mut paths = self.payload.makeable.clone();
            paths.sort();
            paths.dedup();
            paths
        })
    }

    /// How it stands, in a word.
    const fn word(&self) -> &'static str {
        match (self.applicable, self.passed, self.blocking) {
            (false, ..) => "does not apply",
            (_, true, _) => "passed",
            (_, false, true) => "rejected",
            (_, false, false) => "warned",
        }
    }

    /// As reports show it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut map = self.payload.fields(self.gate);
        map.insert("gate".to_owned(), json!(self.gate.name()));
        map.insert("passed".to_owned(), json!(self.passed));
        map.insert("applicable".to_owned(), json!(self.applicable));
        map.insert("blocking".to_owned(), json!(self.blocking));
        map.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
        Value::Object(map)
    }

    /// The event of a gate: `{gate, triggered, reason, …}`.
    #[must_use]
    pub fn event(&self) -> Value {
        let mut map = self.payload.fields(self.gate);
        map.insert("gate".to_owned(), json!(self.gate.name()));
        map.insert("triggered".to_owned(), json!(!self.passed));
        map.extend(self.reason.as_ref().map(|reason| ("reason".to_owned(), json!(reason))));
        Value::Object(map)
    }
}

impl Payload {
    /// The payload by itself, as a manager is told it.
    #[must_use]
    pub fn to_json(&self, gate: Gate) -> Value {
        Value::Object(self.fields(gate))
    }

    fn fields(&self, gate: Gate) -> Map<String, Value> {
        let mut map = Map::new();
        if gate == Gate::DeliverablePresence {
            map.insert("missing".to_owned(), json!(self.missing));
            map.insert("empty".to_owned(), json!(self.empty));
            map.extend(self.source.map(|source| ("source".to_owned(), json!(source.name()))));
        }
        map.insert("findings".to_owned(), json!(self.findings));
        let lists = [("files", &self.files), ("notes", &self.notes)];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        map.extend(lists.map(|(name, list)| (name.to_owned(), json!(list))));
        map.extend(self.score.map(|score| ("score".to_owned(), json!(score))));
        map.extend(self.action.map(|action| ("action".to_owned(), json!(action.name()))));
        map
    }
}

/// What all gates say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// One for each gate, in their order.
    pub outcomes: Vec<Outcome>,
    /// How the run ended, if its file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<End>,
}

impl Judgement {
    /// Whether nothing rejects, and the run did not end otherwise.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.otherwise().is_none() && !self.outcomes.iter().any(Outcome::rejects)
    }

    /// How the run ended, if that was not complete.
    fn otherwise(&self) -> Option<&End> {
        self.ended.as_ref().filter(|end| end.status != Status::Complete)
    }

    /// The gates that reject.
    pub fn rejections(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.rejects())
    }

    /// For people: a line for each gate, and what it found.
    #[must_use]
    pub fn human(&self) -> String {
        let mut text = String::new();
        for outcome in &self.outcomes {
            let reason = outcome.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let _ = writeln!(text, "{:<14} {}{reason}", outcome.word(), outcome.gate.name());
            let told = outcome.payload.findings.iter().map(|finding| ("-", finding));
            for (mark, line) in told.chain(outcome.payload.notes.iter().map(|note| ("note:", note))) {
                let _ = writeln!(text, "               {mark} {}", visible(line));
            }
        }
        if let Some(End { status, reason }) = self.otherwise() {
            let _ = writeln!(text, "the run ended {}: {}", status.word(), visible(reason));
        }
        text.push_str(if self.complete() { "the run is complete\n" } else { "the run is not complete\n" });
        text
    }

    /// `{"complete", "gates"}`, with `ended` if that is known.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let gates: Vec<Value> = self.outcomes.iter().map(Outcome::to_json).collect();
        let mut judgement = json!({ "complete": self.complete(), "gates": gates });
        if let (Some(judgement), Some(ended)) = (judgement.as_object_mut(), &self.ended) {
            judgement.insert("ended".to_owned(), json!(ended));
        }
        judgement
    }
}
