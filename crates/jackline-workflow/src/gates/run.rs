//! What a run was asked for and what its manager says, read from JSON. Values that a gate judges are kept as they came.

use std::collections::BTreeMap;

use jackline_core::definition::fault::quoted;
use jackline_core::json::{JsonFault, decode};
use jackline_core::nearest::slip;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Gate;
use crate::loop_control::End;

/// What a run was asked for, and what its manager says of it. Members that no gate asks about are left alone.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Run {
    pub task: String,
    /// Where deliverables belong; relative ones are seen from where the run's file is.
    pub output_dir: Option<String>,
    pub workspace_dir: Option<String>,
    pub plan: Planned,
    /// What the manager says came out.
    pub final_result: Value,
    pub critique: Critique,
    pub evaluation: Evaluation,
    /// Gates that only warn: `{"deliverable": "warn"}`.
    pub gates: BTreeMap<String, String>,
    /// How the run ended, if it did: one that did not end complete is not, whatever the gates say.
    pub ended: Option<End>,
}

/// The plan, as far as it declares deliverables.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Planned {
    pub subtasks: Vec<Subtask>,
}

/// A subtask, as far as it declares deliverables.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Subtask {
    pub description: Value,
    pub success_criteria: Value,
    pub required_outputs: Value,
    /// Whether a breaker put it into the plan: what it asks for comes to what the plan declares, in place of nothing.
    pub repair: bool,
}

/// What critics said of the latest work.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Critique {
    pub enabled: bool,
    pub min_score_to_complete: f64,
    pub scores: Vec<Value>,
}

impl Default for Critique {
    fn default() -> Self {
        Self { enabled: false, min_score_to_complete: 0.6, scores: Vec::new() }
    }
}

/// What the evaluation of the whole run came to.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Evaluation {
    pub enabled: bool,
    pub score: Value,
    /// What keeps the score from being higher.
    pub findings: Vec<String>,
    pub thresholds: Thresholds,
}

/// Scores that divide acceptance, repair and failure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thresholds {
    pub accept: f64,
    pub retry: f64,
    pub fail: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { accept: 0.85, retry: 0.65, fail: 0.4 }
    }
}

/// Why a run's file says nothing that gates could judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    Json(#[from] JsonFault),
    #[error("{0}")]
    Shape(String),
    #[error("`gates.{name}` is `{value}`, which no gate of that name can be")]
    Leniency { name: String, value: String },
    #[error("`critique.min_score_to_complete` must lie between 0 and 1")]
    Minimum,
    #[error("`thresholds` must satisfy 1 >= accept >= retry >= fail >= 0")]
    Thresholds,
}

impl Run {
    /// Reads a run's file.
    ///
    /// # Errors
    /// When it is no JSON object of the documented shape, or lets a gate be silent that must speak.
    pub fn read(text: &[u8]) -> Result<Self, Unusable> {
        let Value::Object(mut members) = decode(text)? else {
            return Err(Unusable::Shape("a run is a JSON object".to_owned()));
        };
        without_nulls(&mut members);
        misshapen(&members).map_or(Ok(()), |why| Err(Unusable::Shape(why)))?;
        let run: Self =
            serde_json::from_value(Value::Object(members)).map_err(|error| Unusable::Shape(error.to_string()))?;
        run.checked()
    }

    fn checked(self) -> Result<Self, Unusable> {
        for (name, value) in &self.gates {
            let gate = Gate::ALL.iter().find(|gate| gate.name() == name);
            let fine =
                value == "block" && gate.is_some() || value == "warn" && gate.is_some_and(|gate| gate.may_warn());
            if !fine {
                return Err(Unusable::Leniency { name: name.clone(), value: value.clone() });
            }
        }
        if !(0.0..=1.0).contains(&self.critique.min_score_to_complete) {
            return Err(Unusable::Minimum);
        }
        let Thresholds { accept, retry, fail } = self.evaluation.thresholds;
        let ordered = 1.0 >= accept && accept >= retry && retry >= fail && fail >= 0.0;
        if ordered { Ok(self) } else { Err(Unusable::Thresholds) }
    }

