//! Replaces secrets by a marker with a few digits of their hash, before anything is kept, logged or exported.
//!
//! Two ways lead to a secret: the name of the field that holds it, and its own shape in any text. Scanners are
//! written by hand and linear: this runs on every event. It protects against leaks by accident; whoever wants to
//! smuggle a secret past it can encode it.

mod assign;
mod named;
mod names;
mod options;
mod tokens;

use std::{borrow::Cow, ops::Range};

use serde_json::{Map, Value};

use crate::{
    json::{JSON_DEPTH_MAX, canonical},
    sha::Digest,
};
use names::Names;
use options::Telling;

const MARKER_OPENING: &str = "‹redacted:";
const MARKER_CLOSING: &str = "›";

/// Digits of the hash that a marker shows: enough to see that two secrets are the same, too few to search for one
/// that is not short already.
const MARKER_DIGITS: usize = 8;

const MARKER_BYTES: usize = MARKER_OPENING.len() + MARKER_DIGITS + MARKER_CLOSING.len();

/// Bytes of a secret that is replaced wherever it stands: a shorter one would be found in the middle of words.
const KNOWN_BYTES_MIN: usize = 6;

/// Passes over one text. The second finds nothing, save where markers and texts were put side by side on purpose.
const PASSES_MAX: usize = 8;

/// Levels that are looked through, with room for what a record wraps around a decoded value.
const REDACT_DEPTH_MAX: usize = JSON_DEPTH_MAX + 32;

/// Knows which fields are sensitive and what secrets look like.
#[derive(Debug, Clone)]
pub struct Redactor {
    names: Names,
    /// Secrets that are known to the letter, the longest first.
    known: Vec<String>,
}

impl Redactor {
    /// A redactor for the fields everybody keeps secrets in, and these ones.
    pub fn new<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        Self { names: Names::new(fields), known: Vec::new() }
    }

    /// The same, for a place where these secrets are known to the letter. What is as short as a word stays.
    #[must_use]
    pub fn knowing<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let long = |secret: &&str| secret.len() >= KNOWN_BYTES_MIN && !MARKER_OPENING.contains(*secret);
        let mut known: Vec<String> = secrets.into_iter().map(str::trim).filter(long).map(str::to_owned).collect();
        known.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { names: self.names.clone(), known }
    }

    /// A copy of the value without secrets, and whether it differs.
    #[must_use]
    pub fn value(&self, value: &Value) -> (Value, bool) {
        let mut copy = value.clone();
        let changed = self.redact(&mut copy);
        (copy, changed)
    }

    /// Takes the secrets out of a value and says whether there were any.
    pub fn redact(&self, value: &mut Value) -> bool {
        self.walk(value, false, REDACT_DEPTH_MAX)
    }

    /// The text without secrets, and whether it differs; borrowed when it does not.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> (Cow<'a, str>, bool) {
        match self.without_known(text) {
            None => self.shapes(text),
            Some(rest) => (Cow::Owned(self.shapes(&rest).0.into_owned()), true),
        }
    }

    /// The text without the secrets that are known, if one was in it.
    fn without_known(&self, text: &str) -> Option<String> {
        let found = self.known.iter().filter(|secret| text.contains(secret.as_str()));
        found.fold(None, |rest, secret| {
            Some(rest.as_deref().unwrap_or(text).replace(secret.as_str(), &marker(secret.as_bytes())))
        })
    }

    fn shapes<'a>(&self, text: &'a str) -> (Cow<'a, str>, bool) {
        let Some(mut redacted) = self.pass(text) else { return (Cow::Borrowed(text), false) };
        // A marker may make a secret of what stands beside it; doing all of it twice must change nothing.
        for _ in 1..PASSES_MAX {
            let Some(again) = self.pass(&redacted) else { break };
            redacted = again;
        }
        (Cow::Owned(redacted), true)
    }

    fn pass(&self, text: &str) -> Option<String> {
        let mut scan = Scan::new(text, &self.names);
        let mut out = String::new();
        let mut kept = 0;
        while let Some(secret) = scan.next_secret() {
            let (plain, content) = (text.get(kept..secret.start), text.get(secret.clone()));
            // Secrets begin and end beside ASCII; were one to split a character, nothing of the text is kept.
            let (Some(plain), Some(content)) = (plain, content) else { return Some(marker(text.as_bytes())) };
            out.push_str(plain);
            out.push_str(&marker(content.as_bytes()));
            kept = secret.end;
        }
        out.push_str(text.get(kept..).filter(|_| kept > 0)?);
        Some(out)
    }

    /// `secret` says that a sensitive field holds the value, so that every text in it is one.
    fn walk(&self, value: &mut Value, secret: bool, levels_left: usize) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) if secret => replace_whole(text),
            Value::String(text) => self.replace_inside(text),
            // What cannot be looked through is not kept.
            Value::Array(_) | Value::Object(_) if levels_left == 0 => {
                *value = Value::String(marker(&canonical(value)));
                true
            }
            Value::Array(elements) => self.walk_elements(elements, secret, levels_left - 1),
            Value::Object(members) => self.walk_members(members, secret, levels_left - 1),
        }
    }

    fn walk_elements(&self, elements: &mut [Value], secret: bool, levels_left: usize) -> bool {
        let mut changed = false;
        let mut after_flag = false;
        let mut program = None;
        for element in elements {
            // ["--password", "hunter2"]: the flag names what follows it; ["curl", "-u", "me:hunter2"]: the program does.
            let is_flag = element.as_str().is_some_and(|text| {
                let told = program.is_some_and(|program: &Telling| program.announces(text));
                program = options::of_program(text).or(program);
                told || self.names.is_flag(text.as_bytes())
            });
            changed |= self.walk(element, secret || after_flag && !is_flag && element.is_string(), levels_left);
            after_flag = is_flag;
        }
        changed
    }

    fn walk_members(&self, members: &mut Map<String, Value>, secret: bool, levels_left: usize) -> bool {
        // {"name": "DB_PASSWORD", "value": "hunter2"}: one member names the other.
        let named = ["name", "key"].iter().filter_map(|key| members.get(*key).and_then(Value::as_str));
        let value_is_secret = named.into_iter().any(|name| self.names.field(name));
        let mut changed = false;
        for (key, value) in members.iter_mut() {
            let secret = secret || self.names.field(key) || value_is_secret && key == "value";
            changed |= self.walk(value, secret, levels_left);
        }
        self.rename(members) || changed
    }

    /// Keys may hold secrets too; two that become alike are kept apart, so that nothing can be hidden this way.
    fn rename(&self, members: &mut Map<String, Value>) -> bool {
        if members.keys().all(|key| !self.text(key).1) {
            return false;
        }
        for (key, value) in std::mem::take(members) {
            let mut key = self.text(&key).0.into_owned();
            while members.contains_key(&key) {
                key.push('\'');
            }
            members.insert(key, value);
        }
        true
    }

    fn replace_inside(&self, text: &mut String) -> bool {
        let (Cow::Owned(redacted), _) = self.text(text) else { return false };
        *text = redacted;
        true
    }
}

