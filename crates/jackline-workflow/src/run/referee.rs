//! Whoever is asked about answers, as a step of the run: what it said is on record, and no run that is taken up again asks
//! the same twice.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use jackline_core::json::canonical;
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::command;
use super::fault::Halt;
use super::ledger::Entry;
use super::running::{Earlier, Running, lock};
use super::settings::Named;
use super::tab::Tab;
use super::worker::{Failure, Reply, Request, Unanswered, Worker};
use crate::ask::{self, Ask, Question, Usage};
use crate::critique::KNOWN_DEFECTS;

/// Digits by which a question is told from another one in the same place: no two of one run are alike.
const DIGEST_DIGITS: usize = 16;

/// A judge, a critic or a rubric's judge, for one step.
pub(super) struct Referee<'a, 'r> {
    running: &'a Running<'r>,
    /// Who pays for it.
    tab: &'a Tab,
    /// Its name, and who answers; nobody, when it is not there any more.
    asked: Option<(&'a str, &'a dyn Worker)>,
    /// Begins the names of its steps.
    step: String,
    questions: AtomicU32,
    /// Why the run goes no further, once it does not.
    halt: Mutex<Option<Halt>>,
}

impl fmt::Debug for Referee<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Referee of {}", self.step)
    }
}

impl<'a, 'r> Referee<'a, 'r> {
    pub(super) fn new(running: &'a Running<'r>, named: &'a Named, step: String, tab: &'a Tab) -> Self {
        let asked = named.worker(&running.settings.agents);
        Self { running, tab, asked, step, questions: AtomicU32::new(0), halt: Mutex::new(None) }
    }

    /// Whether the run goes on, now that it was asked.
    pub(super) fn done(self) -> Result<(), Halt> {
        match self.halt.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(halt) => Err(halt),
            None => Ok(()),
        }
    }

    /// The run is over: whoever asked hears nothing, and [`done`](Self::done) says so.
    fn over(&self, halt: Halt) -> ask::Unanswered {
        lock(&self.halt).get_or_insert(self.running.halted(halt));
        ask::Unanswered::new("the run is over")
    }

    fn known(&self, step: &str) -> Result<Option<Result<ask::Answer, ask::Unanswered>>, Halt> {
        Ok(match self.running.known(step)? {
            None | Some(Earlier::Skipped) => None,
            Some(Earlier::Failed(failure)) => Some(Err(ask::Unanswered::new(failure.reason))),
            Some(Earlier::Finished(value)) => {
                let answer: Answer = self.running.read(step, value)?;
                Some(Ok(ask::Answer { value: Value::Object(answer.said), usage: Usage::default() }))
            }
        })
    }

    fn live(
        &self,
        question: &Question<'_>,
        (step, until): (&str, Instant),
    ) -> Result<Result<ask::Answer, ask::Unanswered>, Halt> {
        let Some((name, worker)) = self.asked else { return Ok(Err(ask::Unanswered::new("nobody is there to ask"))) };
        let name = if name.is_empty() { question.role } else { name };
        let running = self.running;
        running.go_on()?;
        running.within_budget()?;
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let own = running.settings.agents.get(name).and_then(|agent| agent.timeout);
        let timeout = own.map_or(left, |own| own.min(left));
        let replied = worker.ask(&Request {
            input: &self.input(question),
            timeout,
            stop: &|| running.watch.cause().is_some(),
            place: &running.place,
            redactor: &running.hidden.redactor(),
            question: Some(question),
        });
        running.watch.stir();
        match replied.map(|reply| self.read(reply)) {
            Ok(Ok(answer)) => {
                self.pay(&answer.usage);
                let kept = running.ledger.kept.put(&json!(answer))?;
                let data = json!({
                    "kept": kept.hex(), "role": question.role, "usage": answer.usage, "answer": answer.said,
                });
                running.record(Entry::new("referee.answered", name, data).of_step(step))?;
                Ok(Ok(ask::Answer { value: Value::Object(answer.said), usage: Usage::default() }))
            }
            Ok(Err(failure)) | Err(Unanswered::Failed(failure)) => {
                self.pay(&failure.usage);
                let reason = command::reason(&failure.reason, running.hidden);
                let data = json!({"role": question.role, "kind": failure.kind.word(), "reason": reason, "usage": failure.usage});
                running.record(Entry::new("referee.failed", name, data).of_step(step))?;
                Ok(Err(ask::Unanswered::new(reason)))
            }
            Err(Unanswered::Stopped(usage)) => {
                self.pay(&usage);
                let data = json!({"role": question.role, "usage": usage});
                running.record(Entry::new("referee.stopped", name, data).of_step(step))?;
                Err(Halt::Over)
            }
        }
    }

    fn read(&self, reply: Reply) -> Result<Answer, Failure> {
        self.running.hidden.learn(&Value::Object(reply.value.clone()));
        Answer::of(reply, &BTreeSet::new())
    }

    /// What was used now is the run's, and of whoever pays.
    fn pay(&self, usage: &answer::Usage) {
        self.running.charge(usage);
        self.tab.charge(usage);
    }

    /// What it is given: what the question is about, in which role, where the run's files are.
    fn input(&self, question: &Question<'_>) -> Value {
        let mut input = question.input.clone();
        if let Some(input) = input.as_object_mut() {
            input.insert("role".to_owned(), json!(question.role));
            input.insert("run_id".to_owned(), json!(self.running.run));
            input.insert("output_dir".to_owned(), json!(self.running.place.output));
            input.insert("workspace_dir".to_owned(), json!(self.running.place.workspace));
        }
        input
    }
}

/// What a question is about, by which it is known again. What was found in other work is told beside it, and is more or less by
/// who came first.
fn subject(input: &Value) -> Value {
    let mut subject = input.clone();
    if let Some(subject) = subject.as_object_mut() {
        subject.remove(KNOWN_DEFECTS);
    }
    subject
}

impl Ask for Referee<'_, '_> {
    fn ask(&self, question: &Question<'_>, until: Instant) -> Result<ask::Answer, ask::Unanswered> {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        // What is asked is part of the name: what was said of one answer says nothing of another.
        let digest = Digest::of(&canonical(&json!([question.role, subject(question.input)]))).hex();
        let step = format!("{}?{number}:{}", self.step, digest.get(..DIGEST_DIGITS).unwrap_or(&digest));
        // What is on record of it was paid by the run when the records were read.
        self.tab.charge(&self.running.journal.used_by(&step));
        match self.known(&step) {
            Err(halt) => Err(self.over(halt)),
            Ok(Some(known)) => known,
            Ok(None) => self.live(question, (&step, until)).unwrap_or_else(|halt| Err(self.over(halt))),
        }
    }
}
