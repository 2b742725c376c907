//! Calls are judged before the server sees them, and bounded before the client does.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

const RULES: &str = r#"jackline: 1
policies:
  - name: calm
    rule: { tool: mcp__odd__echo, args: { text: { glob: "*!" } }, reason: "no shouting", suggest: ["say it calmly"] }
  - name: careful
    rule: { tool: mcp__odd__fail, verdict: ask, reason: "are you sure?" }
  - name: order
    sequence: { requires: { mcp__odd__add: [mcp__odd__echo] } }
"#;

#[test]
fn a_policy_refuses_a_call_before_the_server_sees_it() {
    let world = World::new(RULES);
    let mut client = world.odd(&["--name", "odd"]);
    let refused = client.call("echo", json!({"text": "hey!"}));
    assert_eq!((&refused["result"]["isError"], code(&refused)), (&json!(true), "rule/calm"));
    assert!(text(&refused).contains("no shouting") && text(&refused).contains("→ say it calmly"), "{refused}");
    assert!(refused["result"].get("structuredContent").is_none());
    assert_eq!(text(&client.call("echo", json!({"text": "hey"}))), "hey");
    assert_eq!(world.called(), ["echo"]);
    assert_eq!(client.leave(), Some(0));
    let verdicts: Vec<_> =
        world.records_of("decision").iter().map(|record| record["data"]["verdict"].clone()).collect();
    assert!(verdicts.contains(&json!("deny")), "{verdicts:?}");
    let finished = world.records_of("call.finished");
    assert_eq!(
        (finished.len(), &finished[0]["target"], &finished[0]["host"]),
        (1, &json!("tool:mcp__odd__echo"), &json!("mcp"))
    );
}

#[test]
fn who_loads_a_session_after_an_answer_finds_its_state() {
    let world = World::new("jackline: 1\n");
    let state = world.path("state");
    let mut client = world.odd(&["--name", "odd", "--session", "s", "--store", state.to_str().unwrap()]);
    for turn in 0..20 {
        client.call("echo", json!({"text": turn.to_string()}));
    }
    let store = FileStore::open(state);
    let behind = || store.load("s").unwrap().tail.count();
    // It is written behind the answer.
    let until = Instant::now() + Duration::from_secs(10);
    while behind() > 0 && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(behind(), 0);
    let checkpoint = store.load("s").unwrap().checkpoint.unwrap();
    assert!(checkpoint.head.seq > 80, "{:?}", checkpoint.head);
}

#[test]
fn what_would_be_asked_is_refused_where_nobody_can_be() {
    let world = World::new(RULES);
    let mut client = world.odd(&["--name", "odd"]);
    let refused = client.call("fail", json!({}));
    assert_eq!(code(&refused), "rule/careful");
    assert!(text(&refused).contains("nobody can be asked here"), "{refused}");
    assert!(world.called().is_empty());
}

#[test]
fn order_is_kept_over_calls_of_a_server() {
    let world = World::new(RULES);
    let mut client = world.odd(&["--name", "odd"]);
    assert_eq!(code(&client.call("add", json!({"a": 1, "b": 2}))), "sequence/missing");
    client.call("echo", json!({"text": "x"}));
    let sum = client.call("add", json!({"a": 1, "b": 2}));
    assert_eq!(sum["result"]["structuredContent"]["sum"], 3, "{sum}");
}

#[test]
fn tools_that_the_server_does_not_offer_are_refused_with_the_nearest_names() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let refused = client.call("ecko", json!({"text": "x"}));
    assert_eq!((&refused["result"]["isError"], code(&refused)), (&json!(true), "tools/unknown"));
    let emitted = &refused["result"]["_meta"]["jackline/emitted"][0];
    assert_eq!((&emitted["type"], &emitted["nearest"][0]), (&json!("UNKNOWN_TOOL"), &json!("mcp__odd_server__echo")));
    assert!(
        text(&refused).contains("There is no tool 'ecko'.") && text(&refused).contains("→ did you mean `echo`?\n["),
        "{refused}"
    );
    assert!(world.called().is_empty());
    // The proxy asked for the list itself, since the client had not.
    assert!(world.reached().iter().any(|message| message["method"] == "tools/list"));
}

#[test]
fn arguments_must_fit_what_the_server_says() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let refused = client.call("add", json!({"a": "one", "c": 1}));
    assert_eq!(code(&refused), "schema/invalid");
    for part in ["\"instance_path\":\"/a\"", "required", "additionalProperties"] {
        assert!(text(&refused).contains(part), "{part} in {refused}");
    }
    assert_eq!(text(&client.call("add", json!({"a": 1, "b": 2}))), "{\"sum\":3}");
    assert_eq!(world.called(), ["add"]);
}

