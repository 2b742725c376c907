//! Settings that a run reads past: told, and refused where they protect something.

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::{BOSS, MANAGED, ONE, managed};

#[test]
fn what_has_no_effect_is_told() {
    let stage =
        Stage::new(&format!("{ONE}memory: {{enabled: true}}\nobservability: {{audit: {{enabled: false, path: x}}}}\n"))
            .script("speaker", "echo '{\"text\": \"x\"}'");
    let told = stage.jackline(&["workflow", "validate", "flow"]);
    assert_eq!(told.code, Some(0));
    let want = [
        "note: flow/workflow.awp.yaml:5: `observability.audit.enabled` has no effect in a run: every run is on record\n",
        "note: flow/workflow.awp.yaml:5: `observability.audit.path` has no effect in a run: records are in the store\n",
        "note: flow/workflow.awp.yaml:4: `memory` has no effect in a run: nothing is remembered between runs\n",
        "flow: valid\n",
    ];
    assert_eq!(told.out, want.concat());
    let json: Value =
        serde_json::from_str(&stage.jackline(&["workflow", "validate", "flow", "--format", "json"]).out).unwrap();
    assert_eq!((&json["valid"], &json["findings"]), (&json!(true), &json!([])));
    assert_eq!(json["without_effect"][2]["setting"], "memory");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("`memory` has no effect in a run"), "{}", ran.err);
}

#[test]
fn what_protects_and_would_not_be_held_is_not_run() {
    let off = MANAGED.replace("orchestration:\n", "orchestration:\n  graph: [{id: worker, enabled: false}]\n");
    let stage = Stage::new(&off).script("boss", BOSS).script("worker", "echo '{}'");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("`orchestration.graph[].enabled` ("), "{}", ran.err);
    for (more, setting) in [
        ("security: {rate_limit: {per_minute: 0}}\n", "security"),
        ("    worker_policy: {forbidden_tools: [shell.execute]}\n", "orchestration.delegation_loop.worker_policy"),
    ] {
        let stage = managed(more, "").script("worker", "echo '{}'");
        let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x", "--run-id", "run-1"]);
        assert_eq!(ran.code, Some(2), "{more}");
        assert!(ran.err.contains(&format!("`{setting}` (workflow.awp.yaml:")), "{}", ran.err);
        assert!(!stage.began(), "nothing ran");
        let told = stage.jackline(&["workflow", "validate", "flow"]);
        assert_eq!(told.code, Some(0), "other runtimes may hold it");
        assert!(told.out.contains("`jackline workflow run` refuses it"), "{}", told.out);
    }
}

#[test]
fn what_holds_an_agent_and_would_not_be_held_is_not_run() {
    for (held, runs) in [
        ("sandbox: {network: {enabled: true, allowed_hosts: [example.com]}}", false),
        ("sandbox: {network: {enabled: false, allowed_hosts: [example.com]}}", true),
        ("sandbox: {network: {enabled: true}}", true),
        ("sandbox: {filesystem: {read: [/srv]}}", false),
        ("sandbox: {constraints: {max_memory_mb: 1}}", false),
        ("tools: {enabled: true, denied: [shell.execute]}", false),
        ("tools: {enabled: true, max_calls: 0}", false),
        ("tools: {enabled: true, allowed: [web.search]}", true),
    ] {
        let stage = Stage::new(ONE).script("speaker", "echo '{\"text\": \"x\"}'");
        let command = "runtime: {command: [sh, agents/speaker/run.sh]}";
        let stage = stage.agent("speaker", &format!("{command}\ncapabilities: {{{held}}}\n"));
        let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
        assert_eq!(ran.code, Some(if runs { 0 } else { 2 }), "{held}\n{}", ran.err);
        assert_eq!(ran.err.contains("would not be held"), !runs, "{held}\n{}", ran.err);
    }
}

#[test]
fn what_a_run_would_refuse_about_scores_is_told_by_validate() {
    let broken =
        "observability: {evaluation: {enabled: true, metrics: [{name: m, kind: deterministic, params: {}}]}}\n";
    let stage = Stage::new(&format!("{ONE}{broken}")).script("speaker", "echo '{}'");
    let told = stage.jackline(&["workflow", "validate", "flow"]).out;
    assert!(told.contains("`jackline workflow run` refuses it: the metric `m` cannot be used"), "{told}");
    let nobody = "orchestration: {graph: [{id: speaker}], validation: {llm: {judge: nobody}}}\n";
    let told = Stage::new(nobody).script("speaker", "echo '{}'").jackline(&["workflow", "validate", "flow"]).out;
    assert!(told.contains("`validation.llm.judge` names the agent `nobody`, which has no file\n"), "{told}");
}

#[test]
fn the_time_of_a_sandbox_is_held() {
    let stage = Stage::new(ONE).script("speaker", "sleep 10; echo '{}'");
    let command = "runtime: {command: [sh, agents/speaker/run.sh]}";
    let stage = stage.agent("speaker", &format!("{command}\ncapabilities: {{sandbox: {{timeout: 0.3}}}}\n"));
    stage.ends("failed", "agent_failed: speaker");
    assert_eq!(stage.records("agent.failed")[0]["kind"], "timeout");
}

