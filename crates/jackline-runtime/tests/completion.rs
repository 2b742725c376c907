//! Stops through the library: checkers, what is recorded of how a run ended, and faults of ours.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::fs;
use std::path::Path;

use jackline_core::decision::Verdict;
use jackline_core::event;
use jackline_core::time::Timestamp;
use jackline_runtime::definitions::{Found, Places};
use jackline_runtime::runner::Environment;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use jackline_runtime::{Answer, Assessment, Checker, Runtime, Stopping};
use serde_json::{Value, json};

const AT: Timestamp = Timestamp(1_767_225_600_000);

fn ask(runtime: &Runtime, event: Value) -> Answer {
    runtime.decide(&event::read(&event, AT).unwrap())
}

fn stop(runtime: &Runtime) -> Answer {
    ask(runtime, json!({ "event": "stop.requested", "session": "s", "message": "Done." }))
}

fn records(state: &Path) -> Vec<Value> {
    let lines = FileStore::open(state.to_owned()).lines("s", 0).unwrap();
    lines.map(|line| serde_json::from_slice(&line.unwrap()).unwrap()).collect()
}

/// Wants a session in which something was done.
#[derive(Debug)]
struct Worked;

impl Checker for Worked {
    fn name(&self) -> &str {
        "worked"
    }

    fn check(&self, stopping: &Stopping<'_>) -> Result<Assessment, String> {
        let worked = stopping.session.steps > 0;
        Ok(if worked { Assessment::complete() } else { Assessment::incomplete("do something first") })
    }
}

#[test]
fn a_checker_of_the_embedders_blocks_until_it_is_content() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let builder = Runtime::builder().workspace(&root).definition_yaml("jackline: 1\n").checker(Worked);
    let runtime = builder.build().unwrap();
    let answer = stop(&runtime);
    assert_eq!((answer.verdict, answer.reason.as_deref()), (Verdict::Deny, Some("do something first")));
    assert_eq!(answer.findings[0].policy, "worked");
    ask(&runtime, json!({ "event": "call.requested", "session": "s", "call": { "tool": "look", "args": {} } }));
    assert_eq!((stop(&runtime).verdict, stop(&runtime).stopped), (Verdict::Allow, Some(json!("complete"))));
}

#[test]
fn how_a_run_ended_is_on_record_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().canonicalize().unwrap().join("ws"), dir.path().join("state"));
    fs::create_dir(&root).unwrap();
    let definition = "jackline: 1\ncompletion: {files: [a], blocks_max: 1}\n";
    let runtime = Runtime::builder().workspace(&root).state(&state).definition_yaml(definition).build().unwrap();
    assert_eq!(stop(&runtime).verdict, Verdict::Deny);
    let let_go = stop(&runtime);
    assert_eq!(let_go.notices, ["the agent stopped, and it is incomplete: 1 required output file(s) not found: a"]);
    ask(
        &runtime,
        json!({ "event": "park", "session": "s", "reason": "no key: sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA" }),
    );
    let parked = stop(&runtime);
    assert!(parked.notices[0].starts_with("the agent parked: no key"), "{:?}", parked.notices);
    let records = records(&state);
    assert!(!records.iter().any(|record| record.to_string().contains("AAAAAAAAAA")), "a secret is on record");
    let of_kind = |kind: &str| records.iter().filter(|record| record["kind"] == kind).cloned().collect::<Vec<_>>();
    let decided: Vec<Value> = of_kind("stop.decided").iter().map(|record| record["data"].clone()).collect();
    assert_eq!(decided[0], json!({ "stopped": "incomplete", "reason": "NO_EVIDENCE" }));
    assert_eq!((&decided[1]["stopped"], &decided[1]["reason"]), (&json!("parked"), &json!("HUMAN_REQUESTED")));
    let stopped: Vec<Value> = of_kind("decision").iter().map(|record| record["data"]["stopped"].clone()).collect();
    assert_eq!(stopped, [Value::Null, json!("incomplete"), Value::Null, json!("parked")]);
    assert_eq!(of_kind("park")[0]["actor"], "agent");
}