#[test]
fn a_schema_that_cannot_be_used_is_left_to_the_server_and_told() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    assert_eq!(text(&client.call("far", json!({"text": "x"}))), "x");
    assert_eq!(text(&client.call("far", json!({"text": "y"}))), "y");
    let told = client.complaints();
    assert_eq!(told.matches("'mcp__odd__far' cannot be used").count(), 1, "once for each list: {told}");
    assert!(told.contains("`https://example.com/elsewhere.json`"), "{told}");
    // Another list, and its tool has the same schema.
    client.call("change", json!({}));
    assert_eq!(text(&client.call("far", json!({"text": "z"}))), "z");
    assert!(client.complaints().contains("'mcp__odd__far' cannot be used"));
    client.leave();
    let decisions = world.records_of("decision");
    let unchecked = |record: &&Value| record["data"]["findings"][0]["code"] == "schema/unusable";
    assert_eq!(decisions.iter().filter(unchecked).count(), 3, "each call has it on record");
}

#[test]
fn a_schema_that_cannot_be_used_is_a_missing_one() {
    let world = World::new("jackline: 1\nschema: { missing: deny }\n");
    let mut client = world.odd(&["--name", "odd"]);
    let refused = client.call("far", json!({"text": "x"}));
    assert_eq!((&refused["result"]["isError"], code(&refused)), (&json!(true), "schema/missing"));
    assert!(text(&refused).contains("Tool 'far' has no schema that can be used"), "{refused}");
    assert!(client.complaints().contains("cannot be used"));
    let explained = String::from_utf8(world.jackline(&["explain", "last"]).stdout).expect("UTF-8");
    assert!(explained.contains("not looked at, since it cannot be used: it refers to"), "{explained}");
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    assert_eq!(world.called(), ["echo"]);
    client.leave();
    let declared = "jackline: 1\nschema: { missing: deny }\ntools: { declare: { mcp__odd__far: { schema: { required: [text] } } } }\n";
    let world = World::new(declared);
    let mut client = world.odd(&["--name", "odd"]);
    assert_eq!(text(&client.call("far", json!({"text": "x"}))), "x");
    assert_eq!(code(&client.call("far", json!({}))), "schema/invalid");
}

#[test]
fn a_definition_that_is_tightened_counts_for_the_next_call() {
    let world = World::new("jackline: 1\nloop: false\n");
    let mut client = world.odd(&["--name", "odd"]);
    client.call("echo", json!({"text": "first"}));
    // Long enough for what is in force to be remembered, and calls that follow each other closely.
    thread::sleep(Duration::from_millis(60));
    for turn in 0..3 {
        assert_eq!(text(&client.call("echo", json!({"text": turn.to_string()}))), turn.to_string());
    }
    let tightened = "jackline: 1\nloop: false\npolicies: [ { name: no, rule: { tool: mcp__odd__echo } } ]\n";
    fs::write(world.path("ws/jackline.yaml"), tightened).expect("written");
    assert_eq!(code(&client.call("echo", json!({"text": "after"}))), "rule/no");
    assert_eq!(world.called(), ["echo"; 4]);
    client.leave();
    assert_eq!(world.records_of("definition.changed").len(), 1);
}

#[test]
fn the_list_is_learned_page_by_page_by_whoever_asks_for_it() {
    let world = World::new("jackline: 1\n");
    let mut client = world.ungreeted(&["--name", "odd"], &["--pages"]);
    client.greet();
    // The client knows one page of many; the proxy asks for all before it says that there is no such tool.
    client.request("tools/list", json!({}));
    assert_eq!(text(&client.call("slow", json!({"ms": 1}))), "at last");
    assert_eq!(code(&client.call("nothing", json!({}))), "tools/unknown");
    let lists = world.reached().iter().filter(|message| message["method"] == "tools/list").count();
    assert!(lists > 15, "{lists} pages");
}

#[test]
fn a_loop_is_a_loop_and_budgets_end() {
    let world = World::new("jackline: 1\nlimits: { steps: 4 }\n");
    let mut client = world.odd(&[]);
    for _ in 0..2 {
        assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    }
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "loop/override");
    assert_eq!(text(&client.call("echo", json!({"text": "y"}))), "y");
    assert_eq!(code(&client.call("echo", json!({"text": "z"}))), "budget/steps");
    assert_eq!(world.called().len(), 3);
}

