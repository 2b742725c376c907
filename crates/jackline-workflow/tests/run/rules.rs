//! R13 to R18 while a run goes on.

use std::time::Instant;

use serde_json::json;

use crate::case::{Case, end, words};

fn two(more: &str, second: &str) -> Case {
    let nodes = format!(
        "orchestration:\n  graph:\n    - {{id: first, share_output: [shown]}}\n    - {{id: second, depends_on: [first]{second}}}\n"
    );
    Case::new(&format!("{nodes}{more}"))
}

const SAYS: &str = "cat > /dev/null; echo '{\"shown\": 1, \"other\": 2, \"state_updates\": {\"note\": 3}}'";

#[test]
fn r13_reserved_keys_are_refused() {
    for key in ["_meta", "_errors", "_trace", "_workflow", "second"] {
        let case = two("", "")
            .agent("first", &format!("cat > /dev/null; echo '{{\"state_updates\": {{\"{key}\": 1, \"fine\": 2}}}}'"))
            .agent("second", SAYS);
        assert_eq!(end(&case.run(json!({}))), words("failed", "agent_failed: first"), "{key}");
        assert_eq!(case.told("state.refused"), [json!({"keys": [key]})]);
        assert_eq!(case.told("agent.failed")[0]["kind"], "refused");
        assert!(case.agents("agent.finished").is_empty());
    }
    let case = two("", "").agent("first", SAYS).agent("second", SAYS);
    let order =
        |input| jackline_workflow::run::Order { run: "r1".to_owned(), task: None, input: Some(input), resume: false };
    assert!(case.order(order(json!({"_meta": 1}))).unwrap_err().to_string().contains("`_meta`"));
    assert!(case.records().is_empty());
}

#[test]
fn r14_what_is_sensitive_is_in_no_record_and_reaches_whom_it_may() {
    let more = "env: [{name: DEMO_TOKEN, sensitive: true}]\nstate:\n  sharing: {strategy: full, sensitive_fields: [password, pin]}\n\
        communication:\n  channels: [{name: talk}]\n";
    let first = "cat > /dev/null; echo \"{\\\"password\\\": \\\"hunter2-secret\\\", \\\"pin\\\": 12345678, \\\"deep\\\": {\\\"Password\\\": [\\\"other-secret\\\"]}, \\\"messages\\\": [{\\\"channel\\\": \\\"talk\\\", \\\"content\\\": \\\"it is hunter2-secret\\\"}]}\"";
    let second = "cat > seen-second.json; echo \"$DEMO_TOKEN with hunter2-secret and 12345678 failed\" >&2; exit 1";
    let case = two(more, ", on_failure: skip").agent("first", first).agent("second", second);
    let case = case.variable("DEMO_TOKEN", "tok-en-of-the-demo");
    let ended = case.run(json!({"password": "from-the-start"}));
    assert!(ended.complete());
    assert_eq!(case.seen("second")["state"]["first"]["password"], "hunter2-secret");
    assert_eq!(case.seen("second")["messages"][0]["content"], "it is hunter2-secret");
    let written = format!("{}{}{}", case.written(), ended.to_json(), ended.human());
    for secret in ["hunter2-secret", "12345678", "other-secret", "tok-en-of-the-demo", "from-the-start"] {
        assert!(!written.contains(secret), "{secret} is in {written}");
    }
    assert!(written.contains("failed"));
}

