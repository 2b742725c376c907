//! What a client says, read strictly: a call that only the server would recognise must not get past us.

use std::borrow::Cow;

use jackline_core::json::{self, JSON_DEPTH_MAX, is_alike};
use serde_json::{Map, Value};

/// Levels that a message wraps around a call's arguments: the batch, the message, its parameters, a result's content.
const WRAPPING_LEVELS: usize = 4;

/// Levels of anything that is read.
pub(crate) const LEVELS_MAX: usize = JSON_DEPTH_MAX + WRAPPING_LEVELS;

/// A request's id as JSON, in one spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(String);

impl Id {
    /// An id of our own.
    pub(crate) fn own(text: &str) -> Self {
        Self(Value::from(text).to_string())
    }

    /// The id that a value is; `null` and everything else is none.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        /// Up to here a float holds every whole number.
        const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
        match value {
            Value::String(_) => Some(Self(value.to_string())),
            Value::Number(number) => match number.as_f64() {
                #[expect(clippy::cast_possible_truncation, reason = "whole, and within what an integer holds")]
                Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() <= WHOLE_MAX => {
                    Some(Self((whole as i64).to_string()))
                }
                _ => Some(Self(number.to_string())),
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// As it stands in a message.
    pub(crate) fn as_json(&self) -> &str {
        &self.0
    }
}

/// A message of the client's.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) kind: Kind,
    pub(crate) fields: &'a Map<String, Value>,
}

/// What kind of message it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Request {
        id: Id,
        method: String,
    },
    Notification {
        method: String,
    },
    /// An answer to a request of the server's.
    Answer,
}

impl<'a> Message<'a> {
    /// The message that a value is; or the id to complain to, and about what.
    pub(crate) fn of(value: &'a Value) -> Result<Self, (Option<Id>, &'static str)> {
        let Value::Object(fields) = value else { return Err((None, "the message is no JSON object")) };
        let id = fields.get("id");
        let known = id.and_then(Id::of);
        if is_disguised(fields, &MEMBERS) {
            return Err((known, "a member is spelled in other letters, which some would take for it"));
        }
        let kind = match (fields.get("method"), id, known) {
            (Some(Value::String(method)), None, _) => Kind::Notification { method: method.clone() },
            (Some(Value::String(method)), Some(_), Some(id)) => Kind::Request { id, method: method.clone() },
            (Some(Value::String(_)), Some(_), None) => return Err((None, "`id` is neither a string nor a number")),
            (Some(_), _, known) => return Err((known, "`method` is no string")),
            (None, Some(_), _) if fields.contains_key("result") || fields.contains_key("error") => Kind::Answer,
            (None, _, known) => return Err((known, "there is neither a `method` nor an answer")),
        };
        Ok(Self { kind, fields })
    }

    /// A member of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<&'a Value> {
        self.fields.get("params")?.get(name)
    }

    /// A member of the parameters' `_meta`.
    pub(crate) fn meta(&self, name: &str) -> Option<&'a Value> {
        self.param("_meta")?.get(name)
    }
}

/// The members of a message.
pub(crate) const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Whether a key is one of these names but for case: some readers take it for that, and we do not.
pub(crate) fn is_disguised(fields: &Map<String, Value>, names: &[&str]) -> bool {
    fields.keys().any(|key| is_disguise(key, names))
}

/// Whether this one is.
pub(crate) fn is_disguise(key: &str, names: &[&str]) -> bool {
    !names.contains(&key) && names.iter().any(|name| is_alike(key, name))
}

/// A line without the mark that some programs write before the first one; it has no meaning, and many readers stumble at it.
pub(crate) fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// A message without the line ends inside it, which are only space: some readers end a line at each.
pub(crate) fn on_one_line(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.iter().map(|byte| if *byte == b'\r' { b' ' } else { *byte }).collect())
}

/// Reads a text strictly: no key twice, nothing after the value, bounded in depth and memory.
pub(crate) fn read(text: &[u8]) -> Result<Value, String> {
    json::decode_to_depth(text, LEVELS_MAX).map_err(|fault| fault.to_string())
}

/// Reads a part of what a server says. Some cut their texts in the midst of a character, which leaves half of a pair of
/// escapes: to be judged it is read as the character that stands for what is lost. What is passed on stays as it was.
pub(crate) fn read_leniently(text: &[u8]) -> Result<Value, String> {
    read(text).or_else(|why| mended(text).map_or(Err(why), |mended| read(&mended)))
}

/// The text with half pairs of escapes replaced; nothing where there is none.
fn mended(text: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut out, mut at, mut found) = (Vec::with_capacity(text.len()), 0, false);
    while let Some(byte) = text.get(at) {
        let (kept, lone) = match (unit(at), unit(at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, false),
            (Some(0xD800..=0xDFFF), _) => (6, true),
            // The next byte is escaped, whatever it is.
            _ => (if *byte == b'\\' { 2 } else { 1 }, false),
        };
        found |= lone;
        out.extend_from_slice(if lone {
            b"\\ufffd"
        } else {
            text.get(at..text.len().min(at + kept)).unwrap_or_default()
        });
        at += kept;
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_have_one_spelling() {
        let id = |value: Value| Id::of(&value).map(|id| id.as_json().to_owned());
        assert_eq!(id(json!(1)), id(json!(1.0)));
        assert_ne!(id(json!(1)), id(json!("1")));
        assert_eq!(id(json!(u64::MAX)).as_deref(), Some("18446744073709551615"));
        assert_eq!((id(json!(null)), id(json!([1])), id(json!(true))), (None, None, None));
    }

    #[test]
    fn messages_are_told_apart() {
        let kind = |value: Value| Message::of(&value).map(|message| message.kind).map_err(|(id, _)| id);
        let request = |id: Value| json!({"id": id, "method": "ping"});
        assert!(matches!(kind(request(json!(1))), Ok(Kind::Request { .. })));
        assert_eq!(kind(request(json!(null))), Err(None));
        assert_eq!(kind(json!({"method": "x"})), Ok(Kind::Notification { method: "x".to_owned() }));
        assert_eq!(kind(json!({"id": 1, "result": {}})), Ok(Kind::Answer));
        assert_eq!(kind(json!({"id": 1})), Err(Some(Id("1".to_owned()))));
        assert_eq!(kind(json!({"id": 1, "method": 5})), Err(Some(Id("1".to_owned()))));
        assert_eq!(kind(json!(5)), Err(None));
    }

    #[test]
    fn half_of_a_pair_of_escapes_is_read_where_a_server_says_it() {
        let text = r#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d","d":"\udc00\ud800\u0041"}"#;
        assert!(read(text.as_bytes()).is_err());
        let read = read_leniently(text.as_bytes()).unwrap();
        assert_eq!(read, json!({"a": "x\u{fffd}", "b": "\u{1f600}", "c": "\\ud83d", "d": "\u{fffd}\u{fffd}A"}));
        assert!(read_leniently(b"{\"a\":").is_err());
    }

    #[test]
    fn what_two_readers_might_read_differently_is_no_message() {
        for text in [r#"{"method":"ping","method":"tools/call"}"#, r#"{"id":1}{"id":2}"#, "{", "\u{1}"] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
        for text in
            [r#"{"id":1,"Method":"tools/call","result":{}}"#, r#"{"id":1,"method":"ping","METHOD":"tools/call"}"#]
        {
            assert!(Message::of(&read(text.as_bytes()).unwrap()).is_err(), "{text}");
        }
        assert!(read(r#"{"method":"tools\u002fcall"}"#.as_bytes()).is_ok_and(|value| value["method"] == "tools/call"));
    }
}
