//! `kill -9` at any moment: whatever was answered is in the log, and the log is whole.

use std::io::{BufRead as _, Write as _};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::seeded::Seeded;
use crate::world::{Eval, SESSION, Told, World, count, requested};

/// Processes that die.
const KILLS: u64 = 72;
/// Events that are thrown at each; more than any of them lives to answer.
const EVENTS: u64 = 2_000;
/// Microseconds after its first answer within which a process dies: some ten events.
const LIFE_US_MAX: u64 = 12_000;
/// Microseconds after its start within which every third dies: before, while and after it opens its files.
const BIRTH_US_MAX: u64 = 15_000;

/// Lets a process live for a while under a flood of events; gives every answer that came out whole.
fn life(world: &World, round: u64, seeded: &mut Seeded) -> Vec<Told> {
    let mut eval = world.eval();
    let mut input = eval.input.take().unwrap();
    let flood = thread::spawn(move || {
        for number in 0..EVENTS {
            let event = requested(&format!("r{round}-{number}"), "look", json!({ "round": round, "number": number }));
            if writeln!(input, "{event}").is_err() {
                return;
            }
        }
    });
    let mut told = Vec::new();
    if round.is_multiple_of(3) {
        thread::sleep(Duration::from_micros(seeded.below(BIRTH_US_MAX)));
    } else {
        told.extend(whole_answer(&mut eval));
        thread::sleep(Duration::from_micros(seeded.below(LIFE_US_MAX)));
    }
    eval.child.kill().unwrap();
    told.extend(std::iter::from_fn(|| whole_answer(&mut eval)));
    flood.join().unwrap();
    told
}

/// The next answer that has its line end; half a line acknowledges nothing.
fn whole_answer(eval: &mut Eval) -> Option<Told> {
    let mut line = String::new();
    eval.output.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(line.strip_suffix('\n')?).unwrap();
    Some(Told::of(&answer).unwrap_or_else(|| panic!("an answer without a record: {answer}")))
}

#[test]
fn what_was_answered_survives_kill_9() {
    let world = World::new("jackline: 1\n");
    let mut seeded = Seeded(0x6a61_636b);
    let mut told: Vec<Told> = Vec::new();
    let mut silent = 0;
    for round in 0..KILLS {
        let answered = life(&world, round, &mut seeded);
        silent += u32::from(answered.is_empty());
        told.extend(answered);
    }
    assert!(silent < KILLS as u32 / 2 && told.len() > KILLS as usize, "{silent} died silent, {} answers", told.len());
    // The one that comes after them all works as if nothing had happened.
    let last = world.eval().ask(&requested("last", "look", json!({})));
    told.push(Told::of(&last).unwrap());

    let records = world.holds(SESSION, &told);
    let mut seqs: Vec<u64> = told.iter().map(|told| told.seq).collect();
    seqs.sort_unstable();
    seqs.dedup();
    assert_eq!(seqs.len(), told.len(), "a number was given twice");
    // Each event stands once, however it was interrupted, and none is decided twice.
    let mut calls: Vec<&str> = of_kind(&records, "call.requested");
    let (asked, decided) = (calls.len(), count(&records, "decision"));
    calls.sort_unstable();
    calls.dedup();
    assert_eq!(calls.len(), asked, "an event was recorded twice");
    assert!(decided >= told.len() && decided <= asked, "{} told, {decided} decided, {asked} asked", told.len());
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a str> {
    records.iter().filter(|record| record["kind"] == kind).map(|record| record["call"].as_str().unwrap()).collect()
}
