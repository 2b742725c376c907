//! The engine of graphs: nodes run as soon as those they wait for are settled, some at once.

mod fan;
mod job;
mod schedule;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use super::fault::Halt;
use super::ledger::Entry;
use super::parallel;
use super::running::{Earlier, Running, lock};
use super::settings::{Node, OnFailure};
use super::worker::FailureKind;
use crate::loop_control::{End, Status};
use job::Ended;
use schedule::{Prospect, Schedule, Settled};

/// What came of a graph.
pub(super) struct Outcome {
    pub(super) end: End,
    /// What every node said last.
    pub(super) output: Value,
}

/// Runs a graph to its end.
pub(super) fn run(running: &Running<'_>, nodes: &[Node]) -> Result<Outcome, Halt> {
    let mut schedule = Schedule::new(nodes);
    let (tell, told) = mpsc::channel();
    let mut at_work = 0_usize;
    let mut halted = false;
    thread::scope(|scope| {
        loop {
            while !halted && at_work < running.settings.execution.parallel {
                let Some(at) = schedule.next() else { break };
                let Some(node) = nodes.get(at) else { break };
                match prospect(running, &schedule, node, at) {
                    Ok(Prospect::Run) => {
                        at_work += 1;
                        let tell = tell.clone();
                        parallel::start(scope, move || drop(tell.send((at, guarded(running, node)))));
                    }
                    Ok(Prospect::Settled(settled)) => schedule.settle(at, settled),
                    Err(stopped) => halted = over(running, stopped),
                }
            }
            if at_work == 0 {
                break;
            }
            // INVARIANT: everybody at work tells once, so that this does not wait for ever.
            let Ok((at, ended)) = told.recv() else { break };
            at_work -= 1;
            match ended.and_then(|ended| settle(running, nodes.get(at), ended)) {
                Ok(settled) => schedule.settle(at, settled),
                Err(stopped) => halted = over(running, stopped),
            }
        }
    });
    // What the last condition or answer took counts too.
    let end = if halted || running.out_of_time() { running.over() } else { schedule.end() };
    Ok(Outcome { end, output: output(running, nodes) })
}

/// The run goes no further, and whoever is at work ends.
fn over(running: &Running<'_>, halt: Halt) -> bool {
    matches!(running.halted(halt), Halt::Over)
}

/// A node at work. One that panics ends the run, and is heard of like every other.
fn guarded(running: &Running<'_>, node: &Node) -> Result<Ended, Halt> {
    let ran = catch_unwind(AssertUnwindSafe(|| job::run(running, node)));
    ran.unwrap_or_else(|_| Err(running.stop(Status::Failed, "fault"))).map_err(|halt| running.halted(halt))
}

/// Whether a node runs; one that does not is on record.
fn prospect(running: &Running<'_>, schedule: &Schedule, node: &Node, at: usize) -> Result<Prospect, Halt> {
    // What was decided before an interruption stands, whatever the state is now.
    match running.known(&node.id)? {
        Some(Earlier::Skipped) => return Ok(Prospect::Settled(schedule.unmet(at))),
        Some(Earlier::Failed(failure)) => return untold(running, node, &failure.reason),
        Some(Earlier::Finished(_)) | None => {}
    }
    if let Some(reason) = running.journal.gave_up(&node.id) {
        return untold(running, node, reason);
    }
    if running.journal.began(&format!("{}@", node.id)) {
        return Ok(Prospect::Run);
    }
    running.go_on()?;
    let scope = json!({"state": lock(&running.shared).whole(), "task": running.task});
    let (settled, reason) = match schedule.prospect(at, node, &scope) {
        Ok(None) => return Ok(Prospect::Run),
        Ok(Some(skipped)) => skipped,
        Err(why) => {
            let reason = format!("its condition cannot be told: {why}");
            let data = json!({"attempt": 1, "kind": FailureKind::Validation.word(), "reason": reason, "again": false});
            running.record(Entry::new("agent.failed", &node.id, data).of_step(&node.id))?;
            return untold(running, node, &reason);
        }
    };
    running.record(Entry::new("agent.skipped", &node.id, json!({"reason": reason})).of_step(&node.id))?;
    Ok(Prospect::Settled(settled))
}

/// A node that failed without being asked now: its condition cannot be told, or that it failed is on record.
fn untold(running: &Running<'_>, node: &Node, reason: &str) -> Result<Prospect, Halt> {
    lock(&running.shared).failed(&node.id, reason);
    settle_failed(running, node, reason).map(Prospect::Settled)
}

/// What the end of a node means for those that wait for it.
fn settle(running: &Running<'_>, node: Option<&Node>, ended: Ended) -> Result<Settled, Halt> {
    match (ended, node) {
        (Ended::Failed(failure), Some(node)) => settle_failed(running, node, &failure.reason),
        (Ended::Failed(_), None) => Ok(Settled::Failed),
        (Ended::Done, _) => Ok(Settled::Done),
    }
}

fn settle_failed(running: &Running<'_>, node: &Node, reason: &str) -> Result<Settled, Halt> {
    let data = json!({"on_failure": node.on_failure.word(), "reason": reason});
    running.note(Entry::new("agent.gave_up", &node.id, data).of_step(&node.id))?;
    match node.on_failure {
        OnFailure::Stop => Err(running.stop(Status::Failed, format!("agent_failed: {}", node.id))),
        OnFailure::Continue => Ok(Settled::Failed),
        OnFailure::Skip => Ok(Settled::Passed),
    }
}

fn output(running: &Running<'_>, nodes: &[Node]) -> Value {
    let whole = lock(&running.shared).whole();
    let said = nodes.iter().filter_map(|node| Some((node.id.clone(), whole.get(&node.id)?.clone())));
    Value::Object(said.collect())
}