#[test]
fn r15_messages_are_held_against_their_schema_before_they_are_delivered() {
    let more = "communication:\n  channels:\n    - name: results\n      schema: {type: object, required: [topic]}\n      \
        participants: {publishers: [first], subscribers: [second]}\n    - {name: closed, participants: {publishers: [second]}}\n";
    let first = "cat > /dev/null; echo '{\"messages\": [{\"channel\": \"results\", \"content\": {\"topic\": \"tides\"}}, \
        {\"channel\": \"results\", \"content\": {\"n\": 1}}, {\"channel\": \"nowhere\", \"content\": 1}, \
        {\"channel\": \"closed\", \"content\": 1}, {\"channel\": \"results\", \"to\": \"first\", \"content\": {\"topic\": 1}}]}'";
    let case = two(more, "").agent("first", first).agent("second", "cat > seen-second.json; echo '{}'");
    assert!(case.run(json!({})).complete());
    let delivered = json!([{"channel": "results", "from": "first", "content": {"topic": "tides"}}]);
    assert_eq!(case.seen("second")["messages"], delivered);
    assert_eq!(case.seen("second")["inputs"]["messages"], delivered);
    assert_eq!(case.told("message.delivered").len(), 1);
    let rejected: Vec<String> =
        case.told("message.rejected").iter().map(|data| data["reason"].as_str().unwrap().to_owned()).collect();
    let wanted = [
        "\"topic\" is a required property",
        "no channel `nowhere`",
        "may not send on `closed`",
        "`first` receives nothing",
    ];
    assert_eq!(rejected.len(), wanted.len());
    for (reason, wanted) in rejected.iter().zip(wanted) {
        assert!(reason.contains(wanted), "{reason}");
    }
}

#[test]
fn r16_the_strategy_decides_what_an_agent_is_given() {
    let seen = |sharing: &str, second: &str| {
        let case = two(&format!("state: {{initial: {{base: 0}}, sharing: {{{sharing}}}}}\n"), second)
            .agent("first", SAYS)
            .agent("second", "cat > seen-second.json; echo '{}'");
        assert!(case.run(json!({})).complete());
        let seen = case.seen("second");
        let mut state = seen["state"].clone();
        state.as_object_mut().unwrap().retain(|key, _| !key.starts_with('_'));
        (state, seen["inputs"].clone())
    };
    let all = json!({"shown": 1, "other": 2});
    assert_eq!(seen("strategy: full", ""), (json!({"base": 0, "note": 3, "first": all}), json!({"first": all})));
    let shown = json!({"shown": 1});
    assert_eq!(seen("strategy: selective", ""), (json!({"base": 0, "first": shown}), json!({"first": shown})));
    let rules = "strategy: selective, rules: [{from: first, to: [second], fields: [other, note]}]";
    assert_eq!(seen(rules, ""), (json!({"base": 0, "note": 3, "first": all}), json!({"first": all})));
    let others = "strategy: selective, rules: [{from: first, to: first, fields: [other]}]";
    assert_eq!(seen(others, "").0, json!({"base": 0, "first": shown}));
    assert_eq!(seen("strategy: isolated", ""), (json!({"base": 0}), json!({})));
    assert_eq!(seen("strategy: full, never_share: [other]", "").0["first"], shown);
    assert_eq!(seen("strategy: full, never_share: [first.other]", "").0["first"], shown);
    assert_eq!(seen("strategy: full, never_share: [second.other]", "").0["first"], all);
    assert_eq!(seen("strategy: full", ", share_input: {first: [other]}").1, json!({"first": {"other": 2}}));
    assert_eq!(seen("strategy: selective", ", share_input: {first: [other]}").1, json!({"first": {}}));
}

#[test]
fn r14_r16_marks_count_in_every_form_of_a_contract() {
    let fields = [
        "{tok: {type: string, sensitive: true}, priv: {type: string, shareable: false}}",
        "{tok: {type: string, x-awp-sensitive: true}, priv: {type: string, x-awp-shareable: false}}",
    ];
    let said = "cat > /dev/null; echo '{\"tok\": \"hunter2-secret\", \"priv\": \"mine\"}'";
    for fields in fields {
        for contract in [
            fields.to_owned(),
            format!("{{type: object, properties: {fields}}}"),
            format!("{{type: object, additionalProperties: true, properties: {fields}}}"),
        ] {
            let case = two("", "").agent_with("first", &format!("output: {{contract: {contract}}}"), said);
            let text = case.text("workflow.awp.yaml").replace(", share_output: [shown]", "");
            case.write("workflow.awp.yaml", &text);
            let case = case.agent("second", "cat > seen-second.json; echo '{}'");
            let ended = case.run(json!({}));
            assert!(ended.complete(), "{contract}");
            assert_eq!(case.seen("second")["inputs"], json!({"first": {"tok": "hunter2-secret"}}), "{contract}");
            let written = format!("{}{}", case.written(), ended.to_json());
            assert!(!written.contains("hunter2-secret"), "{contract}: {written}");
        }
    }
}

