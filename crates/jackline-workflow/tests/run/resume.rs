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

#[test]
fn a_run_that_is_at_work_is_not_taken_up() {
    let case =
        three().agent("bb", "cat > /dev/null; echo x >> ran-bb; while [ ! -f go ]; do sleep 0.05; done; echo '{}'");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| case.run(json!({})));
        while case.text("ran-bb").is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let second = case.try_resume();
        case.write("go", "");
        let process = Some(std::process::id());
        assert!(matches!(second, Err(RunFault::AtWork { process: told, .. }) if told == process));
        assert!(first.join().unwrap().complete());
    });
    assert_eq!(case.text("ran-bb").lines().count(), 1);
    assert!(matches!(case.try_resume(), Err(RunFault::Over { .. })));
}

#[test]
fn a_loop_that_settled_is_not_taken_up_again() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa, loop: {max_iterations: 9, condition: 'state.go'}}\n    - {id: bb, depends_on: [aa]}\n    - {id: cc, depends_on: [bb]}\n";
    let loops = "cat > /dev/null; echo x >> ran-aa; n=$(wc -l < ran-aa); [ $n -lt 3 ] && go=true || go=false; echo \"{\\\"n\\\": $n, \\\"state_updates\\\": {\\\"go\\\": $go}}\"";
    let case = Case::new(nodes)
        .agent("aa", loops)
        .agent("bb", "cat > /dev/null; echo '{\"state_updates\": {\"go\": true}}'")
        // Whoever is slow to interrupt it still finds it at work.
        .agent("cc", &format!("[ -f go ] || sleep 30; {}", counting("cc")))
        .interrupted_after("agent.started", "cc");
    assert_eq!(end(&case.run(json!({"go": true}))).0, "aborted");
    case.write("go", "");
    let case = case.uninterrupted();
    let ended = case.resume();
    assert!(ended.complete());
    assert_eq!(case.text("ran-aa").lines().count(), 3);
    assert_eq!(ended.output["aa"], json!({"n": 3}));
}

#[test]
fn a_record_that_was_changed_is_not_followed() {
    let case = three().interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let session = fs::read_dir(case.state().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let log = fs::read_to_string(session.join("audit.jsonl")).unwrap();
    let changed = log.replacen("\"answer\":{\"n\":1}", "\"answer\":{\"n\":2}", 1);
    assert_ne!(log, changed);
    fs::write(session.join("audit.jsonl"), changed).unwrap();
    assert!(matches!(case.uninterrupted().try_resume(), Err(RunFault::Unreadable { .. })));
}

#[test]
fn a_run_whose_programs_changed_is_not_taken_up() {
    let case = three().interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let before = case.text("agents/bb/run.sh");
    case.write("agents/bb/run.sh", "cat > /dev/null; echo '{\"other\": 1}'");
    let case = case.uninterrupted();
    assert!(matches!(case.try_resume(), Err(RunFault::Changed(_))));
    case.write("agents/bb/run.sh", &before);
    assert!(case.resume().complete());
}

#[test]
fn another_answer_is_judged_anew() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa}\n  validation: {llm: {judge: jj, max_retries: 0}}\n";
    let judge = "if grep -q '\"text\":\"good\"'; then echo '{\"accepted\": true, \"confidence\": 1}'; else echo '{\"accepted\": false, \"confidence\": 1, \"reason\": \"bad\"}'; fi";
    let case = Case::new(nodes)
        .agent("aa", "cat > /dev/null; if [ -f said ]; then echo '{\"text\": \"evil\"}'; else touch said; echo '{\"text\": \"good\"}'; fi")
        .agent("jj", judge);
    assert!(case.run(json!({})).complete());
    // What a crash leaves: the judge was heard, and the answer is not on record.
    let session = fs::read_dir(case.state().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let log = fs::read_to_string(session.join("audit.jsonl")).unwrap();
    let heard = log.split_inclusive('\n').take_while(|line| !line.contains("\"kind\":\"agent.judged\""));
    let heard: String = heard.collect();
    assert!(heard.contains("referee.answered"));
    fs::write(session.join("audit.jsonl"), heard).unwrap();
    fs::remove_dir_all(session.join("checkpoints")).ok();
    let ended = case.resume();
    assert_eq!(end(&ended), words("failed", "agent_failed: aa"));
    assert_eq!(case.told("referee.answered").len(), 2);
}

#[test]
fn a_sensitive_variable_is_what_it_was() {
    let more =
        "orchestration:\n  graph: [{id: aa}, {id: bb, depends_on: [aa]}]\nenv: [{name: DEMO_TOKEN, sensitive: true}]\n";
    let case = Case::new(more)
        .agent("aa", "cat > /dev/null; echo \"{\\\"note\\\": \\\"used $DEMO_TOKEN\\\"}\"")
        .agent("bb", "cat > seen-bb.json; echo '{}'")
        .variable("DEMO_TOKEN", "old-secret-1111")
        .interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.uninterrupted().forget("DEMO_TOKEN").variable("DEMO_TOKEN", "new-secret-2222");
    assert!(matches!(case.try_resume(), Err(RunFault::Variable { name, .. }) if name == "DEMO_TOKEN"));
    let case = case.forget("DEMO_TOKEN").variable("DEMO_TOKEN", "old-secret-1111");
    assert!(case.resume().complete());
    assert!(!case.written().contains("old-secret-1111"));
}

