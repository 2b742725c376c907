//! What no record, line or message may show (R14): fields by their name, and whatever stood in one of them.

mod forms;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError, RwLock};

use jackline_core::json::canonical;
use jackline_core::redact::Redactor;
use jackline_core::sha::Digest;
use serde_json::{Map, Value};

/// Values that are remembered to the letter: more fields than any workflow has.
const KNOWN_MAX: usize = 10_000;
/// Bytes of a value that is remembered: a longer one is no secret that somebody quotes.
const KNOWN_BYTES_MAX: usize = 4_096;
/// Characters of a number that is taken out where it stands alone: shorter ones are rounds, counts and scores.
const NUMBER_CHARS_MIN: usize = 4;
/// Digits of a hash that stand for a value, as everywhere in the log.
const MARKER_DIGITS: usize = 8;

/// Knows what is sensitive, and learns what it looks like.
#[derive(Debug)]
pub(super) struct Hidden {
    names: BTreeSet<String>,
    /// Values as they are, which are hidden where one stands alone, however short it is.
    alone: RwLock<BTreeSet<String>>,
    /// In all forms in which somebody may quote them.
    known: Mutex<BTreeSet<String>>,
    redactor: RwLock<Redactor>,
}

impl Hidden {
    /// By names of fields, and values that are known already.
    pub(super) fn new(names: &BTreeSet<String>, known: impl IntoIterator<Item = String>) -> Self {
        let redactor = Redactor::new(names.iter().map(String::as_str));
        let hidden = Self {
            names: names.clone(),
            alone: RwLock::default(),
            known: Mutex::default(),
            redactor: RwLock::new(redactor),
        };
        hidden.remember(known);
        hidden
    }

    /// Remembers what stands in sensitive fields of a value, so that it is not shown elsewhere either.
    pub(super) fn learn(&self, value: &Value) {
        let mut found = Vec::new();
        self.collect(value, false, &mut found);
        if !found.is_empty() {
            self.remember(found);
        }
    }

    /// A value without anything sensitive, and whether it differs.
    pub(super) fn clean(&self, value: &mut Value) -> bool {
        let veiled = self.veil(value, &self.alone.read().unwrap_or_else(PoisonError::into_inner));
        let redactor = self.redactor.read().unwrap_or_else(PoisonError::into_inner);
        redactor.redact(value) || veiled
    }

    /// A text without anything sensitive.
    pub(super) fn text(&self, text: &str) -> String {
        let text = self.redactor().text(text).0.into_owned();
        let alone = self.alone.read().unwrap_or_else(PoisonError::into_inner);
        forms::without_words(&text, &alone).unwrap_or(text)
    }

    /// What takes secrets out of texts now.
    pub(super) fn redactor(&self) -> Redactor {
        self.redactor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_hidden(&self, name: &str) -> bool {
        self.names.iter().any(|hidden| hidden.eq_ignore_ascii_case(name))
    }

    /// Replaces whole values of sensitive fields, numbers and lists too, and known ones wherever one stands alone. The
    /// depth of JSON is bounded where it is read.
    fn veil(&self, value: &mut Value, alone: &BTreeSet<String>) -> bool {
        match value {
            Value::Object(members) => {
                let veiled = members.iter_mut().fold(false, |changed, (name, value)| {
                    let veiled = if self.is_hidden(name) { cover(value) } else { self.veil(value, alone) };
                    veiled || changed
                });
                veil_names(members, alone) || veiled
            }
            // All of them, not only the first that is hidden.
            Value::Array(items) => {
                items.iter_mut().map(|item| self.veil(item, alone)).filter(|changed| *changed).count() > 0
            }
            Value::Number(_) => {
                let known = |digits: &String| digits.len() >= NUMBER_CHARS_MIN && alone.contains(digits);
                digits(value).iter().any(known) && cover(value)
            }
            Value::String(text) if alone.contains(text.trim()) => cover(value),
            Value::String(text) => match forms::without_words(text, alone) {
                None => false,
                Some(rest) => {
                    *text = rest;
                    true
                }
            },
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn collect(&self, value: &Value, secret: bool, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.keys().filter(|name| secret && is_no_name(name)).cloned());
                members.iter().for_each(|(name, value)| self.collect(value, secret || self.is_hidden(name), found));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, secret, found)),
            Value::String(text) if secret => found.push(text.clone()),
            Value::Number(_) if secret => found.extend(digits(value)),
            _ => {}
        }
    }

    fn remember(&self, values: impl IntoIterator<Item = String>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut alone = self.alone.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for value in values {
            let value = value.trim();
            if value.is_empty() || value.len() > KNOWN_BYTES_MAX || alone.len() >= KNOWN_MAX || alone.contains(value) {
                continue;
            }
            known.extend(forms::of(value));
            alone.insert(value.to_owned());
        }
        // INVARIANT: never both at once; whoever shows something waits for them in another order.
        drop(alone);
        if known.len() > before {
            let mut redactor = self.redactor.write().unwrap_or_else(PoisonError::into_inner);
            *redactor = redactor.knowing(known.iter().map(String::as_str));
        }
    }
}

