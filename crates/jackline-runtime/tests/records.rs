//! What the log keeps of each event, read back from the store.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test's own steps fails the test"
)]

use std::path::Path;

use jackline_core::audit::{Format, Verifier};
use jackline_runtime::Runtime;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::{Value, json};

const DEFINITION: &str = "jackline: 1\nagent: { ns: acme, key: bot }\naudit: { redact: [colour] }\n";

/// Sends events and gives all records of session `s`.
fn records(events: &[Value]) -> Vec<Value> {
    let top = tempfile::tempdir().unwrap();
    let (root, state) = (top.path().canonicalize().unwrap(), top.path().join("state"));
    let runtime = Runtime::builder().workspace(&root).state(&state).definition_yaml(DEFINITION).build().unwrap();
    for event in events {
        let mut event = event.clone();
        event["session"] = json!("s");
        event["at"] = json!("2026-01-01T00:00:00Z");
        runtime.handle(&Lines, event.to_string().as_bytes());
    }
    read(&state)
}

fn read(state: &Path) -> Vec<Value> {
    let store = FileStore::open(state.to_owned());
    let lines: Vec<Vec<u8>> = store.lines("s", 0).unwrap().map(Result::unwrap).collect();
    let mut verifier = Verifier::new(Format::Ours);
    lines.iter().for_each(|line| verifier.line(line).unwrap());
    verifier.finish().unwrap();
    lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn requested(id: &str, args: Value) -> Value {
    json!({ "event": "call.requested", "call": { "id": id, "tool": "look", "args": args } })
}

fn finished(id: &str, args: Value) -> Value {
    json!({ "event": "call.finished", "call": { "id": id, "tool": "look", "args": args }, "ok": true, "output": "x" })
}

#[test]
fn an_event_and_its_decision_are_two_records_and_the_changes_stand_on_the_last() {
    let found = records(&[requested("c1", json!({"n": 1}))]);
    assert_eq!(found.iter().map(|record| &record["kind"]).collect::<Vec<_>>(), ["call.requested", "decision"]);
    let (event, decision) = (&found[0], &found[1]);
    assert_eq!((&event["actor"], &decision["actor"]), (&json!("agent"), &json!("runtime")));
    assert_eq!(event["data"]["call"]["args"], json!({"n": 1}));
    assert_eq!(
        (&event["target"], &event["call"], &event["agent"]),
        (&json!("tool:look"), &json!("c1"), &json!("main"))
    );
    assert_eq!((&event["definition"]["ns"], &event["definition"]["key"]), (&json!("acme"), &json!("bot")));
    assert!(event["definition"]["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(event.get("changes"), None);
    assert!(!decision["changes"].as_array().unwrap().is_empty());
    assert_eq!(event["at"], "2026-01-01T00:00:00.000Z");
}

#[test]
fn an_outcome_belongs_to_the_step_that_asked() {
    let (one, two) = (json!({"n": 1}), json!({"n": 2}));
    let events = [requested("c1", one.clone()), requested("c2", two.clone()), finished("c1", one), finished("c2", two)];
    let steps: Vec<Value> = records(&events)
        .iter()
        .filter(|record| record["kind"] != "decision")
        .map(|record| record["step"].clone())
        .collect();
    assert_eq!(steps, [1, 2, 1, 2]);
}

#[test]
fn secrets_and_long_texts_are_not_kept_and_the_record_says_so() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let found = records(&[
        requested("c1", json!({"n": 1, "colour": "mauve", "text": format!("token {secret}")})),
        requested("c2", json!({"long": "x".repeat(100_000)})),
        requested("c3", json!({"n": 3})),
    ]);
    let all = serde_json::to_string(&found).unwrap();
    assert!(!all.contains(secret) && !all.contains("mauve"), "a secret was kept");
    assert!(all.contains("‹redacted:"), "nothing says that something is missing");
    assert!(all.len() < 40_000, "{} bytes were kept", all.len());
    let whole: Vec<bool> = found
        .iter()
        .filter(|record| record["kind"] == "call.requested")
        .map(|record| record["replayable"] != json!(false))
        .collect();
    assert_eq!(whole, [false, false, true]);
}

/// A state directory, and a way to send the same long call into it.
fn long_calls(state: &Path, times: usize) -> Value {
    let root = state.parent().unwrap().canonicalize().unwrap();
    let runtime = Runtime::builder().workspace(&root).state(state).definition_yaml(DEFINITION).build().unwrap();
    let args = json!({ "colour": "mauve", "text": "x".repeat(100_000) });
    let mut last = Value::Null;
    for at in 0..times {
        let mut event = requested(&format!("c{at}"), args.clone());
        event["session"] = json!("s");
        event["at"] = json!("2026-01-01T00:00:00Z");
        let reply = runtime.handle(&Lines, event.to_string().as_bytes());
        last = serde_json::from_str(&reply.stdout).unwrap();
    }
    last
}

#[test]
fn what_went_wrong_is_kept_whole_where_its_record_is_clipped() {
    let top = tempfile::tempdir().unwrap();
    let state = top.path().join("state");
    assert_eq!(long_calls(&state, 3)["code"], "loop/override");
    let found = read(&state);
    let asked: Vec<&Value> = found.iter().filter(|record| record["kind"] == "call.requested").collect();
    assert!(asked[0]["data"].get("artifact").is_none() && asked[1]["data"].get("artifact").is_none());
    let name = asked[2]["data"]["artifact"]["sha256"].as_str().unwrap();
    let kept: Value = serde_json::from_slice(&std::fs::read(state.join("artifacts").join(name)).unwrap()).unwrap();
    assert_eq!(kept["call"]["args"]["text"], "x".repeat(100_000));
    assert_eq!(std::fs::read_dir(state.join("artifacts")).unwrap().count(), 1);
    assert!(!kept.to_string().contains("mauve"), "a secret was kept");
}

#[test]
fn a_call_that_failed_is_kept_whole_too() {
    let mut failed = finished("c1", json!({"n": 1}));
    failed["ok"] = json!(false);
    failed["output"] = json!("error\n".repeat(10_000));
    let found = records(&[requested("c1", json!({"n": 1})), failed]);
    assert!(found[2]["data"]["artifact"]["bytes"].as_u64().unwrap() > 60_000);
    let long = finished("c2", json!({"text": "x".repeat(100_000)}));
    assert!(records(&[long])[0]["data"].get("artifact").is_none());
}

#[test]
fn what_cannot_be_kept_whole_is_a_fault() {
    let top = tempfile::tempdir().unwrap();
    let state = top.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("artifacts"), "no directory").unwrap();
    assert_eq!(long_calls(&state, 3)["code"], "fault/store");
}

#[test]
fn a_secret_that_is_a_name_is_kept_nowhere_and_stays_one_name() {
    let secret = format!("ghp_{}", "aB3".repeat(12));
    let top = tempfile::tempdir().unwrap();
    let (root, state) = (top.path().canonicalize().unwrap(), top.path().join("state"));
    let runtime = Runtime::builder().workspace(&root).state(&state).definition_yaml(DEFINITION).build().unwrap();
    let call = json!({ "id": secret, "tool": secret, "args": {} });
    let mut codes = Vec::new();
    for event in [
        json!({ "event": "session.snapshot", "name": secret }),
        json!({ "event": "call.requested", "call": call, "agent": secret, "host": secret }),
        json!({ "event": "call.finished", "call": call, "agent": secret, "host": secret, "ok": true, "output": "x" }),
        json!({ "event": "call.requested", "call": { "id": "c2", "tool": secret, "args": {} }, "agent": secret }),
        json!({ "event": "call.requested", "call": { "id": "c3", "tool": secret, "args": {} }, "agent": secret }),
        json!({ "event": "session.restore", "name": secret }),
    ] {
        let mut event = event;
        (event["session"], event["at"]) = (json!("s"), json!("2026-01-01T00:00:00Z"));
        let answer: Value = serde_json::from_str(&runtime.handle(&Lines, event.to_string().as_bytes()).stdout).unwrap();
        codes.push(answer["code"].clone());
    }
    // The loop guard knows the agent and the tool again, and the snapshot is found by its name.
    assert_eq!(codes, [json!(null), json!(null), json!(null), json!(null), json!("loop/override"), json!(null)]);
    for entry in walk(&state) {
        let bytes = std::fs::read(&entry).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&secret), "{}", entry.display());
    }
}

/// Every file below a directory.
fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