#[test]
fn a_command_runs_once_however_often_the_event_is_decided_and_what_came_of_it_is_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().canonicalize().unwrap().join("ws"), dir.path().join("state"));
    fs::create_dir(&root).unwrap();
    let definition = "jackline: 1\nchecks: {confine: off}\ncompletion: {all: [{command: {run: [sh, -c, 'echo x >> ran; echo $JACKLINE_TEST_NAME']}}, {files: [a]}]}\n";
    let builder = Runtime::builder().workspace(&root).state(&state).definition_yaml(definition);
    let environment = |_: &[String]| Environment::filtered([("LANG".into(), "C".into())], &[]);
    let runtime = builder.environment(environment).build().unwrap();
    assert_eq!(stop(&runtime).verdict, Verdict::Deny);
    assert_eq!(fs::read_to_string(root.join("ran")).unwrap(), "x\n");
    let last = records(&state).pop().unwrap();
    let ran = last["data"]["facts"].as_array().unwrap().iter().find_map(|seen| seen["fact"].get("ran").cloned());
    let ran = ran.unwrap();
    assert_eq!((&ran["exit"], &ran["stdout"]), (&json!({ "code": 0 }), &json!("\n")));
    assert!(ran["unconfined"].is_string() && ran["stdout_kept"].is_string(), "{ran}");
}

#[test]
fn a_fault_of_ours_blocks_a_stop_once_and_is_then_on_record() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (root, state) = (top.join("ws"), top.join("state"));
    fs::create_dir(&root).unwrap();
    let file = root.join("jackline.yaml");
    fs::write(&file, "jackline: 1\n").unwrap();
    let runtime = || {
        let places = Places { home: top.join("other"), start: root.clone(), ..Places::default() };
        Runtime::builder().state(&state).definitions(Found::new(places)).build().unwrap()
    };
    assert_eq!(stop(&runtime()).verdict, Verdict::Allow);
    fs::write(&file, "jackline: 2\n").unwrap();
    // Nothing was ever accepted where this one looks.
    fs::remove_dir_all(top.join("other")).unwrap();
    let first = stop(&runtime());
    assert_eq!(first.verdict, Verdict::Deny);
    assert!(first.seq.is_some() && first.reason.unwrap().starts_with("Jackline could not decide"), "it is on record");
    let second = stop(&runtime());
    assert_eq!((second.verdict, second.stopped.clone()), (Verdict::Allow, Some(json!("fault"))), "{second:?}");
    let last = records(&state).pop().unwrap();
    assert_eq!((&last["data"]["stopped"], &last["data"]["findings"][0]["enforced"]), (&json!("fault"), &json!(false)));
    assert_eq!(stop(&runtime()).verdict, Verdict::Deny, "the next one is the first again");
}

#[test]
fn a_given_definition_judges_where_the_host_has_moved_to() {
    let dir = tempfile::tempdir().unwrap();
    let (root, moved) = (dir.path().canonicalize().unwrap(), dir.path().canonicalize().unwrap().join("tree"));
    fs::create_dir(&moved).unwrap();
    fs::write(root.join("good"), "").unwrap();
    let text = "jackline: 1\nloop: false\ncompletion: { all: [ { files: [good] }, { command: { run: [sh, -c, \"test -f good\"] } } ] }\n";
    let given = |_: &[String]| Environment::filtered([("PATH".into(), "/usr/bin:/bin".into())], &[]);
    let runtime = Runtime::builder().workspace(&root).definition_yaml(text).environment(given).build().unwrap();
    assert_eq!(stop(&runtime).verdict, Verdict::Allow);
    ask(&runtime, json!({ "event": "session.rerooted", "session": "s", "root": moved }));
    let blocked = stop(&runtime);
    assert_eq!(blocked.verdict, Verdict::Deny, "{:?}", blocked.reason);
    fs::write(moved.join("good"), "").unwrap();
    fs::remove_file(root.join("good")).unwrap();
    assert_eq!(stop(&runtime).verdict, Verdict::Allow);
    ask(&runtime, json!({ "event": "session.rerooted", "session": "s" }));
    assert_eq!(stop(&runtime).verdict, Verdict::Deny, "it is back at home");
}
