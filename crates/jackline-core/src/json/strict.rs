//! Reads JSON strictly: UTF-8, no key twice, nothing after the value, bounded in size, depth and memory.
//!
//! One pass over the text, straight into a [`Value`]; numbers are as `serde_json` reads them.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, error::Category};
use thiserror::Error;

/// Bytes of one text. The largest honest messages are whole-file writes; 16 MiB is far above them.
pub const JSON_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Levels of arrays and objects. Honest arguments stay below ten; every later walk may recurse this far.
pub const JSON_DEPTH_MAX: usize = 64;

/// Bytes of memory one text may become. Without it, 16 MiB of `{"":0}` would take more than a gigabyte; and a few
/// copies are made on the way to the record.
pub const JSON_HEAP_BYTES_MAX: usize = 48 * 1024 * 1024;

/// Bytes the first member of an object costs: one node of a B-tree with room for eleven.
const FIRST_MEMBER_BYTES: usize = 640;

/// Bytes each further member costs in nodes that are about half full.
const NEXT_MEMBER_BYTES: usize = 112;

/// Characters of a key that a message shows; enough to find it.
const SHOWN_KEY_CHARS_MAX: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a text is not JSON as we accept it, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message} (line {line}, column {column})")]
pub struct JsonFault {
    /// What is wrong, in our words.
    pub message: String,
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault in bytes, from 1.
    pub column: usize,
    /// Offset of the fault in bytes, from 0.
    pub at: usize,
}

/// Reads one JSON value of at most [`JSON_DEPTH_MAX`] levels; one leading byte order mark is skipped.
pub fn decode(text: &[u8]) -> Result<Value, JsonFault> {
    decode_to_depth(text, JSON_DEPTH_MAX)
}

/// Reads one JSON value of at most `depth_max` levels, for texts that wrap a value of [`JSON_DEPTH_MAX`].
///
/// More than 127 levels are refused whatever `depth_max` says.
pub fn decode_to_depth(text: &[u8], depth_max: usize) -> Result<Value, JsonFault> {
    if text.len() > JSON_BYTES_MAX {
        return Err(fault(text, JSON_BYTES_MAX, format!("text is longer than {JSON_BYTES_MAX} bytes")));
    }
    // Some hosts on Windows send the mark; it carries no meaning in UTF-8.
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let skipped = text.len() - body.len();
    let body = std::str::from_utf8(body)
        .map_err(|error| fault(text, skipped + error.valid_up_to(), "text is not UTF-8".to_owned()))?;
    let heap_left = Cell::new(JSON_HEAP_BYTES_MAX);
    let mut reader = serde_json::Deserializer::from_str(body);
    let seed = Strict { levels_left: depth_max, heap_left: &heap_left };
    let value = seed.deserialize(&mut reader).map_err(|error| translate(body, skipped, &error))?;
    reader.end().map_err(|error| translate(body, skipped, &error))?;
    Ok(value)
}

/// Whether a text is JSON at all. Nothing of it is kept, so it may be of any length and depth; what it says, and whether
/// a key stands twice, is not looked at.
pub fn check(text: &str) -> Result<(), JsonFault> {
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| translate(text, 0, &error))
}

fn fault(text: &[u8], at: usize, message: String) -> JsonFault {
    let before = text.get(..at).unwrap_or(text);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    JsonFault { message, line, column, at }
}

fn translate(body: &str, skipped: usize, error: &serde_json::Error) -> JsonFault {
    let (line, column) = (error.line().max(1), error.column().max(1));
    let line_start: usize = body.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let at = skipped + (line_start + column - 1).min(body.len());
    JsonFault { message: wording(error), line, column, at }
}

/// Our words for what `serde_json` reports; its texts never hold a user's value, ours (duplicates) do.
fn wording(error: &serde_json::Error) -> String {
    if error.classify() == Category::Eof {
        return "text ends before the value does".to_owned();
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    match text.strip_suffix(&place).unwrap_or(&text) {
        "trailing characters" => "there is more text after the value".to_owned(),
        "key must be a string" => "a key is not a string".to_owned(),
        "trailing comma" => "a comma is followed by no value".to_owned(),
        "expected value" | "expected ident" => "expected a value".to_owned(),
        "number out of range" => "a number is too large".to_owned(),
        text if text.starts_with("control character") => "a control character in a string is not escaped".to_owned(),
        text if text.contains("surrogate") || text.ends_with("end of hex escape") => {
            "half of a surrogate pair stands alone".to_owned()
        }
        text => text.to_owned(),
    }
}

/// Builds one value, knowing how many levels and how much memory are left.
#[derive(Clone, Copy)]
struct Strict<'a> {
    levels_left: usize,
    heap_left: &'a Cell<usize>,
}

impl Strict<'_> {
    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        let left = self.heap_left.get().checked_sub(bytes);
        self.heap_left.set(left.ok_or_else(|| E::custom("text holds too many values"))?);
        Ok(())
    }

    /// INVARIANT: called before any element is read, so the stack is bounded by the level count.
    fn enter<E: serde::de::Error>(&self) -> Result<Self, E> {
        let too_deep = || E::custom("value is nested too deeply");
        Ok(Self { levels_left: self.levels_left.checked_sub(1).ok_or_else(too_deep)?, heap_left: self.heap_left })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.spend(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.enter()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            self.spend(size_of::<Value>())?;
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.enter()?;
        let mut object = Map::new();
        let mut cost = FIRST_MEMBER_BYTES;
        while let Some(key) = members.next_key::<String>()? {
            self.spend(cost + key.len())?;
            cost = NEXT_MEMBER_BYTES;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("key `{}` occurs twice in one object", shown(&key))));
            }
            let value = members.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// A key as a message may show it: short, and on one line.
