//! What an embedder's own check of completion looks like: asked at every stop, beside what the definitions say.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

use super::{Failure, GUARD, Ground, Holds, Open, finding};
use crate::code;
use crate::decision::Finding;
use crate::definition::model::BLOCKS_MAX_DEFAULT;
use crate::probe::{Facts, Probe};
use crate::session::Session;

/// A check of the embedding program.
///
/// A fault or a panic in it blocks the stop, as often as an incomplete task does; where all definitions only observe, it
/// is only recorded. It must be pure: all it may look at is
/// what it is asked with, and the facts it asks for.
pub trait Checker: Send + Sync + fmt::Debug {
    /// The name in findings and records.
    fn name(&self) -> &str;

    /// Facts it wants before it checks; asked again with what is known so far, until it wants nothing more.
    fn needs(&self, _stopping: &Stopping<'_>) -> Vec<Probe> {
        Vec::new()
    }

    /// Checks whether the task is complete.
    ///
    /// # Errors
    /// Why it could not; the stop is blocked then.
    fn check(&self, stopping: &Stopping<'_>) -> Result<Assessment, String>;
}

/// All a checker may look at.
#[derive(Debug, Clone, Copy)]
pub struct Stopping<'a> {
    pub session: &'a Session,
    /// What the agent would end with: its structured output, else its last message.
    pub output: Option<&'a Value>,
    pub message: Option<&'a str>,
    /// Why the host says that the agent stops.
    pub reason: Option<&'a str>,
    /// The workspace's root.
    pub workspace: &'a str,
    pub facts: &'a Facts,
}

/// What a checker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    pub complete: bool,
    /// What the agent is told when it is not.
    pub feedback: Option<String>,
}

impl Assessment {
    /// The task is complete.
    #[must_use]
    pub const fn complete() -> Self {
        Self { complete: true, feedback: None }
    }

    /// It is not, and this is what the agent is told.
    #[must_use]
    pub fn incomplete(feedback: impl Into<String>) -> Self {
        Self { complete: false, feedback: Some(feedback.into()) }
    }
}

/// What the embedder's checkers find open, or the questions they have.
pub(super) fn open(ground: &Ground<'_>) -> Result<Vec<Open>, Vec<Probe>> {
    let layers = &ground.stack.layers;
    let completions = || layers.iter().filter_map(|layer| layer.model.completion.as_ref());
    if ground.event.agent.is_some() && !completions().any(|completion| completion.subagents) {
        return Ok(Vec::new());
    }
    let stopping = stopping(ground);
    let needs = |checker: &dyn Checker| guarded(|| Ok(checker.needs(&stopping))).unwrap_or_default();
    let wanted = ground.stack.checkers.iter().flat_map(|checker| needs(checker.as_ref()));
    // A checker looks; what is done at most once per event is not its to ask for.
    let wanted: Vec<Probe> = wanted.filter(|probe| probe.observes() && ground.facts.get(probe).is_none()).collect();
    if !wanted.is_empty() {
        return Err(wanted);
    }
    let blocks_max = completions().map(|completion| completion.blocks_max).max().unwrap_or(BLOCKS_MAX_DEFAULT);
    let found = ground.stack.checkers.iter().filter_map(|checker| ask(checker.as_ref(), &stopping));
    let observed = ground.stack.observes();
    let found = found.map(|finding| Finding { enforced: finding.enforced && !observed, ..finding });
    Ok(found.map(|finding| Open { finding, holds: Holds::Blocks(blocks_max) }).collect())
}

fn stopping<'a>(ground: &Ground<'a>) -> Stopping<'a> {
    let ask = ground.ask;
    Stopping {
        session: ground.session,
        output: ask.output.as_ref(),
        message: ask.message.as_deref(),
        reason: ask.reason.as_deref(),
        workspace: &ground.stack.root,
        facts: ground.facts,
    }
}

fn ask(checker: &dyn Checker, stopping: &Stopping<'_>) -> Option<Finding> {
    let name = checker.name();
    // One that panics when it is asked what it needs has not all the facts that it wants, and must not check without them.
    let check = || {
        drop(checker.needs(stopping));
        checker.check(stopping)
    };
    let found = match guarded(check) {
        Ok(assessment) if assessment.complete => return None,
        Ok(assessment) => finding(Failure { text: assessment.feedback.unwrap_or_default(), next: Vec::new() }),
        Err(why) => Finding::fault(GUARD, code::FAULT_POLICY, &format!("checker `{name}` failed: {why}")),
    };
    Some(Finding { policy: name.to_owned(), ..found })
}

fn guarded<T>(ask: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err("it panicked".to_owned()))
}