#[test]
fn long_answers_are_taken_up() {
    let rows: Vec<_> = (0..1_500).map(|at| json!({"id": at, "name": format!("row number {at}")})).collect();
    let case = three()
        .agent("aa", "cat > /dev/null; echo x >> ran-aa; cat rows.json")
        .interrupted_after("agent.started", "bb");
    case.write("rows.json", &json!({"rows": rows, "usage": {"input_tokens": 7}}).to_string());
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.uninterrupted();
    let ended = case.resume();
    assert_eq!(end(&ended), words("complete", "complete"));
    assert_eq!((case.text("ran-aa").lines().count(), ended.output["aa"]["rows"].as_array().unwrap().len()), (1, 1500));
    assert_eq!(ended.usage["input_tokens"], 7);
    // How it ended is told, however much it leads to.
    let record = case.records().pop().unwrap();
    assert_eq!((&record["data"]["status"], &record["data"]["reason"]), (&json!("complete"), &json!("complete")));
    assert!(matches!(case.try_resume(), Err(RunFault::Over { .. })));
}

#[test]
fn long_plans_are_taken_up() {
    let subtasks: Vec<_> = (0..400).map(|at| subtask(&format!("subtask-number-{at}"), &[])).collect();
    let case = flow("", "")
        .manager("boss", &[plan(&subtasks), delegate(&[("subtask-number-7", "true")]), complete()])
        .interrupted_after("agent.started", "hand");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.uninterrupted();
    let ended = case.resume();
    assert_eq!((end(&ended), ended.iterations), (words("complete", "complete"), 3));
    assert!(case.told("manager.decided").iter().all(|data| data["decision"].is_string() && data["budget"].is_object()));
}

#[test]
fn a_fan_out_goes_on_over_what_it_began_with() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa, fan_out: {source: 'state.xs', max_parallel: 1}}\n    - {id: bb}\n    - {id: cc, depends_on: [aa, bb]}\n";
    let copy = r#"
cat > one.$$; item=$(sed 's/.*"item":"\([a-z]*\)".*/\1/' one.$$); rm one.$$
echo $item >> ran-aa
[ $item = a ] || while [ ! -f go ]; do sleep 0.05; done
echo "{\"about\": \"$item\"}"
"#;
    // While the second copy is at work, somebody writes what is fanned out over.
    let writes = "cat > /dev/null; while ! grep -q b ran-aa; do sleep 0.05; done; echo '{\"state_updates\": {\"xs\": [\"x\", \"y\", \"z\"]}}'";
    let case = Case::new(nodes)
        .agent("aa", copy)
        .agent("bb", writes)
        .agent("cc", &counting("cc"))
        .interrupted_after("agent.finished", "bb");
    assert_eq!(end(&case.run(json!({"xs": ["a", "b"]}))).0, "aborted");
    case.write("go", "");
    let case = case.uninterrupted();
    let ended = case.resume();
    assert_eq!(ended.output["aa"]["results"], json!([{"about": "a"}, {"about": "b"}]));
    assert_eq!(case.text("ran-aa"), "a\nb\nb\n");
}

#[test]
fn who_gave_up_is_not_asked_again() {
    let nodes = "orchestration:\n  graph:\n    - {id: aa, on_failure: continue, fan_out: {source: 'state.xs'}}\n    - {id: bb}\n    - {id: cc, depends_on: [bb]}\n";
    let waits = "cat > /dev/null; sleep 0.4; echo '{\"state_updates\": {\"xs\": [1]}}'";
    let case = Case::new(nodes)
        .agent("aa", &counting("aa"))
        .agent("bb", waits)
        // Whoever is slow to interrupt it still finds it at work.
        .agent("cc", &format!("test -e begun || {{ touch begun; sleep 5; }}; {}", counting("cc")))
        .interrupted_after("agent.started", "cc");
    assert_eq!(end(&case.run(json!({"xs": 7}))).0, "aborted");
    assert_eq!(case.agents("agent.gave_up"), ["aa"]);
    let case = case.uninterrupted();
    assert_eq!(end(&case.resume()), words("partial", "agents_failed"));
    assert_eq!((case.text("ran-aa").as_str(), case.agents("agent.gave_up").len()), ("", 1));
}

#[test]
fn critics_are_not_asked_again_what_they_have_answered() {
    let critique =
        "    critique: {enabled: true, critic: critic, max_repair_attempts: 0, min_score_to_complete: 0.1}\n";
    let critic = r#"
cat > one.$$; who=$(sed 's/.*"agent":"\([a-z]*\)".*/\1/' one.$$); rm one.$$
echo x >> ran-critic
echo "{\"score\": 0.9, \"defects\": [{\"category\": \"format\", \"description\": \"$who\"}]}"
"#;
    let both = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "late"}, {"worker_id": "early"}]});
    let case = flow("", critique)
        .agent("late", "cat > /dev/null; while [ ! -f ran-critic ]; do sleep 0.05; done; sleep 0.3; echo '{\"n\": 1}'")
        .agent("early", "cat > /dev/null; echo '{\"n\": 2}'")
        .agent("critic", critic)
        .manager("boss", &[both, complete()])
        .interrupted_after("critique.reviewed", "late");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    assert_eq!(case.text("ran-critic").lines().count(), 2);
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    assert_eq!((case.text("ran-critic").lines().count(), case.told("referee.answered").len()), (2, 2));
}