#[test]
fn r16_why_an_agent_failed_is_seen_as_what_it_says_is() {
    for (strategy, seen) in [("full", true), ("selective", false), ("isolated", false)] {
        let case = two(&format!("state: {{sharing: {{strategy: {strategy}}}}}\n"), "");
        let text = case.text("workflow.awp.yaml").replace("{id: first,", "{id: first, on_failure: skip,");
        case.write("workflow.awp.yaml", &text);
        let case = case
            .agent("first", "cat > /dev/null; echo private-of-first >&2; exit 1")
            .agent("second", "cat > seen-second.json; echo '{}'");
        assert!(case.run(json!({})).complete());
        let errors = case.seen("second")["state"]["_errors"].to_string();
        assert_eq!(errors.contains("private-of-first"), seen, "{strategy}: {errors}");
    }
}

#[test]
fn r17_an_agent_that_is_out_of_time_is_ended_with_all_it_started() {
    let lingers = "cat > /dev/null; (sleep 3; echo late > late) & echo $! > child; sleep 30; echo '{}'";
    let case = two("", ", on_failure: stop").agent("first", lingers).agent("second", SAYS);
    let text = case.text("workflow.awp.yaml").replace("{id: first,", "{id: first, timeout: 0.5, on_failure: skip,");
    case.write("workflow.awp.yaml", &text);
    let began = Instant::now();
    let ended = case.run(json!({}));
    assert_eq!(end(&ended), words("complete", "complete"));
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    assert_eq!(case.told("agent.failed")[0]["kind"], "timeout");
    assert_eq!(case.agents("agent.finished"), ["second"]);
    std::thread::sleep(std::time::Duration::from_millis(3_500));
    assert_eq!(case.text("late"), "", "what the agent started went on without it");
}

#[test]
fn r17_a_run_that_is_out_of_time_ends() {
    for (limit, reason) in [("timeout_total: 1", "max_wall_time"), ("timeout_idle: 1", "timeout_idle")] {
        let manifest = format!(
            "orchestration:\n  graph:\n    - {{id: slow}}\n    - {{id: next, depends_on: [slow]}}\n  execution: {{{limit}}}\n"
        );
        let case = Case::new(&manifest).agent("slow", "cat > /dev/null; sleep 30").agent("next", SAYS);
        let began = Instant::now();
        assert_eq!(end(&case.run(json!({}))), words("partial", reason));
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
        assert_eq!(case.kinds().last().unwrap(), "run.ended");
        assert_eq!(case.agents("agent.stopped"), ["slow"]);
    }
}

#[test]
fn r18_a_record_that_was_changed_is_found() {
    let case = two("", "").agent("first", SAYS).agent("second", SAYS);
    assert!(case.run(json!({})).complete());
    let records = case.records();
    assert_eq!(records[0]["prev_hash"], "0".repeat(64));
    for pair in records.windows(2) {
        assert_eq!(pair[1]["prev_hash"], pair[0]["hash"]);
    }
    let session = std::fs::read_dir(case.state().join("sessions")).unwrap().next().unwrap().unwrap().path();
    let log = std::fs::read_to_string(session.join("audit.jsonl")).unwrap();
    let mut verifier = jackline_core::audit::Verifier::new(jackline_core::audit::Format::Ours);
    let changed = log.replacen("\"shown\":1", "\"shown\":7", 1);
    assert_ne!(changed, log);
    assert!(changed.lines().any(|line| verifier.line(line.as_bytes()).is_err()));
}

