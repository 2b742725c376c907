//! A COMPLETE is judged by the gates, over what is really there. The judgement is on record before it counts.

use serde_json::{Value, json};

use super::Loop;
use crate::gates::{self, Gate, Judgement};
use crate::loop_control::Control;
use crate::run::fault::{Halt, RunFault};
use crate::run::ledger::Entry;
use crate::run::running::Earlier;
use crate::run::tab::Tab;
use crate::run::tiers::Subject;

/// Names the steps of those who score a result.
const EVALUATION: &str = "evaluation";

impl Loop<'_, '_> {
    /// Asks all gates about a result.
    pub(super) fn judge(&mut self, control: &Control, result: &Value) -> Result<Judgement, Halt> {
        let tab = self.budget.tab();
        let judged = self.judgement(control, result, &tab);
        self.budget.charge(&tab.used());
        let (judgement, asked) = judged?;
        self.asked = Some(asked);
        let low = judgement.rejections().any(|outcome| outcome.gate == Gate::Eval);
        self.repairs += u32::from(low);
        Ok(judgement)
    }

    /// What the gates say, and what they were asked about.
    fn judgement(&self, control: &Control, result: &Value, tab: &Tab) -> Result<(Judgement, Value), Halt> {
        let step = self.step(control, "gates");
        if let Some(Earlier::Finished(value)) = self.running.known(&step)? {
            tab.charge(&self.running.journal.used_below(&format!("{}/", self.step(control, EVALUATION))));
            let why =
                |why: serde_json::Error| RunFault::Unreadable { id: self.running.run.to_owned(), why: why.to_string() };
            return Ok(serde_json::from_value(value).map_err(why)?);
        }
        let described = self.described(control, result, tab)?;
        // A manager below has a task and a plan of its own: the run's file is about the run.
        if self.depth == 0 {
            self.running.describe(&described)?;
        }
        let judgement = match gates::Run::read(described.to_string().as_bytes()) {
            Ok(run) => gates::judge(&run, &gates::look(&run, &self.running.place.output)),
            Err(why) => return Err(RunFault::Input(why.to_string()).into()),
        };
        let kept = self.running.ledger.kept.put(&json!([judgement, described]))?;
        let complete = judgement.complete();
        let data = json!({"kept": kept.hex(), "passed": complete, "iteration": control.iteration(), "judgement": judgement.to_json()});
        self.running.record(Entry::new("gates.judged", &self.manager, data).of_step(&step))?;
        Ok((judgement, described))
    }

    /// What the gates would be asked about, now that the loop has ended: the plan as it stands, and the result that was
    /// judged last.
    pub(super) fn at_end(&self, control: &Control) -> Value {
        let scored = self.running.settings.tiers.evaluation.is_some();
        let unasked = || self.about(control, &Value::Null, &json!({"enabled": scored}));
        let mut described = self.asked.clone().unwrap_or_else(unasked);
        if let Some(described) = described.as_object_mut() {
            described.insert("plan".to_owned(), json!(control.plan()));
        }
        described
    }

    /// What the gates are asked about, as `jackline workflow gates` reads it.
    fn described(&self, control: &Control, result: &Value, tab: &Tab) -> Result<Value, Halt> {
        let budgets = self.budget.used();
        let subject = Subject { result, agent: None, iterations: control.iteration(), budgets: &budgets, tab };
        let evaluation = self.running.evaluated(&self.step(control, EVALUATION), subject, self.repairs)?;
        Ok(self.about(control, result, &evaluation))
    }

    fn about(&self, control: &Control, result: &Value, evaluation: &Value) -> Value {
        let place = &self.running.place;
        json!({
            "task": self.task,
            "output_dir": place.output,
            "workspace_dir": place.workspace,
            "plan": control.plan(),
            "final_result": result,
            "critique": self.running.critique(&self.scores),
            "evaluation": evaluation,
            "gates": self.settings.gates,
        })
    }
}
