//! What an embedder's own policy looks like: the same shape as a built-in guard, judged and recorded the same way.

use std::fmt;

use crate::call::View;
use crate::decision::Verdict;
use crate::event::Event;
use crate::probe::{Facts, Probe};
use crate::session::Session;

/// A policy of the embedding program.
///
/// It is asked under the same rules as a built-in one: a fault or a panic denies, the strictest finding wins, and
/// what it said is recorded. It must be pure: all it may look at is what it is [`Asked`].
pub trait Policy: Send + Sync + fmt::Debug {
    /// The name in findings and records.
    fn name(&self) -> &str;

    /// Facts it wants before it judges, or is told of a result; asked again with what is known so far, until it wants nothing more.
    fn needs(&self, _asked: &Asked<'_>) -> Vec<Probe> {
        Vec::new()
    }

    /// Judges a requested call.
    ///
    /// # Errors
    /// Why it could not judge; becomes a denial that says so.
    fn judge(&self, asked: &Asked<'_>) -> Result<Option<Objection>, String>;

    /// Told of a call that finished with `ok: true`; returns what it wants to remember (a `None` value forgets).
    ///
    /// # Errors
    /// Why it could not follow; recorded, and nothing is remembered.
    fn on_result(&self, _asked: &Asked<'_>) -> Result<Vec<Keep>, String> {
        Ok(Vec::new())
    }
}

/// Why a policy objects to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    pub verdict: Verdict,
    /// What the agent is shown; a standard sentence when absent.
    pub reason: Option<String>,
    pub suggestions: Vec<String>,
}

impl Objection {
    /// A denial with a reason.
    #[must_use]
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { verdict: Verdict::Deny, reason: Some(reason.into()), suggestions: Vec::new() }
    }
}

/// Something a policy wants to remember under a key of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    pub key: String,
    pub value: Option<String>,
}

/// All a policy may look at.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub event: &'a Event,
    pub view: &'a View<'a>,
    pub session: &'a Session,
    pub facts: &'a Facts,
    pub(crate) policy: &'a str,
}

impl Asked<'_> {
    /// What this policy remembered under a key.
    #[must_use]
    pub fn kept(&self, key: &str) -> Option<&str> {
        self.session.memory.kept.get(&(self.policy.to_owned(), key.to_owned())).map(String::as_str)
    }
}