#[test]
fn variables_that_a_run_needs_and_those_it_gives() {
    let env = "env: {required: [NEEDED], optional: [SPARE], defaults: {SPARE: seven, UNNAMED: x}}\n";
    let speaker = "printf '{\"text\": \"%s %s\"}' \"$SPARE\" \"$UNNAMED\"";
    let stage = Stage::new(&format!("{ONE}{env}")).script("speaker", speaker);
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("the variable `NEEDED` is not set"), "{}", ran.err);
    let given = env.replace("defaults: {", "defaults: {NEEDED: there, ");
    let stage = Stage::new(&format!("{ONE}{given}")).script("speaker", speaker);
    assert_eq!(stage.ends("complete", "complete")["output"]["speaker"]["text"], "seven x");
    let own = "env: [{name: SPARE, default: 7}, {name: UNNAMED}]\n";
    let stage = Stage::new(&format!("{ONE}{own}")).script("speaker", speaker);
    assert_eq!(stage.ends("complete", "complete")["output"]["speaker"]["text"], "7 ");
    // What names no variable is told.
    let stage = Stage::new(&format!("{ONE}env: {{SPARE: x}}\n")).script("speaker", speaker);
    let told = stage.jackline(&["workflow", "validate", "flow"]).out;
    assert!(told.contains("`env` has no effect in a run"), "{told}");
}

#[test]
fn a_prompt_whose_file_is_missing_is_no_prompt() {
    let model = "model: {provider: openai, base_url: \"http://127.0.0.1:9/v1\", name: m}\n";
    let stage = Stage::new(ONE).agent("speaker", &format!("{model}prompt: {{system: SYSTM.md}}\n"));
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("its prompt `SYSTM.md` is no file of the workflow"), "{}", ran.err);
    let stage = Stage::new(ONE).agent("speaker", &format!("{model}prompt: {{system: /etc/hostname}}\n"));
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("its prompt `/etc/hostname` is no file"), "{}", ran.err);
}

#[test]
fn what_is_refused_is_told_once() {
    for (more, told) in [
        ("security: {rate_limit: {per_minute: 0}}\n", "`security`"),
        (
            "observability: {evaluation: {enabled: true, metrics: [{name: m, kind: deterministic, params: {}}]}}\n",
            "the metric `m` cannot be used",
        ),
    ] {
        let more = format!("{ONE}{more}memory: {{enabled: true}}\n");
        let stage = Stage::new(&more).script("speaker", "echo '{\"text\": \"x\"}'");
        let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
        assert_eq!((ran.code, ran.err.matches(told).count()), (Some(2), 1), "{}", ran.err);
        // What has no effect and is not refused is told beside it.
        assert_eq!(ran.err.matches("`memory` has no effect in a run").count(), 1, "{}", ran.err);
        // With a warning, all findings are told, and the refusal still once.
        let stage = Stage::new(&format!("{more}state: {{sharing: {{stategy: full}}}}\n"));
        let stage = stage.script("speaker", "echo '{\"text\": \"x\"}'");
        let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
        assert_eq!((ran.code, ran.err.matches(told).count()), (Some(2), 1), "{}", ran.err);
        assert!(ran.err.contains("did you mean `strategy`?"), "{}", ran.err);
    }
}

#[test]
fn what_protects_is_refused_however_much_has_no_effect() {
    let nodes: Vec<String> = (0..120).map(|at| format!("{{id: n{at}, agent: worker, depends_on: [worker]}}")).collect();
    let graph = format!("orchestration:\n  graph: [{{id: worker}}, {}]\n", nodes.join(", "));
    let stage = Stage::new(&format!(
        "{}security: {{rate_limit: {{per_minute: 0}}}}\n",
        MANAGED.replace("orchestration:\n", &graph)
    ))
    .script("boss", BOSS)
    .script("worker", "echo '{\"text\": \"x\"}'");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("`security` ("), "{}", ran.err);
    let told = stage.jackline(&["workflow", "validate", "flow"]);
    assert!(told.out.contains("`security` has no effect in a run"), "{}", told.out);
}

#[test]
fn what_is_not_offered_is_not_run() {
    let phases = ONE.replace("graph:", "phases: [{type: deterministic, callable: \"a:b\"}], graph:");
    let stage = Stage::new(&phases).script("speaker", "echo '{\"text\": \"x\"}'");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("`orchestration.phases` ("), "{}", ran.err);
    let makes = "runtime: {command: [sh, agents/speaker/run.sh]}\ncapabilities: {tools: {enabled: true}, sandbox: {type: subprocess}, codemode: {enabled: true, tool_creation: true}}\n";
    let stage = Stage::new(&format!("{ONE}dynamic_tools: {{enabled: true}}\n"))
        .script("speaker", "echo '{\"text\": \"x\"}'")
        .agent("speaker", makes);
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && ran.err.contains("`capabilities.codemode.tool_creation` ("), "{}", ran.err);
    // What is switched off wants nothing.
    let off = format!("{ONE}security: {{access_control: {{enabled: false}}}}\n");
    let stage = Stage::new(&off).script("speaker", "echo '{\"text\": \"x\"}'");
    assert_eq!(stage.jackline(&["workflow", "run", "flow", "--task", "x"]).code, Some(0));
    // Nobody is hinted at who is not named.
    let stage = Stage::new(&MANAGED.replace("    manager: boss\n", "")).script("boss", BOSS);
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(ran.code == Some(2) && !ran.err.contains("`agents`"), "{}", ran.err);
}
