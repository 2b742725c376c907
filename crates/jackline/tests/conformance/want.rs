//! What a decision must show: a subset, with a few keys that speak of all its strings.

use serde_json::Value;

pub(crate) fn check(want: &Value, got: &Value) -> Result<(), String> {
    for (key, wanted) in want.as_object().into_iter().flatten() {
        let found = &got[key.as_str()];
        let holds = match key.as_str() {
            "verdict" | "code" | "reason" | "stopped" => is_one_of(wanted, found),
            "feedback" => wanted == found,
            "stop" | "findings" | "edits" | "emitted" | "constraint" | "result" => fits(wanted, found),
            "absent" => each(wanted).all(|name| is_absent(&got[name])),
            "present" => each(wanted).all(|name| !is_absent(&got[name])),
            "contains" => each(wanted).all(|text| any_string(got, text)),
            "lacks" => each(wanted).all(|text| !any_string(got, text)),
            "reason_contains" => each(wanted).all(|text| any_string(&got["reason"], text)),
            "feedback_contains" => each(wanted).all(|text| any_string(&got["feedback"], text)),
            key => return Err(format!("unknown key `{key}` in want")),
        };
        if !holds {
            return Err(format!("`{key}` should show {wanted}"));
        }
    }
    Ok(())
}

fn is_one_of(wanted: &Value, found: &Value) -> bool {
    match wanted {
        Value::Array(options) => options.contains(found),
        wanted => wanted == found,
    }
}

/// Objects: named keys fit; lists: each wanted element fits some element; the rest is equal.
fn fits(wanted: &Value, found: &Value) -> bool {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| fits(wanted, found)))
        }
        (Value::Array(wanted), Value::Array(found)) => {
            wanted.iter().all(|wanted| found.iter().any(|found| fits(wanted, found)))
        }
        (wanted, found) => wanted == found,
    }
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn each(wanted: &Value) -> impl Iterator<Item = &str> {
    wanted.as_array().into_iter().flatten().map(|item| item.as_str().expect("a text"))
}

fn any_string(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => found.contains(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, text)),
        Value::Object(fields) => fields.iter().any(|(key, item)| key.contains(text) || any_string(item, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
