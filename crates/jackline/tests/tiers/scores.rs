//! Evaluations: what they let pass, what they send back, and what they end.

use crate::stage::Stage;
use crate::{BOSS, MANAGED, ONE, managed};

fn evaluation(rest: &str) -> String {
    format!("observability:\n  evaluation:\n    enabled: true\n{rest}")
}

fn metric(expr: &str) -> String {
    evaluation(&format!(
        "    metrics: [{{name: m, kind: deterministic, params: {{expr: \"{expr}\"}}}}]\n    step_scores: {{enabled: false}}\n"
    ))
}

#[test]
fn good_scores_pass_and_bad_ones_end_the_run() {
    let worker = "echo '{\"text\": \"x\"}'";
    let stage = managed("", &metric("result.text == 'done' and state.worker.text == 'x'")).script("worker", worker);
    stage.ends("complete", "complete");
    assert_eq!(stage.records("run.evaluated")[0]["score"], 1.0);

    let stage = managed("", &metric("result.text == 'better'")).script("worker", worker);
    stage.ends("failed", "eval_fail");
    let gates = &stage.records("gates.judged")[0]["judgement"]["gates"];
    assert_eq!(gates[6]["findings"][1], "`m` is 0.00: `result.text == 'better'` does not hold");
}

#[test]
fn scores_between_send_a_run_back() {
    let metrics = "    metrics:\n      - {name: a, kind: deterministic, params: {expr: \"true\"}}\n      - {name: b, kind: deterministic, params: {expr: \"false\"}}\n";
    let stage = managed("", &evaluation(metrics)).script("worker", "echo '{\"text\": \"x\"}'");
    stage.ends("partial", "max_rejected_completions");
    let policy = format!(
        "{metrics}    retry_policy: {{enabled: true, max_repairs: 1, actions: {{below_retry: accept_with_warning}}}}\n    step_scores: {{enabled: false}}\n"
    );
    let stage = managed("", &evaluation(&policy)).script("worker", "echo '{\"text\": \"x\"}'");
    stage.ends("failed", "eval_fail");
}

#[test]
fn an_evaluation_without_a_score_rejects() {
    let worker = "echo '{\"text\": \"x\"}'";
    let stage = managed("", &evaluation("    metrics: []\n")).script("worker", worker);
    stage.ends("partial", "max_rejected_completions");
    let rubric = "    metrics: [{name: r, kind: llm_rubric, params: {rubric: Is it fine?}}]\n    rubric_judge: judge\n";
    let stage = managed("", &evaluation(rubric)).script("worker", worker).script("judge", "exit 1");
    stage.ends("partial", "max_rejected_completions");
    let stage = Stage::new(&format!("{ONE}{}", evaluation("    metrics: []\n"))).script("speaker", worker);
    stage.ends("partial", "eval_below_retry");
}

#[test]
fn judges_and_tests_score_too() {
    let metrics = "    metrics:\n      - {name: r, kind: llm_rubric, params: {rubric: Is it fine?}}\n      - {name: t, kind: deterministic, params: {command: [grep, -q, hello]}}\n    rubric_judge: judge\n";
    let judge = r#"case "$input" in *'Is it fine?'*) echo '{"score": 0.8, "reason": "mostly"}';; esac"#;
    let stage = Stage::new(&format!("{ONE}{}", evaluation(metrics)))
        .script("speaker", "echo '{\"text\": \"hello\"}'")
        .script("judge", judge);
    stage.ends("complete", "complete");
    let evaluated = &stage.records("run.evaluated")[0];
    let score = |at: usize| evaluated["metrics"][at]["score"].as_f64();
    assert_eq!((score(0), score(1)), (Some(0.8), Some(1.0)));
    let stage = Stage::new(&format!("{ONE}{}", evaluation(metrics)))
        .script("speaker", "echo '{\"text\": \"bye\"}'")
        .script("judge", judge);
    stage.ends("partial", "eval_below_retry");
}

#[test]
fn a_graph_that_scores_low_fails() {
    let stage = Stage::new(&format!("{ONE}{}", metric("result.speaker.text == 'other'")))
        .script("speaker", "echo '{\"text\": \"x\"}'");
    stage.ends("failed", "eval_fail");
}

#[test]
fn low_steps_are_repaired() {
    let steps = "    metrics: [{name: m, kind: deterministic, params: {expr: [\"result.text == 'better' or result.speaker\", \"true\"]}}]\n    \
                 retry_policy: {enabled: true, max_repairs: 2}\n";
    let speaker = r#"case "$input" in *'"repair":'*'does not hold'*) echo '{"text": "better"}';; *) echo '{"text": "weak"}';; esac"#;
    let stage = Stage::new(&format!("{ONE}{}", evaluation(steps))).script("speaker", speaker);
    let ended = stage.ends("complete", "complete");
    assert_eq!(ended["output"]["speaker"]["text"], "better");
    let acts: Vec<_> = stage.records("step.scored").iter().map(|one| one["act"].clone()).collect();
    assert_eq!(acts, ["retry_with_repair", "accept"]);

    let stage = Stage::new(&format!("{ONE}{}", evaluation(steps))).script("speaker", "echo '{\"text\": \"weak\"}'");
    stage.ends("failed", "eval_fail");
    assert_eq!(stage.records("step.scored").len(), 3);
}

