//! What a guard may ask of the world, and what was seen. Core asks; the runtime looks.
//!
//! A probe is a question, a [`Fact`] its answer; `Unknown`, and an answer of a kind that was not asked for, count as the
//! dangerous answer everywhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls::{Found, Query};
use crate::exception::{Exception, Refusal};
use crate::files::seen::{Ask, Seen};
use crate::ran::{Author, Ran, Scripts};
use crate::rego::{About, Judged};
use crate::schema::{Checked, Schema, Target};
use crate::sha::Digest;
use crate::shell::Search;
use crate::time::Timestamp;
use crate::usage::{Mark, Metering};

/// Rounds of asking before deciding gives up with a fault: identity, then fingerprint, then one more for each
/// later guard that asks an expensive question only after a cheap one; one for exceptions; two for feedback, which
/// comes with a decision; eight for file policies: what fires, what was promised, and three times what commands did and what
/// fires then.
/// At a stop each check may wait for the one before it.
pub const PROBE_ROUNDS_MAX: u32 = 17 + crate::completion::CHECKS_MAX as u32;

/// A question about the world.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// Which file is this path, seen from `dir` (absolute, or relative to the workspace root)?
    Identity { path: String, dir: String },
    /// Which file is this path, seen from `dir`, to a program that may read it in several ways? Known only where all
    /// of them lead to one file.
    Meant { path: String, dir: String, readings: Vec<String> },
    /// What does the file at this canonical absolute path contain?
    Fingerprint { path: String },
    /// What is the last byte of the file at this canonical absolute path? A content of one byte; of none when the file
    /// is empty or not there.
    LastByte { path: String },
    /// How many writes and acts had this session counted when this was first asked? What happens later is later.
    Counts,
    /// What is the content of the whole work tree (tracked and untracked, not ignored)?
    WorkTree,
    /// What in this settings file of a host would silence us? `Absent` when nothing does, `Unknown` with the reason
    /// when something may; `wired` when our hooks must be in it.
    Settings { file: String, wired: bool },
    /// Does this part of the event fit this schema?
    Schema { schema: Schema, target: Target },
    /// What does the Rego policy in this file (absolute, or seen from the workspace root) say of the event?
    Rego { file: String, about: About },
    /// Which exceptions of a person's cover these refusals at this time? One for a single use is claimed by asking.
    Exceptions { at: Timestamp, refusals: Vec<Refusal> },
    /// What does a host's transcript say was used beyond this mark? Without one, from its end or its beginning.
    Usage { file: String, mark: Option<Mark>, from_end: bool },
    /// What comes of this command, run in the workspace? A fact also where it may not run.
    Run { argv: Vec<String>, timeout_ms: u64, author: Author },
    /// Which files of the workspace do these commands run, and what do they contain?
    Scripts { commands: Vec<Vec<String>> },
    /// Which calls of this session does the log hold? One answer for each query.
    Calls { queries: Vec<Query> },
    /// Does the file at this canonical absolute path hold this text?
    Contains { path: String, text: String },
    /// Which file in the directory at this canonical absolute path would be one of these patterns if it lay below `into`
    /// (absolute, or below the workspace root)? At first only names that are `named` so; links are followed or are not.
    Lands { from: String, named: Option<String>, follows: bool, into: String, patterns: Vec<String> },
    /// Which file below the directory at this canonical absolute path, `inside` the workspace, may the shell mean by this
    /// pattern, and be one of these, or one that guards the session? Wildcards stand for hidden names, too, or do not. What is written `makes` the
    /// names behind the last wildcard, else they must be there; and what only goes is not looked for in what tools make
    /// anew, where it is not named by its place.
    Meets { dir: String, inside: String, pattern: String, dots: bool, makes: bool, patterns: Option<Vec<String>> },
    /// Which files does this pattern of the shell's stand for below the directory at this canonical absolute path? Not
    /// those in what tools make anew, where no name before says so.
    Expands { dir: String, pattern: String, dots: bool },
    /// Which file below the directory at this canonical absolute path, `inside` the workspace, does this search come upon
    /// where it begins at what the pattern stands for, and is one of these?
    Searches { dir: String, inside: String, pattern: String, search: Box<Search>, patterns: Vec<String> },
    /// What does git say of the repository around the workspace?
    Git { question: GitQuestion },
    /// What does an address answer?
    Web { request: WebRequest },
    /// What is to be known of file policies?
    Files { ask: Box<Ask> },
}

/// A question to git; it asks no network.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitQuestion {
    /// Is there a commit of this hash?
    Commit { sha: String },
    /// Is there nothing to commit, untracked files included?
    Clean,
    /// Does the remote hold all of this branch (the present one when absent), as far as was fetched or pushed?
    Pushed { branch: Option<String>, remote: String },
}

