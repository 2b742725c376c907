//! A node that runs once for each of many, and what the many answers become.

use std::sync::atomic::{AtomicBool, Ordering};

use jackline_core::json::canonical;
use serde_json::{Map, Value, json};

use super::job;
use crate::run::answer::Answer;
use crate::run::fault::Halt;
use crate::run::ledger::Entry;
use crate::run::parallel;
use crate::run::running::{Earlier, Running, lock};
use crate::run::settings::{Aggregation, FanOut, GATHERED, Node, OnFailure};
use crate::run::step::{Ask, Came};
use crate::run::worker::{Failure, FailureKind};

/// Copies of one node: more are a mistake in what it is fanned out over.
const COPIES_MAX: usize = 10_000;

/// Runs a copy of a node for each item, and gathers what they say.
pub(super) fn run(
    running: &Running<'_>,
    node: &Node,
    fan_out: &FanOut,
    step: &str,
    given: Map<String, Value>,
) -> Result<Came, Halt> {
    if let Some(Earlier::Finished(value)) = running.known(step)? {
        return Ok(Came::Answered(running.read(step, value)?));
    }
    let items = match items(running, (node, fan_out), step)? {
        Ok(items) => items,
        Err(why) => return Ok(Came::Failed(Failure::new(FailureKind::Validation, why))),
    };
    let enough = AtomicBool::new(false);
    let unwanted = || enough.load(Ordering::Relaxed);
    let agent = fan_out.agent.as_deref().unwrap_or(&node.agent);
    let came = parallel::each(&items, fan_out.parallel, |at, item| {
        let mut given = given.clone();
        if let Some(Value::Object(inputs)) = given.get_mut("inputs") {
            inputs.insert(fan_out.variable.clone(), item.clone());
            inputs.insert("index".to_owned(), json!(at));
        }
        let ask = job::ask(running, node, (format!("{step}[{at}]"), agent), given);
        let came = job::answer(running, &Ask { state: None, unwanted: &unwanted, ..ask })?;
        let first = fan_out.aggregation == Aggregation::First && matches!(came, Came::Answered(_));
        let fatal = node.on_failure == OnFailure::Stop && matches!(came, Came::Failed(_));
        if first || fatal {
            enough.store(true, Ordering::Relaxed);
        }
        Ok(came)
    });
    let came: Vec<Came> = came.into_iter().collect::<Result<_, Halt>>()?;
    gather(running, node, fan_out, step, came)
}

/// What the node is fanned out over; on record before the first copy begins. A copy is known by its place, and the state may
/// be another one when the run is taken up again.
fn items(
    running: &Running<'_>,
    (node, fan_out): (&Node, &FanOut),
    step: &str,
) -> Result<Result<Vec<Value>, String>, Halt> {
    let step = format!("{step}/items");
    if let Some(Earlier::Finished(Value::Array(items))) = running.known(&step)? {
        return Ok(Ok(items));
    }
    let items = match found(running, fan_out) {
        Ok(items) => items,
        Err(why) => return Ok(Err(why)),
    };
    let kept = running.ledger.kept.put(&json!(items))?;
    let data = json!({"kept": kept.hex(), "source": fan_out.source.text(), "copies": items.len()});
    running.record(Entry::new("agent.fanned", &node.id, data).of_step(&step))?;
    Ok(Ok(items))
}

fn found(running: &Running<'_>, fan_out: &FanOut) -> Result<Vec<Value>, String> {
    let scope = json!({"state": lock(&running.shared).whole(), "task": running.task});
    let source = fan_out.source.text();
    match fan_out.source.value(&scope) {
        Err(why) => Err(format!("`{source}` has no value: {why}")),
        Ok(Value::Array(items)) if items.len() > COPIES_MAX => {
            Err(format!("`{source}` has {} items, more than {COPIES_MAX}", items.len()))
        }
        Ok(Value::Array(items)) => Ok(items),
        Ok(_) => Err(format!("`{source}` is no list")),
    }
}