#[test]
fn results_are_bounded_and_structured_ones_stay_valid() {
    let world = World::new("jackline: 1\noutputs: { lines_max: 3, bytes_max: 4096 }\n");
    let mut client = world.odd(&[]);
    let long = client.call("long", json!({"lines": 1000}));
    assert!(text(&long).starts_with("line 1\nline 2\nline 3\n[lines_shown: 3, lines_remaining: 997,"), "{long}");
    let sum = client.call("add", json!({"a": 1, "b": 2}));
    assert_eq!((text(&sum), &sum["result"]["structuredContent"]), ("{\"sum\":3}", &json!({"sum": 3})));
}

#[test]
fn whatever_a_model_is_shown_is_bounded() {
    let world = World::new("jackline: 1\noutputs: { lines_max: 50 }\n");
    let mut client = world.odd(&[]);
    let wordy = client.call("wordy", json!({}));
    let lines = |value: &serde_json::Value| value.as_str().unwrap_or_default().lines().count();
    assert!(lines(&wordy["error"]["message"]) + lines(&wordy["error"]["data"]) < 60, "{wordy}");
    assert_eq!(wordy["error"]["code"], json!(-32000));
    let linked = client.call("linked", json!({}));
    assert!(linked.to_string().matches("line ").count() < 60, "{linked}");
}

/// Calls until the store is full, with files that grow to so many blocks and no further: how many results were shown, how
/// many were withheld, and how many ends are on record.
fn shown_while_the_store_fills_up(blocks: usize) -> (usize, usize, usize) {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = super::odd_server();
    let limited = format!("ulimit -f {blocks}; exec {} mcp proxy --name odd -- {server}", super::JACKLINE);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &limited]).current_dir(world.path("ws")).env_clear();
    shell.env("HOME", world.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let mut client = super::client::Client::start(shell);
    client.greet();
    let (mut shown, mut withheld) = (0, 0);
    for _ in 0..8 {
        let answer = client.call("long", json!({"lines": 2000}));
        shown += usize::from(text(&answer).contains("line 2000"));
        withheld += usize::from(text(&answer).contains("its result is not shown"));
        if code(&answer).starts_with("fault/") {
            break;
        }
    }
    client.leave();
    (shown, withheld, world.records_of("call.finished").len())
}

#[test]
fn a_result_whose_end_cannot_be_kept_is_not_shown() {
    let mut all = 0;
    for blocks in (24..=64).step_by(4) {
        let (shown, withheld, kept) = shown_while_the_store_fills_up(blocks);
        assert_eq!(shown, kept, "{blocks} blocks");
        all += withheld;
    }
    assert!(all > 0, "none was withheld");
}

#[test]
fn a_result_that_fails_is_on_record_as_failed() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    assert_eq!(client.call("fail", json!({}))["result"]["isError"], json!(true));
    assert_eq!(client.call("error", json!({}))["error"]["code"], json!(-32603));
    client.leave();
    let finished = world.records_of("call.finished");
    assert_eq!(
        finished.iter().map(|record| record["data"]["ok"].clone()).collect::<Vec<_>>(),
        [json!(false), json!(false)]
    );
}

#[test]
fn a_broken_store_refuses_calls_and_lets_the_rest_pass() {
    let world = World::new("jackline: 1\n");
    std::fs::write(world.path("store"), "no directory").expect("written");
    let store = world.path("store");
    let mut client = world.odd(&["--store", store.to_str().expect("UTF-8")]);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    let refused = client.call("echo", json!({"text": "x"}));
    assert!(code(&refused).starts_with("fault/"), "{refused}");
    assert!(world.called().is_empty());
}