    /// Whether the owner lets a gate only warn.
    pub(super) fn only_warns(&self, gate: Gate) -> bool {
        gate.may_warn() && self.gates.get(gate.name()).is_some_and(|value| value == "warn")
    }
}

/// What a member of a run must be.
enum Form {
    Text,
    Flag,
    Number,
    List,
    /// A list of objects with such members.
    Blocks(&'static [(&'static str, Form)]),
    Block(&'static [(&'static str, Form)]),
    /// An object of texts.
    Texts,
    Any,
}

const THRESHOLDS: &[(&str, Form)] = &[("accept", Form::Number), ("retry", Form::Number), ("fail", Form::Number)];
const CRITIQUE: &[(&str, Form)] =
    &[("enabled", Form::Flag), ("min_score_to_complete", Form::Number), ("scores", Form::List)];
const EVALUATION: &[(&str, Form)] =
    &[("enabled", Form::Flag), ("score", Form::Any), ("thresholds", Form::Block(THRESHOLDS)), ("findings", Form::List)];
const SUBTASK: &[(&str, Form)] = &[
    ("id", Form::Any),
    ("description", Form::Any),
    ("status", Form::Any),
    ("priority", Form::Any),
    ("required_outputs", Form::Any),
    ("success_criteria", Form::Any),
    ("repair", Form::Flag),
];
const RUN: &[(&str, Form)] = &[
    ("task", Form::Text),
    ("output_dir", Form::Text),
    ("workspace_dir", Form::Text),
    ("plan", Form::Block(&[("subtasks", Form::Blocks(SUBTASK))])),
    ("final_result", Form::Any),
    ("critique", Form::Block(CRITIQUE)),
    ("evaluation", Form::Block(EVALUATION)),
    ("gates", Form::Texts),
    ("ended", Form::Block(&[("status", Form::Text), ("reason", Form::Text)])),
];

/// Why members of a run cannot be read, by the first that cannot.
fn misshapen(members: &Map<String, Value>) -> Option<String> {
    block("", members, RUN)
}

/// Recursion is as deep as the table.
fn block(at: &str, members: &Map<String, Value>, known: &[(&str, Form)]) -> Option<String> {
    members.iter().find_map(|(key, value)| {
        let place = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        match known.iter().find(|(name, _)| name == key) {
            Some((_, form)) => form.fault(&place, value),
            // What is misspelled would be left alone, and no gate would ask about it.
            None => slip(key, known.iter().map(|(name, _)| *name))
                .map(|near| format!("nobody knows {}; did you mean `{near}`?", quoted(&place))),
        }
    })
}

impl Form {
    fn fault(&self, place: &str, value: &Value) -> Option<String> {
        let wanted = match (self, value) {
            (Self::Any, _)
            | (Self::Text, Value::String(_))
            | (Self::Flag, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::List, Value::Array(_)) => return None,
            (Self::Block(known), Value::Object(members)) => return block(place, members, known),
            (Self::Blocks(known), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                return items.find_map(|(at, item)| Self::Block(known).fault(&format!("{place}[{at}]"), item));
            }
            (Self::Texts, Value::Object(members)) => {
                return members.iter().find_map(|(key, value)| Self::Text.fault(&format!("{place}.{key}"), value));
            }
            (Self::Text, _) => "a text",
            (Self::Flag, _) => "`true` or `false`",
            (Self::Number, _) => "a number",
            (Self::List | Self::Blocks(_), _) => "a list",
            (Self::Block(_) | Self::Texts, _) => "an object",
        };
        Some(format!("{} must be {wanted}, found {}", quoted(place), quoted(&value.to_string())))
    }
}

/// Takes away members that are null, of the run and of its blocks: many programs write absent ones so.
fn without_nulls(members: &mut Map<String, Value>) {
    members.retain(|_, value| !value.is_null());
    for block in members.values_mut().filter_map(Value::as_object_mut) {
        block.retain(|_, value| !value.is_null());
    }
}
