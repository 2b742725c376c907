//! How far a todo is. Each state is a type, and has only the transitions that are legal from it.
//!
//! INVARIANT: `Verified` is made by a [`Proof`] that all checks passed, or by a person's [`Consent`]; by nothing else.

use serde::{Deserialize, Serialize};

use super::check::Proof;
use super::evidence::Evidence;
use crate::sha::Digest;
use crate::time::Timestamp;

/// Where a todo stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Pending(Pending),
    InProgress(InProgress),
    Claimed(Claimed),
    Verified(Verified),
    NeedsHuman(NeedsHuman),
    Waived(Waived),
}

/// Nobody has begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pending {}

/// Someone works on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InProgress {
    started_at: Timestamp,
    /// Calls that were requested by then; evidence comes after.
    step: u64,
}

/// The agent says that it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claimed {
    work: InProgress,
    claimed_at: Timestamp,
    evidence: Vec<Evidence>,
}

/// It is done, and someone else than the agent says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    claim: Claimed,
    verified_at: Timestamp,
    by: By,
}

/// Its checks failed too often: a person decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeedsHuman {
    claim: Claimed,
}

/// A person does without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waived {
    was: Open,
    waived_at: Timestamp,
    consent: Consent,
}

/// Who verified.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// All checks passed, in a workspace that looked like this.
    Runtime(Mark),
    Human(Consent),
}

/// What the workspace was like when its checks began: its files, and what had been done by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub writes: u64,
    /// Calls that may have changed something, at their request and at their end.
    #[serde(default)]
    pub acts: u64,
    /// `None` where there is no work tree to look at.
    pub tree: Option<Digest>,
}

impl Mark {
    /// Whether files may have changed between two looks. The work tree does not tell of files that git ignores, so what
    /// was written or may have been counts as well.
    #[must_use]
    pub fn differs(&self, now: &Self) -> bool {
        let tree = match (self.tree, now.tree) {
            (Some(before), Some(now)) => before != now || now == Digest::ZERO,
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        };
        tree || (self.writes, self.acts) != (now.writes, now.acts)
    }
}

/// What a person said, and who it was as the machine knows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    pub reason: String,
    pub by: String,
}

impl Default for State {
    fn default() -> Self {
        Self::Pending(Pending::default())
    }
}

impl State {
    /// Its name in lists, records and texts.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::InProgress(_) => "in_progress",
            Self::Claimed(_) => "claimed",
            Self::Verified(_) => "verified",
            Self::NeedsHuman(_) => "needs_human",
            Self::Waived(_) => "waived",
        }
    }

    /// What may be asked for next, for a text that refuses something else.
    #[must_use]
    pub const fn next(&self) -> &'static str {
        match self {
            Self::Pending(_) => "start it",
            Self::InProgress(_) => "claim it when it is done",
            Self::Claimed(_) => "ask for its verification, or wait for a person",
            Self::NeedsHuman(_) => "wait for a person: `jackline todo approve|reject|waive`",
            Self::Verified(_) | Self::Waived(_) => "leave it: this state is final",
        }
    }

    /// Whether nothing is left to be done.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        matches!(self, Self::Verified(_) | Self::Waived(_))
    }

    /// The state as one that can still be waived.
    #[must_use]
    pub fn open(&self) -> Option<Open> {
        Some(match self {
            Self::Pending(_) => Open::Pending,
            Self::InProgress(work) => Open::InProgress(work.clone()),
            Self::Claimed(claim) | Self::NeedsHuman(NeedsHuman { claim }) => Open::Claimed(claim.clone()),
            Self::Verified(_) | Self::Waived(_) => return None,
        })
    }

    #[must_use]
    pub const fn work(&self) -> Option<&InProgress> {
        match self {
            Self::InProgress(work) | Self::Waived(Waived { was: Open::InProgress(work), .. }) => Some(work),
            _ => match self.claim() {
                Some(claim) => Some(&claim.work),
                None => None,
            },
        }
    }

    #[must_use]
    pub const fn claim(&self) -> Option<&Claimed> {
        match self {
            Self::Claimed(claim)
            | Self::Verified(Verified { claim, .. })
            | Self::NeedsHuman(NeedsHuman { claim })
            | Self::Waived(Waived { was: Open::Claimed(claim), .. }) => Some(claim),
            Self::Pending(_) | Self::InProgress(_) | Self::Waived(_) => None,
        }
    }

    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        self.claim().map(|claim| claim.evidence.as_slice()).unwrap_or_default()
    }

    /// What a person said when they settled it.
    #[must_use]
    pub const fn consent(&self) -> Option<&Consent> {
        match self {
            Self::Verified(Verified { by: By::Human(consent), .. }) | Self::Waived(Waived { consent, .. }) => {
                Some(consent)
            }
            _ => None,
        }
    }

    /// The texts in it that are only ever shown.
    pub(crate) fn shown_texts(&mut self) -> Vec<&mut String> {
        let (claim, consent) = match self {
            Self::Claimed(claim) | Self::NeedsHuman(NeedsHuman { claim }) => (Some(claim), None),
            Self::Verified(Verified { claim, by: By::Human(consent), .. }) => (Some(claim), Some(consent)),
            Self::Verified(Verified { claim, by: By::Runtime(_), .. }) => (Some(claim), None),
            Self::Waived(Waived { was: Open::Claimed(claim), consent, .. }) => (Some(claim), Some(consent)),
            Self::Waived(Waived { consent, .. }) => (None, Some(consent)),
            Self::Pending(_) | Self::InProgress(_) => (None, None),
        };
        let evidence = claim.into_iter().flat_map(|claim| &mut claim.evidence).filter_map(Evidence::shown_texts);
        evidence.chain(consent.map(|consent| &mut consent.reason)).collect()
    }
}

