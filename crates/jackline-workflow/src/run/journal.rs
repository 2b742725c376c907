//! Reads a run's records back: which steps are acknowledged, and what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use jackline_runtime::replay;
use jackline_runtime::store::{Lines, Loaded, Store};
use serde_json::Value;

use super::fault::RunFault;
use super::worker::{Failure, FailureKind};

/// What came of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Done {
    /// The digest of the answer that was kept.
    Finished(Digest),
    Failed(Failure),
    Skipped,
}

/// What is on record of a run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    steps: BTreeMap<String, Done>,
    /// Answers that became part of the state, in their order: whose, under which name, and the digest.
    pub(super) answers: Vec<Landed>,
    /// What else was said of steps: kinds of records, and the steps they are about.
    noted: BTreeSet<(String, String)>,
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
        for line in lines {
            let record = replay::record(&line?).map_err(unreadable)?;
            journal.take(&record).ok_or_else(|| unreadable("a record is not what a run writes".to_owned()))?;
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
            "agent.finished" | "gates.judged" | "referee.answered" | "step.scored" => {
                let digest = kept()?;
                if kind == "agent.finished" {
                    let (agent, state) = (text("/agent")?.to_owned(), text("/data/state").map(str::to_owned));
                    self.answers.push(Landed { agent, state, digest });
                }
                self.steps.insert(step()?, Done::Finished(digest));
            }
            "agent.failed" | "referee.failed" => {
                let failed = FailureKind::named(text("/data/kind")?)?;
                let reason = record.pointer("/data/reason").map(shown).unwrap_or_default();
                let usage = record.pointer("/data/usage").cloned().and_then(|usage| serde_json::from_value(usage).ok());
                let failure = Failure { usage: usage.unwrap_or_default(), ..Failure::new(failed, reason) };
                self.steps.insert(step()?, Done::Failed(failure));
            }
            "agent.skipped" => drop(self.steps.insert(step()?, Done::Skipped)),
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
