//! A run under way: what all its parts share, and how it comes to be over.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::answer::{Answer, Usage};
use super::fault::{Halt, RunFault};
use super::hidden::Hidden;
use super::journal::{Done, Journal};
use super::kept;
use super::ledger::{Entry, Ledger};
use super::mail::{self, Letter, Rejected};
use super::parallel::Places;
use super::settings::Settings;
use super::shared::Shared;
use super::tab::Tab;
use super::watch::{Cause, Watch};
use super::worker::Place;
use crate::critique::Memory;
use crate::loop_control::{End, Status};

/// Gate events that a run's end tells; all of them are on record.
const EVENTS_MAX: usize = 1_000;

/// A run under way.
pub(super) struct Running<'a> {
    pub(super) run: &'a str,
    pub(super) task: &'a str,
    pub(super) settings: &'a Settings,
    pub(super) ledger: Ledger<'a>,
    pub(super) journal: Journal,
    pub(super) hidden: &'a Hidden,
    pub(super) watch: Watch<'a>,
    pub(super) place: Place,
    /// Where the run's own files are.
    pub(super) directory: PathBuf,
    /// How many agents may be at work at once.
    pub(super) places: Places,
    pub(super) shared: Mutex<Shared>,
    pub(super) used: Mutex<Used>,
    /// Pays where no loop does.
    pub(super) tab: Tab,
    /// What critics found so far.
    pub(super) memory: Mutex<Memory>,
    /// How often a rule of the workflow was broken.
    pub(super) violations: AtomicU64,
    /// Managers below the manager so far.
    pub(super) submanagers: AtomicU32,
    /// How many of them may be at work at once, wherever they are.
    pub(super) managing: Places,
    pub(super) events: Mutex<Vec<Value>>,
    /// How the run ends, once something has ended it.
    pub(super) end: Mutex<Option<End>>,
    /// Why nothing can be recorded any more, once that is so.
    pub(super) fault: Mutex<Option<RunFault>>,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Used {
    pub(super) usage: Usage,
    pub(super) agent_runs: u64,
}

