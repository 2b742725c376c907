//! What a run uses counts, whatever came of it, and limits hold.

use serde_json::{Value, json};

use crate::case::{Case, end, words};
use crate::delegation::{complete, delegate, flow};

/// An agent that says this and used a thousand tokens.
fn costly(said: &str) -> String {
    format!("cat > /dev/null; echo x >> ran; echo '{{{said}\"usage\": {{\"input_tokens\": 1000, \"cost_usd\": 1.5}}}}'")
}

fn ran(case: &Case) -> usize {
    case.text("ran").lines().count()
}

#[test]
fn an_answer_that_does_not_fit_was_used_all_the_same() {
    for (said, more) in [("\"bad\": 1, ", "contract: {type: object, required: [good]}"), ("\"_meta\": 1, ", "")] {
        let manifest = "orchestration:\n  graph:\n    - {id: aa, on_failure: continue, retry: {max_attempts: 5, backoff: none}}\n    \
            - {id: bb, on_failure: continue}\n    - {id: cc, on_failure: continue}\n  execution: {mode: sequential}\n  \
            run_budget: {max_total_tokens: 1500}\n";
        let more = if more.is_empty() { "contract: {type: object}" } else { more };
        let yaml = format!("output: {{{more}}}");
        let case = ["aa", "bb", "cc"]
            .into_iter()
            .fold(Case::new(manifest), |case, name| case.agent_with(name, &yaml, &costly(said)));
        let ended = case.run(json!({}));
        assert_eq!(end(&ended), words("partial", "max_total_tokens"), "{said}");
        assert_eq!((ran(&case), &ended.usage["input_tokens"]), (2, &json!(2000)), "{said}");
    }
}

#[test]
fn no_more_agents_begin_than_may_run() {
    let fan = "orchestration:\n  graph:\n    - {id: aa, fan_out: {source: 'state.xs', max_parallel: 4}}\n  run_budget: {max_agent_runs: 2}\n";
    let many = "orchestration:\n  graph: [{id: aa}, {id: bb}, {id: cc}, {id: dd}]\n  run_budget: {max_agent_runs: 2}\n";
    for manifest in [fan, many] {
        let script = "cat > /dev/null; echo x >> ran; sleep 0.2; echo '{}'";
        let case =
            ["aa", "bb", "cc", "dd"].into_iter().fold(Case::new(manifest), |case, name| case.agent(name, script));
        let ended = case.run(json!({"xs": [1, 2, 3, 4]}));
        assert_eq!(end(&ended), words("partial", "max_agent_runs"));
        assert_eq!((ran(&case), ended.agent_runs), (2, 2));
        // Those that began within the limit were let finish.
        let sorted = |kind: &str| {
            let mut agents = case.agents(kind);
            agents.sort();
            agents
        };
        assert_eq!(sorted("agent.finished"), sorted("agent.started"));
    }
}

#[test]
fn who_may_use_nothing_may_do_what_uses_nothing() {
    let budget = "run_budget: {max_total_tokens: 0, max_tool_calls: 0, max_cost_usd: 0}";
    let manifest = format!("orchestration:\n  graph: [{{id: aa}}, {{id: bb, depends_on: [aa]}}]\n  {budget}\n");
    let case = Case::new(&manifest).agent("aa", "cat > /dev/null; echo '{}'").agent("bb", &costly(""));
    assert!(case.run(json!({})).complete());
    let case = Case::new(&manifest).agent("aa", &costly("")).agent("bb", &costly(""));
    assert_eq!(end(&case.run(json!({}))), words("partial", "max_total_tokens"));
    assert_eq!(ran(&case), 1);
}

#[test]
fn a_loop_pays_for_every_try_of_its_workers() {
    let yaml = "output: {contract: {type: object, required: [good]}}";
    let more = "  graph: [{id: hand, retry: {max_attempts: 6, backoff: none}}]\n";
    let case = flow(", max_total_tokens: 2500", more)
        .agent_with("hand", yaml, &costly("\"bad\": 1, "))
        .manager("boss", &[delegate(&[("s1", "true")]), complete()]);
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("partial", "max_total_tokens"));
    assert_eq!((ran(&case), &ended.budgets["loop_tokens"]["used"]), (3, &json!(3000)));
    assert!(case.told("agent.gave_up")[0]["reason"].as_str().unwrap().contains("max_total_tokens"));
}

#[test]
fn a_part_is_of_what_is_left() {
    let deeper = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "lead", "instructions": "on", "as_submanager": true}]});
    let case = flow(", max_total_workers: 1", "")
        .manager("boss", &[deeper, complete()])
        .manager("lead", &[delegate(&[("s1", "true")]), complete()]);
    let ended = case.run(json!({}));
    assert!(case.text("worked").is_empty(), "a second worker began");
    assert_eq!(ended.budgets["workers"], json!({"used": 1, "limit": 1}));
}