#[test]
fn agents_write_the_runs_directories_and_not_the_workflow() {
    use jackline_runtime::runner::{Confined, confinement};
    // Everybody may write there, and it is not where temporary files of agents are; a home may lie among those.
    let writes = "dir=$(sed 's/.*\"output_dir\":\"\\([^\"]*\\)\".*/\\1/'); echo fine > \"$dir/fine.txt\"; \
        out=/var/tmp/jackline-test-$$; if echo x > $out 2> /dev/null; then rm $out; echo '{\"escaped\": true}'; else echo '{\"escaped\": false}'; fi";
    let case = Case::new("orchestration:\n  graph:\n    - {id: writer}\n").agent("writer", writes);
    let ended = case.run(json!({}));
    if matches!(confinement(false), Confined::No(_)) {
        // Where the kernel cannot hold anybody, every record of an answer says so.
        assert!(case.told("agent.finished").iter().all(|data| data["unconfined"].is_string()));
    } else {
        assert_eq!(ended.output, json!({"writer": {"escaped": false}}));
    }
    assert_eq!(std::fs::read_to_string(case.output("fine.txt")).unwrap(), "fine\n");
}

#[test]
fn r14_numbers_short_values_and_quoted_ones_are_hidden_too() {
    let more = "env: [{name: SHORT, sensitive: true}]\nstate:\n  sharing: {strategy: full, sensitive_fields: [account, key]}\n";
    let first = "cat > /dev/null; printf '%s' '{\"account\": 987654321, \"copy\": 987654321, \"list\": [{\"z\": 987654321}], \
        \"key\": \"line one of it\\nline \\\"two\\\" of it\", \"said\": \"abc\"}'";
    let second = "cat >&2; echo '{\"said\": \"the code is abc\"}'";
    let case = two(more, "").agent("first", first).agent("second", second).variable("SHORT", "abc");
    let ended = case.run(json!({}));
    assert!(ended.complete());
    let written = format!("{}{}{}", case.written(), ended.to_json(), ended.human());
    for secret in ["987654321", "line one", "two", "\"abc\"", "is abc"] {
        assert!(!written.contains(secret), "{secret} is in {written}");
    }
    assert_eq!(ended.agent_runs, 2);
}

#[test]
fn r14_and_r16_hold_for_flags_of_either_form_of_a_contract() {
    let schema = "output: {contract: {type: object, properties: {tok: {type: string, sensitive: true}, own: {type: string, shareable: false}}}}";
    let open = "output: {contract: {type: object, anyOf: [{required: [tok]}], properties: {tok: {type: string, sensitive: true}, own: {type: string, shareable: false}}}}";
    let flat = "output: {contract: {tok: {type: string, sensitive: true}, own: {type: string, shareable: false}}}";
    for yaml in [schema, open, flat] {
        let case = Case::new("orchestration:\n  graph: [{id: first}, {id: second, depends_on: [first]}]\n")
            .agent_with("first", yaml, "cat > /dev/null; echo '{\"tok\": \"very-secret\", \"own\": \"mine alone\"}'")
            .agent("second", "cat > seen-second.json; echo '{}'");
        let ended = case.run(json!({}));
        assert!(ended.complete(), "{yaml}");
        assert!(!format!("{}{}", case.written(), ended.to_json()).contains("very-secret"), "{yaml}");
        let seen = case.seen("second").to_string();
        assert!(seen.contains("very-secret") && !seen.contains("mine alone"), "{yaml}: {seen}");
    }
}

#[test]
fn r15_null_in_a_schema_says_something() {
    let more = "communication:\n  channels:\n    - {name: ch, schema: {type: object, required: [err], properties: {err: {const: null}}}}\n\
        state: {initial: {x: null}, required_fields: [x]}\n";
    let first = "cat > /dev/null; echo '{\"messages\": [{\"channel\": \"ch\", \"content\": {\"err\": \"boom\"}}, {\"channel\": \"ch\", \"content\": {\"err\": null}}]}'";
    let case = two(more, "").agent("first", first).agent("second", SAYS);
    assert!(case.run(json!({})).complete());
    assert_eq!((case.told("message.rejected").len(), case.told("message.delivered").len()), (1, 1));
}

