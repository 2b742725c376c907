//! What critics and evaluators say of a run, as far as the manifest configures them. Nobody scores here: an evaluation that
//! is enabled and has no score rejects, critique without any score does not apply.

use serde_json::{Value, json};

use super::running::Running;

/// The score that work needs when the manifest says nothing: the protocol's own.
const MIN_SCORE: f64 = 0.6;

impl Running<'_> {
    /// What the gates are told of critique.
    pub(super) fn critique(&self, settings: &Value) -> Value {
        let enabled = settings.get("enabled").and_then(Value::as_bool).unwrap_or(false);
        let wanted = settings.get("min_score_to_complete").and_then(Value::as_f64).unwrap_or(MIN_SCORE);
        json!({"enabled": enabled, "min_score_to_complete": wanted, "scores": []})
    }

    /// What the gates are told of the evaluation.
    pub(super) fn evaluation(&self) -> Value {
        let settings = &self.settings.evaluation;
        let enabled = settings.get("enabled").and_then(Value::as_bool).unwrap_or(false);
        let thresholds = settings.get("thresholds").cloned().unwrap_or_else(|| json!({}));
        json!({"enabled": enabled, "score": null, "thresholds": thresholds})
    }
}
