//! A JSON text with the places of its parts, so that an edit can leave every other byte alone.
//!
//! Whatever is taken apart here the strict reader has accepted before; that bounds its depth, and the recursion.

use std::ops::Range;

use jackline_core::json;
use serde_json::Value;

use super::{SERVERS_BYTES_MAX, SETTINGS_BYTES_MAX, SettingsFault};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Leaf,
}

/// A member of an object, or an element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// A member's key.
    pub(super) key: Option<String>,
    /// Where it begins: at its key, if it has one. It ends where its value does.
    pub(super) start: usize,
    pub(super) node: Node,
}

impl Item {
    /// Where its key stands, quotes included; for an element, nowhere.
    pub(super) fn key_span(&self, text: &str) -> Range<usize> {
        let mut scan = Scan { text, at: self.start };
        let is_keyed = self.key.is_some() && scan.string().is_ok();
        self.start..if is_keyed { scan.at } else { self.start }
    }

    pub(super) fn end(&self) -> usize {
        self.node.span.end
    }
}

impl Node {
    /// A member's value.
    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        self.items.iter().find(|item| item.key.as_deref() == Some(key)).map(|item| &item.node)
    }

    /// Its value, read again from the text.
    pub(super) fn value(&self, text: &str) -> Value {
        text.get(self.span.clone()).and_then(|part| serde_json::from_str(part).ok()).unwrap_or_default()
    }

    /// Whether whitespace follows its opening bracket.
    pub(super) fn opens_wide(&self, text: &str) -> bool {
        text.as_bytes().get(self.span.start + 1).is_some_and(u8::is_ascii_whitespace)
    }
}

/// A settings text as an object with places, and its value.
pub(super) fn read(text: &str) -> Result<(Node, Value), SettingsFault> {
    let value = settings(text.as_bytes())?;
    Ok((Scan::of(text).node()?, value))
}

/// Reads a settings text strictly; it must be an object.
pub(super) fn settings(text: &[u8]) -> Result<Value, SettingsFault> {
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsFault::TooLarge { bytes: text.len(), most: SETTINGS_BYTES_MAX });
    }
    let value = json::decode(text).map_err(|fault| told(text, fault))?;
    if value.is_object() { Ok(value) } else { Err(SettingsFault::NotObject) }
}

/// An object of which only what lies at the end of these ways is read, and that strictly. Of everything beside them it is
/// known where it stands: it may be long, and odd in ways that its host does not mind.
pub(super) fn along(text: &str, ways: &[Vec<&str>]) -> Result<Node, SettingsFault> {
    if text.len() > SERVERS_BYTES_MAX {
        return Err(SettingsFault::TooLarge { bytes: text.len(), most: SERVERS_BYTES_MAX });
    }
    let mut scan = Scan::of(text);
    let body = text.get(scan.at..).unwrap_or_default();
    json::check(body).map_err(|fault| told(text.as_bytes(), placed(text, scan.at + fault.at, fault.message)))?;
    let ways: Vec<&[&str]> = ways.iter().map(Vec::as_slice).collect();
    let root = scan.along(&ways)?;
    if root.kind == Kind::Object { Ok(root) } else { Err(SettingsFault::NotObject) }
}

