//! Every stop has one reason, and overrides reach an agent through the library.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong in a test's own steps fails the test"
)]

use jackline_core::code;
use jackline_core::decision::Verdict;
use jackline_core::event::{Body, Call, Event};
use jackline_core::overrides::{Demand, Override};
use jackline_core::time::Timestamp;
use jackline_runtime::Runtime;
use jackline_runtime::adapters::lines::Lines;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::{Value, json};

const REASONS: [&str; 5] = ["OBJECTIVE_ACHIEVED", "BUDGET_EXCEEDED", "NO_EVIDENCE", "HUMAN_REQUESTED", "SYSTEM_ERROR"];

/// The records of session `s` after these events.
fn records(definition: &str, events: &[Value]) -> Vec<Value> {
    let top = tempfile::tempdir().unwrap();
    let (root, state) = (top.path().canonicalize().unwrap(), top.path().join("state"));
    let runtime = Runtime::builder().workspace(&root).state(&state).definition_yaml(definition).build().unwrap();
    for (event, second) in events.iter().zip(10..) {
        let mut event = event.clone();
        event["session"] = json!("s");
        event["at"] = json!(format!("2026-01-01T00:00:{second}Z"));
        runtime.handle(&Lines, event.to_string().as_bytes());
    }
    let lines = FileStore::open(state).lines("s", 0).unwrap();
    lines.map(|line| serde_json::from_slice(&line.unwrap()).unwrap()).collect()
}

fn call(n: u8) -> Value {
    json!({ "event": "call.requested", "call": { "tool": "look", "args": { "n": n } } })
}

/// Each stop of these events has one record with one reason; these are all of them.
#[track_caller]
fn check(definition: &str, events: &[Value], want: &[(&str, &str)]) {
    let records = records(definition, events);
    let decided: Vec<&Value> = records.iter().filter(|record| record["kind"] == "stop.decided").collect();
    let asked = records.iter().filter(|record| record["kind"] == "stop.requested").count();
    assert_eq!(decided.len(), asked, "one for each stop");
    let found: Vec<(&str, &str)> = decided
        .iter()
        .map(|record| (record["data"]["stopped"].as_str().unwrap(), record["data"]["reason"].as_str().unwrap()))
        .collect();
    assert!(found.iter().all(|(_, reason)| REASONS.contains(reason)), "{found:?}");
    assert_eq!(found, want);
    for (place, record) in records.iter().enumerate().filter(|(_, record)| record["kind"] == "stop.requested") {
        let decision = records[place..].iter().find(|record| record["kind"] == "decision").unwrap();
        assert!(decision["data"]["stopped"].is_string(), "{record}");
    }
}

#[test]
fn a_run_stops_for_one_reason() {
    let stop = || json!({ "event": "stop.requested" });
    let plain = "jackline: 1\nloop: { window: 2, threshold: 2, override_retries: 0 }\n";
    check(plain, &[call(1), stop(), stop()], &[("complete", "OBJECTIVE_ACHIEVED"); 2]);
    check(plain, &[call(1), call(1), call(1), stop()], &[("fault", "SYSTEM_ERROR")]);
    let lifted = json!({ "event": "prompt.submitted" });
    let halted = [call(1), call(1), call(1), stop(), lifted, stop()];
    check(plain, &halted, &[("fault", "SYSTEM_ERROR"), ("complete", "OBJECTIVE_ACHIEVED")]);
    let limited = "jackline: 1\nloop: { window: 2, threshold: 2, override_retries: 0 }\nlimits: { steps: 1 }\n";
    check(limited, &[call(1), call(2), stop()], &[("exhausted", "BUDGET_EXCEEDED")]);
    // A halted run whose budget is spent as well has one reason, not two.
    let both = limited.replace("steps: 1", "steps: 3");
    check(&both, &[call(1), call(1), call(1), call(2), stop()], &[("fault", "SYSTEM_ERROR")]);
}

#[test]
fn the_library_puts_overrides_on_one_agent() {
    let dir = tempfile::tempdir().unwrap();
    let runtime =
        Runtime::builder().workspace(dir.path()).definition_yaml("jackline: 1\nloop: false\n").build().unwrap();
    let demand = Demand::ToolBudget { tool: "look".into(), max_calls: 1 };
    let settings = Override { demand, ttl_steps: Some(5), ttl_ms: Some(60_000) };
    let answer = runtime.constrain("s", "reviewer", settings);
    assert_eq!(answer.verdict, Verdict::Allow);
    assert_eq!(answer.constraint.unwrap()["type"], "TOOL_BUDGET");
    let ask = |agent: Option<&str>| {
        let at = Timestamp(jackline_runtime::clock::now().0);
        let event = Event::new("s", at, Body::CallRequested(Call::new("look", json!({}))));
        runtime.decide(&Event { agent: agent.map(str::to_owned), ..event })
    };
    assert_eq!(ask(Some("reviewer")).verdict, Verdict::Allow);
    assert_eq!(ask(Some("reviewer")).code, Some(code::OVERRIDE_TOOL_BUDGET));
    assert_eq!(ask(None).verdict, Verdict::Allow, "another agent is free");
    assert_eq!(runtime.session("s").unwrap().agent("reviewer").unwrap().overrides.len(), 1);
}
