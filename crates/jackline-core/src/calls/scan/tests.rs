//! What is found in records, and what is not taken for it.

use super::*;
use crate::definition;
use crate::sha::{Digest, Key};
use crate::stack::{Layer, Origin};
use serde_json::json;

fn stack() -> Stack {
    let text = "jackline: 1\nsteps: { test: { tool: Bash, command: \"cargo test*\" } }\n";
    let model = definition::parse(text, &crate::tools::names()).expect("fine").model;
    Stack::of("/ws", model, Digest::of(b"d"))
}

/// The records of one call: what was asked, decided, and came of it.
fn call(seq: u64, id: &str, command: &str, ok: bool, changes: Value) -> Vec<Value> {
    let asked = json!({ "call": { "id": id, "tool": "Bash", "args": { "command": command } } });
    let mut ended = asked.clone();
    ended["ok"] = json!(ok);
    let record = |seq: u64, kind: &str, data: Value, changes: Value| {
        json!({
            "seq": seq, "step": seq, "kind": kind, "call": id, "target": "tool:Bash", "agent": "main",
            "at": "2026-03-01T09:00:00.000Z", "data": data, "changes": changes,
        })
    };
    vec![
        record(seq, "call.requested", asked, Value::Null),
        record(seq + 1, "decision", json!({ "verdict": "allow" }), json!([])),
        record(seq + 2, "call.finished", ended, Value::Null),
        record(seq + 3, "decision", json!({ "verdict": "allow" }), changes),
    ]
}

fn found(records: &[Vec<Value>], query: Query) -> Vec<Logged> {
    let stack = stack();
    let mut scan = Scan::new(&stack, false);
    records.iter().flatten().for_each(|record| scan.record(record));
    scan.answer(&[query]).remove(0).calls
}

#[track_caller]
fn check(records: &[Vec<Value>], command: &str, want: Option<(&str, Became, bool)>) {
    let found = found(records, Query::of_command(command));
    let seen = found.last().map(|call| (call.id.as_deref().unwrap_or_default(), call.became, call.proven));
    assert_eq!(seen, want, "{command}");
}

#[test]
fn the_latest_run_of_a_command_counts_and_what_only_names_it_does_not() {
    let log = [
        call(1, "a", "cargo test --all", true, json!([])),
        call(5, "b", "cargo test", false, json!([])),
        call(9, "c", "echo cargo test", true, json!([])),
        call(13, "d", "cargo testing", true, json!([])),
    ];
    check(&log, "cargo test", Some(("b", Became::Failed, true)));
    check(&log[..1], "cargo test", Some(("a", Became::Succeeded, true)));
    check(&log[2..], "cargo test", None);
    check(&[call(1, "a", "cargo test || true", true, json!([]))], "cargo test", Some(("a", Became::Succeeded, false)));
}

#[test]
fn a_write_after_a_call_makes_it_outdated() {
    let log = [call(1, "a", "cargo test", true, json!([])), call(5, "b", "touch x", true, json!(["wrote"]))];
    assert!(found(&log, Query::of_id("a"))[0].outdated);
    assert!(!found(&log[..1], Query::of_id("a"))[0].outdated);
}

#[test]
fn a_refused_call_stays_refused_whatever_is_told_of_it() {
    let mut log = call(1, "a", "cargo test", true, json!([{ "done": { "name": "tool:Bash", "tree": null } }]));
    log[1]["data"]["verdict"] = json!("deny");
    assert_eq!(found(&[log.clone()], Query::of_id("a"))[0].became, Became::Refused);
    assert!(found(&[log], Query::counting(Meaning::Tool("Bash".into()))).is_empty());
}

#[test]
fn steps_count_by_what_was_proven_when_they_finished() {
    let stack = stack();
    let step = stack.layers[0].step("test").expect("declared");
    let name = format!("step:test:{}", step.key);
    let proven = [call(1, "a", "cargo test", true, json!([{ "done": { "name": name, "tree": null } }]))];
    let test = || Query::counting(Meaning::of(&stack.layers[0], "test"));
    assert_eq!(found(&proven, test()).len(), 1);
    assert!(found(&[call(1, "a", "cargo test | tail", true, json!([]))], test()).is_empty());
    // Another definition's step of that name, or a tool, is something else.
    let other = Meaning::Step("step:test:other".into());
    assert!(found(&proven, Query::counting(other)).is_empty());
    assert!(found(&proven, Query::counting(Meaning::Tool("test".into()))).is_empty());
}

#[test]
fn an_altered_text_is_not_looked_into_and_an_exit_code_is_a_number() {
    let mut log = call(1, "a", "cargo test", true, json!([]));
    log[0]["replayable"] = json!(false);
    check(&[log.clone()], "cargo test", None);
    log[2]["data"]["output"] = json!({ "exit_code": 3, "text": "exit code 0" });
    let call = found(&[log], Query::of_id("a")).remove(0);
    assert_eq!((call.became, call.exit_code), (Became::Failed, Some(3)));
}

#[test]
fn only_so_many_are_shown_newest_last() {
    let log: Vec<_> = (0..9).map(|n| call(n * 4 + 1, &format!("c{n}"), "ls", true, json!([]))).collect();
    let shown = found(&log, Query { last: 2, ..Query::default() });
    assert_eq!(shown.iter().map(|call| call.id.as_deref().unwrap_or_default()).collect::<Vec<_>>(), ["c7", "c8"]);
    assert!(found(&log, Query { tool: Some("Re*".into()), last: 9, ..Query::default() }).is_empty());
}

#[test]
fn what_only_another_definition_calls_a_shell_runs_no_command_to_this_one() {
    let layer = |text: &str, origin: Origin| {
        let text = format!("jackline: 1\n{text}");
        let model = definition::parse(&text, &crate::tools::names()).expect("fine").model;
        Layer::new(model, Digest::of(text.as_bytes()), origin, true)
    };
    let (user, project) = (layer("", Origin::User), layer("tools: {declare: {go: {kind: shell}}}\n", Origin::Project));
    let (users, projects) = (user.digest.short(), project.digest.short());
    let stack = Stack { layers: vec![user, project], root: "/ws".to_owned(), ..Stack::default() };
    let mut scan = Scan::new(&stack, false);
    for mut record in call(1, "a", "cargo test", true, json!([])) {
        record["target"] = json!("tool:go");
        record["data"]["call"]["tool"] = json!("go");
        scan.record(&record);
    }
    let found = |by: Vec<Key>| scan.answer(&[Query { by, ..Query::of_command("cargo test") }]).remove(0).calls.len();
    assert_eq!((found(Vec::new()), found(vec![projects])), (1, 1));
    assert_eq!((found(vec![users]), found(vec![users, projects])), (0, 0));
}