/// What many answers become. With `on_failure: skip` or `continue` those that are there count.
fn gather(running: &Running<'_>, node: &Node, fan_out: &FanOut, step: &str, came: Vec<Came>) -> Result<Came, Halt> {
    let copies = came.len();
    let (sharing, agent) = (&running.settings.sharing, fan_out.agent.as_deref().unwrap_or(&node.agent));
    let keeps_back = |field: &str| sharing.keeps_back(&node.id, field) || sharing.keeps_back(agent, field);
    let (mut said, mut failure, mut failures) = (Vec::new(), None, 0_usize);
    for came in came {
        match came {
            Came::Answered(mut answer) => {
                // Others see the whole of what is gathered: what is kept back does not become part of it.
                let own = answer.kept_back;
                answer.said.retain(|field, _| !keeps_back(field) && !own.contains(field));
                said.push(answer.said);
            }
            Came::Failed(why) => {
                failures += 1;
                failure = failure.or(Some(why));
            }
            Came::Unwanted => {}
        }
    }
    let needed = fan_out.aggregation != Aggregation::First || said.is_empty();
    if let Some(failure) = failure.filter(|_| needed && (node.on_failure == OnFailure::Stop || said.is_empty())) {
        return Ok(Came::Failed(failure));
    }
    let value = aggregated(fan_out.aggregation, &said);
    let target = fan_out.gathered().unwrap_or(GATHERED).to_owned();
    let said = match &value {
        Value::Object(members) if fan_out.target.is_none() => members.clone(),
        value => Map::from_iter([(target, value.clone())]),
    };
    let updates = fan_out.target.iter().map(|target| (target.clone(), value.clone())).collect();
    let answer = Answer { said, updates, ..Answer::default() };
    if let Some(failure) = running.too_large(&answer) {
        return Ok(Came::Failed(failure));
    }
    let data = json!({"attempt": 1, "role": "agent", "copies": copies, "failed": failures});
    running.land((&node.id, Some(&node.id)), step, &answer, data)?;
    Ok(Came::Answered(answer))
}

fn aggregated(aggregation: Aggregation, said: &[Map<String, Value>]) -> Value {
    match aggregation {
        Aggregation::Merge => json!(said),
        Aggregation::Reduce => said.iter().fold(json!({}), |mut all, said| {
            if let Some(all) = all.as_object_mut() {
                all.extend(said.clone());
            }
            all
        }),
        Aggregation::First => said.first().cloned().map_or(Value::Null, Value::Object),
        Aggregation::Majority => majority(said).map_or(Value::Null, Value::Object),
    }
}

/// The answer most often given; of several, the one that came first.
fn majority(said: &[Map<String, Value>]) -> Option<Map<String, Value>> {
    let written: Vec<Vec<u8>> = said.iter().map(|said| canonical(&json!(said))).collect();
    let count = |one: &[u8]| written.iter().filter(|other| other.as_slice() == one).count();
    let best = written.iter().enumerate().max_by_key(|(at, one)| (count(one), std::cmp::Reverse(*at)));
    best.and_then(|(at, _)| said.get(at)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_gathered() {
        let said: Vec<Map<String, Value>> =
            [json!({"a": 1}), json!({"a": 2, "b": 1}), json!({"a": 1}), json!({"c": 3})]
                .iter()
                .map(|value| value.as_object().unwrap().clone())
                .collect();
        let check = |aggregation, want: Value| assert_eq!(aggregated(aggregation, &said), want);
        check(Aggregation::Merge, json!([{"a": 1}, {"a": 2, "b": 1}, {"a": 1}, {"c": 3}]));
        check(Aggregation::Reduce, json!({"a": 1, "b": 1, "c": 3}));
        check(Aggregation::First, json!({"a": 1}));
        check(Aggregation::Majority, json!({"a": 1}));
        assert_eq!(aggregated(Aggregation::First, &[]), Value::Null);
    }
}
