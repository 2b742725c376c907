//! Critics: scores, repairs, what is learned, and what the gate makes of it.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stage::Stage;
use crate::{MANAGED, managed};

const CRITIQUE: &str = "    critique: {enabled: true, critic: critic, min_score_to_complete: 0.6}\n";
/// Scores what was mended higher.
const CRITIC: &str = r#"case "$input" in
*'"text":"better"'*) echo '{"score": 0.9, "defects": []}';;
*) echo '{"score": 0.2, "defects": [{"category": "incomplete", "description": "no sources", "fix": "name them"}]}';;
esac"#;

#[test]
fn weak_work_is_mended() {
    let worker =
        r#"case "$input" in *'"repair":'*'no sources'*) echo '{"text": "better"}';; *) echo '{"text": "weak"}';; esac"#;
    let stage = managed(CRITIQUE, "").script("worker", worker).script("critic", CRITIC);
    stage.ends("complete", "complete");
    let reviews = stage.records("critique.reviewed");
    assert_eq!((&reviews[0]["score"], &reviews[1]["score"]), (&json!(0.2), &json!(0.9)));
    // What was mended is what the manager and the state have.
    let finished = stage.records("agent.finished");
    assert!(finished.iter().any(|one| one["state"] == "worker" && one["answer"]["text"] == "better"), "{finished:?}");
    let gates = &stage.records("gates.judged")[0]["judgement"]["gates"];
    assert_eq!(
        (&gates[0]["gate"], &gates[0]["passed"], &gates[0]["score"]),
        (&json!("critique"), &json!(true), &json!(0.9))
    );
}

#[test]
fn work_that_stays_weak_is_not_complete() {
    let stage = managed(CRITIQUE, "").script("worker", "echo '{\"text\": \"weak\"}'").script("critic", CRITIC);
    let ended = stage.ends("partial", "max_rejected_completions");
    assert!(
        ended["gate_events"]
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["gate"] == "critique" && event["triggered"] == true)
    );
    assert_eq!(stage.records("critique.reviewed").len(), 1, "an answer that did not change is not reviewed again");
}

#[test]
fn without_a_score_critique_does_not_apply() {
    for critic in ["exit 1", "echo '{\"score\": 7}'", "echo nonsense"] {
        let stage = managed(CRITIQUE, "").script("worker", "echo '{\"text\": \"weak\"}'").script("critic", critic);
        stage.ends("complete", "complete");
        assert_eq!(stage.records("gates.judged")[0]["judgement"]["gates"][0]["applicable"], false, "{critic}");
    }
    let stage = managed("    critique: {enabled: true}\n", "").script("worker", "echo '{\"text\": \"weak\"}'");
    stage.ends("complete", "complete");
}

#[test]
fn too_many_defects_of_one_kind_end_a_run() {
    let critique = "    critique: {enabled: true, critic: critic, defect_category_hard_cap: 1}\n";
    let critic = r#"d='{"category": "format", "description": "one"}, {"category": "format", "description": "two"}'
echo "{\"score\": 0.9, \"defects\": [$d]}""#;
    let stage = managed(critique, "").script("worker", "echo '{\"text\": \"x\"}'").script("critic", critic);
    stage.ends("partial", "defect_category_cap");
}

