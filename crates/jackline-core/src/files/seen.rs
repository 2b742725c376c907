//! What the runtime is asked about file policies, and what it saw: bounded, so that a record can keep it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::detector::{Pair, State};
use super::memory::FILES_HELD_MAX;
use super::policy::CompareTo;
use super::queue::{ActionResult, SettledBy, Status};
use crate::sha::{Digest, Key};
use crate::time::Timestamp;

/// Files and pairs of one firing that are told; more are counted.
pub const FILES_TOLD_MAX: usize = 1000;
/// Files and pairs of all firings together.
pub const FILES_TOTAL_MAX: usize = 5000;
/// Names of policies that an agent is told when it begins; more are counted.
pub const NAMES_TOLD_MAX: usize = 8;
/// Policies that are remembered one by one, to see which of them went or changed; where there are more they are counted.
pub const NOTED_MAX: usize = 64;
/// Bytes of a policy's instructions that are told: what a record keeps of one text whole.
pub const INSTRUCTIONS_BYTES_MAX: usize = crate::audit::STRING_BYTES_MAX;
/// Runs of one command that are told of when they failed; the first say why.
pub const FAILURES_TOLD_MAX: usize = 5;
/// Bytes of what a failed run printed that are told, for each stream: what a record keeps of one text whole. The queue
/// has more of it.
pub const PRINTED_BYTES_MAX: usize = crate::audit::STRING_BYTES_MAX;

/// Files that are named when a command changed them; more are counted.
pub const REWROTE_TOLD_MAX: usize = 20;

/// A question about file policies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Which policies fire? `base` is compared to instead of every baseline; `held` fired before, and are not settled;
    /// `round` counts how often actions ran before.
    Detect {
        dir: Option<String>,
        /// Another work tree than the one the session is in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        base: Option<String>,
        baseline: Option<Baseline>,
        #[serde(default)]
        held: Vec<Held>,
        round: u32,
    },
    /// What comes of the commands of these firings? Asked at most once.
    Act {
        dir: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        due: Vec<Due>,
    },
    /// What are the policies called?
    Names { dir: Option<String> },
    /// How is everything as a prompt is submitted? Kept on disk, where a policy compares to it.
    Baseline {
        dir: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        root: Option<String>,
        at: Timestamp,
    },
    /// What did the agent promise in this transcript, beyond a place in it?
    Promises { file: String, offset: Option<u64> },
}

impl Ask {
    /// Whether asking twice is as good as asking once.
    #[must_use]
    pub const fn observes(&self) -> bool {
        match self {
            Self::Detect { .. } | Self::Names { .. } | Self::Promises { .. } => true,
            Self::Act { .. } | Self::Baseline { .. } => false,
        }
    }
}

/// A firing whose command is to be run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Due {
    pub policy: String,
    pub hash: String,
    /// What it is to be run for: after another command changed files, it is due anew.
    pub content: Digest,
}

/// A policy with a firing on record that nothing settled, and what it was compared to then.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    pub policy: String,
    /// Its file, which tells it from one of another folder.
    #[serde(default)]
    pub file: String,
    pub reference: String,
    /// Its trigger files, the first of them.
    #[serde(default)]
    pub files: Vec<String>,
    /// It is not outstanding: its files were as before for a while, or answered.
    #[serde(default, skip_serializing_if = "is_false")]
    pub aside: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Held {
    /// Whether it may have more files than are on record.
    #[must_use]
    pub fn has_more(&self) -> bool {
        !self.aside && (self.files.is_empty() || self.files.len() >= FILES_HELD_MAX)
    }
}

/// The state that a prompt began with, as it is kept on disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Baseline {
    /// The file's name; what it says counts only with this digest.
    pub file: String,
    pub digest: Digest,
    /// What stands for it in trigger hashes.
    pub reference: String,
    /// The commit that was checked out: compared to when the file is gone, so that losing it settles nothing.
    #[serde(default)]
    pub commit: Option<String>,
    /// Why the file could not be written, where it could not.
    #[serde(default)]
    pub unkept: Option<String>,
    /// The work tree that it is about; nothing is the one that the session began in.
    #[serde(default)]
    pub tree: Option<String>,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    Detected(Found),
    Acted(Vec<Acted>),
    Baseline(Baseline),
    /// The names of policies, as promises say them, and how many there are.
    Names {
        names: Vec<String>,
        total: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        noted: Vec<Noted>,
    },
    Said {
        said: Vec<Said>,
        end: u64,
    },
}

