//! Clips what a record keeps of arguments and outputs: long texts become their size, hash and head.
//!
//! Redact first: a head must not be able to show half a secret that nobody recognises any more.

use serde_json::{Map, Value, json};

use crate::{
    json::{JSON_DEPTH_MAX, canonical},
    sha::Digest,
};

/// Bytes of values that one record's data keeps. A log is read by people and synced on every call.
pub const ARGUMENT_BYTES_MAX: usize = 16 * 1024;

/// Bytes of one text that is kept whole: a long command or a small file.
pub const STRING_BYTES_MAX: usize = 4 * 1024;

/// Bytes of a clipped text that stay readable.
pub const HEAD_BYTES_MAX: usize = 512;

/// Levels that are kept; what lies deeper is summed up. Decoding allows no more either.
pub const CLIP_DEPTH_MAX: usize = JSON_DEPTH_MAX;

/// Bytes a summary takes beside its head.
const SUMMARY_BYTES: usize = 128;

/// Bytes a number, a boolean or a null may take.
const SCALAR_BYTES: usize = 24;

/// Bytes of an escaped character, at most.
const ESCAPE_BYTES: usize = 6;

/// Bytes of an array or an object without its elements.
const BRACKETS_BYTES: usize = 2;

/// The member that stands for those left out of an object.
const REST: &str = "‹clipped›";

/// Clips a value in place to about `bytes_max` and says whether anything was left out.
///
/// The result may be longer by one summary a level, so that every cut is visible where it was made.
pub fn clip(value: &mut Value, bytes_max: usize) -> bool {
    let clipper = |written| Clipper { left: bytes_max, clipped: false, written };
    // Nearly everything fits, most of it by far; taking it apart to put it together again would cost more than both looks.
    !clipper(written_bytes_max).fits(value, CLIP_DEPTH_MAX)
        && !clipper(written_bytes).fits(value, CLIP_DEPTH_MAX)
        && clipper(written_bytes).whole(value)
}