#[test]
fn what_was_used_before_an_interruption_still_counts() {
    let manifest = "orchestration:\n  graph:\n    - {id: ff, fan_out: {source: 'state.xs'}}\n    - {id: bb, depends_on: [ff]}\n    \
        - {id: cc, depends_on: [bb]}\n  run_budget: {max_total_tokens: 4000}\n";
    let case = ["ff", "bb", "cc"].into_iter().fold(Case::new(manifest), |case, name| case.agent(name, &costly("")));
    // Whoever is at work then has not told anything yet.
    let case = case.agent("bb", &format!("[ -f go ] || sleep 30; {}", costly("")));
    let case = case.interrupted_after("agent.started", "bb");
    assert_eq!(end(&case.run(json!({"xs": [1, 2, 3]}))).0, "aborted");
    case.write("go", "");
    let case = case.uninterrupted();
    let ended = case.resume();
    assert_eq!(end(&ended), words("partial", "max_total_tokens"));
    assert_eq!((&ended.usage["input_tokens"], ended.agent_runs), (&json!(4000), 4));
}

#[test]
fn what_a_judge_used_before_an_interruption_still_counts() {
    let judged = "    validation: {llm: {judge: jj}}\n";
    let manager: [Value; 3] = [delegate(&[("s1", "true")]), delegate(&[("s1", "true")]), complete()];
    let case =
        || flow("", judged).agent("jj", &costly("\"accepted\": true, \"confidence\": 1, ")).manager("boss", &manager);
    let whole = case().run(json!({}));
    assert!(whole.complete(), "{whole:?}");
    let case = case().interrupted_after("manager.decided", "boss");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.interrupted_after("agent.finished", "hand");
    assert_eq!(end(&case.resume()).0, "aborted");
    let ended = case.uninterrupted().resume();
    assert!(ended.complete());
    assert_eq!((&ended.usage, &ended.budgets["loop_tokens"]), (&whole.usage, &whole.budgets["loop_tokens"]));
    assert_eq!(whole.usage["input_tokens"], 2000);
}

#[test]
fn what_was_told_before_a_failure_was_used() {
    let manifest = "orchestration:\n  graph:\n    - {id: aa, retry: {max_attempts: 5, backoff: none}}\n  run_budget: {max_total_tokens: 1500}\n";
    let case = Case::new(manifest).agent("aa", &format!("{}; exit 1", costly("")));
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("partial", "max_total_tokens"));
    assert_eq!(
        (ran(&case), &ended.usage["input_tokens"], &ended.budgets["tokens"]["used"]),
        (2, &json!(2000), &json!(2000))
    );
}

#[test]
fn what_was_told_before_somebody_was_stopped_was_used() {
    let fan = "orchestration:\n  graph:\n    - {id: aa, fan_out: {source: '[1, 2]'}, fan_in: {strategy: first}}\n";
    let waits = "while [ ! -f told ]; do sleep 0.05; done; echo '{\"n\": 2}'";
    let tells = "echo '{\"usage\": {\"input_tokens\": 1000}}'; touch told; sleep 30";
    let case = Case::new(fan).agent("aa", &format!("if grep -q '\"index\":1'; then {waits}; else {tells}; fi"));
    let ended = case.run(json!({}));
    assert_eq!((ended.complete(), &ended.output["aa"]), (true, &json!({"n": 2})));
    assert_eq!((&ended.usage["input_tokens"], case.told("agent.stopped").len()), (&json!(1000), 1));

    // Stopped by a signal, and asked anew: both were used, by the run and by the loop.
    let both = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "aa"}, {"worker_id": "bb"}]});
    let tells = "cat > /dev/null; echo '{\"usage\": {\"input_tokens\": 1000}}'; touch told; [ -f go ] || sleep 30";
    let case = flow("", "")
        .agent("aa", tells)
        .agent("bb", &format!("cat > /dev/null; {waits}"))
        .manager("boss", &[both, complete()])
        .interrupted_after("agent.finished", "bb");
    let ended = case.run(json!({}));
    assert_eq!((end(&ended).0.as_str(), &ended.usage["input_tokens"]), ("aborted", &json!(1000)));
    assert_eq!(ended.budgets["loop_tokens"]["used"], 1000);
    case.write("go", "");
    let ended = case.uninterrupted().resume();
    assert_eq!((ended.complete(), &ended.usage["input_tokens"]), (true, &json!(2000)));
    assert_eq!((&ended.budgets["tokens"]["used"], &ended.budgets["loop_tokens"]["used"]), (&json!(2000), &json!(2000)));
    assert_eq!(ended.agent_runs, 4);
}

#[test]
fn a_manager_that_is_stopped_below_gives_back_what_it_did_not_use() {
    let deeper = json!({"decision": "DELEGATE", "delegations": [{"worker_id": "lead", "instructions": "on", "as_submanager": true}]});
    let case = flow("", "  run_budget: {max_agent_runs: 3}\n")
        .manager("boss", &[deeper, complete()])
        .manager("lead", &[delegate(&[("s1", "true")]), complete()]);
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("partial", "max_agent_runs"));
    // A turn of the boss, and two of the lead, of which the second was not answered.
    assert_eq!(ended.budgets["loops"], json!({"used": 3, "limit": 12}));
    assert_eq!((&ended.budgets["workers"]["used"], &ended.budgets["loop_tokens"]["used"]), (&json!(2), &json!(0)));
}