/// What is guarded is whole after every step, also when somebody panicked with it.
pub(super) fn lock<T>(guarded: &Mutex<T>) -> MutexGuard<'_, T> {
    guarded.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running<'_> {
    /// Ends the run; the first reason stands.
    pub(super) fn stop(&self, status: Status, reason: impl Into<String>) -> Halt {
        lock(&self.end).get_or_insert_with(|| End { status, reason: reason.into() });
        self.watch.fail();
        Halt::Over
    }

    /// What a halt means for everybody else: when nothing can be recorded any more, nobody works on.
    pub(super) fn halted(&self, halt: Halt) -> Halt {
        if let Halt::Fault(fault) = halt {
            lock(&self.fault).get_or_insert(*fault);
            self.watch.fail();
        }
        Halt::Over
    }

    /// Whether the run goes on.
    pub(super) fn go_on(&self) -> Result<(), Halt> {
        if self.watch.cause().is_some() { Err(Halt::Over) } else { Ok(()) }
    }

    /// Whether its time is up.
    pub(super) fn out_of_time(&self) -> bool {
        matches!(self.watch.cause(), Some(Cause::Total | Cause::Idle))
    }

    /// How a run that is over ended.
    pub(super) fn over(&self) -> End {
        let end = |status, reason: &str| End { status, reason: reason.to_owned() };
        // INVARIANT: what was settled before stands, whatever came while it was written down.
        if let Some(settled) = lock(&self.end).clone() {
            return settled;
        }
        match self.watch.cause() {
            Some(Cause::Signal(2)) => end(Status::Aborted, "sigint"),
            Some(Cause::Signal(15)) => end(Status::Aborted, "sigterm"),
            Some(Cause::Signal(_)) => end(Status::Aborted, "signal"),
            Some(Cause::Total) => end(Status::Partial, "max_wall_time"),
            Some(Cause::Idle) => end(Status::Partial, "timeout_idle"),
            Some(Cause::Failure) | None => end(Status::Failed, "fault"),
        }
    }

    /// Another run of an agent, which is counted before it begins: some begin at once, and none may be one too many.
    pub(super) fn reserve(&self) -> Result<(), Halt> {
        self.within_budget()?;
        let (mut used, max) = (lock(&self.used), self.settings.budget.max_agent_runs);
        if max.is_some_and(|max| used.agent_runs >= max) {
            drop(used);
            return Err(self.spent("max_agent_runs"));
        }
        used.agent_runs += 1;
        Ok(())
    }

    /// A run of an agent that came to nothing.
    pub(super) fn release(&self) {
        let mut used = lock(&self.used);
        used.agent_runs = used.agent_runs.saturating_sub(1);
    }

    /// The run ends because something is used up; whoever is at work within it may end its work.
    fn spent(&self, reason: &str) -> Halt {
        lock(&self.end).get_or_insert_with(|| End { status: Status::Partial, reason: reason.to_owned() });
        Halt::Over
    }

    /// Ends a run that has used up what it may use.
    pub(super) fn within_budget(&self) -> Result<(), Halt> {
        let (used, budget) = (*lock(&self.used), &self.settings.budget);
        // Who may use nothing may still do what uses nothing.
        let beyond = |used: u64, max: Option<u64>| max.is_some_and(|max| used >= max.max(1));
        let reason = if beyond(used.usage.tokens(), budget.max_total_tokens) {
            "max_total_tokens"
        } else if beyond(used.usage.tool_calls, budget.max_tool_calls) {
            "max_tool_calls"
        } else if budget.max_cost_usd.is_some_and(|max| used.usage.cost_usd >= max && used.usage.cost_usd > 0.0) {
            "max_cost_usd"
        } else {
            return Ok(());
        };
        Err(self.spent(reason))
    }

    /// Rules of the workflow were broken.
    pub(super) fn violated(&self, times: usize) {
        self.violations.fetch_add(times as u64, Ordering::Relaxed);
    }

    pub(super) fn violations(&self) -> u64 {
        self.violations.load(Ordering::Relaxed)
    }

    /// What the run may use, and how much of it is used.
    pub(super) fn budgets(&self) -> Value {
        let (used, budget, execution) = (*lock(&self.used), &self.settings.budget, &self.settings.execution);
        let wall = execution.total.saturating_sub(self.watch.left()).as_secs_f64();
        json!({
            "tokens": {"used": used.usage.tokens(), "limit": budget.max_total_tokens},
            "tool_calls": {"used": used.usage.tool_calls, "limit": budget.max_tool_calls},
            "agent_runs": {"used": used.agent_runs, "limit": budget.max_agent_runs},
            "cost_usd": {"used": used.usage.cost_usd, "limit": budget.max_cost_usd},
            "wall_time_s": {"used": wall, "limit": execution.total.as_secs_f64()},
        })
    }

    pub(super) fn charge(&self, usage: &Usage) {
        lock(&self.used).usage.add(usage);
    }

    pub(super) fn record(&self, entry: Entry) -> Result<(), Halt> {
        Ok(self.ledger.commit(vec![entry])?)
    }

    /// Records something that follows from what is on record already; once, also when the run is taken up again.
    pub(super) fn note(&self, entry: Entry) -> Result<(), Halt> {
        let known = entry.step.as_deref().is_some_and(|step| self.journal.noted(entry.kind, step));
        if known { Ok(()) } else { self.record(entry) }
    }

    /// Gate events of a step, recorded once and kept for the run's end.
    pub(super) fn tell(&self, agent: &str, step: &str, events: Vec<Value>) -> Result<(), Halt> {
        let mut known = lock(&self.events);
        let room = EVENTS_MAX.saturating_sub(known.len());
        known.extend(events.iter().take(room).cloned());
        drop(known);
        if events.is_empty() || self.journal.noted("gate.event", step) {
            return Ok(());
        }
        let entries = events.into_iter().map(|event| Entry::new("gate.event", agent, event).of_step(step));
        Ok(self.ledger.commit(entries.collect())?)
    }

    /// What a step came to earlier, if it is acknowledged.
    pub(super) fn known(&self, step: &str) -> Result<Option<Earlier>, Halt> {
        Ok(match self.journal.done(step) {
            None => None,
            Some(Done::Failed(failure)) => Some(Earlier::Failed(failure.clone())),
            Some(Done::Skipped) => Some(Earlier::Skipped),
            Some(Done::Finished(digest)) => {
                let lost = || RunFault::Unreadable {
                    id: self.run.to_owned(),
                    why: format!("what the step `{step}` came to is not kept"),
                };
                Some(Earlier::Finished(self.ledger.kept.get(digest).ok_or_else(lost)?))
            }
        })
    }

    /// What becomes of an answer's messages.
    pub(super) fn post(&self, name: &str, answer: &Answer) -> (Vec<Letter>, Vec<Rejected>) {
        let (mut letters, mut rejected) = (Vec::new(), Vec::new());
        for message in &answer.messages {
            match mail::post(&self.settings.channels, name, message, &mut self.settings.names()) {
                Ok(letter) => letters.push(letter),
                Err(why) => rejected.push(why),
            }
        }
        (letters, rejected)
    }

    /// Writes down what the gates are asked about, as `jackline workflow gates --run` reads it.
    pub(super) fn describe(&self, described: &Value) -> Result<(), Halt> {
        let mut described = described.clone();
        self.clean_own(&mut described);
        self.put("run.json", &described)
    }

    /// Takes out what is sensitive where the names of members are ours: a field of a workflow's that is called like one of
    /// them does not have it taken out. What others said is cleaned as a whole. As deep as what we describe.
    fn clean_own(&self, value: &mut Value) {
        /// Members that hold what others said, in members of their own.
        const OTHERS: &[&str] = &["final_result", "success_criteria"];
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    if OTHERS.contains(&name.as_str()) {
                        self.hidden.clean(value);
                    } else {
                        self.clean_own(value);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_own(item)),
            leaf => {
                self.hidden.clean(leaf);
            }
        }
    }

    /// Writes a file of the run's own that shows nothing sensitive as it is.
    pub(super) fn put(&self, name: &str, value: &Value) -> Result<(), Halt> {
        let path = self.directory.join(name);
        Ok(kept::write(&path, format!("{value:#}\n").as_bytes()).map_err(|fault| kept::disk(&path, &fault))?)
    }

    /// What agents are told of the workflow itself.
    pub(super) fn about(&self) -> Value {
        json!({"name": self.settings.name, "run_id": self.run})
    }
}

/// What a step came to earlier.
#[derive(Debug)]
pub(super) enum Earlier {
    Finished(Value),
    Failed(super::worker::Failure),
    Skipped,
}
