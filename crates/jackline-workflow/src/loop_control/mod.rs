//! Loop control: what becomes of a manager's decisions. A pure state machine; it starts no worker and looks at no file.
//!
//! Each turn begins with [`Control::begin`], which ends the run when its turns are used up. The manager's [`Decision`] is
//! [taken](Control::take): planned, delegated, handed to the gates, or refused. What came of workers and gates is told to
//! [`Control::worked`] and [`Control::judged`]. `plan_loop` keeps a manager from planning for ever, `breaker` from calling
//! the same broken work complete again and again. After either of them only DELEGATE is taken.
//!
//! INVARIANT: a run ends `complete` only through [`Control::judged`] with a judgement that rejects nothing.

mod breaker;
mod decision;
mod end;
mod plan;
mod plan_loop;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::gates::{Action, Judgement};

pub use breaker::Breaker;
pub use decision::{DELEGATIONS_MAX, Decision, Delegation, Unreadable};
pub use end::{End, Status};
pub use plan::{Plan, Progress, SUBTASKS_MAX, Subtask};
pub use plan_loop::PlanLoop;

/// Limits of a run, as the manifest gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Turns of the manager.
    pub max_loops: u32,
    /// PLAN decisions without progress that are borne; the next one fires the plan loop.
    pub max_pre_progress_plans: u32,
    /// Rejected COMPLETE decisions at which the breaker fires; none with 0.
    pub max_rejected_completions: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_loops: 100, max_pre_progress_plans: 2, max_rejected_completions: 2 }
    }
}

/// What the loop waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Turn,
    Decision,
    Judgement,
    Workers,
    Ended(End),
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The next turn begins. The reason says what was refused, if something was.
    Turn {
        refused: Option<String>,
    },
    /// Workers are to be started.
    Delegate(Vec<Delegation>),
    /// The gates are to be asked about this result.
    Judge(Value),
    End(End),
}

/// What came of one delegation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worked {
    pub subtask_id: Option<String>,
    pub progress: Progress,
    /// Whether anybody began with it.
    pub started: bool,
}

/// Only DELEGATE is taken, until somebody works on what is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Lock {
    why: String,
    /// The subtask that must be delegated; any, if there is none.
    subtask: Option<String>,
}

impl Lock {
    /// Whether one of these subtasks is the one.
    fn opens<'a>(&self, mut subtasks: impl Iterator<Item = Option<&'a str>>) -> bool {
        self.subtask.is_none() || subtasks.any(|one| one == self.subtask.as_deref())
    }
}

/// Why a COMPLETE was rejected, as the manager is told it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    pub gate: String,
    pub reason: String,
    pub payload: Value,
}

/// The state of a run's loop. It can be kept and taken up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    limits: Limits,
    iteration: u32,
    phase: Phase,
    plan: Plan,
    plan_loop: PlanLoop,
    breaker: Breaker,
    /// Why only DELEGATE is taken now.
    locked: Option<Lock>,
    rejections: Vec<Rejection>,
    /// Events since they were last asked for.
    events: Vec<Value>,
}

