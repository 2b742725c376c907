//! What a critic says: a score, and what is wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::work::brief;

/// Defects of one review: a worker mends a few at a time.
const DEFECTS_MAX: usize = 10;
/// Characters of a description or a fix.
const TEXT_CHARS_MAX: usize = 300;
/// The category of defects that are in none of those that were given.
pub(super) const OTHER: &str = "other";

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    pub category: String,
    pub description: String,
    /// What would mend it; empty when nothing is known.
    pub fix: String,
}

/// What a critic says of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// From 0 to 1.
    pub score: f64,
    pub defects: Vec<Defect>,
}

impl Review {
    /// Reads a critic's answer; why it is no review, if it is none.
    pub(super) fn read(answer: &Value, categories: &[String]) -> Result<Self, String> {
        let score = answer.get("score").and_then(Value::as_f64).filter(|score| (0.0..=1.0).contains(score));
        let score = score.ok_or("the critic's answer has no `score` from 0 to 1")?;
        let defects = answer.get("defects").and_then(Value::as_array).into_iter().flatten();
        let defects = defects.filter_map(|defect| Defect::read(defect, categories)).take(DEFECTS_MAX).collect();
        Ok(Self { score, defects })
    }

    /// The event that is recorded of it.
    pub(super) fn event(&self, agent: &str, attempt: u32) -> Value {
        json!({"agent": agent, "attempt": attempt, "score": self.score, "defects": self.defects})
    }
}

impl Defect {
    /// None when nothing is described.
    fn read(defect: &Value, categories: &[String]) -> Option<Self> {
        let text = |key: &str| brief(defect.get(key).and_then(Value::as_str).unwrap_or_default(), TEXT_CHARS_MAX);
        let description = text("description");
        let category = text("category").to_lowercase();
        let category = if categories.contains(&category) { category } else { OTHER.to_owned() };
        (!description.is_empty()).then(|| Self { category, description, fix: text("fix") })
    }
}

/// The first category with more defects in the answers of so many workers than the cap lets them have; 0 is no cap.
#[must_use]
pub fn over(defects: &[Defect], cap: u64, workers: u64) -> Option<&str> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    defects.iter().for_each(|defect| *counts.entry(&defect.category).or_default() += 1);
    let most = cap.saturating_mul(workers.max(1));
    counts.into_iter().find(|(_, count)| cap > 0 && *count > most).map(|(category, _)| category)
}

/// What a critic's answer must fit.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["score", "defects"],
        "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "defects": {"type": "array", "items": {
                "type": "object",
                "required": ["category", "description"],
                "properties": {
                    "category": {"type": "string"},
                    "description": {"type": "string"},
                    "fix": {"type": "string"},
                },
            }},
        },
    })
}
