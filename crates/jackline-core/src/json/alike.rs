//! Keys that differ only in case. Some readers take them for one: to them the last one counts, to others each is its own.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keys of one object that are compared each with each; of more a set is made.
const COMPARED_MAX: usize = 8;

fn folded(key: &str) -> impl Iterator<Item = char> {
    // Up and down again: some letters have one lower form and two upper ones, and the other way round.
    key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Whether two keys are one to a reader that does not heed case.
#[must_use]
pub fn is_alike(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// What stands under a key that is like this one, and is not this one.
pub fn alike<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(move |(known, _)| *known != key && is_alike(known, key)).map(|(_, value)| value)
}

/// The first two keys of one object, however deep, that differ only in case.
#[must_use]
pub fn twins(value: &Value) -> Option<(&str, &str)> {
    match value {
        Value::Object(fields) => twins_of(fields).or_else(|| fields.values().find_map(twins)),
        Value::Array(items) => items.iter().find_map(twins),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn twins_of(fields: &Map<String, Value>) -> Option<(&str, &str)> {
    let keys = || fields.keys().map(String::as_str);
    let pair = |(at, key)| Some((keys().take(at).find(|before| is_alike(before, key))?, key));
    if fields.len() > COMPARED_MAX {
        let mut known = BTreeSet::new();
        if keys().all(|key| known.insert(folded(key).collect::<String>())) {
            return None;
        }
    }
    keys().enumerate().find_map(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_that_differ_only_in_case_are_found_wherever_they_are() {
        let many: Map<String, Value> = (0..100).map(|n| (format!("k{n}"), json!(n))).collect();
        let mut twin = many.clone();
        twin.insert("K7".to_owned(), json!(0));
        for (value, want) in [
            (json!({"path": 1, "paths": 2}), false),
            (json!({"path": 1, "PATH": 2}), true),
            (json!({"edits": [{"a": 1}, {"path": 1, "Path": 2}]}), true),
            (json!({"\u{17f}ize": 1, "size": 2}), true),
            (json!({"\u{212a}ey": 1, "key": 2}), true),
            (Value::Object(many), false),
            (Value::Object(twin), true),
            (json!("text"), false),
        ] {
            assert_eq!(twins(&value).is_some(), want, "{value}");
        }
    }
}
