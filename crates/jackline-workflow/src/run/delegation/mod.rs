//! The engine of managers: a manager decides, workers work, gates judge. What becomes of a decision is for
//! [`loop_control`](crate::loop_control) to say; here it is carried out.

mod budget;
mod completion;
mod workers;

use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use super::fault::Halt;
use super::ledger::Entry;
use super::parallel::Taken;
use super::running::Running;
use super::settings::{Delegation, Engine};
use super::step::{Ask, Came};
use super::worker::Failure;
use crate::loop_control::{Control, Decision, Delegation as Delegated, End, Limits, Status, Step, Unreadable};
use budget::Budget;

/// Turns in a row in which a manager gives no answer at all; then it never will.
const SILENT_TURNS_MAX: u32 = 3;

/// What came of a loop.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) end: End,
    pub(super) output: Value,
    pub(super) iterations: u32,
    /// What the gates would be asked about now.
    pub(super) described: Value,
    /// What critics scored last.
    scores: Vec<f64>,
}

/// A manager's loop.
struct Loop<'a, 'r> {
    running: &'a Running<'r>,
    settings: &'a Delegation,
    /// The agent that decides.
    manager: String,
    /// Begins the names of its steps.
    path: String,
    depth: u32,
    task: String,
    budget: Budget,
    /// What came of the last workers.
    results: Vec<Value>,
    /// What critics scored them.
    scores: Vec<f64>,
    /// How often a result was sent back for its score.
    repairs: u32,
    /// What the manager was refused last.
    refused: Option<String>,
    silent: u32,
    /// What the manager last called complete.
    output: Value,
    /// What the gates were asked about last.
    asked: Option<Value>,
    /// The place of a manager below the manager. Free while it waits for managers of its own: they need one.
    place: Option<Taken<'a>>,
}

/// What the loop of a workflow may use; nothing is used.
pub(super) fn budgets(engine: &Engine) -> Value {
    match engine {
        Engine::Graph(_) => json!({}),
        Engine::Delegation(settings) => Budget::of(&settings.budget).used(),
    }
}

/// How many managers below the manager may be at work at once; one, where it does not matter.
pub(super) fn managing(engine: &Engine) -> usize {
    match engine {
        Engine::Graph(_) => 1,
        Engine::Delegation(settings) => settings.budget.max_concurrent_submanagers.max(1),
    }
}

/// Runs the workflow's own loop: what it might use and used, and what came of it.
pub(super) fn run(running: &Running<'_>, settings: &Delegation) -> (Value, Result<Outcome, Halt>) {
    let budget = Budget::of(&settings.budget);
    let (budget, outcome) =
        Loop::new(running, settings, (settings.manager.clone(), running.task.to_owned()), budget).run();
    (budget.used(), outcome)
}

impl<'a, 'r> Loop<'a, 'r> {
    fn new(
        running: &'a Running<'r>,
        settings: &'a Delegation,
        (manager, task): (String, String),
        budget: Budget,
    ) -> Self {
        Self {
            running,
            settings,
            manager,
            path: String::new(),
            depth: 0,
            task,
            budget,
            results: Vec::new(),
            scores: Vec::new(),
            repairs: 0,
            refused: None,
            silent: 0,
            output: Value::Null,
            asked: None,
            place: None,
        }
    }

    /// Turn after turn, until the loop ends. What is left of its budget is told also when it is stopped: whoever gave it
    /// takes that back.
    fn run(mut self) -> (Budget, Result<Outcome, Halt>) {
        let outcome = self.outcome();
        (self.budget, outcome)
    }

    fn outcome(&mut self) -> Result<Outcome, Halt> {
        let turns = u32::try_from(self.budget.loops_left()).unwrap_or(u32::MAX);
        let mut control = Control::new(Limits { max_loops: turns, ..self.settings.limits });
        let end = match self.turns(&mut control) {
            Ok(end) => end,
            // Ended from outside: what the run's own loop came to until then is told all the same.
            Err(Halt::Over) if self.depth == 0 => self.running.over(),
            Err(halt) => return Err(halt),
        };
        self.tell(&mut control)?;
        let described = self.at_end(&control);
        let (output, scores) = (std::mem::take(&mut self.output), std::mem::take(&mut self.scores));
        Ok(Outcome { end, output, iterations: control.iteration(), described, scores })
    }