#[test]
fn r16_what_is_kept_back_is_in_no_gathered_answer() {
    let nodes = "orchestration:\n  graph:\n    - {id: first, fan_out: {source: '[1, 2]'}, fan_in: {target_field: got}}\n    - {id: second, depends_on: [first]}\n\
        state: {sharing: {strategy: full, never_share: [nev]}}\n";
    let yaml = "output: {contract: {nev: {type: string}, own: {type: string, shareable: false}, pub: {type: string}}}";
    let case = Case::new(nodes)
        .agent_with(
            "first",
            yaml,
            "cat > /dev/null; echo '{\"nev\": \"never\", \"own\": \"mine alone\", \"pub\": \"q\"}'",
        )
        .agent("second", "cat > seen-second.json; echo '{}'");
    assert!(case.run(json!({})).complete());
    let seen = case.seen("second");
    assert_eq!(seen["state"]["got"], json!([{"pub": "q"}, {"pub": "q"}]));
    assert!(!seen.to_string().contains("never") && !seen.to_string().contains("mine alone"), "{seen}");
}

#[test]
fn r16_agents_cannot_read_what_is_kept_of_a_run() {
    use jackline_runtime::runner::{Confined, confinement};
    let reads = "dir=$(sed 's/.*\"output_dir\":\"\\([^\"]*\\)\".*/\\1/'); cd \"$dir/../../..\"; \
        found=$(cat runs/*/answers/* sessions/*/audit.jsonl 2> /dev/null | grep -c very-private); \
        echo ok > \"$dir/own\" && own=$(cat \"$dir/own\"); echo \"{\\\"found\\\": $found, \\\"own\\\": \\\"$own\\\"}\"";
    let more = "state: {sharing: {strategy: isolated}}\n";
    let case =
        two(more, "").agent("first", "cat > /dev/null; echo '{\"private\": \"very-private\"}'").agent("second", reads);
    // What lies below the temporary directory can be read: agents may write there.
    let temp = case.state().with_file_name("temp");
    std::fs::create_dir(&temp).unwrap();
    let case = case.variable("TMPDIR", temp.to_str().unwrap());
    let ended = case.run(json!({}));
    if matches!(confinement(false), Confined::Yes) {
        assert_eq!(ended.output["second"], json!({"found": 0, "own": "ok"}));
        assert!(case.told("agent.finished").iter().all(|data| data.get("unconfined").is_none()));
    } else {
        assert!(case.told("agent.finished").iter().all(|data| data["unconfined"].is_string()));
    }
}

