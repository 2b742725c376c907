//! Scores of steps and of the whole run, and what they lead to.

use std::time::Instant;

use serde_json::{Value, json};

use crate::evaluation::{Act, Hook, Referees, Score};
use crate::gates::{Thresholds, reaches};
use crate::loop_control::{End, Status};
use crate::run::answer::Answer;
use crate::run::command::{self, Command};
use crate::run::fault::Halt;
use crate::run::ledger::Entry;
use crate::run::referee::Referee;
use crate::run::running::{Earlier, Running, lock};
use crate::run::step::{Ask, Came};
use crate::run::tab::Tab;
use crate::run::together;
use crate::run::worker::Request;

/// What is scored.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct Subject<'a> {
    pub(in crate::run) result: &'a Value,
    /// Whose answer it is; nobody's, when it is the whole run's.
    pub(in crate::run) agent: Option<&'a str>,
    pub(in crate::run) iterations: u32,
    /// What the loop may use that it belongs to, beside what the run may.
    pub(in crate::run) budgets: &'a Value,
    /// Who pays for its score.
    pub(in crate::run) tab: &'a Tab,
}

impl Running<'_> {
    /// Scores something, if anything is scored. `step` names whom is asked.
    fn score(&self, step: &str, subject: Subject<'_>) -> Result<Option<Score>, Halt> {
        let Some((settings, named)) = &self.settings.tiers.evaluation else { return Ok(None) };
        let referee = named.as_ref().map(|named| Referee::new(self, named, format!("{step}/rubric"), subject.tab));
        let names = json!({
            "task": self.task, "result": subject.result, "agent": subject.agent, "iterations": subject.iterations,
            "state": lock(&self.shared).whole(), "budget": together(self.budgets(), subject.budgets.clone()), "violations": self.violations(),
        });
        let until = Instant::now() + self.watch.left();
        let test = |words: &[String], names: &Value, until: Instant| {
            self.test(words, names, until.min(Instant::now() + settings.timeout))
        };
        let judge = referee.as_ref().map(|referee| referee as &dyn crate::ask::Ask);
        let score = settings.score(&names, Referees { judge, test: &test, until });
        referee.map_or(Ok(()), Referee::done)?;
        // What was ended from outside while it looked has found nothing.
        self.go_on()?;
        Ok(Some(score))
    }

    /// Whether a test passes.
    fn test(&self, words: &[String], names: &Value, until: Instant) -> Result<bool, String> {
        let command = Command::of(&json!({"runtime": {"command": words}})).ok_or("it names no command")?;
        let passes = command.passes(&Request {
            input: names,
            timeout: until.saturating_duration_since(Instant::now()),
            stop: &|| self.watch.cause().is_some(),
            place: &self.place,
            redactor: &self.hidden.redactor(),
            question: None,
        });
        passes.map_err(|why| command::reason(&why, self.hidden))
    }

    /// What the gates are told of the evaluation of a whole run that was sent back so many times for its score.
    pub(in crate::run) fn evaluated(&self, step: &str, subject: Subject<'_>, repairs: u32) -> Result<Value, Halt> {
        let Some((settings, _)) = &self.settings.tiers.evaluation else { return Ok(json!({"enabled": false})) };
        let score = self.score(step, subject)?;
        let told = score.as_ref().map(Score::to_json).unwrap_or_default();
        self.note(Entry::new("run.evaluated", &self.settings.name, told).of_step(step))?;
        Ok(json!({
            "enabled": true,
            "score": score.as_ref().and_then(|score| score.total),
            "findings": score.as_ref().map(Score::findings),
            "thresholds": settings.gate_thresholds(repairs),
        }))
    }

    /// How a graph that came to its end ends by its score, and what its evaluation came to: a graph has no gates, and the
    /// score counts all the same.
    pub(in crate::run) fn by_score(&self, end: End, output: &Value) -> Result<(End, Value), Halt> {
        let complete = end.status == Status::Complete;
        let evaluation = self.settings.tiers.evaluation.as_ref();
        let Some((settings, _)) = evaluation.filter(|_| complete) else {
            return Ok((end, json!({"enabled": evaluation.is_some()})));
        };
        let subject = Subject { result: output, agent: None, iterations: 0, budgets: &Value::Null, tab: &self.tab };
        // Nobody repairs a graph: what it may be repaired for leaves it partial.
        let told = self.evaluated("evaluation", subject, 0)?;
        let score = told.get("score").and_then(Value::as_f64);
        let Thresholds { retry, fail, .. } = settings.gate_thresholds(0);
        let end = match score {
            Some(score) if reaches(score, retry) => end,
            Some(score) if !reaches(score, fail) => End { status: Status::Failed, reason: "eval_fail".to_owned() },
            _ => End { status: Status::Partial, reason: "eval_below_retry".to_owned() },
        };
        Ok((end, told))
    }

    /// Scores a worker's answer where the manifest wants that, and has it repaired as long as that is to be done.
    /// `budgets` are those of the loop that it works for.
    pub(in crate::run) fn scored(&self, ask: &Ask<'_>, answer: Answer, budgets: &Value) -> Result<Came, Halt> {
        let Some((settings, _)) = &self.settings.tiers.evaluation else { return Ok(Came::Answered(answer)) };
        if !settings.scores_at(Hook::WorkerResult) {
            return Ok(Came::Answered(answer));
        }
        let mut answer = answer;
        for repairs in 0.. {
            let (act, score) = self.step_score(ask, (&answer, budgets), repairs)?;
            match act {
                Act::Accept | Act::AcceptWithWarning => break,
                Act::FailWorkflow => return Err(self.stop(Status::Failed, "eval_fail")),
                Act::RetryWithRepair => {}
            }
            let step = format!("{}/again{}", ask.step, repairs + 1);
            match self.ask(&ask.again(step, ("repair", score)))? {
                Came::Answered(mended) => answer = mended,
                other => return Ok(other),
            }
        }
        Ok(Came::Answered(answer))
    }

    /// The score of one answer and what it leads to; on record, so that a run that is taken up again goes the same way.
    fn step_score(&self, ask: &Ask<'_>, answer: (&Answer, &Value), repairs: u32) -> Result<(Act, Value), Halt> {
        let step = format!("{}/score{repairs}", ask.step);
        let kept = match self.known(&step)? {
            Some(Earlier::Finished(kept)) => {
                ask.tab.charge(&self.journal.used_below(&format!("{step}/")));
                kept
            }
            _ => self.score_step(ask, answer, (&step, repairs))?,
        };
        let act = kept.get("act").cloned().and_then(|act| serde_json::from_value(act).ok());
        // What cannot be read back is no acceptance.
        Ok((act.unwrap_or(Act::FailWorkflow), kept))
    }

    fn score_step(
        &self,
        ask: &Ask<'_>,
        (answer, budgets): (&Answer, &Value),
        (step, repairs): (&str, u32),
    ) -> Result<Value, Halt> {
        let result = Value::Object(answer.said.clone());
        let subject = Subject { result: &result, agent: Some(ask.name), iterations: 0, budgets, tab: ask.tab };
        let score = self.score(step, subject)?;
        let settings = self.settings.tiers.evaluation.as_ref().map(|(settings, _)| settings);
        let total = score.as_ref().and_then(|score| score.total);
        let act = settings.map_or(Act::Accept, |settings| settings.act(total, repairs));
        let findings = score.as_ref().map(Score::findings).unwrap_or_default();
        let kept = json!({"act": act.name(), "score": total, "findings": findings});
        let mut data = score.as_ref().map(Score::to_json).unwrap_or_default();
        if let Some(data) = data.as_object_mut() {
            data.insert("act".to_owned(), json!(act.name()));
            data.insert("hook".to_owned(), json!(Hook::WorkerResult.name()));
            data.insert("kept".to_owned(), json!(self.ledger.kept.put(&kept)?.hex()));
        }
        self.record(Entry::new("step.scored", ask.name, data).of_step(step))?;
        Ok(kept)
    }
}