impl Pending {
    #[must_use]
    pub const fn start(&self, at: Timestamp, step: u64) -> InProgress {
        InProgress { started_at: at, step }
    }
}

impl InProgress {
    #[must_use]
    pub fn claim(&self, at: Timestamp, evidence: Vec<Evidence>) -> Claimed {
        Claimed { work: self.clone(), claimed_at: at, evidence }
    }

    #[must_use]
    pub const fn started_at(&self) -> Timestamp {
        self.started_at
    }

    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step
    }
}

impl Claimed {
    #[must_use]
    pub fn verify(&self, _: Proof, at: Timestamp, mark: Mark) -> Verified {
        Verified { claim: self.clone(), verified_at: at, by: By::Runtime(mark) }
    }

    #[must_use]
    pub fn approve(&self, at: Timestamp, consent: Consent) -> Verified {
        Verified { claim: self.clone(), verified_at: at, by: By::Human(consent) }
    }

    /// Back to work, from now on.
    #[must_use]
    pub const fn reject(&self, at: Timestamp, step: u64) -> InProgress {
        InProgress { started_at: at, step }
    }

    #[must_use]
    pub fn give_up(&self) -> NeedsHuman {
        NeedsHuman { claim: self.clone() }
    }

    #[must_use]
    pub const fn claimed_at(&self) -> Timestamp {
        self.claimed_at
    }
}

impl NeedsHuman {
    #[must_use]
    pub fn approve(&self, at: Timestamp, consent: Consent) -> Verified {
        self.claim.approve(at, consent)
    }

    #[must_use]
    pub const fn reject(&self, at: Timestamp, step: u64) -> InProgress {
        self.claim.reject(at, step)
    }
}

impl Verified {
    #[must_use]
    pub const fn verified_at(&self) -> Timestamp {
        self.verified_at
    }

    #[must_use]
    pub const fn by(&self) -> &By {
        &self.by
    }

    /// The same as something that may be looked at again: what a person approved is not.
    #[must_use]
    pub const fn by_runtime(&self) -> Option<ByRuntime<'_>> {
        match &self.by {
            By::Runtime(mark) => Some(ByRuntime { verified: self, mark }),
            By::Human(_) => None,
        }
    }
}

/// A todo that the runtime verified.
#[derive(Debug, Clone, Copy)]
pub struct ByRuntime<'a> {
    verified: &'a Verified,
    mark: &'a Mark,
}

impl ByRuntime<'_> {
    #[must_use]
    pub const fn mark(&self) -> &Mark {
        self.mark
    }

    /// Its checks passed again.
    #[must_use]
    pub fn confirm(&self, _: Proof, mark: Mark) -> Verified {
        Verified { by: By::Runtime(mark), ..self.verified.clone() }
    }

    /// They did not: back to work, from now on.
    #[must_use]
    pub const fn reopen(&self, at: Timestamp, step: u64) -> InProgress {
        InProgress { started_at: at, step }
    }
}

impl Waived {
    #[must_use]
    pub const fn waived_at(&self) -> Timestamp {
        self.waived_at
    }
}

/// What a waived todo was before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Open {
    Pending,
    InProgress(InProgress),
    Claimed(Claimed),
}

impl Open {
    #[must_use]
    pub const fn waive(self, at: Timestamp, consent: Consent) -> Waived {
        Waived { was: self, waived_at: at, consent }
    }
}