#[test]
fn when_nothing_can_be_recorded_everybody_at_work_ends() {
    let manifest = "orchestration:\n  graph: [{id: slow}, {id: quick}]\n";
    let breaks = "dir=$(sed 's/.*\"output_dir\":\"\\([^\"]*\\)\".*/\\1/'); rm -rf \"$dir/../answers\"; touch \"$dir/../answers\"; echo '{\"n\": 1}'";
    let case = Case::new(manifest).agent("slow", "cat > /dev/null; sleep 30; echo '{}'").agent("quick", breaks);
    let began = Instant::now();
    let order = jackline_workflow::run::Order { run: "r1".to_owned(), task: None, input: None, resume: false };
    let fault = case.order(order).unwrap_err();
    assert!(matches!(fault, jackline_workflow::run::RunFault::Disk { .. }), "{fault}");
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn r16_what_a_fan_out_gathers_can_be_shared() {
    let contract = "output: {contract: {pub: {type: string}, own: {type: string}, nev: {type: string}}}";
    let says = "cat > /dev/null; echo '{\"pub\": \"p\", \"own\": \"o\", \"nev\": \"n\"}'";
    let seen = |fan_in: &str, share: &str, more: &str| {
        let nodes = format!(
            "orchestration:\n  graph:\n    - {{id: first, fan_out: {{source: '[1, 2]'}}, fan_in: {{{fan_in}}}{share}}}\n    \
             - {{id: second, depends_on: [first]{more}}}\nstate: {{sharing: {{strategy: selective, never_share: [nev]}}}}\n"
        );
        let case =
            Case::new(&nodes).agent_with("first", contract, says).agent("second", "cat > seen-second.json; echo '{}'");
        assert!(case.run(json!({})).complete());
        let seen = case.seen("second");
        let state = |name: &str| seen["state"].get(name).cloned().unwrap_or_default();
        (state("first"), state("got"), seen["inputs"].get("first").cloned().unwrap_or_default())
    };
    let none = || (json!(null), json!(null), json!(null));
    let whole = json!([{"pub": "p", "own": "o"}, {"pub": "p", "own": "o"}]);
    let part = json!([{"pub": "p"}, {"pub": "p"}]);
    // The field that they become, all of it save what is kept back.
    let got = json!({"got": whole});
    assert_eq!(seen("target_field: got", ", share_output: [got]", ""), (got.clone(), whole.clone(), got));
    let results = json!({"results": whole});
    assert_eq!(seen("strategy: merge", ", share_output: [results]", ""), (results.clone(), json!(null), results));
    // A field of each of them.
    let got = json!({"got": part});
    assert_eq!(seen("target_field: got", ", share_output: [pub]", ""), (got.clone(), part.clone(), got));
    let one = json!({"got": {"pub": "p"}});
    assert_eq!(
        seen("strategy: first, target_field: got", ", share_output: [pub]", ""),
        (one.clone(), json!({"pub": "p"}), one)
    );
    assert_eq!(seen("target_field: got", "", ""), none());
    assert_eq!(seen("target_field: got", ", share_output: [nev]", ""), none());
    // Who wants less is given less.
    let more = ", share_input: {first: [pub]}";
    assert_eq!(seen("target_field: got", ", share_output: [got]", more).2, json!({"got": part}));
}

#[test]
fn r16_agents_are_meant_by_their_names_too() {
    let seen = |sharing: &str| {
        let nodes = format!(
            "orchestration:\n  graph: [{{id: n1, agent: first}}, {{id: n2, agent: second, depends_on: [n1]}}]\nstate: {{sharing: {{{sharing}}}}}\n"
        );
        let case = Case::new(&nodes).agent("first", SAYS).agent("second", "cat > seen-second.json; echo '{}'");
        assert!(case.run(json!({})).complete());
        case.seen("second")["state"].get("n1").cloned().unwrap_or_default()
    };
    assert_eq!(seen("strategy: full, never_share: [first.other]"), json!({"shown": 1}));
    assert_eq!(seen("strategy: full, never_share: [n1.other]"), json!({"shown": 1}));
    let rule = "strategy: selective, rules: [{from: first, to: second, fields: [other]}]";
    assert_eq!(seen(rule), json!({"other": 2}));
    assert_eq!(seen(&rule.replace("to: second", "to: first")), json!(null));
}

#[test]
fn r14_a_secret_is_not_cut_in_two() {
    let secret = "qwertzuiopasdfghjklyxcvbnm1234567890QWERT";
    let more = "state: {sharing: {strategy: full, sensitive_fields: [tok]}}\n";
    // Of what a command complains about, the beginning and the end are kept: one of these goes through the middle of one.
    for before in [250, 265, 280, 295] {
        let complains = format!(
            "cat > /dev/null; (printf '%{before}s' ''; for i in 1 2 3 4 5 6 7 8 9 10; do printf {secret}; done; printf '%{before}s' '') | tr ' ' x >&2; \
             echo '{{\"tok\": \"{secret}\"}}'"
        );
        let case = two(more, "").agent("first", &complains).agent("second", SAYS);
        let ended = case.run(json!({}));
        assert!(ended.complete());
        let told = &case.told("agent.finished")[0];
        assert!(told["stderr"].as_str().unwrap().contains("xxx"), "{told}");
        for at in 0..secret.len() - 8 {
            assert!(!case.written().contains(&secret[at..at + 8]), "{before}: {told}");
        }
    }
}

#[test]
fn r14_marks_inside_of_fields_count() {
    let tok = "{type: string, sensitive: true}";
    for contract in [
        format!("{{type: object, properties: {{user: {{type: object, properties: {{tok: {tok}}}}}}}}}"),
        format!("{{user: {{type: object, properties: {{tok: {tok}}}}}}}"),
        format!("{{type: object, allOf: [{{properties: {{user: {{properties: {{tok: {tok}}}}}}}}}]}}"),
        format!(
            "{{type: object, properties: {{user: {{$ref: '#/$defs/user'}}}}, $defs: {{user: {{properties: {{tok: {tok}}}}}}}}}"
        ),
    ] {
        let case = Case::new("orchestration:\n  graph: [{id: first}, {id: second, depends_on: [first]}]\n")
            .agent_with(
                "first",
                &format!("output: {{contract: {contract}}}"),
                "cat > /dev/null; echo '{\"user\": {\"tok\": \"very-secret\"}}'",
            )
            .agent("second", "cat > seen-second.json; echo '{}'");
        let ended = case.run(json!({}));
        assert!(ended.complete(), "{contract}");
        assert!(!format!("{}{}", case.written(), ended.to_json()).contains("very-secret"), "{contract}");
        assert!(case.seen("second").to_string().contains("very-secret"), "{contract}");
    }
}

#[test]
fn r14_names_of_our_own_are_no_fields_of_a_workflow() {
    for name in ["status", "plan", "scores", "ended", "output_dir", "task", "critique", "gates"] {
        let more = format!("state: {{sharing: {{strategy: full, sensitive_fields: [{name}]}}}}\n");
        let case = crate::delegation::flow("", &more).manager(
            "boss",
            &[
                crate::delegation::plan(&[crate::delegation::subtask("s1", &["text.md"])]),
                crate::delegation::delegate(&[("s1", "echo some words > text.md")]),
                json!({"decision": "COMPLETE", "final_result": {name: "very-secret"}}),
            ],
        );
        assert!(case.run(json!({})).complete(), "{name}");
        let text = std::fs::read(case.state().join("runs/r1/run.json")).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains("very-secret"), "{name}");
        let run = jackline_workflow::gates::Run::read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let look = jackline_workflow::gates::look(&run, std::path::Path::new("/"));
        assert!(jackline_workflow::gates::judge(&run, &look).complete(), "{name}");
    }
}

#[test]
fn r16_whoever_stands_in_keeps_back_what_is_its_own() {
    for fan_out in ["", ", fan_out: {source: '[1, 2]'}"] {
        let nodes = format!(
            "orchestration:\n  graph: [{{id: aa{fan_out}}}, {{id: bb, depends_on: [aa]}}]\n  \
             execution: {{error_handling: {{fallback_agent: sp}}}}\nstate: {{sharing: {{strategy: full, never_share: [sp.nev]}}}}\n"
        );
        let yaml =
            "output: {contract: {own: {type: string, shareable: false}, nev: {type: string}, pub: {type: string}}}";
        let case = Case::new(&nodes)
            .agent("aa", "exit 1")
            .agent_with("sp", yaml, "cat > /dev/null; echo '{\"own\": \"mine\", \"nev\": \"never\", \"pub\": \"q\"}'")
            .agent("bb", "cat > seen-bb.json; echo '{}'");
        assert!(case.run(json!({})).complete());
        let seen = case.seen("bb").to_string();
        assert!(
            seen.contains("\"pub\":\"q\"") && !seen.contains("mine") && !seen.contains("never"),
            "{fan_out}: {seen}"
        );
    }
}
