//! Work items of a session: what is to be done, what proves it, and how far it is.
//!
//! A todo moves only through the functions of [`state`]: one that a state does not have cannot be called. [`check`] is
//! what an owner, a person or an agent declares, [`evidence`] what a claim rests on, [`id`] what todos and facts are
//! called by. Nothing here looks at the world; `decide` asks, and what was seen is handed in.

pub mod check;
pub mod evidence;
pub mod id;
pub mod required;
pub mod shown;
pub mod state;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ran::Scripts;
use crate::sha::Digest;
use crate::time::Timestamp;
use check::{Check, Outcome, Proof};
use evidence::Evidence;
use id::Id;
use state::{Consent, Mark, State};

/// Todos of one session that agents and people add; the state of a session is read and written by every event.
pub const TODOS_MAX: usize = 64;
/// Bytes of what is to be done: a sentence or two, shown in every list.
pub const CONTENT_BYTES_MAX: usize = 1_000;
/// Checks of one todo: one of each type fits; who needs more has two todos.
pub const CHECKS_MAX: usize = 12;
/// Bytes of contents, checks and evidence over all todos of a session.
pub const TODOS_BYTES_MAX: usize = 96 * 1024;
/// Failed verifications after which a person decides; a new claim does not start the count anew.
pub const FAILURES_MAX: u32 = 3;

/// Milliseconds that a check's command may take: a whole test suite, as `completion` has it.
pub const COMMAND_MS_MAX: u64 = 10 * 60 * 1_000;
/// Milliseconds that all commands of agents' own todos together may take at a stop. A host waits only so long, and a
/// stop that nobody answers is a stop.
pub const STOP_MS_MAX: u64 = 60 * 1_000;
/// Checks of agents' own todos that are evaluated again at a stop; a todo beyond them is open again.
pub const STOP_CHECKS_MAX: usize = 64;

/// Who wrote a todo and its checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Agent,
    /// The definition requires it.
    Owner,
    Human,
}

impl Author {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Owner => "owner",
            Self::Human => "human",
        }
    }
}

/// One work item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Todo {
    pub id: Id,
    pub content: String,
    pub author: Author,
    /// Frozen when the todo was made.
    pub checks: Vec<Check>,
    /// What they hash to; a record of them can be held against it.
    pub digest: Digest,
    /// The files of the workspace that a person's checks run, as they were when the todo was made.
    #[serde(default)]
    pub scripts: Scripts,
    pub created_at: Timestamp,
    /// Verifications that failed, over all claims.
    pub failures: u32,
    /// What came of the checks when they were last evaluated, in their order.
    pub results: Vec<Outcome>,
    pub state: State,
}

impl Todo {
    /// A todo that nobody has begun.
    #[must_use]
    pub fn new(id: Id, content: String, author: Author, checks: Vec<Check>, created_at: Timestamp) -> Self {
        let digest = check::digest(&checks);
        let state = State::default();
        let (scripts, results) = (Scripts::new(), Vec::new());
        Self { id, content, author, checks, digest, scripts, created_at, failures: 0, results, state }
    }

    /// The same, with what its checks run bound to what it contains now.
    #[must_use]
    pub fn binding(self, scripts: Scripts) -> Self {
        Self { scripts, ..self }
    }

    /// Bytes that count toward [`TODOS_BYTES_MAX`].
    #[must_use]
    pub fn bytes(&self) -> usize {
        let checks: usize = self.checks.iter().map(Check::bytes).sum();
        let scripts: usize = self.scripts.iter().map(|(path, content)| path.len() + content.len()).sum();
        self.content.len() + checks + scripts + self.state.evidence().iter().map(Evidence::bytes).sum::<usize>()
    }

    /// What it is called by where it is only mentioned: the beginning of its content, and how far it is.
    #[must_use]
    pub fn label(&self, chars_max: usize) -> String {
        let line: String = self.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let head: String = line.chars().take(chars_max).collect();
        let cut = if head.len() < line.len() { "…" } else { "" };
        format!("{head}{cut} ({})", self.state.name())
    }

    /// Work begins; `None` unless it is pending.
    #[must_use]
    pub fn started(&self, at: Timestamp, step: u64) -> Option<Self> {
        match &self.state {
            State::Pending(pending) => Some(self.with(State::InProgress(pending.start(at, step)))),
            _ => None,
        }
    }

