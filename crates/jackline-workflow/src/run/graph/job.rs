//! A node at work: once, again and again, or once for each of many.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};

use super::fan;
use crate::run::answer::Answer;
use crate::run::fault::Halt;
use crate::run::ledger::Entry;
use crate::run::running::{Running, lock};
use crate::run::settings::{Node, Repeat, within};
use crate::run::step::{Ask, Came};
use crate::run::worker::{Failure, FailureKind};

/// What came of a node.
#[derive(Debug)]
pub(super) enum Ended {
    Done,
    Failed(Failure),
}

/// The record of a loop that is done.
const LOOPED: &str = "agent.looped";

/// Nobody is unwanted, unless somebody says so.
pub(super) static WANTED: AtomicBool = AtomicBool::new(false);

/// Runs a node to its end.
pub(super) fn run(running: &Running<'_>, node: &Node) -> Result<Ended, Halt> {
    // A loop that settled stays so, whatever its condition would say of the state now.
    if running.journal.noted(LOOPED, &node.id) {
        return Ok(Ended::Done);
    }
    let rounds = node.repeat.as_ref().map_or(1, |repeat| repeat.max);
    for round in 1..=rounds {
        let answer = match once(running, node, round)? {
            Came::Answered(answer) => answer,
            Came::Failed(failure) => return Ok(Ended::Failed(failure)),
            Came::Unwanted => return Err(Halt::Over),
        };
        let Some(repeat) = &node.repeat else { break };
        if running.journal.began(&format!("{}@{}", node.id, round + 1)) {
            continue;
        }
        match goes_on(running, node, repeat, &answer) {
            Err(failure) => return Ok(Ended::Failed(failure)),
            Ok(true) if round < rounds => running.watch.pause(repeat.pause, &|| false),
            Ok(go_on) => {
                let data = json!({"rounds": round, "settled": !go_on});
                running.note(Entry::new(LOOPED, &node.id, data).of_step(&node.id))?;
                break;
            }
        }
    }
    Ok(Ended::Done)
}

/// Whether a loop goes on after an answer. The answer counts as what the node said last, whoever writes the state now.
fn goes_on(running: &Running<'_>, node: &Node, repeat: &Repeat, answer: &Answer) -> Result<bool, Failure> {
    let mut state = lock(&running.shared).whole();
    if let Some(state) = state.as_object_mut() {
        state.insert(node.id.clone(), Value::Object(answer.said.clone()));
    }
    let scope = json!({"state": state, "task": running.task});
    let ask = |condition: &crate::expression::Expression| {
        let why = |why| format!("whether it goes on cannot be told: {why}");
        condition.holds(&scope).map_err(|fault| Failure::new(FailureKind::Validation, why(fault)))
    };
    let on = repeat.go_on.as_ref().map(ask).transpose()?;
    let done = repeat.until.as_ref().map(ask).transpose()?;
    Ok(on.unwrap_or(true) && !done.unwrap_or(false))
}

/// One round of a node.
fn once(running: &Running<'_>, node: &Node, round: u32) -> Result<Came, Halt> {
    let step = format!("{}@{round}", node.id);
    let given = given(running, node, round);
    if let Some(fan_out) = &node.fan_out {
        return fan::run(running, node, fan_out, &step, given);
    }
    answer(running, &ask(running, node, (step, &node.agent), given))
}

/// What somebody answers for a node, or for one of its copies: its agent, or whoever stands in for one that failed for good.
pub(super) fn answer(running: &Running<'_>, ask: &Ask<'_>) -> Result<Came, Halt> {
    let fallback = running.settings.execution.fallback.as_deref().filter(|other| *other != ask.agent);
    match (scored(running, ask)?, fallback) {
        (Came::Failed(_), Some(agent)) => {
            scored(running, &Ask { step: format!("{}~", ask.step), agent, given: ask.given.clone(), ..*ask })
        }
        (came, _) => Ok(came),
    }
}

/// An answer, scored where the manifest wants that: whoever answers for a node is held to the same.
fn scored(running: &Running<'_>, ask: &Ask<'_>) -> Result<Came, Halt> {
    match running.ask(ask)? {
        Came::Answered(answer) => running.scored(ask, answer, &Value::Null),
        other => Ok(other),
    }
}

pub(super) fn ask<'a>(
    running: &'a Running<'_>,
    node: &'a Node,
    (step, agent): (String, &'a str),
    given: Map<String, Value>,
) -> Ask<'a> {
    Ask {
        step,
        name: &node.id,
        agent,
        state: Some(&node.id),
        role: "agent",
        given,
        timeout: node.timeout,
        retry: &node.retry,
        unwanted: &|| WANTED.load(Ordering::Relaxed),
        tab: &running.tab,
    }
}

/// What a node is given of those it waits for, and which round it is.
fn given(running: &Running<'_>, node: &Node, round: u32) -> Map<String, Value> {
    let (shared, sharing) = (lock(&running.shared), &running.settings.sharing);
    let wanted = |from: &str, field: &str| match &node.share_input {
        Value::Object(agents) => agents.get(from).is_none_or(|fields| lists(fields, field)),
        Value::Array(_) => lists(&node.share_input, field),
        _ => true,
    };
    let named = node.share_input.as_object().into_iter().flatten().map(|(from, _)| from.as_str());
    let before = node.waits.iter().map(|wait| wait.id.as_str()).chain(named);
    let mut inputs = Map::new();
    for from in before {
        if let Some(Value::Object(fields)) = shared.fields(sharing, from, &node.id) {
            let part = |field: &str, value: Value| match wanted(from, field) {
                true => Some(value),
                // Of gathered answers, some members may be wanted.
                false if sharing.gathers(from, field) => within(&value, &|member| wanted(from, member)),
                false => None,
            };
            let parts = fields.into_iter().filter_map(|(field, value)| Some((field.clone(), part(&field, value)?)));
            inputs.insert(from.to_owned(), Value::Object(parts.collect()));
        }
    }
    Map::from_iter([("inputs".to_owned(), Value::Object(inputs)), ("iteration".to_owned(), json!(round))])
}

fn lists(fields: &Value, field: &str) -> bool {
    let mut names = fields.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.any(|name| name == field || name == "*")
}
