//! Several processes on one session at once: nothing is lost, doubled or decided on an outdated state.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use crate::world::{SESSION, Told, World, count, requested, verdict};

const PROCESSES: u64 = 8;
const EVENTS: u64 = 40;

#[test]
fn eight_processes_on_one_session_lose_and_double_nothing() {
    // The limit proves that all of them counted on one state: the very next call is one too many.
    let world = World::new(&format!("jackline: 1\nlimits: {{ steps: {} }}\n", PROCESSES * EVENTS));
    let answers: Vec<Value> = thread::scope(|scope| {
        let world = &world;
        let writers: Vec<_> = (0..PROCESSES).map(|name| scope.spawn(move || sends(world, name))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let refused: Vec<&Value> = answers.iter().filter(|answer| answer["verdict"] != "allow").collect();
    assert!(refused.is_empty(), "{refused:?}");
    let told: Vec<Told> = answers.iter().map(|answer| Told::of(answer).unwrap()).collect();
    let seqs: BTreeSet<u64> = told.iter().map(|told| told.seq).collect();
    assert_eq!(seqs.len() as u64, PROCESSES * EVENTS);

    let records = world.holds(SESSION, &told);
    assert_eq!(count(&records, "call.requested") as u64, PROCESSES * EVENTS);
    assert_eq!(count(&records, "decision") as u64, PROCESSES * EVENTS);
    let calls: BTreeSet<&str> = records.iter().filter_map(|record| record["call"].as_str()).collect();
    assert_eq!(calls.len() as u64, PROCESSES * EVENTS);
    let steps: BTreeSet<u64> = records.iter().map(|record| record["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, (1..=PROCESSES * EVENTS).collect(), "two calls were counted as the same step");
    let next = world.eval().ask(&requested("next", "look", json!({})));
    assert_eq!(verdict(&next), "deny budget/steps");
}

fn sends(world: &World, name: u64) -> Vec<Value> {
    let mut eval = world.eval();
    let event = |number| requested(&format!("p{name}-{number}"), "look", json!({ "by": name, "number": number }));
    (0..EVENTS).map(|number| eval.ask(&event(number))).collect()
}