    /// The agent says that it is done; `None` unless it is in progress.
    #[must_use]
    pub fn claimed(&self, at: Timestamp, evidence: Vec<Evidence>) -> Option<Self> {
        match &self.state {
            State::InProgress(work) => {
                Some(Self { results: Vec::new(), ..self.with(State::Claimed(work.claim(at, evidence))) })
            }
            _ => None,
        }
    }

    /// The runtime evaluated the checks of a claim; `None` unless it is claimed.
    ///
    /// All passed: verified. Else it stays claimed, or goes to a person when that happened too often.
    #[must_use]
    pub fn verified(&self, at: Timestamp, results: Vec<Outcome>, mark: Mark) -> Option<Self> {
        let State::Claimed(claim) = &self.state else { return None };
        if let Some(proof) = Proof::of(&self.checks, &results) {
            return Some(Self { results, ..self.with(State::Verified(claim.verify(proof, at, mark))) });
        }
        let failures = self.failures.saturating_add(1);
        let state = match failures >= FAILURES_MAX {
            true => State::NeedsHuman(claim.give_up()),
            false => State::Claimed(claim.clone()),
        };
        Some(Self { results, failures, ..self.with(state) })
    }

    /// A person takes the claim as it is; `None` unless one waits for that.
    #[must_use]
    pub fn approved(&self, at: Timestamp, consent: Consent) -> Option<Self> {
        let verified = match &self.state {
            State::Claimed(claim) => claim.approve(at, consent),
            State::NeedsHuman(waiting) => waiting.approve(at, consent),
            _ => return None,
        };
        Some(self.with(State::Verified(verified)))
    }

    /// A person sends the claim back; `None` unless one waits. Evidence from before is then too old.
    #[must_use]
    pub fn rejected(&self, at: Timestamp, step: u64) -> Option<Self> {
        let work = match &self.state {
            State::Claimed(claim) => claim.reject(at, step),
            State::NeedsHuman(waiting) => waiting.reject(at, step),
            _ => return None,
        };
        Some(self.with(State::InProgress(work)))
    }

    /// A person does without it; `None` when it is settled already.
    #[must_use]
    pub fn waived(&self, at: Timestamp, consent: Consent) -> Option<Self> {
        let open = self.state.open()?;
        Some(self.with(State::Waived(open.waive(at, consent))))
    }

    /// Files changed since it was verified, and its checks were evaluated again; `None` unless the runtime verified it.
    #[must_use]
    pub fn looked_at_again(&self, at: Timestamp, step: u64, results: Vec<Outcome>, mark: Mark) -> Option<Self> {
        let State::Verified(verified) = &self.state else { return None };
        let again = verified.by_runtime()?;
        let state = match Proof::of(&self.checks, &results) {
            Some(proof) => State::Verified(again.confirm(proof, mark)),
            None => State::InProgress(again.reopen(at, step)),
        };
        Some(Self { results, ..self.with(state) })
    }

    fn with(&self, state: State) -> Self {
        Self { state, ..self.clone() }
    }
}

/// The todos of a session, in the order they were made; none is ever taken out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Todos(Vec<Todo>);

impl Todos {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Todo> {
        self.0.iter()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[must_use]
    pub fn get(&self, id: &Id) -> Option<&Todo> {
        self.0.iter().find(|todo| todo.id == *id)
    }

    /// Bytes of all of them together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(Todo::bytes).sum()
    }

    /// The files that the checks of todos run which are not waived; they are protected.
    #[must_use]
    pub fn scripts(&self) -> BTreeSet<String> {
        let counting = self.0.iter().filter(|todo| !matches!(todo.state, State::Waived(_)));
        counting.flat_map(|todo| todo.scripts.keys().cloned()).collect()
    }

    /// Those that are neither verified nor waived.
    pub fn open(&self) -> impl Iterator<Item = &Todo> {
        self.0.iter().filter(|todo| !todo.state.is_settled())
    }

    /// Puts a todo in its place, or at the end.
    pub(crate) fn keep(&mut self, todo: &Todo) {
        match self.0.iter_mut().find(|known| known.id == todo.id) {
            Some(known) => *known = todo.clone(),
            None => self.0.push(todo.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
