//! What a server says deeper than anything is read here: it passes as it is, and stands as text where it is judged.
//!
//! Depth is looked at before anything is read, byte by byte and without recursion.

use jackline_core::json::check;
use serde_json::{Value, json};

use crate::message::{self, LEVELS_MAX};
use crate::scan::{self, Scan};

/// Under which key what was not read stands, as it was written.
const UNREAD: &str = "jackline/nested-too-deeply";
/// Levels that this takes.
const UNREAD_LEVELS: usize = 1;

/// A part of a server's message.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) value: Value,
    /// How it was written, where the value does not say all of it.
    written: Option<&'a [u8]>,
}

impl<'a> Part<'a> {
    /// Reads a part, all of it or as deep as anything is read.
    pub(crate) fn read(text: &'a [u8]) -> Result<Self, String> {
        let why = match message::read_leniently(text) {
            Ok(value) => return Ok(Self { value, written: None }),
            Err(why) => why,
        };
        match levelled(text) {
            Some(levelled) => Ok(Self { value: message::read_leniently(&levelled)?, written: Some(text) }),
            None => Err(why),
        }
    }

    /// What is shown instead of it, as JSON: the members that are as they were stand as the server wrote them.
    pub(crate) fn shown(&self, shown: &Value) -> String {
        let written = self.written.and_then(scan::members).unwrap_or_default();
        let (Value::Object(fields), false) = (shown, written.is_empty()) else { return shown.to_string() };
        let member = |(key, value): (&String, &Value)| {
            let same = || self.value.get(key) == Some(value);
            let as_written = written.iter().find(|(known, _)| known == key).filter(|_| same());
            let text = as_written.map(|(_, text)| String::from_utf8_lossy(text).into_owned());
            format!("{}:{}", Value::from(key.as_str()), text.unwrap_or_else(|| value.to_string()))
        };
        format!("{{{}}}", fields.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

/// The text with what is too deep in it as text; nothing where nothing is, or where it is no JSON.
fn levelled(text: &[u8]) -> Option<Vec<u8>> {
    let levels = LEVELS_MAX - UNREAD_LEVELS;
    let (mut out, mut copied, mut depth) = (Vec::new(), 0, 0_usize);
    let mut scan = Scan::of(text);
    while let Some(byte) = scan.peek() {
        match byte {
            b'"' => {
                scan.string()?;
            }
            b'{' | b'[' if depth == levels => {
                let deep = scan.value()?;
                out.extend_from_slice(text.get(copied..deep.start)?);
                copied = deep.end;
                let deep = json!({ UNREAD: String::from_utf8_lossy(text.get(deep)?) });
                out.extend_from_slice(deep.to_string().as_bytes());
            }
            b'{' | b'[' => {
                depth += 1;
                scan.step();
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                scan.step();
            }
            _ => scan.step(),
        }
    }
    let whole = std::str::from_utf8(text).ok().filter(|_| copied > 0)?;
    // What is passed on unread is JSON all the same.
    check(whole).ok()?;
    out.extend_from_slice(text.get(copied..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}\"]\\\"\"{}", "[".repeat(levels), "]".repeat(levels))
    }

    fn result(levels: usize) -> String {
        let deep = nested(levels);
        format!(
            r#"{{"structuredContent":{{"x":{deep},"n":123456789012345678901}},"content":[{{"text":"a"}}],"isError":true}}"#
        )
    }

    #[test]
    fn what_is_not_too_deep_is_read_whole() {
        let text = result(LEVELS_MAX - 2);
        let part = Part::read(text.as_bytes()).unwrap();
        assert!(part.written.is_none() && !part.value.to_string().contains(UNREAD));
    }

    #[test]
    fn what_is_too_deep_is_text_and_the_rest_is_read() {
        for levels in [LEVELS_MAX - 1, LEVELS_MAX, 500, 100_000] {
            let text = result(levels);
            let part = Part::read(text.as_bytes()).unwrap();
            assert_eq!((&part.value["isError"], &part.value["content"][0]["text"]), (&json!(true), &json!("a")));
            let mut inner = &part.value["structuredContent"]["x"];
            while let Some(next) = inner.get(0) {
                inner = next;
            }
            let unread = inner[UNREAD].as_str().unwrap();
            assert_eq!(unread, nested(levels + 2 - (LEVELS_MAX - UNREAD_LEVELS)));
        }
    }

    #[test]
    fn what_is_not_changed_is_shown_as_it_was_written() {
        let text = result(500);
        let part = Part::read(text.as_bytes()).unwrap();
        let mut shown = part.value.clone();
        shown["content"] = json!([{ "text": "b" }]);
        let want = text.replace(r#"{"text":"a"}"#, r#"{"text":"b"}"#);
        let member = |text: &str, key: &str| {
            let members = scan::members(text.as_bytes()).unwrap();
            members.into_iter().find(|(known, _)| known == key).map(|(_, text)| text.to_vec())
        };
        for key in ["structuredContent", "content", "isError"] {
            assert_eq!(member(&part.shown(&shown), key), member(&want, key), "{key}");
        }
    }

    #[test]
    fn what_is_no_json_or_says_a_key_twice_is_not_read() {
        let deep = nested(500);
        for text in [
            deep.replacen("[[", "[{", 1),
            format!(r#"{{"content":[],"content":{deep}}}"#),
            format!("{deep}{deep}"),
            deep[1..].to_owned(),
            deep[..600].to_owned(),
            r#"{"a":1,"a":2}"#.to_owned(),
        ] {
            assert!(Part::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
