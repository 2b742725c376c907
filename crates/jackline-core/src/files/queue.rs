//! What the queue holds for people: one entry for each firing, under its trigger hash.
//!
//! Entries are a view. What counts is what the audit log holds; a status that it does not back is not believed.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::sha::Digest;
use crate::time::Timestamp;

/// Digits of a trigger hash.
pub const HASH_DIGITS: usize = 12;

/// What became of a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is outstanding.
    Queued,
    /// It was satisfied, or promised.
    Passed,
    /// Its command did not pass; it is outstanding too.
    Failed,
    /// It never had to be looked at, or need not be any more.
    Skipped,
}

impl Status {
    /// Every status, in the order in which a file is looked for.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Passed, Self::Failed, Self::Skipped];

    /// As files and people spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Passed | Self::Skipped)
    }
}

/// What settled a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledBy {
    /// A safety pattern matched.
    Safety,
    /// What was asked for was done.
    Satisfied,
    /// The agent said that nothing has to be done.
    Promise,
    /// Its command passed.
    Command,
    /// It fired anew, for other files.
    Superseded,
    /// None of its files is changed any more.
    Irrelevant,
    /// Its command is about files, and they are deleted, or links: there was nothing to run it on.
    Deleted,
}

impl SettledBy {
    /// As records and people spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Satisfied => "satisfied",
            Self::Promise => "promise",
            Self::Command => "command",
            Self::Superseded => "superseded",
            Self::Irrelevant => "irrelevant",
            Self::Deleted => "deleted",
        }
    }
}

/// One entry of the queue; its lists of files may be passed over while it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<Name = String> {
    /// The policy's identifier: its file's name without the ending.
    pub policy_name: String,
    pub trigger_hash: String,
    pub status: Status,
    pub created_at: String,
    pub evaluated_at: Option<String>,
    pub baseline_ref: String,
    pub trigger_files: Vec<Name>,
    pub expected_files: Vec<Name>,
    pub matched_files: Vec<Name>,
    pub action_result: Option<ActionResult>,
    /// What the trigger files contained, and what the policy said: an entry is settled for that.
    pub content_digest: Digest,
    #[serde(default)]
    pub settled_by: Option<SettledBy>,
    /// The session whose log backs it.
    #[serde(default)]
    pub session: String,
    /// What people call the policy.
    #[serde(default)]
    pub name: String,
    /// The policy's file, from the root: whose queue it belongs to. The queue itself says so by where it is.
    #[serde(skip)]
    pub file: String,
    /// The work tree, as a firing knows it.
    #[serde(skip)]
    pub tree: Option<String>,
}

/// A name that must be there, and that nobody wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed;

impl<'de> Deserialize<'de> for Passed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Passed;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }

            fn visit_str<E: de::Error>(self, _: &str) -> Result<Passed, E> {
                Ok(Passed)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionResult {
    /// `prompt` or `command`.
    #[serde(rename = "type")]
    pub kind: String,
    pub command: Option<String>,
    pub exit_code: Option<i32>,
    pub output: Option<String>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// The digests under which the longer texts are kept.
    #[serde(default)]
    pub stdout_kept: Option<Digest>,
    #[serde(default)]
    pub stderr_kept: Option<Digest>,
}

impl ActionResult {
    /// That the instructions were shown.
    #[must_use]
    pub fn prompt() -> Self {
        let (command, exit_code, output, stdout, stderr) = (None, None, None, None, None);
        let (stdout_kept, stderr_kept) = (None, None);
        Self { kind: "prompt".to_owned(), command, exit_code, output, stdout, stderr, stdout_kept, stderr_kept }
    }
}

/// What is written into the queue once a decision stands in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A whole entry, in place of any other of its hash.
    Entry(Box<Entry>),
    /// An entry that should be there already, and is written where it is not.
    Restored(Box<Entry>),
    /// An entry that is there has another status.
    Settle { tree: Option<String>, file: String, hash: String, status: Status, by: SettledBy, at: Timestamp },
}

impl Write {
    /// The file of the policy that it is about; empty where that is not on record.
    #[must_use]
    pub fn file(&self) -> &str {
        match self {
            Self::Entry(entry) | Self::Restored(entry) => &entry.file,
            Self::Settle { file, .. } => file,
        }
    }

    /// The work tree that it is about; nothing is the one that the session began in.
    #[must_use]
    pub fn tree(&self) -> Option<&str> {
        match self {
            Self::Entry(entry) | Self::Restored(entry) => entry.tree.as_deref(),
            Self::Settle { tree, .. } => tree.as_deref(),
        }
    }
}

/// The trigger hash of the design: policy, files and baseline, as Python would print them.
#[must_use]
pub fn trigger_hash(policy: &str, files: &[String], baseline: &str) -> String {
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    files.sort_unstable();
    let mut text = format!("{policy}:[");
    for (number, file) in files.iter().enumerate() {
        text.push_str(if number == 0 { "" } else { ", " });
        spell(file, &mut text);
    }
    text.push_str("]:");
    text.push_str(baseline);
    let mut hash = Digest::of(text.as_bytes()).hex();
    hash.truncate(HASH_DIGITS);
    hash
}

/// Adds a text as Python's `repr` spells it.
fn spell(text: &str, spelled: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    spelled.push(quote);
    for c in text.chars() {
        match c {
            c if c == quote || c == '\\' => spelled.extend(['\\', c]),
            '\n' => spelled.push_str("\\n"),
            '\r' => spelled.push_str("\\r"),
            '\t' => spelled.push_str("\\t"),
            c if is_printable(c) => spelled.push(c),
            c => spelled.push_str(&match u32::from(c) {
                code @ 0..=0xff => format!("\\x{code:02x}"),
                code @ 0x100..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
        }
    }
    spelled.push(quote);
}

/// Whether Python prints it as it is. Rust escapes the same characters, and at a text's beginning also those that
/// join the one before; so it is asked behind another one.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    let text: String = ['a', c].into_iter().collect();
    text.escape_debug().eq(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(policy: &str, files: &[&str], baseline: &str, want: &str) {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        assert_eq!(trigger_hash(policy, &files, baseline), want, "{policy} {files:?}");
    }

    #[test]
    fn hashes_are_those_of_the_design() {
        check("Rule", &["b.py", "a.py"], "abc", "befd152dc480");
        check("R", &[], "base", "a8369fb84736");
        check("R", &["it's.py"], "x", "c602f4aa9684");
        check("R", &["é.py"], "x", "176a816a21e9");
    }

    #[test]
    fn names_are_spelled_as_python_does() {
        for (text, want) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("a'b\"c", "'a\\'b\"c'"),
            ("a\\b", "'a\\\\b'"),
            ("a\nb\tc\rd", "'a\\nb\\tc\\rd'"),
            ("\u{0}\u{7f}\u{a0}\u{ad}", "'\\x00\\x7f\\xa0\\xad'"),
            ("\u{200b}\u{2028}\u{e000}", "'\\u200b\\u2028\\ue000'"),
            ("\u{1f600}\u{e0001}", "'\u{1f600}\\U000e0001'"),
            ("e\u{301}", "'e\u{301}'"),
            ("ü 漢", "'ü 漢'"),
        ] {
            let mut spelled = String::new();
            spell(text, &mut spelled);
            assert_eq!(spelled, want, "{text:?}");
        }
    }
}
