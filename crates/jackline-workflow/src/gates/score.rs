//! Scores as gates hold them against what is wanted: from 0 to 1, as thresholds are.

use serde_json::Value;

/// What adding and dividing decimal fractions loses: the mean of three times 0.7 is a little less than 0.7.
const SLACK: f64 = 1e-9;

/// A score; none for what cannot be held against a threshold.
pub(super) fn score_of(value: &Value) -> Option<f64> {
    value.as_f64().filter(|score| (0.0..=1.0).contains(score))
}

/// Whether a score is as high as is wanted.
pub(crate) fn reaches(score: f64, wanted: f64) -> bool {
    score + SLACK >= wanted
}
