//! Whoever can be asked: a model or a command. Workers, judges, critics and rubrics are asked in the same way.

use std::fmt;
use std::ops::AddAssign;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// As what it answers: `worker`, `judge`, `critic`, ...
    pub role: &'static str,
    /// What it is told of its work. A command knows its work by itself.
    pub instructions: &'a str,
    /// What the question is about: an object, and nothing but data.
    pub input: &'a Value,
    /// What the answer must fit; without one any object is an answer.
    pub schema: Option<&'a Value>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// An object that fits what was asked for.
    pub value: Value,
    pub usage: Usage,
}

/// What asking took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Requests that were sent, those without an answer included.
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Billionths of a dollar.
    pub cost_nano_usd: u64,
}

impl Usage {
    /// Tokens both ways.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_nano_usd = self.cost_nano_usd.saturating_add(other.cost_nano_usd);
    }
}

/// Why there is no answer, in words without secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    pub why: String,
    pub cause: Cause,
    /// What was used all the same.
    pub usage: Usage,
}

/// What kept somebody from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cause {
    /// Time was up.
    Late,
    /// Whoever was asked has too much to do.
    Busy,
    /// We may not ask.
    Denied,
    /// There was an answer, and it does not fit.
    Unfit,
    #[default]
    Failed,
}

impl Unanswered {
    /// No answer, and nothing was used.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), cause: Cause::default(), usage: Usage::default() }
    }

    /// The same, for this cause.
    #[must_use]
    pub fn by(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// The same, because time was up.
    #[must_use]
    pub fn late(why: impl Into<String>) -> Self {
        Self::new(why).by(Cause::Late)
    }
}

/// Whoever answers.
pub trait Ask: Send + Sync + fmt::Debug {
    /// Answers a question before a point in time.
    ///
    /// # Errors
    /// When there is no answer, or none that fits.
    fn ask(&self, question: &Question<'_>, until: Instant) -> Result<Answer, Unanswered>;
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use super::*;

    /// Says what it was told to say, one after the other, and remembers what it was asked.
    #[derive(Debug, Default)]
    pub(crate) struct Scripted {
        says: Mutex<VecDeque<Result<Value, Unanswered>>>,
        asked: Mutex<Vec<(&'static str, Value)>>,
    }

    impl Scripted {
        pub(crate) fn new(says: impl IntoIterator<Item = Result<Value, Unanswered>>) -> Self {
            Self { says: Mutex::new(says.into_iter().collect()), asked: Mutex::default() }
        }

        pub(crate) fn asked(&self) -> Vec<(&'static str, Value)> {
            self.asked.lock().unwrap().clone()
        }
    }

    impl Ask for Scripted {
        fn ask(&self, question: &Question<'_>, _: Instant) -> Result<Answer, Unanswered> {
            self.asked.lock().unwrap().push((question.role, question.input.clone()));
            let next = self.says.lock().unwrap().pop_front();
            let usage = Usage { requests: 1, input_tokens: 10, output_tokens: 1, cost_nano_usd: 0 };
            next.unwrap_or_else(|| Err(Unanswered::new("the script is at its end")))
                .map(|value| Answer { value, usage })
        }
    }
}
