//! Reads a run's records back: which steps are acknowledged, and what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackline_core::audit::{Format, Verifier};
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use jackline_runtime::replay;
use jackline_runtime::store::{Lines, Loaded, Store};
use serde_json::Value;

use super::answer::Usage;
use super::fault::RunFault;
use super::running::Used;
use super::worker::{Failure, FailureKind};

/// What came of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Done {
    /// The digest of the answer that was kept.
    Finished(Digest),
    Failed(Failure),
    Skipped,
}

/// How the names of tries end: with this and their number.
const TRY: char = '#';

/// What is on record of a run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    steps: BTreeMap<String, Done>,
    /// Answers that became part of the state, in their order: whose, under which name, and the digest.
    pub(super) answers: Vec<Landed>,
    /// What else was said of steps: kinds of records, and the steps they are about.
    noted: BTreeSet<(String, String)>,
    /// Who gave up, and why.
    gave_up: BTreeMap<String, String>,
    /// The digest of what was asked for.
    pub(super) order: Option<Digest>,
    pub(super) definition: String,
    /// How the run ended, if it did: status and reason.
    pub(super) ended: Option<(String, String)>,
    /// Time that was used so far.
    pub(super) spent: Duration,
    last: Option<Timestamp>,
    /// How often a rule of the workflow was broken.
    pub(super) violations: u64,
    /// What was used so far.
    pub(super) used: Used,
    /// What the run's own manager had left when it last decided.
    pub(super) left: Option<Value>,
    /// What was used by each step.
    paid: BTreeMap<String, Usage>,
}

/// An answer that became part of the state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Landed {
    pub(super) agent: String,
    /// The member of the state that it became, if it did.
    pub(super) state: Option<String>,
    pub(super) digest: Digest,
}

impl Journal {
    /// Reads the records of a run.
    pub(super) fn read(store: &dyn Store, run: &str) -> Result<(Loaded, Self), RunFault> {
        let unreadable = |why: String| RunFault::Unreadable { id: run.to_owned(), why };
        let loaded = store.load(run)?;
        let lines: Lines = store.lines(run, 0)?;
        let mut journal = Self::default();
        // Records decide what was done: a chain that does not hold decides nothing.
        let mut verifier = Verifier::new(Format::Ours).expecting(run, loaded.head.seq, loaded.head.hash);
        for line in lines {
            let line = line?;
            verifier.line(&line).map_err(|broken| unreadable(broken.to_string()))?;
            let record = replay::record(&line).map_err(unreadable)?;
            journal.take(&record).ok_or_else(|| unreadable("a record is not what a run writes".to_owned()))?;
        }
        if loaded.head.seq > 0 {
            verifier.finish().map_err(|broken| unreadable(broken.to_string()))?;
        }
        Ok((loaded, journal))
    }

    /// What came of a step, if it is acknowledged.
    pub(super) fn done(&self, step: &str) -> Option<&Done> {
        self.steps.get(step)
    }

