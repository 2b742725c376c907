//! A JSON text with the places of its parts, so that an edit can leave every other byte alone.
//!
//! Only reads texts that the strict reader has accepted; that bounds their depth, and the recursion here.

use std::ops::Range;

use jackline_core::json;
use serde_json::Value;

use super::{SETTINGS_BYTES_MAX, SettingsFault};

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
        let is_keyed = self.key.is_some() && scan.string().is_some();
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
    let start = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
    let mut scan = Scan { text, at: start };
    let root = scan.node().ok_or(SettingsFault::NotObject)?;
    Ok((root, value))
}

/// Reads a settings text strictly; it must be an object.
pub(super) fn settings(text: &[u8]) -> Result<Value, SettingsFault> {
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsFault::TooLarge(text.len()));
    }
    let value = json::decode(text).map_err(|fault| told(text, fault))?;
    if value.is_object() { Ok(value) } else { Err(SettingsFault::NotObject) }
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

struct Scan<'a> {
    text: &'a str,
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn node(&mut self) -> Option<Node> {
        let start = self.at;
        let (kind, items) = match self.peek()? {
            b'{' => (Kind::Object, self.items(b'}', true)?),
            b'[' => (Kind::Array, self.items(b']', false)?),
            b'"' => {
                self.string()?;
                (Kind::Leaf, Vec::new())
            }
            _ => {
                self.skip_while(|byte| !byte.is_ascii_whitespace() && !b",]}".contains(&byte));
                (Kind::Leaf, Vec::new())
            }
        };
        Some(Node { kind, span: start..self.at, items })
    }

    fn items(&mut self, close: u8, keyed: bool) -> Option<Vec<Item>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b',');
            if self.peek()? == close {
                self.at += 1;
                return Some(items);
            }
            let start = self.at;
            let key = if keyed { Some(self.key()?) } else { None };
            items.push(Item { key, start, node: self.node()? });
        }
    }

    fn key(&mut self) -> Option<String> {
        let start = self.at;
        self.string()?;
        let key = serde_json::from_str(self.text.get(start..self.at)?).ok()?;
        self.skip_while(|byte| byte.is_ascii_whitespace() || byte == b':');
        Some(key)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }
}
