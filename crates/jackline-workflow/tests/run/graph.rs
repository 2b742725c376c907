//! The engine of graphs: order, conditions, failures, tries, fan-outs, loops, limits.

use std::time::Instant;

use jackline_workflow::gates;
use jackline_workflow::run::{Order, RunFault};
use serde_json::json;

use crate::case::{Case, end, words};

const SAYS_ITS_NAME: &str = "cat > /dev/null; echo '{\"ok\": true}'";
const FAILS: &str = "cat > /dev/null; echo broken >&2; exit 3";

fn graph(nodes: &str) -> Case {
    Case::new(&format!("orchestration:\n  engine: dag\n  graph:\n{nodes}\n"))
}

#[test]
fn agents_run_in_order_and_are_given_what_those_before_them_said() {
    let case = graph("    - {id: first}\n    - {id: second, depends_on: [first]}")
        .agent("first", "cat > seen-first.json; echo '{\"n\": 1, \"state_updates\": {\"topic\": \"tides\"}}'")
        .agent("second", "cat > seen-second.json; echo '{\"n\": 2}'");
    let ended = case.run(json!({"task": "count", "from": 0}));
    assert_eq!(end(&ended), words("complete", "complete"));
    assert_eq!(ended.output, json!({"first": {"n": 1}, "second": {"n": 2}}));
    let seen = case.seen("second");
    assert_eq!(seen["task"], "count");
    assert_eq!(seen["inputs"], json!({"first": {"n": 1}}));
    assert_eq!((&seen["state"]["first"]["n"], &seen["state"]["topic"]), (&json!(1), &json!("tides")));
    assert_eq!(seen["state"]["from"], 0);
    assert_eq!((&seen["role"], &seen["attempt"], &seen["iteration"]), (&json!("agent"), &json!(1), &json!(1)));
    assert_eq!(case.seen("first")["state"]["_workflow"]["run_id"], "r1");
    assert_eq!((&seen["plan"], &seen["plan_locked"], &seen["rejections"]), (&json!(null), &json!(null), &json!([])));
    let kinds = ["run.started", "agent.started", "agent.finished", "agent.started", "agent.finished", "run.ended"];
    assert_eq!(case.kinds(), kinds);
    assert!(case.state().join("runs/r1/result.json").is_file());
}