/// A request over HTTP; nothing is sent but the address, and redirects are not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebRequest {
    Status {
        url: String,
    },
    /// A pull request, asked of GitHub's interface at this address; the user's token goes there, and nowhere else.
    Pull {
        api: String,
        repo: String,
        number: u64,
    },
}

impl Probe {
    /// Whether the probe is cheap and repeatable (*observe*) or done at most once per event (*run*).
    #[must_use]
    pub const fn observes(&self) -> bool {
        match self {
            Self::Identity { .. }
            | Self::Meant { .. }
            | Self::Fingerprint { .. }
            | Self::LastByte { .. }
            | Self::WorkTree
            | Self::Counts
            | Self::Settings { .. }
            | Self::Schema { .. }
            | Self::Usage { .. }
            | Self::Calls { .. }
            | Self::Scripts { .. }
            | Self::Contains { .. }
            | Self::Lands { .. }
            | Self::Meets { .. }
            | Self::Expands { .. }
            | Self::Searches { .. }
            | Self::Git { .. }
            | Self::Rego { .. } => true,
            Self::Files { ask } => ask.observes(),
            // What another machine is asked, it may count.
            Self::Exceptions { .. } | Self::Run { .. } | Self::Web { .. } => false,
        }
    }
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The path leads to this file.
    Identity(Identity),
    /// The content has this digest; `None` when nothing is there.
    Content(Option<Digest>),
    /// The value was held against the schema.
    Schema(Checked),
    /// The policy was evaluated.
    Rego(Judged),
    /// These exceptions count; those for a single use are claimed.
    Excepted(Vec<Exception>),
    /// So much was used.
    Usage(Metering),
    /// What a check or a claim asked about.
    Told(Told),
    /// The command was run, or skipped aloud.
    Ran(Ran),
    /// File policies were looked at.
    Files(Seen),
    /// There is nothing to look at (no git repository for a work tree, for instance).
    Absent,
    /// It could not be told; the text says why, for the record.
    Unknown(String),
}

impl Fact {
    /// The file that a path leads to; `None` for every other answer, which the asker takes as the dangerous one.
    #[must_use]
    pub const fn identity(&self) -> Option<&Identity> {
        if let Self::Identity(identity) = self { Some(identity) } else { None }
    }
}

/// What checks and claims are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// The calls that each query found.
    Calls(Vec<Found>),
    /// The files that commands run, with what they contain.
    Scripts(Scripts),
    /// Whether it holds, and what was seen.
    Holds { holds: bool, seen: String },
    /// Files by their canonical absolute paths; `more` when there are others.
    Files { files: Vec<String>, more: bool },
    /// What the session had counted.
    Counted { writes: u64, acts: u64 },
    /// What an address answered; whether a pull request is merged, where that was asked.
    Answered { status: u16, merged: Option<bool> },
}

/// Which file a path leads to, walked as the kernel does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Canonical absolute path, links resolved, case folded where the disk folds it.
    pub path: String,
    /// The path below the workspace root with `/`, when it is inside.
    pub inside: Option<String>,
    /// What is there.
    pub there: There,
    /// What this file is to Jackline, when it is one of its own or a host's (named for the reason text).
    pub ours: Option<String>,
    /// It lies where a host has agents and skills, which may be written, though by its path nobody would know.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub instructs: bool,
    /// Files of ours or a host's that lie below this directory (at most a few, named).
    pub holds: Option<String>,
    /// The names in a directory outside the workspace that lead to those, where they are all known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<String>,
    /// The path below the root where the session began, when the host has moved to another work tree and this is not inside
    /// that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
}

impl Identity {
    /// The path below a root of the session's: where it is, or where it began. A move to another work tree takes no
    /// protection from the first.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.inside.as_deref().or(self.began.as_deref())
    }
}

/// What is at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum There {
    Nothing,
    File,
    Directory,
    Other,
}

/// All facts known so far about one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    seen: BTreeMap<Probe, Fact>,
}

impl Facts {
    /// The answer to a probe, if it was asked and answered.
    #[must_use]
    pub fn get(&self, probe: &Probe) -> Option<&Fact> {
        self.seen.get(probe)
    }

    /// Keeps an answer; the first one stands, so that a run probe is never replaced.
    pub fn keep(&mut self, probe: Probe, fact: Fact) {
        self.seen.entry(probe).or_insert(fact);
    }

    /// Every probe and its answer, in a stable order.
    pub fn iter(&self) -> impl Iterator<Item = (&Probe, &Fact)> {
        self.seen.iter()
    }

    /// The files that a path led to, as it was written.
    pub fn identities<'a>(&'a self, written: &'a str) -> impl Iterator<Item = &'a Identity> {
        let asked = move |probe: &Probe| matches!(probe, Probe::Identity { path, .. } | Probe::Meant { path, .. } if path == written);
        self.seen.iter().filter(move |(probe, _)| asked(probe)).filter_map(|(_, fact)| fact.identity())
    }
}
