//! The agent wants to stop, or the session is over: what must hold is looked at, and how the run ended is recorded.

use serde_json::{Value, json};

use super::excepted::{Lifted, lift};
use crate::completion::{GUARD, Ground, Holds, Open, Stopped, files, park};
use crate::decision::{Decision, Finding, Note, Step};
use crate::event::{Event, Output, StopAsk};
use crate::files::evaluator::Evaluated;
use crate::guards::budget;
use crate::hosts::stops_held_max;
use crate::probe::Facts;
use crate::session::{Agent, Change, Session};
use crate::stack::Stack;

/// Why a run that gave its result stops, as checkers are told.
const STRUCTURED_OUTPUT: &str = "structured_output";

/// A stop is requested.
pub(super) fn decide(stack: &Stack, session: &Session, event: &Event, (ask, facts): (&StopAsk, &Facts)) -> Step {
    let ground = Ground { stack, session, event, facts, ask, over: false, files: None };
    if let Some(free) = free(&ground) {
        // What is open stays open: it is looked at and told, and holds nothing.
        return match files::evaluate(&ground, Some("the agent may stop whatever is open")) {
            Ok(policies) => {
                let open = files::findings(&policies, |_| true).into_iter().map(unenforced).collect();
                super::done(with_files(allowed(event, free, open), policies))
            }
            Err(probes) => Step::Need(probes),
        };
    }
    let policies = match files::evaluate(&ground, None) {
        Ok(policies) => policies,
        Err(probes) => return Step::Need(probes),
    };
    let ground = Ground { files: Some(&policies), ..ground };
    let open = match ground.open() {
        Ok(open) => open,
        Err(probes) => return Step::Need(probes),
    };
    let counted = counted(open, session.agent(event.agent()), event.host.as_deref());
    let Lifted { mut findings, notes } = match lift(counted, session, event, facts) {
        Ok(lifted) => lifted,
        Err(probe) => return Step::Need(vec![probe]),
    };
    files::tell(&mut findings, &policies);
    let decision = Decision::merge(findings);
    let decision = if decision.verdict.refuses() {
        Decision { changes: blocked(event, &decision.findings), ..decision }
    } else {
        let (end, findings) = judged(&ground, decision.findings);
        allowed(event, end, findings)
    };
    let consulted = if ground.is_judged() { vec![GUARD.to_owned()] } else { Vec::new() };
    let notes = notes.into_iter().chain(decision.notes).collect();
    super::done(with_files(Decision { consulted, notes, ..decision }, policies))
}

/// A decision together with what became of file policies.
fn with_files(decision: Decision, policies: Evaluated) -> Decision {
    let mut consulted = decision.consulted;
    consulted.extend(policies.any.then(|| crate::files::GUARD.to_owned()));
    Decision {
        consulted,
        changes: policies.changes.into_iter().chain(decision.changes).collect(),
        notes: policies.notes.into_iter().chain(decision.notes).collect(),
        queue: policies.queue,
        ..decision
    }
}

/// Whether the agent may stop whatever holds, so that no todo is looked at.
pub(super) fn is_free(stack: &Stack, session: &Session, event: &Event, (ask, facts): (&StopAsk, &Facts)) -> bool {
    free(&Ground { stack, session, event, facts, ask, over: false, files: None }).is_some()
}

/// The session is over. Without an allowed stop before, what must hold is looked at once more; nothing is refused.
pub(super) fn over(stack: &Stack, session: &Session, event: &Event, facts: &Facts) -> Step {
    let ask = StopAsk::default();
    let ground = Ground { stack, session, event, facts, ask: &ask, over: true, files: None };
    if session.stopped.is_some() {
        return super::done(Decision::default());
    }
    let policies = match files::evaluate(&ground, Some("the session is over")) {
        Ok(policies) => policies,
        Err(probes) => return Step::Need(probes),
    };
    if !ground.is_judged() && !policies.any && policies.unclear.is_none() {
        return super::done(Decision::default());
    }
    let ground = Ground { files: Some(&policies), ..ground };
    let (end, findings) = match free(&ground) {
        Some(free) => (free, Vec::new()),
        None => match ground.open() {
            Err(probes) => return Step::Need(probes),
            Ok(open) => judged(&ground, open.into_iter().map(|open| unenforced(open.finding)).collect()),
        },
    };
    let changes = vec![Change::Ended { stopped: end.stopped }];
    let consulted = if ground.is_judged() { vec![GUARD.to_owned()] } else { Vec::new() };
    super::done(with_files(Decision { changes, consulted, ..allowed(event, end, findings) }, policies))
}