    /// Whether anything below a path is on record.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.steps.range(path.to_owned()..).next().is_some_and(|(step, _)| step.starts_with(path))
    }

    /// Whether anybody was asked below a path, whatever came of it.
    pub(super) fn began(&self, path: &str) -> bool {
        const STARTED: &str = "agent.started";
        let from = (STARTED.to_owned(), path.to_owned());
        let next = self.noted.range(from..).next();
        next.is_some_and(|(kind, step)| kind == STARTED && step.starts_with(path)) || self.knows(path)
    }

    /// What a step used itself, each time that it was asked.
    pub(super) fn used_by(&self, step: &str) -> Usage {
        self.paid.get(step).copied().unwrap_or_default()
    }

    /// What all steps below a path used.
    pub(super) fn used_below(&self, path: &str) -> Usage {
        let below = self.paid.range(path.to_owned()..).take_while(|(step, _)| step.starts_with(path));
        below.fold(Usage::default(), |mut all, (_, usage)| {
            all.add(usage);
            all
        })
    }

    /// What a step used that came to an end; a try of an agent counts as one of its runs.
    fn pay(&mut self, step: &str, record: &Value) -> Usage {
        let (_, number) = step.rsplit_once(TRY).unwrap_or_default();
        self.used.agent_runs += u64::from(number.parse::<u32>().is_ok());
        self.spend(step, record)
    }

    /// What a step used, whatever came of it.
    fn spend(&mut self, step: &str, record: &Value) -> Usage {
        let told = record.pointer("/data/usage").cloned();
        let usage: Usage = told.and_then(|usage| serde_json::from_value(usage).ok()).unwrap_or_default();
        self.used.usage.add(&usage);
        self.paid.entry(step.to_owned()).or_default().add(&usage);
        usage
    }

    /// Why somebody gave up, if that is on record.
    pub(super) fn gave_up(&self, step: &str) -> Option<&str> {
        self.gave_up.get(step).map(String::as_str)
    }

    /// Whether a record of a kind is there for a step.
    pub(super) fn noted(&self, kind: &str, step: &str) -> bool {
        self.noted.contains(&(kind.to_owned(), step.to_owned()))
    }

    fn take(&mut self, record: &Value) -> Option<()> {
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str);
        let kind = text("/kind")?;
        let at = Timestamp::parse(text("/at")?)?;
        let resumed = matches!(kind, "run.started" | "run.resumed" | "session.repaired");
        if let Some(last) = self.last.filter(|_| !resumed) {
            self.spent += Duration::from_millis(u64::try_from(at.since(last)).unwrap_or(0));
        }
        self.last = Some(at);
        let kept = || Digest::parse(text("/data/kept")?);
        let step = || text("/call").map(str::to_owned);
        match kind {
            "run.started" => {
                self.order = Some(kept()?);
                self.definition = text("/definition/digest")?.to_owned();
            }
            "run.resumed" => self.ended = None,
            "run.ended" => {
                let reason = record.pointer("/data/reason").map(shown).unwrap_or_default();
                self.ended = Some((text("/data/status")?.to_owned(), reason));
            }
            "agent.finished" | "agent.fanned" | "gates.judged" | "referee.answered" | "step.scored" => {
                let digest = kept()?;
                if kind == "agent.finished" {
                    let (agent, state) = (text("/agent")?.to_owned(), text("/data/state").map(str::to_owned));
                    self.answers.push(Landed { agent, state, digest });
                }
                self.pay(&step()?, record);
                self.steps.insert(step()?, Done::Finished(digest));
            }
            "agent.failed" | "referee.failed" => {
                let failed = FailureKind::named(text("/data/kind")?)?;
                let reason = record.pointer("/data/reason").map(shown).unwrap_or_default();
                let failure = Failure { usage: self.pay(&step()?, record), ..Failure::new(failed, reason) };
                self.steps.insert(step()?, Done::Failed(failure));
            }
            // Asked anew when the run is taken up: it came to nothing, and used something.
            "agent.stopped" | "referee.stopped" => {
                self.spend(&step()?, record);
            }
            "agent.skipped" => drop(self.steps.insert(step()?, Done::Skipped)),
            "manager.decided" => {
                if record.pointer("/data/depth") == Some(&Value::from(0)) {
                    self.left = record.pointer("/data/budget").cloned();
                }
                self.noted.extend(step().map(|step| (kind.to_owned(), step)));
            }
            "agent.gave_up" => {
                let reason = record.pointer("/data/reason").map(shown).unwrap_or_default();
                self.noted.insert((kind.to_owned(), step()?));
                self.gave_up.insert(step()?, reason);
            }
            _ => {
                self.violations += u64::from(matches!(kind, "state.refused" | "message.rejected"));
                self.noted.extend(step().map(|step| (kind.to_owned(), step)));
            }
        }
        Some(())
    }
}

/// A text of a record, or what a long one was clipped to.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