#[test]
fn broken_rules_cost_the_policy() {
    let policy = evaluation("    metrics: [{name: p, kind: policy}]\n    step_scores: {enabled: false}\n");
    let channel = "communication: {channels: [{name: numbers, schema: {type: integer}, participants: {publishers: [speaker], subscribers: [listener]}}]}\n";
    let says = |content: &str| {
        let script =
            format!("echo '{{\"text\": \"x\", \"messages\": [{{\"channel\": \"numbers\", \"content\": {content}}}]}}'");
        let manifest = format!(
            "orchestration: {{graph: [{{id: speaker}}, {{id: listener, depends_on: [speaker]}}]}}\n{channel}{policy}"
        );
        Stage::new(&manifest).script("speaker", &script).script("listener", "echo '{}'")
    };
    says("7").ends("complete", "complete");
    let stage = says("true");
    stage.ends("failed", "eval_fail");
    assert_eq!(stage.records("message.rejected").len(), 1);
    assert_eq!(stage.records("run.evaluated")[0]["metrics"][0]["reason"], "1 violations of the workflow's rules");
}

#[test]
fn metrics_that_cannot_be_used_keep_a_run_from_beginning() {
    let stage = Stage::new(&format!("{ONE}{}", metric("a b"))).script("speaker", "echo '{}'");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("the metric `m` cannot be used: its expression `a b` cannot be read"), "{}", ran.err);
}

#[test]
fn a_graph_is_held_to_its_policy() {
    let scored = |policy: &str| {
        let three = "llm_rubric, params: {rubric: Is it fine?}}";
        let metrics = format!(
            "    metrics: [{{name: a, kind: {three}, {{name: b, kind: {three}, {{name: c, kind: {three}]\n    rubric_judge: {{command: [sh, judge.sh], temperature: 0}}\n"
        );
        let rest = format!("{metrics}    step_scores: {{enabled: false}}\n{policy}");
        let stage = Stage::new(&format!("{ONE}{}", evaluation(&rest))).script("speaker", "echo '{\"text\": \"x\"}'");
        stage.file("judge.sh", "cat > /dev/null; echo '{\"score\": 0.7, \"reason\": \"so so\"}'\n");
        stage
    };
    // The mean of three times 0.7 is a little less.
    scored("    thresholds: {accept: 0.9, retry: 0.7, fail: 0.4}\n").ends("complete", "complete");
    let high = "    thresholds: {accept: 0.95, retry: 0.9, fail: 0.4}\n";
    scored(high).ends("partial", "eval_below_retry");
    let fails = "    retry_policy: {enabled: true, actions: {below_retry: fail_workflow}}\n";
    scored(&format!("{high}{fails}")).ends("failed", "eval_fail");
}

#[test]
fn whoever_answers_for_a_node_is_scored() {
    let low = evaluation(
        "    metrics: [{name: m, kind: deterministic, params: {expr: \"agent != 'speaker'\"}}]\n    retry_policy: {enabled: true}\n",
    );
    let fan = "orchestration: {graph: [{id: speaker, fan_out: {source: \"[1, 2]\"}}]}\n";
    let stage = Stage::new(&format!("{fan}{low}")).script("speaker", "echo '{\"text\": \"x\"}'");
    stage.ends("failed", "eval_fail");
    let stands_in = "orchestration: {graph: [{id: speaker}], execution: {error_handling: {fallback_agent: spare}}}\n";
    let stage = Stage::new(&format!("{stands_in}{low}"))
        .script("speaker", "exit 1")
        .script("spare", "echo '{\"text\": \"x\"}'");
    stage.ends("failed", "eval_fail");
    assert!(!stage.records("step.scored").is_empty());
}

#[test]
fn the_budget_of_the_loop_is_scored() {
    let thrift =
        "    metrics: [{name: thrift, kind: budget, params: {of: [tokens]}}]\n    step_scores: {enabled: false}\n";
    let tokens = MANAGED.replace("max_loops: 6", "max_loops: 6, max_total_tokens: 1000");
    let stage = Stage::new(&format!("{tokens}{}", evaluation(thrift)))
        .script("boss", BOSS)
        .script("worker", "echo '{\"text\": \"x\", \"usage\": {\"input_tokens\": 100}}'");
    stage.ends("complete", "complete");
    assert_eq!(stage.records("run.evaluated")[0]["metrics"][0]["reason"], "90 % of `loop_tokens` is left");
}

#[test]
fn a_run_that_is_interrupted_while_it_is_scored_is_taken_up_again() {
    let waits = "[sh, -c, \"touch ../scoring; [ -e ../go ] || sleep 20\"]";
    let metrics = format!("    metrics: [{{name: t, kind: deterministic, params: {{command: {waits}}}}}]\n");
    let policy = "    step_scores: {hooks: [worker_result]}\n    retry_policy: {enabled: true, max_repairs: 0}\n";
    let speaker = "echo '{\"text\": \"x\"}'";
    let whole = evaluation(&format!("{metrics}    step_scores: {{enabled: false}}\n"));
    let steps = evaluation(&format!("{metrics}{policy}"));
    for stage in [
        Stage::new(&format!("{ONE}{whole}")).script("speaker", speaker),
        Stage::new(&format!("{ONE}{steps}")).script("speaker", speaker),
        managed("", &whole).script("worker", speaker),
    ] {
        let child = stage.start();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !stage.flow().join("../scoring").exists() && std::time::Instant::now() < until {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130), "{}", stage.log());
        assert!(
            stage.records("gates.judged").is_empty() && stage.records("run.evaluated").is_empty(),
            "{}",
            stage.log()
        );
        stage.file("../go", "");
        let resumed = stage.jackline(&["workflow", "run", "flow", "--resume", "run-1"]);
        assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    }
}
