//! Judges: what they accept, what they reject, and what becomes of those that fail.

use crate::stage::Stage;
use crate::{BOSS, MANAGED};

/// A graph of one speaker and a judge.
fn judged(speaker: &str, judge: &str, more: &str) -> Stage {
    let manifest = format!(
        "orchestration:\n  graph: [{{id: speaker}}]\n  execution: {{timeout_per_agent: 10, error_handling: {{max_retries: 1, retry_delay: 0}}}}\n  \
         validation: {{llm: {{judge: critic{more}}}}}\n"
    );
    Stage::new(&manifest).script("speaker", speaker).script("critic", judge)
}

/// Accepts what is said aloud.
const LOUD: &str = r#"case "$input" in
*'"role":"judge"'*'"text":"LOUD"'*|*'"text":"LOUD"'*'"role":"judge"'*) echo '{"accepted": true, "reason": "loud enough"}';;
*) echo '{"accepted": false, "reason": "too quiet", "findings": ["use capitals"]}';;
esac"#;

#[test]
fn a_judge_accepts_or_rejects() {
    let stage = judged("echo '{\"text\": \"LOUD\"}'", LOUD, "");
    stage.ends("complete", "complete");
    assert_eq!(stage.records("agent.judged")[0]["verdict"], "accepted");

    let stage = judged("echo '{\"text\": \"quiet\"}'", LOUD, "");
    assert_eq!(stage.run().1["status"], "failed");
    let failed = stage.records("agent.failed");
    assert_eq!(failed[0]["reason"], "the judge rejects it: too quiet (use capitals)");
    assert_eq!((failed.len(), &failed[0]["kind"]), (2, &serde_json::json!("validation_error")));
}

#[test]
fn who_is_rejected_may_try_again() {
    let stage = judged(
        "case \"$input\" in *'\"attempt\":1,'*) echo '{\"text\": \"quiet\"}';; *) echo '{\"text\": \"LOUD\"}';; esac",
        LOUD,
        "",
    );
    stage.ends("complete", "complete");
    let verdicts: Vec<_> = stage.records("agent.judged").iter().map(|one| one["verdict"].clone()).collect();
    assert_eq!(verdicts, ["rejected", "accepted"]);
}

#[test]
fn who_is_sure_is_not_judged() {
    let stage = judged("echo '{\"text\": \"quiet\", \"confidence\": 0.96}'", LOUD, "");
    stage.ends("complete", "complete");
    assert_eq!(stage.records("agent.judged")[0]["verdict"], "skipped");
    assert!(stage.records("referee.answered").is_empty());
    let stage = judged("echo '{\"text\": \"quiet\", \"confidence\": 0.96}'", LOUD, ", skip_when_confidence_above: 1");
    assert_eq!(stage.run().1["status"], "failed");
}

#[test]
fn a_judge_that_fails_accepts_nothing() {
    for (judge, why) in [
        ("exit 3", "it ended with code 3"),
        ("echo no verdict", "its answer is no JSON"),
        ("echo '{\"accepted\": \"yes\"}'", "has no `accepted` that is true or false"),
        ("sleep 30", "its time was up"),
    ] {
        let stage = judged("echo '{\"text\": \"LOUD\"}'", judge, ", timeout: 1");
        assert_eq!(stage.run().1["status"], "failed", "{judge}");
        let told = stage.records("agent.failed")[0]["reason"].as_str().unwrap().to_owned();
        assert!(told.starts_with("it could not be judged: ") && told.contains(why), "{told}");
    }
}

#[test]
fn workers_of_a_manager_are_judged_and_the_manager_is_not() {
    let stage = Stage::new(&format!("{MANAGED}    validation: {{llm: {{judge: {{command: [sh, judge.sh]}}}}}}\n"))
        .script("boss", BOSS)
        .script("worker", "echo '{\"text\": \"quiet\"}'");
    stage.file("judge.sh", &format!("input=$(cat)\n{LOUD}\n"));
    stage.run();
    let judged = stage.records("agent.judged");
    assert!(!judged.is_empty() && judged.iter().all(|one| one["agent"] == "worker"), "{judged:?}");
}

#[test]
fn a_judge_that_is_not_there_keeps_a_run_from_beginning() {
    let stage = Stage::new("orchestration: {graph: [{id: speaker}], validation: {llm: {judge: nobody}}}\n")
        .script("speaker", "echo '{}'");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`validation.llm.judge` names the agent `nobody`, which has no file"), "{}", ran.err);
}

#[test]
fn a_judge_that_cannot_answer_with_json_keeps_a_run_from_beginning() {
    let judging = "orchestration: {graph: [{id: speaker}], validation: {llm: {judge: judge}}}\n";
    let stage = Stage::new(judging).script("speaker", "echo '{}'");
    stage.file("agents/judge/agent.awp.yaml", "awp_agent: \"1.0.0\"\nidentity: {id: judge, description: d}\nruntime: {command: [sh, j.sh]}\noutput: {format: text, contract: {text: {type: string}}}\n");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("names the agent `judge`, which answers with a text instead of JSON"), "{}", ran.err);
}
