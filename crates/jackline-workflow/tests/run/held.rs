//! What holds whoever answers, however deep: what stand-ins keep back, how many managers work at once, what agents find in their
//! environment, and what is quoted of those that fail.

use serde_json::json;

use crate::case::{Case, end, words};

const STANDS_IN: &str = "orchestration:\n  graph: [{id: aa, on_failure: continue}, {id: bb, depends_on: [aa]}]\n  \
    execution: {error_handling: {fallback_agent: sp}}\nstate: {sharing: {strategy: full, never_share: [sp.nev]}}\n";
const SAYS_ALL: &str = "cat > /dev/null; echo '{\"own\": \"mine\", \"nev\": \"never\", \"pub\": \"all\", \"state_updates\": {\"own\": \"written\", \"note\": \"read\"}}'";
const KEEPS: &str =
    "output: {contract: {own: {type: string, shareable: false}, nev: {type: string}, pub: {type: string}}}";

fn stood_in(own: &str) -> Case {
    Case::new(STANDS_IN).agent("aa", own).agent_with("sp", KEEPS, SAYS_ALL).agent("bb", "cat > seen-bb.json; echo '{}'")
}

#[test]
fn r16_what_a_stand_in_keeps_back_is_seen_by_nobody_else() {
    let check = |case: &Case| {
        let seen = case.seen("bb");
        assert_eq!((&seen["inputs"]["aa"], &seen["state"]["aa"]), (&json!({"pub": "all"}), &json!({"pub": "all"})));
        assert_eq!((&seen["state"]["note"], seen["state"].get("own")), (&json!("read"), None));
    };
    let case = stood_in("exit 1");
    assert!(case.run(json!({})).complete());
    check(&case);
    // Also when it answered before an interruption.
    let case = stood_in("exit 1").interrupted_after("agent.finished", "aa");
    assert_eq!(end(&case.run(json!({}))).0, "aborted");
    let case = case.uninterrupted();
    assert!(case.resume().complete());
    check(&case);
}

#[test]
fn r16_what_a_stand_in_would_keep_back_others_may_show() {
    let case = stood_in(SAYS_ALL);
    assert!(case.run(json!({})).complete());
    let seen = case.seen("bb");
    assert_eq!(seen["inputs"]["aa"], json!({"own": "mine", "nev": "never", "pub": "all"}));
    assert_eq!(seen["state"]["own"], "written");
}

/// A manager that has two of itself work below it, until it is as deep as may be; then it takes some time.
const DEEPER: &str = r#"
cat > one.$$
depth=$(sed 's/.*"depth":\([0-9]*\).*/\1/' one.$$)
turn=$(sed 's/.*"iteration":\([0-9]*\).*/\1/' one.$$)
rm one.$$
if [ "$depth" -ge 2 ]; then echo + >> at-once; sleep 0.6; echo - >> at-once; fi
if [ "$depth" -lt 2 ] && [ "$turn" -lt 2 ]; then
    echo '{"decision": "DELEGATE", "delegations": [{"worker_id": "a", "agent": "boss"}, {"worker_id": "b", "agent": "boss"}]}'
else
    echo '{"decision": "COMPLETE", "final_result": {"summary": "all is done"}}'
fi
"#;

#[test]
fn no_more_managers_are_at_work_than_may_however_deep_they_are() {
    for most in [1, 2] {
        let budget = format!(
            ", max_loops: 200, max_total_workers: 200, max_concurrent_submanagers: {most}, max_total_submanagers_per_run: 20"
        );
        let case = Case::new(&format!(
            "orchestration:\n  engine: delegation_loop\n  delegation_loop:\n    manager: boss\n    budget: {{max_depth: 2{budget}}}\n"
        ))
        .agent("boss", DEEPER);
        assert_eq!(end(&case.run(json!({"task": "tell"}))), words("complete", "complete"));
        let (mut now, mut at_once) = (0, 0);
        for line in case.text("at-once").lines() {
            now += if line == "+" { 1 } else { -1 };
            at_once = at_once.max(now);
        }
        // Those above them wait, and are not counted meanwhile: else nobody could go deeper.
        assert_eq!(at_once, most, "{}", case.text("at-once"));
    }
}

#[test]
fn variables_have_the_values_that_the_manifest_gives_them() {
    let says = "cat > /dev/null; echo \"{\\\"one\\\": \\\"$DEMO_ONE\\\", \\\"two\\\": \\\"$DEMO_TWO\\\"}\"";
    for (env, one, two) in [
        ("{defaults: {DEMO_ONE: x}}", "x", ""),
        ("{optional: [DEMO_TWO], defaults: {DEMO_ONE: 5, DEMO_TWO: y}}", "5", "set"),
        ("[{name: DEMO_ONE, default: true}]", "true", ""),
    ] {
        let case = Case::new(&format!("env: {env}\norchestration:\n  graph: [{{id: aa}}]\n"))
            .agent("aa", says)
            .variable("DEMO_TWO", "set");
        let ended = case.run(json!({}));
        assert_eq!(ended.output["aa"], json!({"one": one, "two": two}), "{env}");
    }
}

#[test]
fn r14_what_is_learned_while_an_agent_works_is_not_cut_in_two_in_what_it_says_when_it_fails() {
    let secret = "Q1w2e3r4t5z6u7i8o9p0-a1s2d3f4g5h6j7k8l9";
    let teller =
        format!("cat > /dev/null; while [ ! -f began ]; do sleep 0.05; done; echo '{{\"tok\": \"{secret}\"}}'");
    // Where the text is cut, whatever stands before it.
    for before in [270, 950] {
        let fails = format!(
            "cat > /dev/null; touch began; sleep 1; (printf '%{before}s' x; printf {secret}; printf '%4000s' y) >&2; exit 1"
        );
        let case = Case::new(
            "orchestration:\n  graph: [{id: aa}, {id: bb, on_failure: skip}]\nstate: {sharing: {strategy: full, sensitive_fields: [tok]}}\n",
        )
        .agent("aa", &teller)
        .agent("bb", &fails);
        case.run(json!({}));
        let told = &case.told("agent.failed")[0];
        assert!(told["reason"].as_str().unwrap().contains("it ended with code 1"), "{told}");
        for at in 0..secret.len() - 8 {
            assert!(!case.written().contains(&secret[at..at + 8]), "{before}: {told}");
        }
    }
}

#[test]
fn r14_marks_count_where_a_field_refers_to_them() {
    let contract = "{type: object, properties: {tok: {$ref: '#/$defs/secret'}, list: {type: array, items: {$ref: '#/$defs/secret'}}}, \
        $defs: {secret: {type: string, sensitive: true}}}";
    let case = Case::new("orchestration:\n  graph: [{id: aa}]\n").agent_with(
        "aa",
        &format!("output: {{contract: {contract}}}"),
        "cat > /dev/null; echo '{\"tok\": \"very-secret\", \"list\": [\"as-secret\"]}'",
    );
    let ended = case.run(json!({}));
    assert!(ended.complete());
    let written = format!("{}{}", case.written(), ended.to_json());
    assert!(!written.contains("very-secret") && !written.contains("as-secret"), "{written}");
}
