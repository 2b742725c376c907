//! The critique loop: a critic scores a worker's answer and names its defects; the worker mends just these; what was found
//! in one worker's answers is told to the others.
//!
//! Critique never makes an answer worse: a repair counts only if the critic scores it higher. A critic that gives no
//! score leaves the answer as it is, and without any score the gate `critique` does not apply.

mod defect;
mod memory;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use crate::ask::{Ask, Question, Usage};
use crate::work::Work;

pub use defect::{Defect, Review, over};
pub use memory::{Memory, Pattern};
pub use settings::{Settings, Unusable};

/// What a critic is told of its work.
const INSTRUCTIONS: &str = "\
You review the output of another agent. Give it a `score` from 0 (useless) to 1 (nothing to add), by what its instructions \
and the task ask for. Name each defect with one of the given `categories`, say in one sentence what is wrong, and in `fix` \
what would mend it. `known_defects` were found in the work of others: look whether they are here too. Name nothing that is \
not there.";

/// The member with what was found in other work.
pub const KNOWN_DEFECTS: &str = "known_defects";

/// Who criticises, and what is remembered.
#[derive(Debug, Clone, Copy)]
pub struct Critique<'a> {
    pub settings: &'a Settings,
    pub critic: &'a dyn Ask,
    /// Shared by all workers of a run.
    pub memory: &'a Mutex<Memory>,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Improved {
    /// The best there is: the first answer, or a repair that was scored higher.
    pub output: Value,
    /// Its score; none when the critic gave none.
    pub score: Option<f64>,
    /// What the critic found in it.
    pub defects: Vec<Defect>,
    /// How often the worker mended.
    pub repairs: u32,
    /// What happened, in order, as it is recorded.
    pub events: Vec<Value>,
    pub usage: Usage,
}

/// Has a worker mend its answer. It is given the defects, and gives a new answer or says why there is none.
pub type Repair<'a> = dyn FnMut(&Value) -> Result<Value, String> + 'a;

impl Critique<'_> {
    /// Asks the critic about an answer.
    pub fn review(&self, work: &Work<'_>, until: Instant) -> (Result<Review, String>, Usage) {
        let mut input = work.told();
        let known = self.memory().known();
        if let Some(input) = input.as_object_mut() {
            input.insert("categories".to_owned(), json!(self.settings.categories));
            input.insert(KNOWN_DEFECTS.to_owned(), json!(known));
        }
        let schema = defect::schema();
        let question = Question { role: "critic", instructions: INSTRUCTIONS, input: &input, schema: Some(&schema) };
        match self.critic.ask(&question, until.min(Instant::now() + self.settings.timeout)) {
            Ok(answer) => (Review::read(&answer.value, &self.settings.categories), answer.usage),
            Err(unanswered) => (Err(unanswered.why), unanswered.usage),
        }
    }

    /// Reviews an answer and has it mended, until it is good enough or mending does not help.
    pub fn improve(&self, work: &Work<'_>, until: Instant, repair: &mut Repair<'_>) -> Improved {
        let mut best = Improved {
            output: work.output.clone(),
            score: None,
            defects: Vec::new(),
            repairs: 0,
            events: Vec::new(),
            usage: Usage::default(),
        };
        let mut candidate = work.output.clone();
        loop {
            let (reviewed, usage) = self.review(&Work { output: &candidate, ..*work }, until);
            best.usage += usage;
            let review = match reviewed {
                Ok(review) => review,
                Err(why) => {
                    best.events.push(json!({"agent": work.agent, "attempt": best.repairs, "failed": why}));
                    return best;
                }
            };
            best.events.push(review.event(work.agent, best.repairs));
            self.memory().learn(work.agent, &review.defects);
            if best.score.is_none_or(|score| review.score > score) {
                (best.output, best.score) = (candidate.clone(), Some(review.score));
                best.defects.clone_from(&review.defects);
            }
            let enough = review.score >= self.settings.min_score || review.defects.is_empty();
            if enough || best.repairs >= self.settings.repairs_max || Instant::now() >= until {
                return best;
            }
            best.repairs += 1;
            match repair(&self.request(best.repairs, &candidate, &review)) {
                // The worker has nothing more to give.
                Ok(mended) if mended == candidate => return best,
                Ok(mended) => candidate = mended,
                Err(why) => {
                    best.events.push(json!({"agent": work.agent, "attempt": best.repairs, "failed": why}));
                    return best;
                }
            }
        }
    }

    /// What a worker is told when it is to mend.
    fn request(&self, attempt: u32, output: &Value, review: &Review) -> Value {
        json!({
            "attempt": attempt,
            "previous_output": output,
            "score": review.score,
            "defects": review.defects,
            "known_defects": self.memory().known(),
        })
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        // A worker's thread that failed leaves whole patterns behind.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
