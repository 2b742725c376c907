//! Runs that are interrupted, and taken up again.

use std::fs;
use std::io::Write as _;

use jackline_workflow::run::{Order, RunFault};
use serde_json::json;

use crate::case::{Case, end, words};
use crate::delegation::{complete, delegate, flow, plan, subtask};

/// An agent that counts how often it ran and says so.
fn counting(name: &str) -> String {
    format!(
        "cat > seen-{name}.json; echo x >> ran-{name}; echo \"{{\\\"n\\\": $(wc -l < ran-{name}), \\\"state_updates\\\": {{\\\"last\\\": \\\"{name}\\\"}}}}\""
    )
}

fn three() -> Case {
    let nodes = "orchestration:\n  graph:\n    - {id: aa}\n    - {id: bb, depends_on: [aa]}\n    - {id: cc, depends_on: [bb]}\n";
    ["aa", "bb", "cc"].into_iter().fold(Case::new(nodes), |case, name| case.agent(name, &counting(name)))
}

#[test]
fn a_graph_goes_on_behind_what_is_acknowledged() {
    let case = three().interrupted_after("agent.finished", "bb");
    let ended = case.run(json!({"task": "count", "base": 7}));
    assert_eq!(end(&ended), words("aborted", "sigterm"));
    assert_eq!(case.kinds().last().unwrap(), "run.ended");
    let before = case.records();
    let case = case.uninterrupted();
    let ended = case.resume();
    assert_eq!(end(&ended), words("complete", "complete"));
    let after = case.records();
    assert_eq!(after[..before.len()], before[..]);
    for name in ["aa", "bb", "cc"] {
        assert_eq!(case.text(&format!("ran-{name}")).lines().count(), 1, "{name}");
    }
    let seen = case.seen("cc");
    assert_eq!(
        (&seen["task"], &seen["state"]["base"], &seen["state"]["last"]),
        (&json!("count"), &json!(7), &json!("bb"))
    );
    assert_eq!(seen["inputs"], json!({"bb": {"n": 1}}));
    let behind: Vec<String> = case.kinds().split_off(before.len());
    assert_eq!(behind, ["run.resumed", "agent.started", "agent.finished", "run.ended"]);
}

#[test]
fn an_agent_that_was_at_work_is_ended_and_asked_again() {
    let case = three()
        .agent("bb", "cat > /dev/null; echo x >> ran-bb; [ -f go ] || sleep 30; echo '{}'")
        .interrupted_after("agent.started", "bb");
    let began = std::time::Instant::now();
    assert_eq!(end(&case.run(json!({}))), words("aborted", "sigterm"));
    assert!(began.elapsed().as_secs() < 10);
    assert_eq!(case.agents("agent.stopped"), ["bb"]);
    case.write("go", "");
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    assert_eq!(case.text("ran-aa").lines().count(), 1);
    assert_eq!(case.agents("agent.finished"), ["aa", "bb", "cc"]);
}

#[test]
fn a_manager_is_not_asked_again_what_it_has_answered() {
    let write = "echo some words about tides > text.md";
    let decisions = [plan(&[subtask("s1", &["text.md"])]), complete(), delegate(&[("s1", write)]), complete()];
    for (kind, agent) in [
        ("agent.finished", "hand"),
        ("gates.judged", "boss"),
        ("manager.decided", "boss"),
        ("gate.event", "boss"),
        ("agent.started", "hand"),
    ] {
        let case = flow("", "").manager("boss", &decisions).interrupted_after(kind, agent);
        assert_eq!(end(&case.run(json!({"task": "tell"}))), words("aborted", "sigterm"), "{kind}");
        let before = case.records();
        let finished = case.told("agent.finished").len();
        let case = case.uninterrupted();
        let ended = case.resume();
        assert_eq!(end(&ended), words("complete", "complete"), "{kind}");
        assert_eq!(case.records()[..before.len()], before[..], "{kind}");
        assert_eq!(ended.iterations, 4, "{kind}");
        assert_eq!(case.told("agent.finished").len(), 5, "{kind}");
        assert!(finished < 5);
        // One turn may have been under way; none that is on record was asked again.
        let mut turns: Vec<String> = case.text("turns-boss").lines().map(str::to_owned).collect();
        turns.dedup();
        assert_eq!(turns, ["1", "2", "3", "4"], "{kind}");
        assert_eq!(case.told("manager.decided").len(), 4, "{kind}");
        assert_eq!(case.told("gates.judged").len(), 2, "{kind}");
    }
}

#[test]
fn loops_and_fan_outs_go_on_where_they_were() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa, loop: {max_iterations: 3}}\n    - {id: bb, depends_on: [aa], fan_out: {source: 'state.list', max_parallel: 1}}\n    - {id: cc, depends_on: [bb]}\n";
    let case = ["aa", "bb", "cc"].into_iter().fold(Case::new(nodes), |case, name| case.agent(name, &counting(name)));
    let case = case.interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({"list": [1, 2]}))).0, "aborted");
    let case = case.interrupted_after("agent.finished", "bb");
    assert_eq!(end(&case.resume()).0, "aborted");
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    let ran = ["aa", "bb", "cc"].map(|name| case.text(&format!("ran-{name}")).lines().count());
    assert_eq!(ran, [3, 2, 1]);
    assert_eq!(case.seen("cc")["inputs"]["bb"], json!({"results": [{"n": 1}, {"n": 2}]}));
}

#[test]
fn what_a_crash_left_of_a_write_is_cut_and_told() {
    let case = three().interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let session = fs::read_dir(case.state().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let mut log = fs::OpenOptions::new().append(true).open(session.join("audit.jsonl")).unwrap();
    log.write_all(b"{\"actor\":\"agent\",\"aft").unwrap();
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    assert!(case.kinds().contains(&"session.repaired".to_owned()));
    assert_eq!(case.text("ran-aa").lines().count(), 1);
}

#[test]
fn what_cannot_be_taken_up_is_refused() {
    let case = three();
    assert!(matches!(case.try_resume(), Err(RunFault::Unknown(_))));
    assert!(case.run(json!({})).complete());
    let before = case.records().len();
    assert!(matches!(case.try_resume(), Err(RunFault::Over { .. })));
    let again = Order { run: "r1".to_owned(), task: None, input: None, resume: false };
    assert!(matches!(case.order(again), Err(RunFault::Exists(_))));
    let odd = Order { run: "../x".to_owned(), task: None, input: None, resume: false };
    assert!(matches!(case.order(odd), Err(RunFault::Input(_))));
    assert_eq!(case.records().len(), before);

    let case = three().interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let text = case.text("workflow.awp.yaml").replace("{id: cc,", "{id: cc, timeout: 5,");
    case.write("workflow.awp.yaml", &text);
    assert!(matches!(case.uninterrupted().try_resume(), Err(RunFault::Changed(_))));
}

#[test]
fn secrets_are_taken_up_and_still_not_shown() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa}\n    - {id: bb, depends_on: [aa]}\nstate: {sharing: {strategy: full, sensitive_fields: [password]}}\n";
    let case = Case::new(nodes)
        .agent("aa", "cat > /dev/null; echo '{\"password\": \"hunter2-secret\"}'")
        .agent("bb", "cat > seen-bb.json; echo hunter2-secret >&2; echo '{}'")
        .interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    assert_eq!(case.seen("bb")["inputs"]["aa"]["password"], "hunter2-secret");
    assert!(!case.written().contains("hunter2-secret"));
}
