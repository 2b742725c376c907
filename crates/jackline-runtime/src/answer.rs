//! A decision together with the record that keeps it: what a surface sends back.

use jackline_core::code::Code;
use jackline_core::decision::{Decision, Edit, Finding, Stop, Verdict};
use jackline_core::sha::Digest;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// What one event is answered with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub verdict: Verdict,
    pub code: Option<Code>,
    pub reason: Option<String>,
    pub findings: Vec<Finding>,
    pub feedback: Option<String>,
    pub edits: Vec<Edit>,
    pub constraint: Option<Value>,
    pub emitted: Vec<Value>,
    pub stop: Option<Stop>,
    /// The number of the decision's record; absent when nothing was kept.
    pub seq: Option<u64>,
    #[serde(serialize_with = "as_hex")]
    pub hash: Option<Digest>,
}

impl Answer {
    /// The answer of a decision whose record is `seq` with `hash`.
    #[must_use]
    pub fn kept(decision: Decision, seq: u64, hash: Digest) -> Self {
        Self { seq: Some(seq), hash: Some(hash), ..Self::unkept(decision) }
    }

    /// The answer of a decision that has no record.
    #[must_use]
    pub fn unkept(decision: Decision) -> Self {
        Self {
            verdict: decision.verdict,
            code: decision.code,
            reason: decision.reason,
            findings: decision.findings,
            feedback: decision.feedback,
            edits: decision.edits,
            constraint: decision.constraint,
            emitted: decision.emitted,
            stop: decision.stop,
            seq: None,
            hash: None,
        }
    }

    /// A refusal that was decided without any guard.
    #[must_use]
    pub fn refusal(finding: Finding) -> Self {
        Self::unkept(Decision::merge(vec![finding]))
    }

    /// The answer on one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and maps with string keys: there is nothing in it that JSON cannot say.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn as_hex<S: Serializer>(hash: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match hash {
        Some(hash) => serializer.serialize_some(&hash.hex()),
        None => serializer.serialize_none(),
    }
}