/// What stands in the way of a run.
fn unrunnable(case: &Case) -> Vec<String> {
    let order = Order { run: "r1".to_owned(), task: None, input: Some(json!({})), resume: false };
    match case.order(order) {
        Err(RunFault::Unrunnable(reasons)) => reasons,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_expression_that_cannot_be_read_is_all_that_is_told() {
    let case = graph("    - {id: first, when: 'a ('}").agent("first", SAYS_ITS_NAME);
    let reasons = unrunnable(&case);
    assert!(reasons.len() == 1 && reasons[0].contains("`a (` cannot be read"), "{reasons:?}");
}

#[test]
fn somebody_stands_in_for_a_copy_that_fails() {
    let manifest = "orchestration:\n  graph:\n    - {id: aa, fan_out: {source: '[1, 2]'}}\n    - {id: spare, enabled: false}\n  \
        execution: {error_handling: {fallback_agent: spare}}\n";
    let fails_once = "grep -q '\"item\":2' && exit 1; echo '{\"by\": \"aa\"}'";
    let case =
        Case::new(manifest).agent("aa", fails_once).agent("spare", "cat > /dev/null; echo '{\"by\": \"spare\"}'");
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("complete", "complete"));
    assert_eq!(ended.output["aa"]["results"], json!([{"by": "aa"}, {"by": "spare"}]));
}

#[test]
fn many_answers_become_no_member_that_is_anothers() {
    let nodes = "    - {id: aa, fan_out: {source: '[1]'}, fan_in: {target_field: bb}}\n    - {id: bb}";
    let case = graph(nodes).agent("aa", SAYS_ITS_NAME).agent("bb", SAYS_ITS_NAME);
    assert_eq!(unrunnable(&case), ["`fan_in.target_field` of the node `aa` is `bb`, which is no agent's to write"]);
}

#[test]
fn the_gates_call_no_run_complete_that_ended_otherwise() {
    let again = |case: &Case| {
        let run = gates::Run::read(&std::fs::read(case.state().join("runs/r1/run.json")).unwrap()).unwrap();
        gates::judge(&run, &gates::look(&run, std::path::Path::new("/")))
    };
    let case = graph("    - {id: first}\n    - {id: second, on_failure: continue}")
        .agent("first", SAYS_ITS_NAME)
        .agent("second", FAILS);
    assert_eq!(end(&case.run(json!({}))), words("partial", "agents_failed"));
    assert!(!again(&case).complete());
    let metric = "{name: m, kind: deterministic, params: {expr: 'false'}}";
    let scored = format!("    - {{id: first}}\nobservability:\n  evaluation: {{enabled: true, metrics: [{metric}]}}");
    let case = graph(&scored).agent("first", SAYS_ITS_NAME);
    assert_eq!(end(&case.run(json!({}))), words("failed", "eval_fail"));
    let rejecting: Vec<_> = again(&case).rejections().map(|outcome| outcome.gate.name()).collect();
    assert_eq!(rejecting, ["eval"]);
    let case = graph(&scored.replace("'false'", "'true'")).agent("first", SAYS_ITS_NAME);
    assert!(case.run(json!({})).complete());
    assert!(again(&case).complete());
}

#[test]
fn independent_agents_run_at_once_and_no_more_than_may() {
    let waits = "cat > /dev/null; sleep 0.4; echo '{}'";
    let nodes = "    - {id: aa}\n    - {id: bb}\n    - {id: cc}\n    - {id: dd}";
    let began = Instant::now();
    let all = |case: Case| ["aa", "bb", "cc", "dd"].into_iter().fold(case, |case, name| case.agent(name, waits));
    let case = all(Case::new(&format!("orchestration:\n  graph:\n{nodes}\n  execution: {{max_parallel_agents: 2}}\n")));
    assert!(case.run(json!({})).complete());
    assert!(began.elapsed().as_millis() >= 800, "four took {:?} two at a time", began.elapsed());
    let mut at_work = 0_i32;
    for kind in case.kinds() {
        at_work += i32::from(kind == "agent.started") - i32::from(kind == "agent.finished");
        assert!(at_work <= 2);
    }
}

#[test]
fn conditions_decide_who_runs() {
    let nodes = "    - {id: judge}\n    \
        - {id: yes, depends_on: [{agent: judge, when: 'state.judge.score > 0.5'}]}\n    \
        - {id: not, depends_on: [{id: judge, expr: 'state.judge.score <= 0.5'}]}\n    \
        - {id: after_not, depends_on: [not]}\n    - {id: after_both, depends_on: ['yes', not]}\n    \
        - {id: off, enabled: false}\n    - {id: when, when: \"state.judge.word == 'go'\", depends_on: [judge]}";
    let agents = ["yes", "not", "after_not", "after_both", "off", "when"];
    let case = agents
        .into_iter()
        .fold(graph(nodes), |case, name| case.agent(name, SAYS_ITS_NAME))
        .agent("judge", "cat > /dev/null; echo '{\"score\": 0.8, \"word\": \"go\"}'");
    assert!(case.run(json!({})).complete());
    let mut ran = case.agents("agent.finished");
    ran.sort();
    assert_eq!(ran, ["after_both", "judge", "when", "yes"]);
    let mut skipped = case.agents("agent.skipped");
    skipped.sort();
    assert_eq!(skipped, ["after_not", "not", "off"]);
}

#[test]
fn a_condition_that_cannot_be_told_is_a_failure() {
    let case = graph("    - {id: aa}\n    - {id: bb, depends_on: [aa], when: 'state.aa.word > 1'}")
        .agent("aa", "cat > /dev/null; echo '{\"word\": \"x\"}'")
        .agent("bb", SAYS_ITS_NAME);
    assert_eq!(end(&case.run(json!({}))), words("failed", "agent_failed: bb"));
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_runs() {
    let case = graph("    - {id: aa, when: 'state.x ='}\n    - {id: bb, loop: {type: interactive, max_iterations: 2}}")
        .agent("aa", SAYS_ITS_NAME)
        .agent("bb", SAYS_ITS_NAME);
    case.write(
        "agents/aa/agent.awp.yaml",
        "awp_agent: \"1.0.0\"\nidentity: {id: aa, role: r, description: d}\noutput: {contract: {type: object}}\n",
    );
    let order = jackline_workflow::run::Order { run: "r1".to_owned(), task: None, input: None, resume: false };
    let Err(RunFault::Unrunnable(reasons)) = case.order(order) else { panic!("it ran") };
    let reasons = reasons.join("\n");
    assert!(reasons.contains("state.x =") && reasons.contains("interactive"), "{reasons}");
    assert!(case.records().is_empty());
}

#[test]
fn failures_lead_where_the_node_says() {
    for (on_failure, status, reason, ran) in [
        ("", "failed", "agent_failed: bad", vec![]),
        (", on_failure: stop", "failed", "agent_failed: bad", vec![]),
        (", on_failure: abort", "failed", "agent_failed: bad", vec![]),
        (", on_failure: continue", "partial", "agents_failed", vec!["other"]),
        (", on_failure: skip", "complete", "complete", vec!["after", "other"]),
    ] {
        let nodes = format!(
            "    - {{id: bad{on_failure}}}\n    - {{id: after, depends_on: [bad]}}\n    - {{id: other, depends_on: [slow]}}\n    - {{id: slow}}"
        );
        let slow = "cat > /dev/null; sleep 0.5; echo '{}'";
        let case = graph(&nodes)
            .agent("bad", FAILS)
            .agent("after", SAYS_ITS_NAME)
            .agent("other", SAYS_ITS_NAME)
            .agent("slow", slow);
        let ended = case.run(json!({}));
        assert_eq!(end(&ended), words(status, reason), "{on_failure}");
        let mut finished = case.agents("agent.finished");
        finished.retain(|name| name != "slow");
        finished.sort();
        assert_eq!(finished, ran, "{on_failure}");
        let failed = &case.told("agent.failed")[0];
        assert_eq!(
            (&failed["kind"], &failed["reason"]),
            (&json!("server_error"), &json!("it ended with code 3: broken"))
        );
    }
}

#[test]
fn what_fails_is_tried_again_later_each_time() {
    let second_time = "cat > /dev/null; echo x >> tries; [ $(wc -l < tries) -ge 3 ] || exit 1; echo '{}'";
    let retry = "retry: {max_attempts: 4, backoff: linear, backoff_base: 0.1}";
    let case = graph(&format!("    - {{id: shaky, {retry}}}")).agent("shaky", second_time);
    let began = Instant::now();
    assert!(case.run(json!({})).complete());
    assert!(began.elapsed().as_millis() >= 300);
    assert_eq!(case.text("tries").lines().count(), 3);
    let delays: Vec<_> = case.told("agent.failed").iter().map(|data| data["delay_ms"].clone()).collect();
    assert_eq!(delays, [json!(100), json!(200)]);
    assert_eq!(case.told("agent.finished")[0]["attempt"], 3);
    let case =
        graph("    - {id: shaky, on_failure: retry, retry: {max_attempts: 2, backoff: none}}").agent("shaky", FAILS);
    assert_eq!(end(&case.run(json!({}))), words("failed", "agent_failed: shaky"));
    assert_eq!(case.told("agent.failed").len(), 2);
}

#[test]
fn another_agent_stands_in() {
    let manifest =
        "orchestration:\n  graph:\n    - {id: bad}\n  execution: {error_handling: {fallback_agent: spare}}\n";
    let case = Case::new(manifest).agent("bad", FAILS).agent("spare", "cat > /dev/null; echo '{\"by\": \"spare\"}'");
    let ended = case.run(json!({}));
    assert!(ended.complete());
    assert_eq!(ended.output, json!({"bad": {"by": "spare"}}));
}

#[test]
fn an_answer_must_fit_its_contract() {
    for (answer, wanted) in [
        ("{\"n\": \"x\"}", "not of type"),
        ("{}", "required"),
        ("[1]", "no JSON object"),
        ("not json", "no JSON"),
        ("", "no JSON"),
        ("{\"n\": 1} {\"n\": 2}", "no JSON"),
    ] {
        let case = graph("    - {id: aa}").agent_with(
            "aa",
            "output: {contract: {n: {type: integer, required: true}}}",
            &format!("cat > /dev/null; printf '%s' '{answer}'"),
        );
        assert_eq!(end(&case.run(json!({}))), words("failed", "agent_failed: aa"), "{answer}");
        let failed = &case.told("agent.failed")[0];
        assert_eq!(failed["kind"], "validation_error");
        assert!(failed["reason"].as_str().unwrap().contains(wanted), "{answer}: {failed}");
    }
}

#[test]
fn a_node_runs_once_for_each_of_many() {
    let nodes = "    - {id: topics}\n    - id: copies\n      depends_on: [topics]\n      \
        fan_out: {source: state.topics.list, variable: topic, max_parallel: 2}\n      \
        fan_in: {strategy: merge, target_field: all}\n    - {id: last, depends_on: [copies]}";
    let copy = "cat > one.$$; topic=$(sed 's/.*\"topic\":\"\\([a-z]*\\)\".*/\\1/' one.$$); rm one.$$; echo \"{\\\"about\\\": \\\"$topic\\\"}\"";
    let case = graph(nodes)
        .agent("topics", "cat > /dev/null; echo '{\"list\": [\"a\", \"b\", \"c\"]}'")
        .agent("copies", copy)
        .agent("last", "cat > seen-last.json; echo '{}'");
    assert!(case.run(json!({})).complete());
    let all = json!([{"about": "a"}, {"about": "b"}, {"about": "c"}]);
    assert_eq!(case.seen("last")["state"]["all"], all);
    assert_eq!(case.seen("last")["inputs"]["copies"], json!({"all": all}));
    assert_eq!(case.told("agent.finished").len(), 6);
}

#[test]
fn one_copy_that_fails_counts_as_the_node_says() {
    for (on_failure, status) in [("stop", "failed"), ("continue", "complete")] {
        let nodes =
            format!("    - id: copies\n      on_failure: {on_failure}\n      fan_out: {{source: 'state.list'}}");
        let copy = "if grep -q '\"index\":1'; then exit 1; fi; echo '{\"ok\": 1}'";
        let case = graph(&nodes).agent("copies", copy);
        assert_eq!(end(&case.run(json!({"list": [1, 2, 3]}))).0, status, "{on_failure}");
    }
    let case = graph("    - {id: copies, fan_out: {source: 'state.list'}}").agent("copies", SAYS_ITS_NAME);
    assert_eq!(end(&case.run(json!({"list": 7}))).0, "failed");
    let case = graph("    - {id: copies, fan_out: {source: 'state.list'}}").agent("copies", SAYS_ITS_NAME);
    assert_eq!(case.run(json!({"list": []})).output, json!({"copies": {"results": []}}));
}

#[test]
fn the_first_answer_ends_the_others() {
    let nodes = "    - {id: copies, fan_out: {source: state.list, max_parallel: 3}, fan_in: {strategy: first}}";
    let copy = "if grep -q '\"index\":1'; then echo '{\"won\": 1}'; else sleep 20; echo '{}'; fi";
    let case = graph(nodes).agent("copies", copy);
    let began = Instant::now();
    let ended = case.run(json!({"list": [1, 2, 3]}));
    assert_eq!(ended.output, json!({"copies": {"won": 1}}));
    assert!(began.elapsed().as_secs() < 15, "{:?}", began.elapsed());
}

#[test]
fn a_loop_runs_until_it_need_not() {
    let counts = "cat > /dev/null; echo x >> rounds; echo \"{\\\"n\\\": $(wc -l < rounds)}\"";
    for (settings, rounds, settled) in [
        ("{max_iterations: 5, condition: 'state.aa.n < 3'}", 3, true),
        ("{max_iterations: 5, until_condition: 'state.aa.n >= 2'}", 2, true),
        ("{max_iterations: 4}", 4, false),
        ("{max_iterations: 2, until: 'state.aa.n > 9'}", 2, false),
    ] {
        let case = graph(&format!("    - {{id: aa, loop: {settings}}}")).agent("aa", counts);
        let ended = case.run(json!({}));
        assert_eq!(ended.output, json!({"aa": {"n": rounds}}), "{settings}");
        assert_eq!(case.told("agent.looped"), [json!({"rounds": rounds, "settled": settled})]);
    }
}

#[test]
fn budgets_of_a_run_end_it() {
    let manifest = |budget: &str| {
        format!(
            "orchestration:\n  graph:\n    - {{id: aa, loop: {{max_iterations: 50}}}}\n  run_budget: {{{budget}}}\n"
        )
    };
    let uses = "cat > /dev/null; echo '{\"usage\": {\"input_tokens\": 60, \"output_tokens\": 40, \"cost_usd\": 0.5}}'";
    for (budget, reason, runs) in [
        ("max_agent_runs: 3", "max_agent_runs", 3),
        ("max_total_tokens: 250", "max_total_tokens", 3),
        ("max_cost_usd: 1.0", "max_cost_usd", 2),
    ] {
        let case = Case::new(&manifest(budget)).agent("aa", uses);
        let ended = case.run(json!({}));
        assert_eq!(end(&ended), words("partial", reason));
        assert_eq!(case.told("agent.finished").len(), runs, "{budget}");
    }
}

#[test]
fn a_panic_ends_the_run_and_is_waited_for_by_nobody() {
    let nodes = "orchestration:\n  graph: [{id: aa}, {id: bb}, {id: cc, depends_on: [aa]}]\n";
    let case = Case::new(nodes)
        .agent("aa", "cat > /dev/null; echo '{}'")
        .agent("bb", "cat > /dev/null; sleep 30; echo '{}'")
        .agent("cc", "cat > /dev/null; echo '{}'")
        .panicking_at("agent.started", "aa");
    let began = std::time::Instant::now();
    assert_eq!(end(&case.run(json!({}))), words("failed", "fault"));
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert_eq!(case.kinds().last().unwrap(), "run.ended");
}

#[test]
fn nobody_is_copied_without_end() {
    let nodes = "    - {id: copies, fan_out: {source: 'state.list', max_parallel: 100000}}";
    let case = graph(nodes).agent("copies", "cat > /dev/null; echo x >> ran; echo '{}'");
    let ended = case.run(json!({"list": vec![0; 10_001]}));
    assert_eq!(end(&ended), words("failed", "agent_failed: copies"));
    assert_eq!(case.told("agent.gave_up")[0]["reason"], "`state.list` has 10001 items, more than 10000");
    assert_eq!(case.text("ran"), "");
    // As many as are wanted at once are far more than may be, and all of them are done.
    let case = graph(nodes).agent("copies", "cat > /dev/null; echo '{}'");
    let ended = case.run(json!({"list": vec![0; 40]}));
    assert_eq!(ended.output["copies"]["results"].as_array().unwrap().len(), 40);
}

#[test]
fn copies_that_cannot_be_started_have_failed() {
    for (on_failure, status) in [("stop", "failed"), ("continue", "partial"), ("skip", "complete")] {
        let nodes = format!("    - {{id: copies, on_failure: {on_failure}, fan_out: {{source: '[1, 2, 3]'}}}}");
        let case = graph(&nodes).agent("copies", SAYS_ITS_NAME);
        let text =
            case.text("agents/copies/agent.awp.yaml").replace("[sh, agents/copies/run.sh]", "[./no-such-program]");
        case.write("agents/copies/agent.awp.yaml", &text);
        assert_eq!(end(&case.run(json!({}))).0, status, "{on_failure}");
        let failed = case.told("agent.failed");
        assert!(!failed.is_empty() && failed.len() <= 3, "{failed:?}");
        assert!(failed.iter().all(|data| data["kind"] == "server_error"), "{failed:?}");
        assert_eq!(case.agents("agent.gave_up"), ["copies"]);
    }
}

#[test]
fn a_run_whose_time_is_over_after_the_last_condition_is_not_complete() {
    let manifest = "orchestration:\n  graph: [{id: aa}, {id: bb, depends_on: [aa], when: 'false'}]\n  execution: {timeout_total: 2}\n";
    let case = |slow: bool| {
        let case = Case::new(manifest).agent("aa", SAYS_ITS_NAME).agent("bb", SAYS_ITS_NAME);
        if slow { case.slow_at("agent.skipped", "bb") } else { case }
    };
    assert_eq!(end(&case(false).run(json!({}))), words("complete", "complete"));
    let case = case(true);
    assert_eq!(end(&case.run(json!({}))), words("partial", "max_wall_time"));
    assert_eq!(
        (case.agents("agent.finished"), case.agents("agent.skipped")),
        (vec!["aa".to_owned()], vec!["bb".to_owned()])
    );
}
