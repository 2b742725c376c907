//! Reads what an operation was given: fields within their bounds, or a refusal that says what is wanted.

use serde_json::Value;

use super::{Trouble, refuse};
use crate::code::{self, Code};
use crate::legible::is_blank;
use crate::todos::Todo;
use crate::todos::id::Id;
use crate::todos::state::Consent;

use super::Ground;

/// Bytes of a person's or agent's reason: a sentence or two.
const REASON_BYTES_MAX: usize = 512;

/// A text that is there and short enough.
pub(super) fn text(given: &Value, key: &str, bytes_max: usize, code: &Code) -> Result<String, Trouble> {
    let text = given.get(key).and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if text.chars().all(is_blank) {
        return Err(refuse(
            code.clone(),
            format!("`{key}` is missing: a text that is not blank."),
            format!("send `{key}`"),
        ));
    }
    if text.len() > bytes_max {
        let reason = format!("`{key}` has {} bytes, more than {bytes_max}.", text.len());
        return Err(refuse(code.clone(), reason, "say it shorter"));
    }
    Ok(text.to_owned())
}

/// A list; an absent one is empty.
pub(super) fn list<'a>(given: &'a Value, key: &str, max: usize, code: &Code) -> Result<&'a [Value], Trouble> {
    match given.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) if items.len() <= max => Ok(items),
        Some(Value::Array(items)) => {
            let reason = format!("`{key}` has {} items, more than {max}.", items.len());
            Err(refuse(code.clone(), reason, "name fewer"))
        }
        Some(_) => Err(refuse(code.clone(), format!("`{key}` must be a list."), format!("send `{key}` as a list"))),
    }
}

/// The todo that is meant.
pub(super) fn todo<'a>(ground: &Ground<'a>, given: &Value) -> Result<&'a Todo, Trouble> {
    let named = given.get("id").and_then(Value::as_str).unwrap_or_default();
    let found = Id::parse(named).and_then(|id| ground.session.todos.get(&id));
    found.ok_or_else(|| {
        let shown: String = named.chars().take(64).collect();
        refuse(code::TODO_UNKNOWN, format!("There is no todo `{shown}` in this session."), "list the todos")
    })
}

/// What a person said.
pub(super) fn consent(given: &Value) -> Result<Consent, Trouble> {
    let by = given.get("by").and_then(Value::as_str).unwrap_or("a person");
    Ok(Consent {
        reason: text(given, "reason", REASON_BYTES_MAX, &code::TODO_INVALID)?,
        by: crate::audit::head(by, REASON_BYTES_MAX).to_owned(),
    })
}

/// Why a statement is taken back.
pub(super) fn reason(given: &Value) -> Result<String, Trouble> {
    text(given, "reason", REASON_BYTES_MAX, &code::FACT_INVALID)
}