impl Control {
    /// A loop that has not begun.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            iteration: 0,
            phase: Phase::Turn,
            plan: Plan::default(),
            plan_loop: PlanLoop::default(),
            breaker: Breaker::default(),
            locked: None,
            rejections: Vec::new(),
            events: Vec::new(),
        }
    }

    #[must_use]
    pub const fn iteration(&self) -> u32 {
        self.iteration
    }

    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How the run ended, if it did.
    #[must_use]
    pub const fn ended(&self) -> Option<&End> {
        match &self.phase {
            Phase::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// The gate events since they were last taken.
    pub fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }

    /// What a manager is told of the loop.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "iteration": self.iteration,
            "plan": self.plan,
            "plan_locked": self.locked.as_ref().map(|lock| &lock.why),
            "rejections": self.rejections,
        })
    }

    /// Begins a turn of the manager; a run whose turns are used up ends here, and never as complete.
    pub fn begin(&mut self) -> Step {
        if self.phase != Phase::Turn {
            return self.out_of_turn();
        }
        if self.iteration >= self.limits.max_loops {
            return self.end(Status::Partial, "max_loops");
        }
        self.iteration += 1;
        self.phase = Phase::Decision;
        Step::Turn { refused: None }
    }

    /// Takes what the manager decided, or that it said nothing that can be read.
    pub fn take(&mut self, decision: Result<Decision, Unreadable>) -> Step {
        if self.phase != Phase::Decision {
            return self.out_of_turn();
        }
        self.phase = Phase::Turn;
        let decision = match decision {
            Ok(decision) => decision,
            Err(unreadable) => return self.refuse(unreadable.to_string()),
        };
        if let Some(locked) = self.locked.as_ref().filter(|_| !matches!(decision, Decision::Delegate(_))) {
            let refused = format!("{} is refused: {}", decision.name(), locked.why);
            return self.refuse(refused);
        }
        match decision {
            Decision::Plan(subtasks) => self.planned(subtasks),
            Decision::Delegate(delegations) => self.delegated(delegations),
            Decision::Complete(result) => {
                self.phase = Phase::Judgement;
                Step::Judge(result)
            }
            Decision::Fail(reason) => {
                self.events.push(json!({"gate": "manager_fail", "triggered": true, "reason": reason}));
                self.end(Status::Failed, "fail")
            }
        }
    }

    fn planned(&mut self, subtasks: Vec<Subtask>) -> Step {
        let fires = self.plan_loop.planned(self.limits.max_pre_progress_plans);
        if !fires {
            self.plan.replace(subtasks);
            return Step::Turn { refused: None };
        }
        let (event, transition) = self.plan_loop.transition(&self.plan);
        self.events.push(event);
        match transition {
            plan_loop::Transition::ForcedDelegate => {
                let why = "the plan is made; delegate its pending subtasks".to_owned();
                self.locked = Some(Lock { why: why.clone(), subtask: None });
                Step::Turn { refused: Some(format!("PLAN is refused: {why}")) }
            }
            plan_loop::Transition::ForcedTerminate => self.end(Status::Partial, "plan_loop_stall"),
        }
    }

    fn delegated(&mut self, delegations: Vec<Delegation>) -> Step {
        if delegations.is_empty() {
            return self.refuse("DELEGATE is refused: it names no worker".to_owned());
        }
        let mut subtasks = delegations.iter().map(|delegation| delegation.subtask_id.as_deref());
        if let Some(locked) = self.locked.as_ref().filter(|lock| !lock.opens(&mut subtasks)) {
            return self.refuse(format!("DELEGATE is refused: {}", locked.why));
        }
        self.plan.start(&delegations);
        self.phase = Phase::Workers;
        Step::Delegate(delegations)
    }

    /// Takes what came of the delegations. One that nobody began with is none: it lifts no lock and resets nothing.
    pub fn worked(&mut self, results: &[Worked]) -> Step {
        if self.phase != Phase::Workers {
            return self.out_of_turn();
        }
        self.phase = Phase::Turn;
        self.plan.settle(results);
        if !results.iter().any(|one| one.started) {
            return self.refuse("DELEGATE is refused: nobody could begin with any of it".to_owned());
        }
        self.plan_loop.progressed();
        let mut begun = results.iter().filter(|one| one.started).map(|one| one.subtask_id.as_deref());
        if let Some(locked) = self.locked.as_ref().filter(|lock| !lock.opens(&mut begun)) {
            return self.refuse(locked.why.clone());
        }
        self.locked = None;
        self.breaker.reset();
        Step::Turn { refused: None }
    }

    /// Takes what the gates said of a COMPLETE.
    pub fn judged(&mut self, judgement: &Judgement) -> Step {
        if self.phase != Phase::Judgement {
            return self.out_of_turn();
        }
        self.phase = Phase::Turn;
        self.events.extend(judgement.outcomes.iter().filter(|outcome| outcome.applicable).map(|one| one.event()));
        if judgement.complete() {
            return self.end(Status::Complete, "complete");
        }
        self.rejections = judgement.rejections().map(Rejection::of).collect();
        if judgement.rejections().any(|outcome| outcome.payload.action == Some(Action::FailWorkflow)) {
            return self.end(Status::Failed, "eval_fail");
        }
        if !self.breaker.rejected(self.limits.max_rejected_completions) {
            return self.refuse("COMPLETE is rejected by the gates".to_owned());
        }
        self.broken(judgement)
    }

    /// The breaker fired: a repair is put into the plan and forced, or the run ends.
    fn broken(&mut self, judgement: &Judgement) -> Step {
        let repair = breaker::repair(judgement, &self.plan, self.iteration);
        self.events.push(self.breaker.event(repair.as_ref()));
        self.breaker.reset();
        let Some(repair) = repair else {
            return self.end(Status::Partial, "max_rejected_completions");
        };
        let why = format!("delegate the repair `{}` first", repair.id);
        self.locked = Some(Lock { why, subtask: Some(repair.id.clone()) });
        self.plan.add(repair);
        self.refuse("COMPLETE is rejected by the gates".to_owned())
    }

    /// Ends the run from outside: cancelled, out of time, out of another budget.
    pub fn stop(&mut self, status: Status, reason: &str) -> Step {
        // INVARIANT: nothing but the gates makes a run complete.
        let status = if status == Status::Complete { Status::Partial } else { status };
        if self.ended().is_some() { self.out_of_turn() } else { self.end(status, reason) }
    }

    fn end(&mut self, status: Status, reason: &str) -> Step {
        let end = End { status, reason: reason.to_owned() };
        self.phase = Phase::Ended(end.clone());
        Step::End(end)
    }

    fn refuse(&self, why: String) -> Step {
        Step::Turn { refused: Some(why) }
    }

    /// Whoever drives the loop asked at the wrong time: nothing happens.
    fn out_of_turn(&self) -> Step {
        match &self.phase {
            Phase::Ended(end) => Step::End(end.clone()),
            _ => Step::Turn { refused: Some("that was not asked for now".to_owned()) },
        }
    }
}

impl Rejection {
    fn of(outcome: &crate::gates::Outcome) -> Self {
        Self {
            gate: outcome.gate.name().to_owned(),
            reason: outcome.reason.clone().unwrap_or_default(),
            payload: outcome.payload.to_json(outcome.gate),
        }
    }
}
