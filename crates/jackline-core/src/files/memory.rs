//! What a session remembers of file policies: how firings stand, the last prompt's baseline, how far it listened.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::policy::{CompareTo, POLICIES_MAX};
use super::queue::{SettledBy, Status};
use super::seen::{Baseline, Firing, Held, Noted};
use crate::sha::{Digest, Key};
use crate::time::Timestamp;

/// Firings that are remembered; the one that was touched longest ago makes room, and fires anew. A folder's policies may
/// all be outstanding at once, with some that are settled.
pub const KEPT_MAX: usize = POLICIES_MAX + 256;
/// Trigger files of a firing that are remembered, so that they stay changed while it is outstanding. Where there are as
/// many, every changed file counts.
pub const FILES_HELD_MAX: usize = 200;
/// Transcripts whose length is remembered: the main agent's and a few of others.
pub const HEARD_MAX: usize = 16;

/// What is remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// The one that changed last at the end.
    pub kept: Vec<Kept>,
    pub baseline: Option<Baseline>,
    pub heard: Vec<Heard>,
    /// The baseline of another work tree that the session is in, or was in last.
    #[serde(default)]
    pub elsewhere: Option<Baseline>,
    /// How many policies there were when the session began, or when it was last told that some are gone.
    #[serde(default)]
    pub policies: usize,
    /// Which those were, and what they said.
    #[serde(default)]
    pub noted: Vec<Noted>,
}

/// How a firing stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub policy: String,
    pub hash: String,
    /// What its files contained then, and what its policy said.
    pub content: Digest,
    pub status: Status,
    pub by: Option<SettledBy>,
    /// What people call the policy, and its file, which tells it from one of another folder: it may be gone when it is
    /// asked for again.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub file: String,
    /// What it was compared to: it is not over because that moved on.
    #[serde(default)]
    pub reference: String,
    /// Its trigger files, the first of them, while nothing settled it, or nothing but that they were as before or answered:
    /// undone, that ends.
    #[serde(default)]
    pub files: Vec<String>,
    /// It is compared to the last prompt.
    pub prompt: bool,
    /// Since when it stands like this for this content; a promise before that is none.
    pub at: Timestamp,
    /// What the agent had said last by then, where it promised something: said before, it is no answer.
    #[serde(default)]
    pub said: Option<Key>,
    /// The work tree that it is about; nothing is the one that the session began in.
    #[serde(default)]
    pub tree: Option<String>,
}

/// How long a transcript was when something fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    pub file: Key,
    pub offset: u64,
}

/// One step of what is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Kept {
        kept: Kept,
    },
    Baseline {
        baseline: Baseline,
    },
    Heard {
        heard: Heard,
    },
    /// So many policies are there.
    Counted {
        policies: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        noted: Vec<Noted>,
    },
    /// A person had everything forgotten.
    Cleared,
}

impl Kept {
    /// What tells its policy from all others: where it is, or what it is called where that is not on record.
    #[must_use]
    pub fn identity(&self) -> &str {
        if self.file.is_empty() { &self.policy } else { &self.file }
    }

    /// Whether it is about a policy, told by its file.
    fn is_of(&self, policy: &str, file: &str) -> bool {
        self.policy == policy && (self.file.is_empty() || self.file == file)
    }

    /// Whether it is about the policy of a firing, in the same work tree.
    pub(super) fn is_like(&self, firing: &Firing) -> bool {
        self.is_of(&firing.policy, &firing.file) && self.tree == firing.tree
    }

    /// Whether it was put aside rather than answered: it may come back by a commit, which nothing else would tell. What is
    /// compared to a prompt comes back by itself.
    fn is_aside(&self) -> bool {
        let by = matches!(self.by, Some(SettledBy::Irrelevant | SettledBy::Satisfied | SettledBy::Deleted));
        by && self.status.is_settled() && !self.prompt && !self.files.is_empty()
    }

    /// Whether it is settled for this content. Only a promise and a command that passed say something of it; that it
    /// was satisfied, superseded or about nothing any more is looked at anew each time.
    #[must_use]
    pub fn stands_for(&self, content: &Digest) -> bool {
        let answered = matches!(self.by, Some(SettledBy::Promise | SettledBy::Command));
        answered && self.status == Status::Passed && self.content == *content
    }
}

