//! Who answers for an agent: the one seam between a run and whatever does the work.

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use jackline_core::redact::Redactor;
use jackline_runtime::runner::Environment;
use serde_json::{Map, Value};

pub use super::answer::Usage;
use super::command::Command;
use super::model::{Means, ModelAgent};
use crate::ask::Question;

/// Answers for an agent. One of these is made for each agent file, by what the file names.
pub trait Worker: Send + Sync + Debug {
    /// Asks once. Takes no longer than the request's time, and ends soon after its `stop` says so.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read.
    fn ask(&self, request: &Request<'_>) -> Result<Reply, Unanswered>;
}

/// What is asked.
#[expect(missing_debug_implementations, reason = "a question has no text")]
pub struct Request<'a> {
    /// The one object that an agent is given.
    pub input: &'a Value,
    pub timeout: Duration,
    /// Whether to end now; asked again and again.
    pub stop: &'a dyn Fn() -> bool,
    pub place: &'a Place,
    /// Takes secrets out of what is kept or shown.
    pub redactor: &'a Redactor,
    /// What it is asked as somebody who looks at the answers of others; then its own contract does not count.
    pub question: Option<&'a Question<'a>>,
}

/// Where agents work.
#[derive(Debug)]
pub struct Place {
    /// The workflow's directory, which is only read.
    pub root: std::path::PathBuf,
    pub output: std::path::PathBuf,
    pub workspace: std::path::PathBuf,
    /// What agents may not read: what is kept of runs.
    pub records: Vec<std::path::PathBuf>,
    pub environment: Environment,
}

impl Place {
    /// What agents may write.
    pub(super) fn writable(&self) -> [&Path; 2] {
        [&self.output, &self.workspace]
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The one object that an agent answers with.
    pub value: Map<String, Value>,
    /// What is worth keeping beside it, for the record; it may quote what the object calls sensitive.
    pub notes: Map<String, Value>,
    /// What was used, where that is known from elsewhere than the object.
    pub usage: Option<Usage>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Unanswered {
    /// It was to end; so much was used until then.
    Stopped(Usage),
    Failed(Failure),
}

impl Unanswered {
    /// The same, with what was used all the same.
    pub(super) fn having_used(self, usage: Usage) -> Self {
        match self {
            Self::Stopped(_) => Self::Stopped(usage),
            Self::Failed(failure) => Self::Failed(Failure { usage, ..failure }),
        }
    }
}

/// Why an agent failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    /// In one sentence, without secrets.
    pub reason: String,
    /// What was used all the same.
    pub usage: Usage,
}

impl Failure {
    #[must_use]
    pub fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), usage: Usage::default() }
    }
}

/// What kind of failure; retries tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    Timeout,
    RateLimit,
    /// It failed by itself.
    Failed,
    /// What it answered does not fit.
    Validation,
    /// It may not be asked at all.
    Auth,
    /// It did what no agent may.
    Refused,
}

impl FailureKind {
    /// All of them.
    const ALL: [Self; 6] = [Self::Timeout, Self::RateLimit, Self::Failed, Self::Validation, Self::Auth, Self::Refused];

    /// Its word in manifests and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::RateLimit => "rate_limit",
            Self::Failed => "server_error",
            Self::Validation => "validation_error",
            Self::Auth => "auth_error",
            Self::Refused => "refused",
        }
    }

    /// By its word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether another try may go better.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        !matches!(self, Self::Auth | Self::Refused)
    }
}

/// Whether an agent answers with JSON, as its file says.
pub(super) fn is_json(agent: &Value) -> bool {
    agent.pointer("/output/format").and_then(Value::as_str).is_none_or(|format| format == "json")
}

/// Who answers for the agent of a file, or why nobody can.
pub(super) fn of(agent: &Value, told: (String, Option<Value>), means: &Means<'_>) -> Result<Box<dyn Worker>, String> {
    if let Some(command) = Command::of(agent) {
        return Ok(Box::new(command));
    }
    let Some(model) = agent.get("model") else {
        return Err("names neither `runtime.command` nor a `model`".to_owned());
    };
    match ModelAgent::of(model, told, means) {
        Ok(model) => Ok(Box::new(model)),
        Err(why) => Err(format!("names no `runtime.command`, and its model cannot be asked: {why}")),
    }
}
