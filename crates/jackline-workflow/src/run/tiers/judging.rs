//! A judge decides whether an answer may be used, before it counts.

use std::time::Instant;

use serde_json::Value;

use super::work;
use crate::judge::judge;
use crate::run::answer::Answer;
use crate::run::fault::Halt;
use crate::run::ledger::Entry;
use crate::run::referee::Referee;
use crate::run::running::Running;
use crate::run::settings::AgentSettings;
use crate::run::step::Ask;
use crate::run::worker::{Failure, FailureKind};

impl Running<'_> {
    /// Why the judge keeps an answer from being used, if it does. Managers are judged by the gates.
    pub(in crate::run) fn judged(
        &self,
        ask: &Ask<'_>,
        agent: &AgentSettings,
        (step, answer): (&str, &Answer),
    ) -> Result<Option<Failure>, Halt> {
        let Some((settings, named)) = self.settings.tiers.judge.as_ref().filter(|_| ask.role != "manager") else {
            return Ok(None);
        };
        let referee = Referee::new(self, named, format!("{step}/judge"), ask.tab);
        let output = Value::Object(answer.said.clone());
        let work = work((self.task, ask), Some(agent), &output);
        let judged = judge(settings, &referee, &work, Instant::now() + self.watch.left());
        referee.done()?;
        // Always: the answer is a new one, also where another one was judged before an interruption.
        self.record(Entry::new("agent.judged", ask.name, judged.event(ask.name)).of_step(step))?;
        Ok(judged.objection().map(|why| Failure::new(FailureKind::Validation, why)))
    }
}
