//! Damage to the session's own files between two events: the log is cut where it is torn, the state is rebuilt.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::seeded::Seeded;
use crate::world::{Eval, SESSION, Told, World, count, finished, requested};

/// What a crash may leave behind the last whole line.
const TAILS: &[&[u8]] = &[b"{", b"{\"actor\":\"agent\",\"after\":nu", b"\0\0\0\0\0\0\0\0", b"\xff\xfe", b"{}{}{}"];

fn append(world: &World, tail: &[u8]) {
    let log = world.session_dir().join("audit.jsonl");
    OpenOptions::new().append(true).open(log).unwrap().write_all(tail).unwrap();
}

fn look(number: usize) -> serde_json::Value {
    requested(&format!("c{number}"), "look", json!({ "number": number }))
}

/// Tears the tail again and again; `restart` between, or under the eyes of one process that holds its state.
fn check_torn(restart: bool) {
    let world = World::new("jackline: 1\n");
    let mut eval = world.eval();
    let mut told = vec![Told::of(&eval.ask(&look(0))).unwrap()];
    for (number, tail) in TAILS.iter().enumerate() {
        append(&world, tail);
        if restart {
            eval = world.eval();
        }
        told.push(Told::of(&eval.ask(&look(number + 1))).unwrap());
    }
    let records = world.holds(SESSION, &told);
    assert_eq!(count(&records, "session.repaired"), TAILS.len());
    assert_eq!(count(&records, "decision"), TAILS.len() + 1);
    let cut: Vec<u64> = records.iter().filter_map(|record| record["data"]["bytes"].as_u64()).collect();
    assert_eq!(cut, TAILS.iter().map(|tail| tail.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_torn_tail_is_cut_and_recorded() {
    check_torn(true);
}

#[test]
fn a_torn_tail_is_cut_and_recorded_by_a_process_that_was_there_before() {
    check_torn(false);
}

#[test]
fn a_tail_longer_than_any_record_is_no_torn_write() {
    let world = World::new("jackline: 1\n");
    let told = Told::of(&world.eval().ask(&look(0))).unwrap();
    append(&world, &vec![b'x'; 3 << 20]);
    assert_eq!(world.eval().verdict(&look(1)), "deny fault/store");
    // Nothing was written over it, and what was told is still there for whoever looks.
    let log = fs::read(world.session_dir().join("audit.jsonl")).unwrap();
    assert!(log.ends_with(b"xxx") && String::from_utf8_lossy(&log).contains(&told.hash));
}

#[test]
fn a_forged_last_record_is_refused() {
    let world = World::new("jackline: 1\n");
    world.eval().ask(&look(0));
    append(&world, b"{\"no\":\"record\"}\n");
    assert_eq!(world.eval().verdict(&look(1)), "deny fault/store");
    let verified = world.run(&["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(1));
}

/// Everything that a session remembers: what was read, what was done, what is repeated.
const RULES: &str = "
jackline: 1
tools: { declare: { prove: { kind: other }, ship: { kind: other } } }
policies:
  - read_before_write: {}
  - sequence: { requires: { ship: [prove] } }
loop: { window: 3, threshold: 3 }
";

type Damage = fn(&Path);

fn damages() -> Vec<(&'static str, Damage)> {
    vec![
        ("nothing", |_| {}),
        ("deleted", |state| fs::remove_file(state).unwrap()),
        ("emptied", |state| fs::write(state, b"").unwrap()),
        ("cut in half", |state| fs::write(state, &fs::read(state).unwrap()[..100]).unwrap()),
        ("filled with noise", |state| {
            let mut seeded = Seeded(7);
            fs::write(state, (0..4_096).map(|_| seeded.below(256) as u8).collect::<Vec<_>>()).unwrap();
        }),
        ("every byte of the slots changed", |state| {
            let mut bytes = fs::read(state).unwrap();
            bytes.iter_mut().filter(|byte| **byte != 0).for_each(|byte| *byte ^= 0x55);
            fs::write(state, bytes).unwrap();
        }),
        ("its numbers changed", |state| {
            let mut bytes = fs::read(state).unwrap();
            for at in [8, 16, 60, 64, 70, 80, 90] {
                bytes[at] ^= 1;
            }
            fs::write(state, bytes).unwrap();
        }),
    ]
}

/// Teaches the session something, damages its state, and sees whether it still knows.
fn check_state(name: &str, damage: impl Fn(&Path)) {
    let world = World::new(RULES);
    fs::write(world.root().join("a.txt"), "one").unwrap();
    fs::write(world.root().join("b.txt"), "two").unwrap();
    let mut eval = world.eval();
    learn(&mut eval);
    drop(eval);
    damage(&world.session_dir().join("state"));
    let mut eval = world.eval();
    let write = |path: &str| requested("w", "write_file", json!({ "path": path, "content": "new" }));
    assert_eq!(eval.verdict(&write("b.txt")), "deny read-before-write/unread", "{name}");
    assert_eq!(eval.verdict(&write("a.txt")), "allow", "{name}");
    assert_eq!(eval.verdict(&requested("s", "ship", json!({}))), "allow", "{name}");
    assert_eq!(eval.end(), Some(0));
    world.verified(SESSION);
}

fn learn(eval: &mut Eval) {
    for (id, tool, args) in [("r", "read_file", json!({ "path": "a.txt" })), ("p", "prove", json!({}))] {
        assert_eq!(eval.verdict(&requested(id, tool, args.clone())), "allow");
        assert_eq!(eval.verdict(&finished(id, tool, args)), "allow");
    }
}

#[test]
fn a_damaged_state_is_rebuilt_from_the_log() {
    for (name, damage) in damages() {
        check_state(name, damage);
    }
}

#[test]
fn an_outdated_state_does_not_take_anything_back() {
    let world = World::new(RULES);
    let again = || requested("x", "look", json!({ "same": true }));
    assert_eq!(world.eval().verdict(&again()), "allow");
    let state = world.session_dir().join("state");
    let old = fs::read(&state).unwrap();
    assert_eq!(world.eval().verdict(&again()), "allow");
    fs::write(&state, &old).unwrap();
    assert_eq!(world.eval().verdict(&again()), "deny loop/override");
    fs::write(&state, &old).unwrap();
    assert_eq!(world.eval().verdict(&again()), "deny loop/forbidden");
    fs::write(&state, &old).unwrap();
    assert_eq!(world.eval().verdict(&again()), "halt loop/persisted");
    world.verified(SESSION);
}