/// A number as it may be written: as it came, and as records write it, in which `7.0` is `7`.
fn digits(number: &Value) -> [String; 2] {
    [number.to_string(), String::from_utf8_lossy(&canonical(number)).into_owned()]
}

/// Whether a member inside of something sensitive is called what no field is: what has digits or signs in it is a value by
/// which others are found, and letters alone are in every record.
fn is_no_name(name: &str) -> bool {
    name.len() >= forms::ANYWHERE_BYTES_MIN && !name.chars().all(|c| c.is_alphabetic() || matches!(c, '_' | '-' | ' '))
}

/// Takes short secrets out of the names of members; whether there was one. The redactor knows longer ones.
fn veil_names(members: &mut Map<String, Value>, alone: &BTreeSet<String>) -> bool {
    let shown = |name: &String| Some((name.clone(), forms::without_words(name, alone)?));
    let renamed: Vec<(String, String)> = members.keys().filter_map(shown).collect();
    for (name, shown) in &renamed {
        members.remove(name).into_iter().for_each(|value| drop(members.insert(shown.clone(), value)));
    }
    !renamed.is_empty()
}

/// Replaces a value by what stands for it; whether that changed anything.
fn cover(value: &mut Value) -> bool {
    if value.is_null() {
        return false;
    }
    let shown = marker(value);
    let differs = *value != shown;
    *value = shown;
    differs
}

/// Stands for a value: what it is cannot be told, that two are the same can.
fn marker(value: &Value) -> Value {
    if value.as_str().is_some_and(|text| text.starts_with("‹redacted:")) {
        return value.clone();
    }
    let bytes = value.as_str().map_or_else(|| canonical(value), |text| text.as_bytes().to_vec());
    let digits = Digest::of(&bytes).hex();
    Value::String(format!("‹redacted:{}›", digits.get(..MARKER_DIGITS).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sensitive_is_shown_nowhere() {
        let names = ["api_key", "account"].map(str::to_owned);
        let hidden = Hidden::new(&names.into(), ["from-the-environment".to_owned()]);
        let answer = json!({"api_key": "qwertz-123", "deep": [{"Account": 12_345_678}], "text": "fine"});
        hidden.learn(&answer);
        let mut shown = json!({
            "answer": answer,
            "error": "refused qwertz-123 for 12345678 with from-the-environment",
            "account": ["a", "b"],
        });
        assert!(hidden.clean(&mut shown));
        let text = shown.to_string();
        for secret in ["qwertz-123", "12345678", "from-the-environment", "[\"a\""] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("fine"));
        assert!(!hidden.clean(&mut shown), "{shown}");
        assert!(!hidden.text("qwertz-123").contains("qwertz"));
    }

    #[test]
    fn a_number_is_known_however_it_is_written_and_so_are_names_that_are_values() {
        let names = ["pin", "rate", "creds"].map(str::to_owned);
        let hidden = Hidden::new(&names.into(), []);
        let keyed = json!({"hunter2-secret-key": 1, "password": "qwertz-123", "bob@example.org": {"status": 2}});
        hidden.learn(&json!({"pin": 48_151_623, "rate": 62_951_413.0, "creds": keyed}));
        let mut shown = json!({
            "float": 48_151_623.0, "whole": 62_951_413, "text": "62951413", "note": "use hunter2-secret-key of bob@example.org",
            "status": "the password has a status", "other": 48_151_624.5,
        });
        assert!(hidden.clean(&mut shown));
        let text = shown.to_string();
        for secret in ["48151623", "62951413", "hunter2", "bob@"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!((&shown["status"], &shown["other"]), (&json!("the password has a status"), &json!(48_151_624.5)));
    }

    #[test]
    fn numbers_short_values_and_quoted_ones_are_hidden_too() {
        let names = ["pin", "key", "round"].map(str::to_owned);
        let hidden = Hidden::new(&names.into(), ["abc".to_owned()]);
        let key = "-----BEGIN-----\nline with \"quotes\" and ä\n-----END-----";
        hidden.learn(&json!({"pin": 48_151_623, "key": key, "round": 7}));
        let quoted = json!({ "key": key }).to_string();
        let mut shown = json!({
            "copy": 48_151_623, "float": 48_151_623.0, "list": [48_151_623, {"z": 48_151_623}], "quoted": quoted, "alone": "abc",
            "said": "abc is said", "named": {"abc": 1}, "line": "line with \"quotes\" and ä", "within": "abcd", "count": 7,
        });
        assert!(hidden.clean(&mut shown));
        let text = shown.to_string();
        for secret in ["48151623", "quotes", "\"abc\"", "\"abc is"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!((&shown["within"], &shown["count"]), (&json!("abcd"), &json!(7)));
        assert!(!hidden.clean(&mut shown), "{shown}");
    }
}