/// Whether there is nothing in a text.
pub(super) fn blank(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

/// Comments are the one mistake that looks right to people.
fn told(text: &[u8], fault: json::JsonFault) -> SettingsFault {
    let near = |at: usize| text.get(at..at + 2).is_some_and(|pair| pair == b"//" || pair == b"/*");
    let comment = near(fault.at) || fault.at.checked_sub(1).is_some_and(near);
    let (line, column) = (fault.line, fault.column);
    if comment { SettingsFault::Comment { line, column } } else { SettingsFault::NotJson(fault) }
}

/// A fault at this place of a text.
fn placed(text: &str, at: usize, message: String) -> json::JsonFault {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    json::JsonFault { message, line, column, at }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

type Scanned<T> = Result<T, SettingsFault>;

impl<'a> Scan<'a> {
    /// At the value of a text.
    fn of(text: &'a str) -> Self {
        Self { text, at: text.len() - text.trim_start_matches('\u{feff}').trim_start().len() }
    }

    /// The byte here. A text that ends within a value was refused before.
    fn peek(&self) -> Scanned<u8> {
        self.text.as_bytes().get(self.at).copied().ok_or(SettingsFault::NotObject)
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_ok_and(&skipped) {
            self.at += 1;
        }
    }

    /// The value here with all its parts.
    fn node(&mut self) -> Scanned<Node> {
        let start = self.at;
        let (kind, items) = match self.peek()? {
            b'{' => (Kind::Object, self.items(b'}', true, &mut |scan, _| scan.node())?),
            b'[' => (Kind::Array, self.items(b']', false, &mut |scan, _| scan.node())?),
            _ => {
                self.leaf()?;
                (Kind::Leaf, Vec::new())
            }
        };
        Ok(Node { kind, span: start..self.at, items })
    }

    /// The value here, opened along these ways; whole at the end of one.
    fn along(&mut self, ways: &[&[&str]]) -> Scanned<Node> {
        let start = self.at;
        let closed = self.past()?;
        let again = Self { text: self.text, at: start };
        match ways {
            [] => Ok(closed),
            ways if ways.iter().any(|way| way.is_empty()) => again.whole(&closed.span),
            ways if closed.kind == Kind::Object => again.opened(ways, closed),
            _ => Ok(closed),
        }
    }

    fn opened(mut self, ways: &[&[&str]], closed: Node) -> Scanned<Node> {
        let text = self.text;
        let mut met: Vec<String> = Vec::new();
        let items = self.items(b'}', true, &mut |scan, key| {
            let key = key.unwrap_or_default();
            let further = ways.iter().filter_map(|way| way.split_first().filter(|(first, _)| **first == key));
            let further: Vec<&[&str]> = further.map(|(_, rest)| rest).collect();
            if !further.is_empty() && met.iter().any(|known| known == key) {
                let why = format!("key `{key}` occurs twice in one object");
                return Err(SettingsFault::NotJson(placed(text, scan.at, why)));
            }
            met.extend((!further.is_empty()).then(|| key.to_owned()));
            scan.along(&further)
        })?;
        Ok(Node { items, ..closed })
    }

    /// The value in this place, read strictly first.
    fn whole(mut self, span: &Range<usize>) -> Scanned<Node> {
        let part = self.text.get(span.clone()).unwrap_or_default();
        if part.len() > SETTINGS_BYTES_MAX {
            return Err(SettingsFault::TooLarge { bytes: part.len(), most: SETTINGS_BYTES_MAX });
        }
        let there = |fault: json::JsonFault| placed(self.text, span.start + fault.at, fault.message);
        json::decode(part.as_bytes()).map_err(there)?;
        self.node()
    }

    /// Goes past the value here, however deep it is.
    fn past(&mut self) -> Scanned<Node> {
        let start = self.at;
        let kind = match self.peek()? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            _ => Kind::Leaf,
        };
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'{' | b'[' => (depth, self.at) = (depth + 1, self.at + 1),
                b'}' | b']' => (depth, self.at) = (depth.saturating_sub(1), self.at + 1),
                byte if byte.is_ascii_whitespace() || b",:".contains(&byte) => self.at += 1,
                _ => self.leaf()?,
            }
            if depth == 0 {
                return Ok(Node { kind, span: start..self.at, items: Vec::new() });
            }
        }
    }

    fn leaf(&mut self) -> Scanned<()> {
        match self.peek()? {
            b'"' => self.string(),
            _ => {
                self.skip_while(|byte| !byte.is_ascii_whitespace() && !b",:]}".contains(&byte));
                Ok(())
            }
        }
    }

    fn items(
        &mut self,
        close: u8,
        keyed: bool,
        node: &mut dyn FnMut(&mut Self, Option<&str>) -> Scanned<Node>,
    ) -> Scanned<Vec<Item>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b',');
            if self.peek()? == close {
                self.at += 1;
                return Ok(items);
            }
            let start = self.at;
            let key = if keyed { Some(self.key()?) } else { None };
            let node = node(self, key.as_deref())?;
            items.push(Item { key, start, node });
        }
    }

    /// A key; one with half a character in it is none that anybody looks for.
    fn key(&mut self) -> Scanned<String> {
        let start = self.at;
        self.string()?;
        let key = self.text.get(start..self.at).and_then(|key| serde_json::from_str(key).ok()).unwrap_or_default();
        self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b':');
        Ok(key)
    }

    fn string(&mut self) -> Scanned<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: &[&str] = &["projects", "/ws", "servers"];

    #[track_caller]
    fn check(text: &str, want: Result<Option<&str>, &str>) {
        let root = along(text, &[WAY.to_vec()]).map_err(|fault| fault.to_string());
        let found = root.map(|root| WAY.iter().try_fold(&root, |at, key| at.member(key)).map(|node| node.value(text)));
        let found = found.map(|value| value.map(|value| value.to_string()));
        assert_eq!(found.as_ref().map(Option::as_deref).map_err(String::as_str), want, "{text}");
    }

    #[test]
    fn only_what_a_way_leads_to_is_read() {
        check("{}", Ok(None));
        check(
            r#"{"projects":{"/other":{"servers":{"a":1,"a":2}},"/ws":{"servers":{"b":[1]}}}}"#,
            Ok(Some(r#"{"b":[1]}"#)),
        );
        // What a host does not mind beside it: half a character, a key twice, any depth.
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let odd = format!(r#""h":"cut \ud83d","h":1,"d":{deep},"\ud83d":2"#);
        check(&format!(r#"{{{odd},"projects":{{{odd},"/ws":{{{odd},"servers":[]}}}}}}"#), Ok(Some("[]")));
        check("\u{feff} {\"projects\": 7}", Ok(None));
    }

    #[test]
    fn what_would_be_changed_must_be_plain() {
        check(
            r#"{"projects":{"/ws":{"servers":{"a":1,"a":2}}}}"#,
            Err("it is not valid JSON: key `a` occurs twice in one object (line 1, column 40)"),
        );
        check(
            "{\"projects\":{},\n\"projects\":{}}",
            Err("it is not valid JSON: key `projects` occurs twice in one object (line 2, column 12)"),
        );
        check(
            r#"{"projects":{"/ws":{"servers":{}}"#,
            Err("it is not valid JSON: text ends before the value does (line 1, column 33)"),
        );
        check("[]", Err("it is not a JSON object"));
        check("{ // mine\n}", Err("it has comments, and only plain JSON is changed (line 1, column 3)"));
    }
}