/// Delegates, then waits for a file before it is done.
const WAITING: &str = r#"case "$input" in
*'"iteration":1,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "worker", "instructions": "Say."}]}';;
*) n=0; while [ ! -e go ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
   echo '{"decision": "COMPLETE", "final_result": {"text": "done"}}';;
esac"#;

#[test]
fn a_run_that_was_killed_asks_no_critic_and_no_judge_twice() {
    let tiers = format!("{CRITIQUE}    validation: {{llm: {{judge: judge}}}}\n");
    let stage = Stage::new(&format!("{MANAGED}{tiers}"))
        .script("boss", WAITING)
        .script("worker", "echo '{\"text\": \"better\"}'")
        .script("judge", "echo '{\"accepted\": true, \"reason\": \"fine\"}'")
        .script("critic", CRITIC);
    let mut child = stage.start();
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until && !(stage.began() && stage.records("agent.started").len() >= 3) {
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    stage.file("go", "");
    let resumed = stage.jackline(&["workflow", "run", "flow", "--resume", "run-1"]);
    assert_eq!(resumed.code, Some(0), "{}\n{}", resumed.err, stage.log());
    let count = |kind: &str| stage.records(kind).len();
    assert_eq!((count("referee.answered"), count("critique.reviewed"), count("agent.judged")), (2, 1, 1));
    let gates = &stage.records("gates.judged")[0]["judgement"]["gates"];
    assert_eq!(gates[0]["score"], 0.9, "the score of before the end counts");
    assert_eq!(stage.jackline(&["audit", "verify", "--session", "run-1"]).code, Some(0));
}

/// Delegates to `worker`, tries to be done, delegates to somebody who does nothing, and tries again.
const SHAKING: &str = r#"case "$input" in
*'"iteration":1,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "worker", "instructions": "Say."}]}';;
*'"iteration":3,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "OTHER", "instructions": "Do nothing."}]}';;
*) echo '{"decision": "COMPLETE", "final_result": {"text": "done"}}';;
esac"#;

#[test]
fn work_that_fails_takes_no_score_away() {
    for other in ["nobody", "broken"] {
        let stage = Stage::new(&format!("{MANAGED}{CRITIQUE}"))
            .script("boss", &SHAKING.replace("OTHER", other))
            .script("worker", "echo '{\"text\": \"weak\"}'")
            .script("broken", "exit 1")
            .script("critic", CRITIC);
        let (_, ended) = stage.run();
        assert_ne!(ended["status"], "complete", "{other}: the work is still the one that was found weak");
        for judged in stage.records("gates.judged") {
            let critique = &judged["judgement"]["gates"][0];
            assert_eq!((&critique["applicable"], &critique["passed"]), (&json!(true), &json!(false)), "{other}");
        }
    }
}

#[test]
fn defects_that_were_mended_are_not_counted() {
    let critique = "    critique: {enabled: true, critic: critic, defect_category_hard_cap: 2}\n";
    let critic = r#"d='{"category": "format", "description": "one"}, {"category": "format", "description": "two"}'
case "$input" in *'"text":"better"'*) echo '{"score": 0.9, "defects": []}';; *) echo "{\"score\": 0.1, \"defects\": [$d]}";; esac"#;
    let worker = r#"case "$input" in *'"attempt":2,'*'previous_output'*) echo '{"text": "better"}';; *'"repair":'*) echo '{"text": "weak still"}';; *) echo '{"text": "weak"}';; esac"#;
    let stage = managed(critique, "").script("worker", worker).script("critic", critic);
    stage.ends("complete", "complete");
    assert_eq!(stage.records("critique.reviewed").len(), 3, "weak, weak still, better");
}

#[test]
fn what_was_wrong_before_is_told_to_workers_that_come_later() {
    let boss = r#"case "$input" in
*'"iteration":1,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "worker", "instructions": "Say."}]}';;
*'"iteration":2,'*) echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "second", "instructions": "Say."}]}';;
*) echo '{"decision": "COMPLETE", "final_result": {"text": "done"}}';;
esac"#;
    let stage = Stage::new(&format!("{MANAGED}{CRITIQUE}"))
        .script("boss", boss)
        .script("worker", "echo '{\"text\": \"weak\"}'")
        .script("second", "printf '%s' \"$input\" > seen; echo '{\"text\": \"better\"}'")
        .script("critic", CRITIC);
    stage.ends("complete", "complete");
    let given = stage.records("agent.started").into_iter().filter(|one| one["input"]["agent"] == "second");
    let known: Vec<_> = given.map(|one| one["input"]["known_defects"][0]["description"].clone()).collect();
    assert_eq!(known, ["no sources"]);
}