/// A policy as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// From the root.
    pub file: String,
    /// Of what it says.
    pub digest: Key,
}

/// The policies of a folder, held against what changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// In the order of their files; those that are about no changed file are left out.
    pub firings: Vec<Firing>,
    /// Policies that cannot be used, and what else the owner should know.
    pub faults: Vec<PolicyFault>,
    /// How many there are.
    pub policies: usize,
    /// Of the policies that were asked about as held, those that are gone or cannot be used: their files, or what they
    /// are called where no file is on record.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Show one at a time, as a settings file beside the policies says.
    pub individual: bool,
    /// All that can be used, unless there are too many.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noted: Vec<Noted>,
}

impl Found {
    /// The files of policies that are there and cannot be used.
    #[must_use]
    pub fn unusable(&self) -> BTreeSet<&str> {
        let files = self.faults.iter().filter(|fault| !fault.warning && fault.file.ends_with(".md"));
        files.map(|fault| fault.file.as_str()).collect()
    }
}

/// A policy that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyFault {
    /// From the root.
    pub file: String,
    pub line: u32,
    pub message: String,
    pub help: Option<String>,
    /// It is used all the same.
    pub warning: bool,
}

impl PolicyFault {
    /// As programs are told of it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let Self { file, line, message, help, warning } = self;
        let level = if *warning { "warning" } else { "error" };
        json!({ "file": file, "line": line, "message": message, "help": help, "level": level })
    }
}

/// A policy that is about some changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firing {
    pub policy: String,
    pub name: String,
    /// The policy's file, from the root.
    pub file: String,
    /// The work tree that it is about; nothing is the one that the session began in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    pub state: State,
    pub hash: String,
    pub baseline_ref: String,
    pub compare_to: CompareTo,
    /// What the trigger files contain, what is expected of them, and what the policy says.
    pub content: Digest,
    pub trigger_files: Vec<String>,
    pub expected_files: Vec<String>,
    pub matched_files: Vec<String>,
    pub pairs: Vec<Pair>,
    /// Trigger files that are not told.
    pub left_out: usize,
    /// Pairs that are not told.
    #[serde(default)]
    pub pairs_left_out: usize,
    /// The command, where there is one.
    pub command: Option<String>,
    /// The command is about files, and every one of them is deleted, or a link: there is nothing to run it on.
    #[serde(default)]
    pub idle: bool,
    /// What the agent is to do, with files in their places.
    pub instructions: String,
    /// How another session settled it for the same content, where that session's log says so.
    pub backed: Option<Backed>,
    /// What came of its command when it last failed for the same content, as the queue has it: told again, and believed in
    /// nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<ActionResult>,
}

impl Firing {
    /// What tells its policy from all others, of other folders and work trees too.
    #[must_use]
    pub fn place(&self) -> String {
        let tree = self.tree.as_ref().map(|tree| format!("{tree}/")).unwrap_or_default();
        format!("{tree}{}", self.file)
    }
}

/// What another session's log says of a firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backed {
    pub session: String,
    pub status: Status,
    pub by: Option<SettledBy>,
}

/// What came of the command of a firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    pub policy: String,
    pub hash: String,
    /// Every run ended with 0, and running all of it again changed nothing.
    pub passed: bool,
    /// It was not run: the owner has not trusted it.
    pub skipped: bool,
    /// It was not run: another session runs commands in this workspace.
    #[serde(default)]
    pub waits: bool,
    /// Files changed while commands ran.
    pub changed: bool,
    /// What it ran for, as it was when it had last run; as a firing's.
    pub content: Digest,
    /// Runs that did not go well, the first of them.
    pub failures: Vec<Failure>,
    /// How many there were.
    pub failed: usize,
    /// Files that a second run changed once more.
    pub unsteady: Vec<String>,
    /// Files that were other ones after it had run, the first of them: its own, and those that no policy which ran beside it
    /// is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewrote: Vec<String>,
    /// How many there were besides.
    #[serde(default)]
    pub rewrote_more: usize,
}

/// A run that did not go well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The words, as they are shown.
    pub command: String,
    /// How it ended, in words.
    pub told: String,
    pub exit_code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The digests of the longer texts, where they are kept.
    #[serde(default)]
    pub stdout_kept: Option<Digest>,
    #[serde(default)]
    pub stderr_kept: Option<Digest>,
}

/// A promise in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Folded as promises are.
    pub name: String,
    /// When, where the transcript says.
    pub at: Option<Timestamp>,
}