/// What a run's result is told of what is still open; nothing is refused by it.
pub(super) fn advice(
    stack: &Stack,
    session: &Session,
    event: &Event,
    (output, facts): (&Output, &Facts),
) -> Result<Vec<Finding>, Step> {
    let (value, reason) = (output.value.as_ref().ok().cloned(), Some(STRUCTURED_OUTPUT.to_owned()));
    let ask = StopAsk { output: value, message: Some(output.text.clone()), reason, again: false };
    let ground = Ground { stack, session, event, facts, ask: &ask, over: false, files: None };
    if free(&ground).is_some() {
        return Ok(Vec::new());
    }
    // Nothing is run or settled by advice: the stop that follows does that.
    let policies = files::evaluate(&ground, Some("it runs when you stop")).map_err(Step::Need)?;
    let ground = Ground { files: Some(&policies), ..ground };
    let open = ground.open().map_err(Step::Need)?;
    Ok(open.into_iter().map(|open| unenforced(open.finding)).collect())
}

/// The agent parks: it may stop from now on, until a person speaks.
pub(super) fn park(event: &Event, reason: &str) -> Decision {
    let change = Change::Parked { agent: event.agent().to_owned(), reason: reason.to_owned() };
    Decision { changes: vec![change], ..Decision::default() }
}

/// How a run ended, and what the agent said of it.
struct End {
    stopped: Stopped,
    parked: Option<String>,
}

/// Why the agent may stop whatever holds: it was halted, a limit is used up, or it parks.
fn free(ground: &Ground<'_>) -> Option<End> {
    let nobody = Agent::default();
    let agent = ground.session.agent(ground.event.agent()).unwrap_or(&nobody);
    let parked = ground.ask.message.as_deref().and_then(park::reason).or_else(|| agent.parked.clone());
    let stopped = if agent.halted.is_some() {
        Stopped::Fault
    } else if budget::any_exhausted(ground.stack, ground.session, ground.event.at).is_some() {
        Stopped::Exhausted
    } else if parked.is_some() {
        Stopped::Parked
    } else {
        return None;
    };
    Some(End { stopped, parked })
}

/// How a run ends with this still open, and nothing that blocks.
fn judged(ground: &Ground<'_>, findings: Vec<Finding>) -> (End, Vec<Finding>) {
    let stopped = if findings.is_empty() {
        unopposed(ground)
    } else if findings.iter().all(is_ours) {
        Stopped::Fault
    } else {
        Stopped::Incomplete
    };
    (End { stopped, parked: None }, findings)
}

/// How a run ends that nothing speaks against. Where something was not looked at because this turn did no work, it
/// stands as before: what an earlier turn left unproven is not proven by a question.
fn unopposed(ground: &Ground<'_>) -> Stopped {
    let session = ground.session;
    if ground.event.agent.is_some() || !ground.leaves_out() {
        return Stopped::Complete;
    }
    if session.owed { Stopped::Incomplete } else { session.stood.unwrap_or(Stopped::Complete) }
}

/// Whether it is about us: it could not be told what fires.
fn is_ours(finding: &Finding) -> bool {
    finding.guard == crate::files::GUARD && finding.code.is_fault()
}

/// The stop is blocked; a fault of ours among what blocks it is remembered by itself.
fn blocked(event: &Event, findings: &[Finding]) -> Vec<Change> {
    let by_fault = findings.iter().any(|finding| finding.enforced && is_ours(finding));
    let block = |fault: bool| Change::StopBlocked { agent: event.agent().to_owned(), fault };
    std::iter::once(block(false)).chain(by_fault.then(|| block(true))).collect()
}

/// What blocks once so many stops in a row were blocked already.
fn counted(open: Vec<Open>, agent: Option<&Agent>, host: Option<&str>) -> Vec<Finding> {
    let (blocks, faulted) = agent.map_or((0, false), |agent| (agent.blocks, agent.faulted));
    let held = |open: &Open| match open.holds {
        Holds::Blocks(max) => blocks < stops_held_max(host, max),
        Holds::Once => !faulted && blocks < stops_held_max(host, u32::MAX),
    };
    let count = |open: Open| if held(&open) { open.finding } else { unenforced(open.finding) };
    open.into_iter().map(count).collect()
}

fn unenforced(finding: Finding) -> Finding {
    Finding { enforced: false, ..finding }
}

/// The run ends like this.
fn allowed(event: &Event, End { stopped, parked }: End, findings: Vec<Finding>) -> Decision {
    let mut data = json!({ "stopped": stopped, "reason": stopped.reason() });
    if let (Value::Object(data), Some(reason)) = (&mut data, &parked) {
        data.insert("parked".to_owned(), json!(reason));
    }
    Decision {
        changes: vec![Change::Stopped { agent: event.agent().to_owned(), stopped, parked }],
        notes: vec![Note { kind: "stop.decided", before: Value::Null, after: Value::Null, data }],
        data: Some(("stopped", json!(stopped))),
        ..Decision::merge(findings)
    }
}