    fn turns(&mut self, control: &mut Control) -> Result<End, Halt> {
        loop {
            if let Some(reason) = self.budget.exhausted() {
                control.stop(Status::Partial, reason);
            }
            if let Step::End(end) = control.begin() {
                return Ok(end);
            }
            self.budget.turn();
            let end = self.turn(control)?;
            self.tell(control)?;
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    /// One decision, and what follows from it; how the loop ends, if it does.
    fn turn(&mut self, control: &mut Control) -> Result<Option<End>, Halt> {
        let mut step = self.decide(control)?;
        loop {
            step = match step {
                Step::Turn { refused } => {
                    self.refused = refused;
                    return Ok(None);
                }
                Step::Delegate(_) if self.budget.workers_left() == 0 => {
                    control.stop(Status::Partial, "max_total_workers")
                }
                Step::Delegate(delegations) => self.delegate(control, &delegations)?,
                Step::Judge(result) => {
                    let judgement = self.judge(control, &result)?;
                    self.output = result;
                    control.judged(&judgement)
                }
                Step::End(end) => return Ok(Some(end)),
            };
        }
    }

    /// Has work done. That nobody began with what was wanted is on record, as other refusals are.
    fn delegate(&mut self, control: &mut Control, delegations: &[Delegated]) -> Result<Step, Halt> {
        let worked = self.work(control, delegations)?;
        let taken = control.worked(&worked);
        if let Step::Turn { refused: Some(why) } = &taken {
            let step = self.step(control, "manager");
            self.running.note(Entry::new("manager.refused", &self.manager, json!({"refused": why})).of_step(&step))?;
        }
        Ok(taken)
    }

    /// The name of a step of this turn.
    fn step(&self, control: &Control, what: &str) -> String {
        format!("{}{what}@{}", self.path, control.iteration())
    }

    fn tell(&self, control: &mut Control) -> Result<(), Halt> {
        let step = self.step(control, "events");
        self.running.tell(&self.manager, &step, control.take_events())
    }

    /// Asks the manager, and has its decision taken.
    fn decide(&mut self, control: &mut Control) -> Result<Step, Halt> {
        let step = self.step(control, "manager");
        let answered = self.ask(control, step.clone())?;
        let decision = match answered {
            Ok(value) => Decision::read(&value),
            Err(failure) => {
                self.silent += 1;
                if self.silent >= SILENT_TURNS_MAX {
                    return Ok(control.stop(Status::Failed, "manager_failed"));
                }
                Err(Unreadable::Silent(failure.reason))
            }
        };
        let word = decision.as_ref().map_or("none", Decision::name);
        let taken = control.take(decision);
        let refused = match &taken {
            Step::Turn { refused } => refused.clone(),
            _ => None,
        };
        let data = json!({
            "decision": word, "refused": refused, "iteration": control.iteration(), "depth": self.depth,
            "plan": control.plan(), "budget": self.budget.left(),
        });
        self.running.note(Entry::new("manager.decided", &self.manager, data).of_step(&step))?;
        Ok(taken)
    }

    fn ask(&mut self, control: &Control, step: String) -> Result<Result<Value, Failure>, Halt> {
        static WANTED: AtomicBool = AtomicBool::new(false);
        let (settings, node) = (self.running.settings, self.settings.node(&self.manager));
        let tab = self.budget.tab();
        let ask = Ask {
            step,
            name: &self.manager,
            agent: &self.manager,
            state: None,
            role: "manager",
            given: self.given(control),
            timeout: node.map_or(settings.execution.per_agent, |node| node.timeout),
            retry: node.map_or(&settings.execution.retry, |node| &node.retry),
            unwanted: &|| WANTED.load(std::sync::atomic::Ordering::Relaxed),
            tab: &tab,
        };
        let came = self.running.ask(&ask);
        self.budget.charge(&tab.used());
        match came? {
            Came::Answered(answer) => {
                self.silent = 0;
                Ok(Ok(Value::Object(answer.said)))
            }
            Came::Failed(failure) => Ok(Err(failure)),
            Came::Unwanted => Err(Halt::Over),
        }
    }

    /// What the manager is told beside what everybody is told.
    fn given(&self, control: &Control) -> Map<String, Value> {
        let mut given = control.view();
        if let Some(given) = given.as_object_mut() {
            given.extend(Map::from_iter([
                ("task".to_owned(), json!(self.task)),
                ("inputs".to_owned(), json!({})),
                ("depth".to_owned(), json!(self.depth)),
                ("refused".to_owned(), json!(self.refused)),
                ("results".to_owned(), json!(self.results)),
                ("budget".to_owned(), self.budget.left()),
                ("workers".to_owned(), self.known_workers()),
            ]));
        }
        given.as_object().cloned().unwrap_or_default()
    }

    /// Whom the manager can hand work to.
    fn known_workers(&self) -> Value {
        let agents = self.running.settings.agents.iter();
        let others = agents.filter(|(name, agent)| **name != self.settings.manager && agent.worker.is_ok());
        others.map(|(name, agent)| json!({"agent": name, "description": agent.description})).collect()
    }
}