fn replace_whole(text: &mut String) -> bool {
    if text.is_empty() || is_marker(text.as_bytes()) {
        return false;
    }
    *text = marker(text.as_bytes());
    true
}

fn marker(secret: &[u8]) -> String {
    let hex = Digest::of(secret).hex();
    format!("{MARKER_OPENING}{}{MARKER_CLOSING}", hex.get(..MARKER_DIGITS).unwrap_or(&hex))
}

fn is_marker(bytes: &[u8]) -> bool {
    bytes.len() == MARKER_BYTES && starts_with_marker(bytes)
}

fn starts_with_marker(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(MARKER_OPENING.as_bytes()) else { return false };
    let Some((digits, rest)) = rest.split_at_checked(MARKER_DIGITS) else { return false };
    digits.iter().all(u8::is_ascii_hexdigit) && rest.starts_with(MARKER_CLOSING.as_bytes())
}

/// One pass over a text.
///
/// INVARIANT: a scanner that fails has looked at a bounded number of bytes or at bytes no other start looks at
/// again; one that succeeds is continued behind its secret. So the pass is linear.
struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    names: &'a Names,
    /// Where the next secret may start.
    at: usize,
    /// Where the last secret ended; in the redacted text a marker stands before it.
    last_end: usize,
    /// The password of the address that is being passed; what stands before it may hold a token.
    password: Range<usize>,
    /// No private key ends before this place.
    no_key_end_until: usize,
    /// Only what is a secret by its own shape is looked for, whatever stands before it.
    shapes_only: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, names: &'a Names) -> Self {
        let (bytes, password) = (text.as_bytes(), 0..0);
        Self { text, bytes, names, at: 0, last_end: 0, password, no_key_end_until: 0, shapes_only: false }
    }

    fn next_secret(&mut self) -> Option<Range<usize>> {
        while let Some(byte) = self.bytes.get(self.at) {
            if let Some(secret) = self.secret_at(*byte).filter(|secret| !secret.is_empty()) {
                self.at = secret.end;
                self.last_end = secret.end;
                return Some(secret);
            }
            self.at += match byte {
                // Within a word no secret begins.
                byte if byte.is_ascii_alphanumeric() => word_bytes(self.rest()),
                byte if !byte.is_ascii() && starts_with_marker(self.rest()) => MARKER_BYTES,
                _ => 1,
            };
        }
        None
    }

    fn secret_at(&mut self, byte: u8) -> Option<Range<usize>> {
        match byte {
            b':' if self.shapes_only => self.telegram_token(),
            b'=' | b'-' | b'B' | b'b' if self.shapes_only => None,
            b':' if self.at + 1 == self.password.start => Some(self.password.clone()),
            b':' if self.rest().starts_with(b"://") => self.enter_address(),
            b':' => self.telegram_token().or_else(|| self.after_separator()),
            b'=' => self.after_separator(),
            b'-' => self.private_key().or_else(|| self.after_flag()).or_else(|| self.told()),
            b'B' | b'b' if self.at_word_start() => self.bearer(),
            b'A' | b'S' | b'a'..=b'z' if self.at_word_start() => self.token(),
            b'M' | b'N' | b'O' if self.at_word_start() => self.discord_token(),
            _ => None,
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    fn at_word_start(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| self.byte(before));
        self.at == self.last_end || !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    /// The end of the run of accepted bytes that begins at `from` and has at most `bytes_max`.
    fn run_within(&self, from: usize, bytes_max: usize, accepts: impl Fn(u8) -> bool) -> usize {
        let bytes = self.slice(from..self.bytes.len().min(from + bytes_max));
        from + bytes.iter().position(|byte| !accepts(*byte)).unwrap_or(bytes.len())
    }

    /// The end of the run of accepted bytes that begins at `from`.
    fn run(&self, from: usize, accepts: impl Fn(u8) -> bool) -> usize {
        let bytes = self.bytes.get(from..).unwrap_or_default();
        from + bytes.iter().position(|byte| !accepts(*byte)).unwrap_or(bytes.len())
    }
}

fn word_bytes(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