/// The longest beginning of a text that fits, whole characters only.
#[must_use]
pub fn head(text: &str, bytes_max: usize) -> &str {
    let end = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Bytes of a text in JSON: its quotes, and what escapes add. Counted in passes that a processor makes many bytes at a time.
fn written_bytes(text: &str) -> usize {
    let count = |is: fn(u8) -> bool| text.bytes().filter(|byte| is(*byte)).count();
    let escaped = count(|byte| byte < 0x20 || byte == b'"' || byte == b'\\');
    if escaped == 0 {
        return text.len() + 2;
    }
    let short = count(|byte| matches!(byte, b'"' | b'\\' | b'\t' | b'\n' | b'\r'));
    text.len() + 2 + short + (escaped - short) * (ESCAPE_BYTES - 1)
}

/// The same at most: as if all of it had to be escaped.
fn written_bytes_max(text: &str) -> usize {
    text.len().saturating_mul(ESCAPE_BYTES).saturating_add(2)
}

struct Clipper {
    left: usize,
    clipped: bool,
    /// How the bytes of a text are counted.
    written: fn(&str) -> usize,
}

impl Clipper {
    fn whole(mut self, value: &mut Value) -> bool {
        self.value(value, CLIP_DEPTH_MAX);
        self.clipped
    }

    fn value(&mut self, value: &mut Value, levels_left: usize) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(SCALAR_BYTES),
            Value::String(text) if self.has_room_for(text) => self.spend((self.written)(text)),
            Value::String(text) => *value = self.text_summary(text),
            Value::Array(elements) if elements.is_empty() => self.spend(BRACKETS_BYTES),
            Value::Object(members) if members.is_empty() => self.spend(BRACKETS_BYTES),
            Value::Array(_) | Value::Object(_) if levels_left == 0 => *value = self.summary(&canonical(value)),
            Value::Array(elements) => self.elements(elements, levels_left - 1),
            Value::Object(members) => self.members(members, levels_left - 1),
        }
    }

    /// Whether nothing has to be left out. INVARIANT: counts as [`Self::value`] does, or more.
    fn fits(&mut self, value: &Value, levels_left: usize) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(SCALAR_BYTES),
            Value::String(text) => return self.fits_text(text),
            Value::Array(elements) if elements.is_empty() => self.spend(BRACKETS_BYTES),
            Value::Object(members) if members.is_empty() => self.spend(BRACKETS_BYTES),
            Value::Array(_) | Value::Object(_) if levels_left == 0 => return false,
            Value::Array(elements) => {
                self.spend(BRACKETS_BYTES);
                return elements.iter().all(|element| self.left > 0 && self.fits(element, levels_left - 1));
            }
            Value::Object(members) => {
                self.spend(BRACKETS_BYTES);
                let mut members = members.iter();
                return members.all(|(key, value)| self.fits_text(key) && self.fits(value, levels_left - 1));
            }
        }
        true
    }

    fn fits_text(&mut self, text: &str) -> bool {
        let bytes = (self.written)(text);
        let fits = text.len() <= STRING_BYTES_MAX && bytes <= self.left;
        self.spend(bytes);
        fits
    }

    /// Counts what is written, and the comma after it.
    fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes + 1);
    }

    fn has_room_for(&self, text: &str) -> bool {
        text.len() <= STRING_BYTES_MAX && (self.written)(text) <= self.left
    }

    fn elements(&mut self, elements: &mut Vec<Value>, levels_left: usize) {
        self.spend(BRACKETS_BYTES);
        let mut kept = 0;
        for element in elements.iter_mut() {
            if self.left == 0 {
                break;
            }
            self.value(element, levels_left);
            kept += 1;
        }
        if kept < elements.len() {
            let rest = Value::Array(elements.split_off(kept));
            elements.push(self.summary(&canonical(&rest)));
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>, levels_left: usize) {
        self.spend(BRACKETS_BYTES);
        let mut rest = Map::new();
        for (key, mut value) in std::mem::take(members) {
            // A long key is left out with its value: cutting it could make two keys one.
            if !self.has_room_for(&key) {
                rest.insert(key, value);
                continue;
            }
            self.spend((self.written)(&key));
            self.value(&mut value, levels_left);
            members.insert(key, value);
        }
        if rest.is_empty() {
            return;
        }
        let mut key = REST.to_owned();
        while members.contains_key(&key) {
            key.push('\'');
        }
        members.insert(key, self.summary(&canonical(&Value::Object(rest))));
    }

    fn text_summary(&mut self, text: &str) -> Value {
        let mut summary = self.summary(text.as_bytes());
        let head = head(text, HEAD_BYTES_MAX);
        self.spend((self.written)(head));
        if let Value::Object(members) = &mut summary {
            members.insert("head".to_owned(), head.into());
        }
        summary
    }

    fn summary(&mut self, bytes: &[u8]) -> Value {
        self.clipped = true;
        self.spend(SUMMARY_BYTES);
        json!({"clipped": true, "bytes": bytes.len(), "sha256": Digest::of(bytes).hex()})
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(mut value: Value, want: &Value, clipped: bool) {
        assert_eq!(clip(&mut value, ARGUMENT_BYTES_MAX), clipped);
        assert_eq!(&value, want);
    }

    #[test]
    fn short_values_stay() {
        let value = json!({"path": "a.txt", "lines": [1, 2.5, null, true], "deep": {"er": [[], {}]}});
        check(value.clone(), &value, false);
        check(json!("a".repeat(STRING_BYTES_MAX)), &json!("a".repeat(STRING_BYTES_MAX)), false);
    }

    #[test]
    fn long_texts_become_size_hash_and_head() {
        let long = "é".repeat(STRING_BYTES_MAX);
        let summary = json!({
            "clipped": true, "bytes": 2 * STRING_BYTES_MAX, "sha256": Digest::of(long.as_bytes()).hex(),
            "head": "é".repeat(HEAD_BYTES_MAX / 2),
        });
        check(json!({"content": long, "path": "a"}), &json!({"content": summary, "path": "a"}), true);
    }

    #[test]
    fn a_head_keeps_whole_characters() {
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("aé", 3), "aé");
        assert_eq!(head("😀", 3), "");
        assert_eq!(head("", 3), "");
    }

    #[test]
    fn many_values_end_in_one_summary() {
        let mut value = json!({"list": vec![1; 100_000], "path": "z"});
        assert!(clip(&mut value, ARGUMENT_BYTES_MAX));
        let list = value["list"].as_array().unwrap();
        assert!(list.len() < 1_000 && list[0] == 1);
        assert_eq!(list.last().unwrap()["clipped"], json!(true));
        assert_eq!(value["‹clipped›"]["bytes"], json!(r#"{"path":"z"}"#.len()));
    }

    #[test]
    fn long_keys_and_planted_summaries_hide_nothing() {
        let mut value = json!({"‹clipped›": 1, "k".repeat(5_000): 2});
        assert!(clip(&mut value, ARGUMENT_BYTES_MAX));
        assert_eq!(value["‹clipped›"], json!(1));
        assert_eq!(value["‹clipped›'"]["clipped"], json!(true));
    }

    #[test]
    fn what_is_too_deep_is_summed_up() {
        let mut value = json!("bottom");
        for _ in 0..CLIP_DEPTH_MAX + 1 {
            value = json!([value]);
        }
        assert!(clip(&mut value, ARGUMENT_BYTES_MAX));
        assert!(!value.to_string().contains("bottom"));
    }

    proptest! {
        #[test]
        fn the_result_is_bounded(
            widths in prop::collection::vec(0_usize..10, 1..4),
            text in "[a\u{1}]{1,2}",
            times in 0_usize..3_000,
        ) {
            let mut value = json!(text.repeat(times));
            for width in &widths {
                value = Value::Array(vec![value; *width]);
            }
            let before = canonical(&value);
            let clipped = clip(&mut value, ARGUMENT_BYTES_MAX);
            let after = canonical(&value);
            prop_assert!(after.len() <= ARGUMENT_BYTES_MAX + 6 * HEAD_BYTES_MAX + (widths.len() + 1) * SUMMARY_BYTES);
            prop_assert_eq!(clipped, before != after);
        }
    }
}
