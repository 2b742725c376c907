//! Clients that say what is no message, too much, twice or half: typed errors, and no hang.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::World;

fn error(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

#[test]
fn what_is_no_message_gets_an_error_and_the_connection_goes_on() {
    let world = World::new("jackline: 1\n");
    let mut client = world.ungreeted_server(&[]);
    // Nothing of this is a request, before or after the greeting.
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    client.say(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    client.say("");
    client.say("{bad");
    assert_eq!(error(&client.message()), -32700);
    client.greet();
    for (said, want) in [
        ("nonsense", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, -32700),
        ("[]", -32600),
        ("5", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":77,"method":"no/such/method"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":78,"method":"prompts/get","params":{"name":"x"}}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":79,"method":"tools/call","params":{"name":5}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":80,"method":"tools/call","params":{"name":"park","arguments":[]}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":81,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":84,"method":"tools/list","params":{"cursor":"2"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":83,"method":"tools/call","params":{"name":""}}"#, -32602),
    ] {
        client.say(said);
        let answer = client.message();
        assert_eq!(error(&answer), want, "{said}: {answer}");
    }
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    client.say(&format!(r#"{{"jsonrpc":"2.0","id":82,"method":"tools/call","params":{{"name":"park","arguments":{{"reason":{deep}}}}}}}"#));
    assert_eq!(error(&client.message()), -32700);
    assert!(client.request("ping", json!({})).get("result").is_some());
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn who_says_a_key_twice_is_told_as_who_asked() {
    let world = World::new("jackline: 1\n");
    for mut client in [world.ungreeted_server(&[]), world.ungreeted(&["--name", "odd"], &[])] {
        client.greet();
        client.say(r#"{"jsonrpc":"2.0","id":"mine","method":"ping","method":"tools/call"}"#);
        let answer = client.message();
        assert_eq!((error(&answer), &answer["id"]), (-32700, &json!("mine")), "{answer}");
        client.say(r#"{"jsonrpc":"2.0","id":"mine","ID":"yours","method":"ping","method":"ping"}"#);
        let answer = client.message();
        assert_eq!((error(&answer), &answer["id"]), (-32700, &Value::Null), "{answer}");
        assert_eq!(client.leave(), Some(0));
    }
}

#[test]
fn a_byte_order_mark_is_heard_by_nobody() {
    let world = World::new("jackline: 1\n");
    for mut client in [world.ungreeted_server(&[]), world.ungreeted(&["--name", "odd"], &["--marked"])] {
        client.greet();
        client.say("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"m\",\"method\":\"ping\"}");
        assert_eq!(client.answer_to(&json!("m"))["result"], json!({}));
        assert_eq!(client.leave(), Some(0));
    }
    assert!(!std::fs::read_to_string(world.path("log")).expect("kept").contains('\u{feff}'));
}

#[test]
fn nothing_said_before_the_version_is_settled_ends_the_server() {
    let world = World::new("jackline: 1\n");
    let meta = |version: &str| json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}});
    let first = [
        ("ping", json!({})),
        ("server/discover", meta("2026-07-28")),
        ("tools/list", json!({})),
        ("tools/list", meta("1999-01-01")),
    ];
    for (method, params) in first {
        let mut client = world.ungreeted_server(&[]);
        client.request(method, params);
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#);
        client.say(r#"{"jsonrpc":"2.0","id":98,"result":{}}"#);
        let listed = client.request("tools/list", meta("2026-07-28"));
        assert!(listed["result"]["tools"].is_array(), "{method}: {listed}");
        assert_eq!(client.leave(), Some(0));
    }
}

#[test]
fn a_message_that_is_too_long_is_answered_by_its_id() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    let long = "x".repeat(17 << 20);
    client.say(&format!(r#"{{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{{"name":"park","arguments":{{"reason":"{long}"}}}}}}"#));
    let answer = client.answer_to(&json!(41));
    assert_eq!(error(&answer), -32600, "{answer}");
    assert!(client.request("ping", json!({})).get("result").is_some());
    assert!(world.records_of("park").is_empty());
}

#[test]
fn an_id_that_is_in_flight_is_not_used_twice() {
    let world = World::new("jackline: 1\ntodos: { agent_commands: allow }\n");
    let definition = world.path("ws/jackline.yaml");
    let mut client = world.served(&["--definition", definition.to_str().expect("UTF-8")]);
    let made =
        client.call("todo_create", json!({"content": "slow", "checks": [{"command_exit_zero": ["sleep", "2"]}]}));
    let id = made["result"]["structuredContent"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    client.call("todo_start", json!({"id": id}));
    client.call("todo_claim", json!({"id": id, "explanation": "it sleeps and it ends, surely"}));
    let call = |n: u64, tool: &str, args: Value| {
        json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": tool, "arguments": args}})
            .to_string()
    };
    client.say(&call(500, "todo_verify", json!({"id": id})));
    client.say(&call(500, "todo_list", json!({})));
    assert_eq!(error(&client.answer_to(&json!(500))), -32600, "the second is refused");
    // Nobody waits for a check that runs.
    let began = Instant::now();
    assert!(client.request("ping", json!({})).get("result").is_some());
    assert!(began.elapsed() < Duration::from_secs(2));
    // A client that says nothing more still gets its answer.
    client.close();
    let answer = client.answer_to(&json!(500));
    assert_eq!(answer["result"]["structuredContent"]["status"], "verified", "{answer}");
    assert_eq!(client.ended(), Some(0));
}

#[test]
fn a_pipe_of_calls_is_served_to_its_end() {
    let world = World::new("jackline: 1\nloop: false\n");
    let mut client = world.served(&[]);
    let ids: Vec<Value> =
        (0..200).map(|_| client.ask("tools/call", json!({"name": "todo_list", "arguments": {}}))).collect();
    client.close();
    let mut answered: Vec<Value> = ids
        .iter()
        .map(|_| client.message())
        .map(|answer| {
            assert!(answer["result"]["structuredContent"]["todos"].is_array(), "{answer}");
            answer["id"].clone()
        })
        .collect();
    answered.sort_by_key(|id| id.as_u64());
    assert_eq!(answered, ids);
    assert_eq!(client.ended(), Some(0));
}

#[test]
fn a_client_that_goes_ends_the_server() {
    let world = World::new("jackline: 1\n");
    let silent = world.ungreeted_server(&[]);
    assert_eq!(silent.leave(), Some(0));
    let mut client = world.served(&[]);
    client.call("todo_list", json!({}));
    client.say(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"todo_l"#);
    assert_eq!(client.leave(), Some(0));
    assert_eq!(world.records_of("session.ended").len(), 1);
}

#[test]
fn a_signal_ends_it_as_a_shell_expects() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    client.call("todo_list", json!({}));
    let pid = rustix::process::Pid::from_child(&client.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    assert_eq!(client.ended(), Some(143));
    assert_eq!(world.records_of("session.ended").len(), 1, "what was started here ends here");
}

#[test]
fn several_messages_in_one_are_each_answered() {
    let world = World::new("jackline: 1\n");
    let mut client = world.served(&[]);
    client.say(r#"[{"jsonrpc":"2.0","id":50,"method":"ping"},{"jsonrpc":"2.0","id":51,"method":"odd/none"},5]"#);
    let mut answers: Vec<serde_json::Value> = (0..3).map(|_| client.message()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["error"]["code"], json!(-32600), "{answers:?}");
    assert_eq!(answers[1]["result"], json!({}), "{answers:?}");
    assert_eq!(answers[2]["error"]["code"], json!(-32601), "{answers:?}");
}
