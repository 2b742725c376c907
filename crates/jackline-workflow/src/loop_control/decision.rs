//! What a manager decides, read from its answer.

use std::collections::BTreeSet;

use jackline_core::nearest::slip;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::{self, SUBTASKS_MAX, Subtask};

/// Workers of one decision: more than a budget lets run.
pub const DELEGATIONS_MAX: usize = 500;

/// The members of a delegation that are known.
const MEMBERS: &[&str] = &["worker_id", "subtask_id", "instructions", "agent", "as_submanager", "budget_fraction"];

/// Work handed to a worker.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Delegation {
    pub worker_id: String,
    #[serde(default)]
    pub subtask_id: Option<String>,
    #[serde(default)]
    pub instructions: String,
    /// The agent that does the work; without it, the one that is called as the worker is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether it is to delegate itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_submanager: bool,
    /// The part of what is left that a manager below this one may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_fraction: Option<f64>,
}

/// What a manager decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Plan(Vec<Subtask>),
    Delegate(Vec<Delegation>),
    Complete(Value),
    Fail(String),
}

/// Why an answer is no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("a decision is an object with `decision`: PLAN, DELEGATE, COMPLETE or FAIL")]
    None,
    #[error("`{0}` is no decision; PLAN, DELEGATE, COMPLETE and FAIL are")]
    Unknown(String),
    #[error("`{part}` cannot be read: {why}")]
    Part { part: &'static str, why: String },
    #[error("`{part}` has more than {max} entries")]
    TooMany { part: &'static str, max: usize },
    #[error("the manager gave no answer: {0}")]
    Silent(String),
    #[error("the subtask `{0}` is there twice")]
    Twice(String),
    #[error("nobody knows `{place}`; did you mean `{near}`?")]
    Slip { place: String, near: &'static str },
}

impl Decision {
    /// Reads a manager's answer.
    ///
    /// # Errors
    /// When it is none of the four, or a part of it cannot be read.
    pub fn read(answer: &Value) -> Result<Self, Unreadable> {
        let word = answer.get("decision").and_then(Value::as_str).ok_or(Unreadable::None)?;
        match word.to_ascii_uppercase().as_str() {
            "PLAN" => subtasks(answer).map(Self::Plan),
            "DELEGATE" => list(answer, "delegations", (DELEGATIONS_MAX, MEMBERS)).map(Self::Delegate),
            "COMPLETE" => Ok(Self::Complete(member(answer, "final_result")?.cloned().unwrap_or_default())),
            "FAIL" => {
                let reason = member(answer, "reason")?.and_then(Value::as_str);
                Ok(Self::Fail(reason.unwrap_or_default().to_owned()))
            }
            _ => Err(Unreadable::Unknown(word.to_owned())),
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Plan(_) => "PLAN",
            Self::Delegate(_) => "DELEGATE",
            Self::Complete(_) => "COMPLETE",
            Self::Fail(_) => "FAIL",
        }
    }
}

fn subtasks(answer: &Value) -> Result<Vec<Subtask>, Unreadable> {
    let subtasks: Vec<Subtask> = list(answer, "subtasks", (SUBTASKS_MAX, plan::MEMBERS))?;
    let mut ids = BTreeSet::new();
    match subtasks.iter().find(|subtask| !ids.insert(subtask.id.as_str())) {
        Some(twice) => Err(Unreadable::Twice(twice.id.clone())),
        None => Ok(subtasks),
    }
}

/// A member of an answer. Without it, one that looks like a slip of it: what is misspelled would be left alone, and nothing
/// would be planned, handed out or declared.
fn member<'a>(answer: &'a Value, name: &'static str) -> Result<Option<&'a Value>, Unreadable> {
    match answer.get(name).filter(|value| !value.is_null()) {
        Some(value) => Ok(Some(value)),
        None => slip_of(answer, name).map_or(Ok(None), Err),
    }
}

fn slip_of(answer: &Value, name: &'static str) -> Option<Unreadable> {
    let mut slips = answer.as_object()?.keys().filter(|key| slip(key, [name]).is_some());
    slips.next().map(|key| Unreadable::Slip { place: key.clone(), near: name })
}

/// The first member of an object that is a slip of one that is known.
fn slipped(object: &Value, at: &str, known: &'static [&'static str]) -> Option<Unreadable> {
    let unknown = object.as_object()?.keys().filter(|key| !known.contains(&key.as_str()));
    let mut slips = unknown.filter_map(|key| Some((key, slip(key, known.iter().copied())?)));
    slips.next().map(|(key, near)| Unreadable::Slip { place: format!("{at}{key}"), near })
}

/// A list of an answer; an absent one is empty.
fn list<T: for<'a> Deserialize<'a>>(
    answer: &Value,
    part: &'static str,
    (max, known): (usize, &'static [&'static str]),
) -> Result<Vec<T>, Unreadable> {
    let Some(value) = member(answer, part)? else { return Ok(Vec::new()) };
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if items.len() > max {
        return Err(Unreadable::TooMany { part, max });
    }
    let mut items = items.iter().enumerate();
    if let Some(slip) = items.find_map(|(at, item)| slipped(item, &format!("{part}[{at}]."), known)) {
        return Err(slip);
    }
    serde_json::from_value(without_nulls(value)).map_err(|error| Unreadable::Part { part, why: error.to_string() })
}

/// A list whose objects have no members that are null: models write absent ones so.
fn without_nulls(list: &Value) -> Value {
    let mut list = list.clone();
    for item in list.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        item.retain(|_, value| !value.is_null());
    }
    list
}
