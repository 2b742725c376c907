//! A critic scores the answers of workers and has them mended; what it scored goes to the gate.

use std::time::Instant;

use serde_json::{Value, json};

use super::work;
use crate::critique::{Critique, Defect, over};
use crate::run::answer::Answer;
use crate::run::fault::Halt;
use crate::run::ledger::Entry;
use crate::run::referee::Referee;
use crate::run::running::Running;
use crate::run::step::{Ask, Came};

/// The score that work needs when the manifest says nothing: the protocol's own.
const MIN_SCORE: f64 = 0.6;

/// The best answer there is to a question: the one that was given, or one that was mended.
pub(in crate::run) struct Improved {
    pub(in crate::run) answer: Answer,
    /// None when no critic gave one.
    pub(in crate::run) score: Option<f64>,
    /// What is still wrong with it.
    pub(in crate::run) defects: Vec<Defect>,
}

impl Running<'_> {
    /// Has an answer criticised and mended.
    pub(in crate::run) fn improved(&self, ask: &Ask<'_>, answer: Answer) -> Result<Improved, Halt> {
        let Some((settings, Some(named))) = &self.settings.tiers.critique else {
            return Ok(Improved { answer, score: None, defects: Vec::new() });
        };
        let referee = Referee::new(self, named, format!("{}/critic", ask.step), ask.tab);
        let critique = Critique { settings, critic: &referee, memory: &self.memory };
        let output = Value::Object(answer.said.clone());
        let work = work((self.task, ask), self.settings.agents.get(ask.agent), &output);
        let mut answers = vec![answer.clone()];
        let mut halt = None;
        let improved = critique.improve(&work, Instant::now() + self.watch.left(), &mut |request| {
            let step = format!("{}/repair{}", ask.step, answers.len());
            match self.ask(&Ask { state: None, ..ask.again(step, ("repair", request.clone())) }) {
                Ok(Came::Answered(mended)) => {
                    answers.push(mended.clone());
                    Ok(Value::Object(mended.said))
                }
                Ok(Came::Failed(failure)) => Err(failure.reason),
                Ok(Came::Unwanted) => Err("nobody wants it any more".to_owned()),
                Err(over) => {
                    halt = Some(over);
                    Err("the run is over".to_owned())
                }
            }
        });
        referee.done()?;
        if let Some(halt) = halt {
            return Err(halt);
        }
        for (number, event) in improved.events.iter().enumerate() {
            let step = format!("{}/review{number}", ask.step);
            self.note(Entry::new("critique.reviewed", ask.name, event.clone()).of_step(&step))?;
        }
        let best = answers.into_iter().find(|one| Value::Object(one.said.clone()) == improved.output).unwrap_or(answer);
        if improved.repairs > 0 {
            self.mended(ask, &best, improved.score)?;
        }
        Ok(Improved { answer: best, score: improved.score, defects: improved.defects })
    }

    /// The best answer becomes what the agent said, once.
    fn mended(&self, ask: &Ask<'_>, best: &Answer, score: Option<f64>) -> Result<(), Halt> {
        let step = format!("{}/mended", ask.step);
        if self.known(&step)?.is_some() {
            return Ok(());
        }
        // Its messages went out and its cost was counted when it was given.
        let (said, kept_back) = (best.said.clone(), best.kept_back.clone());
        let said = Answer { said, kept_back, ..Answer::default() };
        self.land((ask.name, ask.state), &step, &said, json!({"role": ask.role, "score": score}))
    }

    /// What the gates are told of critique.
    pub(in crate::run) fn critique(&self, scores: &[f64]) -> Value {
        let critique = self.settings.tiers.critique.as_ref();
        let wanted = critique.map_or(MIN_SCORE, |(settings, _)| settings.min_score);
        json!({"enabled": critique.is_some(), "min_score_to_complete": wanted, "scores": scores})
    }

    /// The category of defects that there are too many of after a round of so many workers.
    pub(in crate::run) fn too_many_defects(&self, defects: &[Defect], workers: usize) -> Option<String> {
        let (settings, _) = self.settings.tiers.critique.as_ref()?;
        over(defects, settings.category_cap, workers as u64).map(str::to_owned)
    }
}
