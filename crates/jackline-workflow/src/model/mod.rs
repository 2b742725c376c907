//! Models behind HTTP: one question becomes one conversation, bounded in time, size and number of requests.
//!
//! [`Endpoint`] is where a model is and how it is spoken to, as a workflow's files say; the two APIs are files of their
//! own. [`Post`] is the way out: a trait, since this crate has no network. [`Model`] puts both together: it tries again
//! what may pass (`attempts`), and has an answer mended that does not fit (`said`).

mod anthropic;
mod attempts;
mod endpoint;
mod meter;
mod openai;
mod said;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::ask::{Answer, Ask, Cause, Question, Unanswered};

pub use attempts::{ATTEMPTS_MAX, Clock, Real};
pub use endpoint::{Endpoint, Token, Unusable};
pub use meter::Meter;
pub use said::MENDS_MAX;
pub use wire::{Failed, Offline, Post, RESPONSE_BYTES_MAX, Request, Response};

/// A model that can be asked.
#[derive(Debug, Clone)]
pub struct Model {
    endpoint: Endpoint,
    post: Arc<dyn Post>,
    clock: Arc<dyn Clock>,
}

/// One thing said in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Turn {
    /// `user` or `assistant`.
    who: &'static str,
    text: String,
}

/// What a model said to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Said {
    text: String,
    /// Why that is not all of it, or not meant as an answer.
    unfinished: Option<String>,
}

impl Model {
    #[must_use]
    pub fn new(endpoint: Endpoint, post: Arc<dyn Post>) -> Self {
        Self { endpoint, post, clock: Arc::new(Real) }
    }

    /// The same with another clock; for tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Answers as [`Ask::ask`] does; what that takes is in the meter at every moment.
    ///
    /// # Errors
    /// When there is no answer, or none that fits.
    pub fn metered(&self, question: &Question<'_>, until: Instant, meter: &Meter) -> Result<Answer, Unanswered> {
        let answered = self.in_turn(question, until, meter);
        let usage = meter.read();
        answered.map(|value| Answer { value, usage }).map_err(|unanswered| Unanswered { usage, ..unanswered })
    }

    /// Asks the model, and those that stand in for it when it does not answer. Each has its share of the time that is left,
    /// so that one that hangs leaves the others theirs.
    fn in_turn(&self, question: &Question<'_>, until: Instant, meter: &Meter) -> Result<Value, Unanswered> {
        let mut last = Unanswered::new("no model is named");
        let names: Vec<&str> = self.endpoint.names().collect();
        for (at, name) in names.iter().enumerate() {
            let now = self.clock.now();
            let share = until.saturating_duration_since(now) / u32::try_from(names.len() - at).unwrap_or(1);
            match self.converse(name, question, (now + share, meter)) {
                Ok(value) => return Ok(value),
                Err(unanswered) => last = unanswered,
            }
            if self.clock.now() >= until {
                break;
            }
        }
        Err(last)
    }

    /// Asks one of the endpoint's models, and again while its answer does not fit.
    fn converse(
        &self,
        name: &str,
        question: &Question<'_>,
        (until, meter): (Instant, &Meter),
    ) -> Result<Value, Unanswered> {
        let system = said::instructions(question);
        let mut turns = vec![Turn { who: "user", text: said::prompt(question.input) }];
        for mends_left in (0..=MENDS_MAX).rev() {
            let body = self.endpoint.body(name, (&system, question.schema.is_some()), &turns);
            let said = attempts::send(self, &body, (until, meter))?;
            let unfit = match said::value(&said, question.schema) {
                Ok(value) => return Ok(self.endpoint.without_token(value)),
                Err(unfit) => unfit,
            };
            if mends_left == 0 {
                let why = format!("the model's answer cannot be used: {unfit}");
                return Err(Unanswered::new(why).by(Cause::Unfit));
            }
            turns.extend(said::mend(&said, &unfit));
        }
        Err(Unanswered::new("the model was not asked"))
    }
}

impl Ask for Model {
    fn ask(&self, question: &Question<'_>, until: Instant) -> Result<Answer, Unanswered> {
        self.metered(question, until, &Meter::default())
    }
}

/// What an API's answer holds of a key, as a count.
fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// Tokens that a server counted: those it read, and those it wrote.
type Tokens = (u64, u64);

/// Turns as both APIs write them.
fn messages(turns: &[Turn]) -> Vec<Value> {
    turns.iter().map(|turn| json!({"role": turn.who, "content": turn.text})).collect()
}