impl Remembered {
    /// How a firing of a policy, which is in this file, stands, if it ever did, in whichever work tree.
    #[must_use]
    pub fn of(&self, (policy, file): (&str, &str), hash: &str) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.is_of(policy, file) && kept.hash == hash)
    }

    /// How a firing stands, if it ever did.
    #[must_use]
    pub fn known(&self, firing: &Firing) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.is_like(firing) && kept.hash == firing.hash)
    }

    /// What settled a firing for exactly its content: on record under its hash, or as the last of its policy, where only
    /// what is compared to moved on since. Another prompt asks anew.
    #[must_use]
    pub fn settled(&self, firing: &Firing) -> Option<&Kept> {
        let stands = |kept: &&Kept| kept.stands_for(&firing.content);
        let of_policy = || self.kept.iter().rfind(|kept| kept.is_like(firing) && !kept.prompt);
        let own = self.known(firing).filter(stands);
        let last = || of_policy().filter(|_| firing.compare_to != CompareTo::Prompt).filter(stands);
        own.or_else(last)
    }

    /// The firings that nothing settled.
    pub fn outstanding(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().filter(|kept| !kept.status.is_settled())
    }

    /// What a prompt began with in a work tree. One that the session came to since is held against the commit of the
    /// prompt: the other's files are not here.
    #[must_use]
    pub fn baseline_in(&self, tree: Option<&str>) -> Option<Baseline> {
        let own = self.elsewhere.as_ref().filter(|baseline| tree.is_some() && baseline.tree.as_deref() == tree);
        match (tree, own, &self.baseline) {
            (None, _, known) => known.clone(),
            (Some(_), Some(own), _) => Some(own.clone()),
            (Some(_), None, known) => known.as_ref().map(|known| {
                let unkept = Some("the session came here since".to_owned());
                Baseline { file: String::new(), unkept, ..known.clone() }
            }),
        }
    }

    /// The policies of those firings of a work tree, each with what it was compared to and its files, and of firings that
    /// were put aside. Of two of one policy, one that is outstanding, and the older.
    #[must_use]
    pub fn held(&self, tree: Option<&str>) -> Vec<Held> {
        let mut held: BTreeMap<(&str, &str), &Kept> = BTreeMap::new();
        let here = self.kept.iter().filter(|kept| kept.tree.as_deref() == tree);
        for kept in here.filter(|kept| !kept.status.is_settled() || kept.is_aside()) {
            let known = held.entry((&kept.policy, &kept.file)).or_insert(kept);
            if (kept.is_aside(), kept.at) < (known.is_aside(), known.at) {
                *known = kept;
            }
        }
        let of = |kept: &Kept| {
            let (policy, file, aside) = (kept.policy.clone(), kept.file.clone(), kept.is_aside());
            Held { policy, file, reference: kept.reference.clone(), files: kept.files.clone(), aside }
        };
        held.into_values().map(of).collect()
    }

    /// How long a transcript was.
    #[must_use]
    pub fn offset(&self, file: &str) -> Option<u64> {
        let file = crate::usage::key(file);
        self.heard.iter().find(|heard| heard.file == file).map(|heard| heard.offset)
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::Kept { kept } => {
                let same = |known: &Kept| known.is_of(&kept.policy, &kept.file) && known.tree == kept.tree;
                self.kept.retain(|known| !same(known) || known.hash != kept.hash);
                self.kept.push(kept.clone());
                self.make_room();
            }
            Step::Baseline { baseline } if baseline.tree.is_some() => self.elsewhere = Some(baseline.clone()),
            Step::Baseline { baseline } => self.baseline = Some(baseline.clone()),
            Step::Heard { heard } => {
                self.heard.retain(|known| known.file != heard.file);
                self.heard.push(*heard);
                if self.heard.len() > HEARD_MAX {
                    self.heard.remove(0);
                }
            }
            Step::Counted { policies, noted } => {
                self.policies = *policies;
                self.noted.clone_from(noted);
            }
            Step::Cleared => {
                let noted = std::mem::take(&mut self.noted);
                *self = Self { policies: self.policies, noted, ..Self::default() };
            }
        }
    }

    /// What is settled goes before what is not.
    fn make_room(&mut self) {
        if self.kept.len() > KEPT_MAX {
            let at = self.kept.iter().position(|kept| kept.status.is_settled()).unwrap_or_default();
            self.kept.remove(at);
        }
    }
}
