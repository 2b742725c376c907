//! Semantic validation: whether an answer that has the right form also answers what was asked.
//!
//! A configured judge is asked once for each answer, unless the agent is surer of it than the threshold. Without a judge
//! nothing is judged. A judge that does not answer, or says nothing that can be read, has not accepted.

mod settings;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde_json::{Value, json};

use crate::ask::{Ask, Question, Usage};
use crate::work::{Work, brief};

pub(crate) use settings::seconds;
pub use settings::{Settings, Unusable};

/// Characters of a reason that is kept.
const REASON_CHARS_MAX: usize = 500;
/// Findings that are kept: an agent mends a few at a time.
const FINDINGS_MAX: usize = 10;
/// Characters of one.
const FINDING_CHARS_MAX: usize = 300;

/// What a judge is told of its work.
const INSTRUCTIONS: &str = "\
You validate the output of another agent. Decide whether it does what its instructions and the task ask for: nothing made \
up, nothing asked for left out, nothing that contradicts itself. Its form was checked already. Accept what is right, also \
where you would have written it differently. When you reject, name each thing that is wrong in `findings`, so that it can \
be mended.";

/// What came of judging.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nobody was asked: the agent is this sure.
    Skipped(f64),
    Accepted {
        reason: String,
    },
    Rejected {
        reason: String,
        findings: Vec<String>,
    },
    /// The judge gave no verdict, and why. That is no acceptance.
    Unjudged(String),
}

/// A verdict, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub verdict: Verdict,
    pub usage: Usage,
}

impl Judged {
    /// Whether the answer may be used.
    #[must_use]
    pub const fn accepted(&self) -> bool {
        matches!(self.verdict, Verdict::Skipped(_) | Verdict::Accepted { .. })
    }

    /// Why it may not.
    #[must_use]
    pub fn objection(&self) -> Option<String> {
        match &self.verdict {
            Verdict::Skipped(_) | Verdict::Accepted { .. } => None,
            Verdict::Rejected { reason, findings } if findings.is_empty() => {
                Some(format!("the judge rejects it: {reason}"))
            }
            Verdict::Rejected { reason, findings } => {
                Some(format!("the judge rejects it: {reason} ({})", findings.join("; ")))
            }
            Verdict::Unjudged(why) => Some(format!("it could not be judged: {why}")),
        }
    }

    /// The event that is recorded of it.
    #[must_use]
    pub fn event(&self, agent: &str) -> Value {
        let (word, detail) = match &self.verdict {
            Verdict::Skipped(confidence) => ("skipped", json!({ "confidence": confidence })),
            Verdict::Accepted { reason } => ("accepted", json!({ "reason": reason })),
            Verdict::Rejected { reason, findings } => ("rejected", json!({"reason": reason, "findings": findings})),
            Verdict::Unjudged(why) => ("unjudged", json!({ "reason": why })),
        };
        let mut event = json!({"agent": agent, "verdict": word, "triggered": !self.accepted()});
        if let (Some(event), Value::Object(detail)) = (event.as_object_mut(), detail) {
            event.extend(detail);
        }
        event
    }
}

/// Judges an answer. `judge` is whoever is configured.
#[must_use]
pub fn judge(settings: &Settings, judge: &dyn Ask, work: &Work<'_>, until: Instant) -> Judged {
    if let Some(confidence) = work.confidence().filter(|confidence| *confidence > settings.skip_above) {
        return Judged { verdict: Verdict::Skipped(confidence), usage: Usage::default() };
    }
    let (input, schema) = (work.told(), schema());
    let question = Question { role: "judge", instructions: INSTRUCTIONS, input: &input, schema: Some(&schema) };
    let until = until.min(Instant::now() + settings.timeout);
    match judge.ask(&question, until) {
        Ok(answer) => Judged { verdict: verdict(&answer.value), usage: answer.usage },
        Err(unanswered) => Judged { verdict: Verdict::Unjudged(unanswered.why), usage: unanswered.usage },
    }
}

/// Reads a judge's answer. A command may answer with more than was asked for, but not with less.
fn verdict(answer: &Value) -> Verdict {
    let Some(accepted) = answer.get("accepted").and_then(Value::as_bool) else {
        return Verdict::Unjudged("the judge's answer has no `accepted` that is true or false".to_owned());
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let reason = brief(&answer.get("reason").and_then(text).unwrap_or_default(), REASON_CHARS_MAX);
    if accepted {
        return Verdict::Accepted { reason };
    }
    let findings = answer.get("findings").and_then(Value::as_array).into_iter().flatten().filter_map(text);
    let findings = findings.take(FINDINGS_MAX).map(|finding| brief(&finding, FINDING_CHARS_MAX)).collect();
    Verdict::Rejected { reason, findings }
}

/// What a judge's answer must fit.
fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["accepted", "reason"],
        "properties": {
            "accepted": {"type": "boolean"},
            "reason": {"type": "string"},
            "findings": {"type": "array", "items": {"type": "string"}},
        },
    })
}