#[test]
fn the_protocol_without_initialize_is_spoken_too() {
    let world = World::new("jackline: 1\n");
    let mut client = world.ungreeted(&[], &["--stateless"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let call = |name: &str, args: serde_json::Value| json!({"name": name, "arguments": args, "_meta": meta});
    let refused = client.request("tools/call", call("ecko", json!({})));
    assert_eq!((code(&refused), &refused["result"]["resultType"]), ("tools/unknown", &json!("complete")));
    assert_eq!(text(&client.request("tools/call", call("echo", json!({"text": "x"})))), "x");
    // A call that wants input is one call, however often the client comes back with it.
    for _ in 0..4 {
        let wants = client.request("tools/call", call("input", json!({})));
        assert_eq!(wants["result"]["resultType"], "input_required", "{wants}");
        let mut again = call("input", json!({}));
        again["requestState"] = json!("s1");
        assert_eq!(text(&client.request("tools/call", again)), "with input");
        client.call("echo", json!({"text": world.called().len().to_string()}));
        client.call("echo", json!({"text": world.called().len().to_string()}));
    }
}

#[test]
fn without_a_definition_nothing_is_judged_and_nothing_is_kept() {
    let world = World::new("");
    let mut client = world.odd(&[]);
    assert_eq!(client.call("ecko", json!({}))["error"]["message"], "no such tool");
    for _ in 0..5 {
        assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    }
    assert!(client.complaints().contains("no definition is in force here"));
    client.leave();
    assert!(!world.path("home/.local/state/jackline/sessions").exists());
}

#[test]
fn advice_is_a_further_block_of_the_result() {
    let world = World::new("jackline: 1\nfeedback: [ { static: \"mind the gap\", every_n_calls: 1 } ]\n");
    let mut client = world.odd(&[]);
    let sum = client.call("add", json!({"a": 1, "b": 2}));
    let content = sum["result"]["content"].as_array().expect("content");
    assert_eq!((content.len(), text(&sum)), (2, "{\"sum\":3}"), "{sum}");
    assert!(content[1]["text"].as_str().is_some_and(|advice| advice.contains("mind the gap")), "{sum}");
    assert_eq!(sum["result"]["structuredContent"], json!({"sum": 3}));
    let failed = client.call("error", json!({}));
    let message = failed["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("an internal error\n") && message.contains("mind the gap"), "{failed}");
    let refused = client.call("nothing", json!({}));
    assert!(refused["result"]["content"][1]["text"].as_str().is_some_and(|advice| advice.contains("mind the gap")));
}

#[test]
fn a_relative_path_is_judged_from_where_the_server_was_started() {
    let world = World::new(
        "jackline: 1\nloop: false\ntools: { declare: { mcp__odd__echo: { kind: read, path: text } } }\npolicies:\n  - paths: { outside: allow, protect: [\"sub/secret.txt\"], protect_reads: true }\n",
    );
    std::fs::create_dir(world.path("ws/sub")).expect("made");
    std::fs::write(world.path("ws/sub/secret.txt"), "s").expect("written");
    let server = super::odd_server();
    let project = world.path("ws");
    let arguments =
        ["mcp", "proxy", "--name", "odd", "--workspace", project.to_str().expect("UTF-8"), "--", server.as_str()];
    for (dir, told) in [("ws/sub", None), ("ws", Some("sub"))] {
        let mut command = world.command(&arguments);
        command.args(told).current_dir(world.path(dir));
        let mut client = super::client::Client::start(command);
        client.greet();
        for path in ["secret.txt", "./secret.txt", "sub/secret.txt"] {
            assert_eq!(code(&client.call("echo", json!({"text": path}))), "paths/protected", "{dir}: {path}");
        }
        assert_eq!(text(&client.call("echo", json!({"text": "plain.txt"}))), "plain.txt", "{dir}");
    }
}

#[test]
fn a_relative_path_is_judged_from_the_clients_roots_once_the_server_knows_them() {
    let world = World::new(
        "jackline: 1\nloop: false\ntools: { declare: { mcp__odd__echo: { kind: read, path: text } } }\npolicies:\n  - paths: { outside: allow, protect: [\"sub dir/secret.txt\"], protect_reads: true }\n",
    );
    std::fs::create_dir(world.path("ws/sub dir")).expect("made");
    std::fs::write(world.path("ws/sub dir/secret.txt"), "s").expect("written");
    let mut client = world.odd(&["--name", "odd"]);
    let mut name = |dir: &str| {
        let call = client.ask("tools/call", json!({"name": "ask", "arguments": {"of": dir}}));
        let asked = client.message();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let uri = format!("file://{}", world.path(dir).to_str().expect("UTF-8").replace(' ', "%20"));
        client.say(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": uri}]}}).to_string());
        client.answer_to(&call);
        client.call("echo", json!({"text": "secret.txt"}))
    };
    assert_eq!(text(&name("ws")), "secret.txt");
    assert_eq!(code(&name("ws/sub dir")), "paths/protected");
    assert_eq!(text(&name("ws")), "secret.txt", "the last answer counts");
    client.leave();
    let dirs: Vec<_> =
        world.records_of("call.requested").iter().map(|call| call["data"]["call"]["dirs"].clone()).collect();
    assert!(dirs[3].to_string().contains("sub dir") && !dirs[1].to_string().contains("sub dir"), "{dirs:?}");
}

#[test]
fn a_refusal_does_not_speak_of_a_shell_where_there_is_none() {
    let world = World::new("jackline: 1\nloop: false\n");
    let mut client = world.odd(&[]);
    let refused = client.call("tmove", json!({"source": "jackline.yaml", "destination": "j2"}));
    assert!(text(&refused).contains("This call names `jackline.yaml`"), "{refused}");
}