fn shown(key: &str) -> String {
    let end = key.char_indices().nth(SHOWN_KEY_CHARS_MAX).map(|(at, _)| at);
    let cut = end.and_then(|end| key.get(..end)).unwrap_or(key);
    let dots = if cut.len() < key.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: impl AsRef<[u8]>, want: Result<&str, &str>) {
        let got = decode(text.as_ref()).map(|value| value.to_string()).map_err(|fault| fault.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), want, "{}", String::from_utf8_lossy(text.as_ref()));
    }

    #[test]
    fn values_read() {
        check(r#"{"b":[1,-2,2.5,true,null],"a":"é\n😀\u00e9"}"#, Ok(r#"{"a":"é\n😀é","b":[1,-2,2.5,true,null]}"#));
        check("\u{feff} {} \n", Ok("{}"));
        check("\"\"", Ok("\"\""));
        check("18446744073709551615", Ok("18446744073709551615"));
        check(r#"{"a":{"a":1},"b":{"a":1}}"#, Ok(r#"{"a":{"a":1},"b":{"a":1}}"#));
    }

    #[test]
    fn a_text_of_any_length_is_looked_over() {
        let told = |text: &str| super::check(text).map_err(|fault| fault.to_string());
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [deep.as_str(), r#"{"a":1,"a":"\ud83d"}"#, &format!("\"{}\"", "x".repeat(JSON_BYTES_MAX))] {
            assert_eq!(told(text), Ok(()));
        }
        assert_eq!(told("{\n\"a\": oops}"), Err("expected a value (line 2, column 6)".to_owned()));
        assert_eq!(told("{} {}"), Err("there is more text after the value (line 1, column 4)".to_owned()));
    }

    #[test]
    fn faults_name_their_place() {
        check(r#"{"a":1,"a":2}"#, Err("key `a` occurs twice in one object (line 1, column 10)"));
        check("{\"x\":\n[{\"a\":1,\n\"\\u0061\":2}]}", Err("key `a` occurs twice in one object (line 3, column 8)"));
        check("{} {}", Err("there is more text after the value (line 1, column 4)"));
        check("{}\0", Err("there is more text after the value (line 1, column 3)"));
        check("", Err("text ends before the value does (line 1, column 1)"));
        check("{\"a\"", Err("text ends before the value does (line 1, column 4)"));
        check("[1,]", Err("a comma is followed by no value (line 1, column 4)"));
        check("{1:2}", Err("a key is not a string (line 1, column 2)"));
        check("[1e999]", Err("a number is too large (line 1, column 6)"));
        check("nul", Err("text ends before the value does (line 1, column 3)"));
        check("NaN", Err("expected a value (line 1, column 1)"));
        check("\"a\nb\"", Err("a control character in a string is not escaped (line 2, column 1)"));
        check("\u{feff}\u{feff}{}", Err("expected a value (line 1, column 1)"));
    }

    #[test]
    fn odd_bytes_are_refused() {
        check(b"\"a\xff\"", Err("text is not UTF-8 (line 1, column 3)"));
        check(b"\xef\xbb\xbf\n\"\xc0\xaf\"", Err("text is not UTF-8 (line 2, column 2)"));
        check(r#""\ud800""#, Err("half of a surrogate pair stands alone (line 1, column 8)"));
    }

    #[test]
    fn depth_is_bounded_before_the_stack_is() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(decode(nested(JSON_DEPTH_MAX).as_bytes()).is_ok());
        let fault = decode(nested(JSON_DEPTH_MAX + 1).as_bytes()).unwrap_err();
        assert_eq!(fault.message, "value is nested too deeply");
        let objects = "{\"a\":".repeat(JSON_DEPTH_MAX + 1);
        assert_eq!(decode(objects.as_bytes()).unwrap_err().message, "value is nested too deeply");
        assert!(decode("[".repeat(1_000_000).as_bytes()).is_err());
        assert!(decode_to_depth(nested(120).as_bytes(), usize::MAX).is_ok());
        assert!(decode_to_depth(nested(1_000_000).as_bytes(), usize::MAX).is_err());
    }

    #[test]
    fn size_and_memory_are_bounded() {
        let long = " ".repeat(JSON_BYTES_MAX - 1) + "1";
        assert!(decode(long.as_bytes()).is_ok());
        assert_eq!(decode((long + " ").as_bytes()).unwrap_err().message, "text is longer than 16777216 bytes");
        let many = format!("[{}1]", "{\"\":0},".repeat(1_000_000));
        assert_eq!(decode(many.as_bytes()).unwrap_err().message, "text holds too many values");
    }

    #[test]
    fn a_long_key_is_shown_short() {
        let key = "k\\n".repeat(10_000);
        let fault = decode(format!("{{\"{key}\":1,\"{key}\":1}}").as_bytes()).unwrap_err();
        assert!(fault.message.len() < 200 && fault.message.contains('…'), "{}", fault.message);
        assert!(!fault.message.contains('\n'));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_a_fault_inside_the_text(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            match decode(&bytes) {
                Ok(value) => prop_assert_eq!(serde_json::from_slice::<Value>(&bytes).ok(), Some(value)),
                Err(fault) => prop_assert!(fault.at <= bytes.len()),
            }
        }

        #[test]
        fn what_we_accept_is_what_serde_json_reads(text in r#"[\[\]{},:0-9eE.\- "a\\]{0,24}"#) {
            if let Ok(value) = decode(text.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
            }
        }
    }
}
