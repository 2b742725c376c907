//! Servers and clients that misbehave: clear errors, no stuck client, nothing left behind.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

fn world() -> World {
    World::new("jackline: 1\n")
}

/// Whether a process is there.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[track_caller]
fn ends(pid: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while lives(pid) {
        assert!(Instant::now() < until, "process {pid} is still there");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_that_dies_leaves_no_question_open() {
    let world = world();
    let mut client = world.odd(&[]);
    let waiting = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    let dying = client.ask("tools/call", json!({"name": "die", "arguments": {}}));
    for id in [waiting, dying] {
        let answer = client.answer_to(&id);
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(message.contains("ended with exit code 3"), "{answer}");
    }
    assert_eq!(client.ended(), Some(3));
    let ends: Vec<Value> =
        world.records_of("call.finished").iter().map(|record| record["data"]["ok"].clone()).collect();
    assert_eq!(ends, [json!(false), json!(false)]);
}

#[test]
fn a_server_that_dies_is_seen_though_another_keeps_its_output() {
    let world = world();
    let mut client = world.odd(&[]);
    let waiting = client.ask("tools/call", json!({"name": "orphan", "arguments": {}}));
    let begun = Instant::now();
    let answer = client.answer_to(&waiting);
    let why = answer["error"]["message"].as_str().expect("a message");
    assert!(why.contains("ended with exit code 7"), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(client.ended(), Some(7));
}

#[test]
fn whatever_is_not_answered_takes_too_long_at_last() {
    let world = world();
    let mut client = world.odd(&["--timeout", "300ms"]);
    let late = client.request("odd/silence", json!({}));
    assert_eq!(late["error"]["code"], json!(-32001), "{late}");
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    let mut mute = world.ungreeted(&["--timeout", "300ms"], &["--stateless"]);
    mute.ask("tasks/result", json!({}));
    assert_eq!(mute.leave(), Some(0), "what lasts is not waited for");
}

#[test]
fn an_answer_is_one_thing() {
    let world = World::new("jackline: 1\noutputs: { lines_max: 50 }\n");
    let mut client = world.odd(&[]);
    // This client does not speak of further input, so it is a result like any other.
    let pretended = client.call("pretend", json!({}));
    assert!(text(&pretended).lines().count() < 60, "{pretended}");
    let both = client.call("both", json!({}));
    assert!(both["error"]["message"].as_str().is_some_and(|why| why.contains("both a method and an answer")), "{both}");
    let empty = client.call("empty", json!({}));
    assert!(
        empty["error"]["message"].as_str().is_some_and(|why| why.contains("neither a result nor an error")),
        "{empty}"
    );
    let nulled = client.call("nulled", json!({}));
    assert_eq!((text(&nulled), nulled.get("error")), ("said", Some(&Value::Null)), "as the server said it");
    assert!(client.aside.is_empty(), "{:?}", client.aside);
    client.leave();
    let ends: Vec<_> = world.records_of("call.finished").iter().map(|end| end["data"]["ok"].clone()).collect();
    assert_eq!(ends, [json!(true), json!(false), json!(false), json!(true)]);
}

#[test]
fn a_call_that_takes_too_long_is_answered_and_cancelled() {
    let world = world();
    let mut client = world.odd(&["--timeout", "300ms"]);
    let late = client.call("hang", json!({}));
    assert_eq!(late["error"]["code"], json!(-32001), "{late}");
    assert_eq!(text(&client.call("echo", json!({"text": "on"}))), "on");
    let cancelled = world.reached().into_iter().find(|message| message["method"] == "notifications/cancelled");
    assert!(cancelled.is_some_and(|message| message["params"]["requestId"].is_number()));
    client.leave();
    assert_eq!(world.records_of("call.finished")[0]["data"]["ok"], json!(false));
}

#[test]
fn a_late_answer_is_not_shown() {
    let world = world();
    let mut client = world.odd(&["--timeout", "300ms"]);
    let late = client.call("slow", json!({"ms": 1500}));
    assert_eq!(late["error"]["code"], json!(-32001), "{late}");
    thread::sleep(Duration::from_millis(2_000));
    client.request("ping", json!({}));
    assert!(client.aside.is_empty(), "{:?}", client.aside);
}

#[test]
fn a_client_may_cancel() {
    let world = world();
    let mut client = world.odd(&[]);
    client.call("echo", json!({"text": "first"}));
    let id = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}).to_string());
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    client.leave();
    let finished = world.records_of("call.finished");
    assert_eq!(finished[1]["data"]["output"]["cancelled"], "enough", "{finished:?}");
}

#[test]
fn a_flood_is_an_error_for_whoever_waits() {
    let world = world();
    let mut client = world.odd(&[]);
    let flooded = client.call("flood", json!({}));
    assert!(
        flooded["error"]["message"].as_str().is_some_and(|why| why.contains("longer than 16777216 bytes")),
        "{flooded}"
    );
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
}

#[test]
fn a_result_that_cannot_be_read_is_an_error_that_says_so_of_a_call_that_was_made() {
    let world = world();
    let mut client = world.odd(&[]);
    let doubled = client.call("doubled", json!({}));
    let why = doubled["error"]["message"].as_str().expect("a message");
    assert!(why.starts_with("the call was made, and") && why.contains("occurs twice"), "{doubled}");
    client.leave();
    let finished = world.records_of("call.finished");
    assert_eq!((finished.len(), &finished[0]["data"]["ok"]), (1, &json!(false)));
}

#[test]
fn an_answer_that_says_a_member_twice_is_an_error_at_once() {
    let world = world();
    let mut client = world.odd(&["--timeout", "50s"]);
    let begun = Instant::now();
    for tool in ["torn", "named-twice", "disguised"] {
        let answer = client.call(tool, json!({}));
        assert!(answer["error"]["message"].to_string().contains("says a member twice"), "{tool}: {answer}");
    }
    let id = client.ask("tools/call", json!({"name": "methodless", "arguments": {}}));
    let said = client.message();
    assert_eq!((&said["id"], text(&said)), (&id, "said"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    client.leave();
    let ends: Vec<_> = world.records_of("call.finished").iter().map(|end| end["data"]["ok"].clone()).collect();
    assert_eq!(ends, [json!(false), json!(false), json!(false), json!(true)]);
}

#[test]
fn babble_is_kept_from_the_client() {
    let world = world();
    let mut client = world.odd(&[]);
    assert_eq!(text(&client.call("babble", json!({}))), "said");
    assert!(client.aside.is_empty(), "{:?}", client.aside);
    assert!(client.complaints().contains("no message: hello"));
}

#[test]
fn a_server_that_does_not_read_does_not_hold_the_client_for_ever() {
    let world = world();
    let mut client = world.odd(&["--timeout", "3s"]);
    let deaf = client.ask("tools/call", json!({"name": "deaf", "arguments": {}}));
    assert_eq!(client.answer_to(&deaf)["error"]["code"], json!(-32001));
    // More than a pipe holds, so that writing has to wait.
    let full = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x".repeat(1 << 20)}}));
    let answer = client.answer_to(&full);
    assert!(answer["error"]["message"].is_string(), "{answer}");
    // Half of a message may be in its pipe, so it is of no use any more.
    assert_eq!(client.ended(), Some(1));
}

#[test]
fn what_is_no_message_is_refused_and_the_connection_goes_on() {
    let world = world();
    let mut client = world.odd(&[]);
    let cases = [
        ("{", -32700),
        ("hello", -32700),
        (r#"{"id":1,"method":"ping","method":"tools/call"}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        ("5", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"echo","arguments":[]}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":"e","method":"tools/call"}"#, -32602),
    ];
    for (line, want) in cases {
        client.say(line);
        let answer = client.message();
        assert_eq!(answer["error"]["code"], json!(want), "{line}: {answer}");
    }
    client.say(&format!("{{\"id\":1,\"method\":\"{}\"}}", "x".repeat(17 << 20)));
    assert_eq!(client.message()["error"]["code"], json!(-32600));
    client.say(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"unseen"}}}"#);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert!(world.called().is_empty());
}

#[test]
fn a_line_is_one_line_to_every_reader() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let call = r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}"#;
    client.say(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":50,\"method\":\"ping\",\"params\":{{\"_meta\":{{\"x\":\r{call}\r}}}}}}"
    ));
    assert_eq!(client.answer_to(&json!(50))["result"], json!({}));
    let text = std::fs::read_to_string(world.path("log")).expect("there");
    assert!(text.contains("\"_meta\":{\"x\": {") && !text.contains('\r'), "{text:?}");
}

#[test]
fn what_some_readers_would_take_for_a_call_is_no_message() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    for (text, code) in [
        (r#"{"jsonrpc":"2.0","id":60,"method":"ping","Method":"tools/call","params":{"name":"echo"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":61,"Method":"tools/call","result":{}}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":62,"method":"tools/call","params":{"name":"echo","Name":"fail","arguments":{}}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":63,"method":"tools/call","params":{"name":"echo","Arguments":{"text":"x"}}}"#,
            -32602,
        ),
    ] {
        client.say(text);
        let sent: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(client.answer_to(&sent["id"])["error"]["code"], json!(code), "{text}");
    }
    assert!(world.called().is_empty());
}

#[test]
fn two_requests_of_one_id_are_not_confused() {
    let world = world();
    let mut client = world.odd(&[]);
    let id = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    client.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}}).to_string());
    let refused = client.answer_to(&id);
    assert_eq!(refused["error"]["code"], json!(-32600), "{refused}");
    client.request("ping", json!({}));
    assert!(!world.called().contains(&"echo".to_owned()));
}

#[test]
fn a_client_that_closes_gets_its_answers_and_nothing_stays_behind() {
    let world = world();
    let mut client = world.odd(&[]);
    let left = text(&client.call("leave", json!({}))).to_owned();
    assert!(lives(&left));
    let id = client.ask("tools/call", json!({"name": "slow", "arguments": {"ms": 300}}));
    client.close();
    assert_eq!(text(&client.answer_to(&id)), "at last");
    assert_eq!(client.ended(), Some(0));
    ends(&left);
}

#[test]
fn a_signal_ends_the_server_and_all_it_started() {
    let world = world();
    let mut client = world.odd(&[]);
    let left = text(&client.call("leave", json!({}))).to_owned();
    let id = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    client.request("ping", json!({}));
    let kill = Command::new("kill").args(["-TERM", &client.child.id().to_string()]).status().expect("run");
    assert!(kill.success());
    assert!(client.answer_to(&id)["error"]["message"].is_string());
    assert_eq!(client.ended(), Some(128 + 15));
    ends(&left);
    assert_eq!(world.records_of("session.ended").len(), 1);
}

#[test]
fn a_client_that_is_gone_ends_the_server() {
    let world = world();
    let mut client = world.odd(&[]);
    let left = text(&client.call("leave", json!({}))).to_owned();
    client.child.kill().expect("killed");
    client.ended();
    // Nobody forwards a signal any more; the server sees the end of its input, and what it started is its own.
    Command::new("kill").args(["-KILL", &left]).status().expect("run");
    ends(&left);
}

#[test]
fn a_server_that_cannot_be_started_is_said_plainly() {
    let world = world();
    let output = world.jackline(&["mcp", "proxy", "--", "no-such-server"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("error: `no-such-server` cannot be started") && said.contains("help: "), "{said}");
}

#[test]
fn a_batch_is_answered_as_one_and_each_call_in_it_is_judged() {
    let world = World::new(
        "jackline: 1\npolicies: [ { name: calm, rule: { tool: mcp__odd__echo, args: { text: { glob: \"*!\" } } } } ]\n",
    );
    let mut client = world.odd(&["--name", "odd"]);
    let call = |id: u64, text: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}});
    let ping = json!({"jsonrpc": "2.0", "id": 103, "method": "ping"});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
    client.say(&json!([call(101, "hey!"), call(102, "hey"), ping, notice, 5]).to_string());
    let answers = client.message();
    let answers = answers.as_array().expect("an array");
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == json!(id)).expect("there");
    assert_eq!((answers.len(), code(of(101)), text(of(102)), &of(103)["result"]), (4, "rule/calm", "hey", &json!({})));
    assert!(answers.iter().any(|answer| answer["id"].is_null() && answer["error"]["code"] == json!(-32600)));
    assert_eq!(world.called(), ["echo"]);
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = world();
    let mut client = world.odd(&[]);
    client.call("echo", json!({"text": "first"}));
    let ids: Vec<Value> = (0..200)
        .map(|n| client.ask("tools/call", json!({"name": "echo", "arguments": {"text": n.to_string()}})))
        .collect();
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(text(&client.answer_to(id)), n.to_string());
    }
    client.leave();
    assert_eq!(world.records_of("call.finished").len(), 201);
}

#[test]
fn a_pipe_of_messages_is_served_to_its_end() {
    let world = world();
    let server = super::odd_server();
    let mut child = world
        .command(&["mcp", "proxy", "--", &server])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).lines().count()), (Some(0), 1));
}

#[test]
fn the_first_call_of_a_client_that_closes_at_once_is_answered_too() {
    let greeting = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    // It waits for the server's list, which nobody asked for.
    let call =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"heard"}}}"#;
    for name in [&["--name", "odd"][..], &[]] {
        for _ in 0..5 {
            let world = world();
            let mut client = world.ungreeted(name, &[]);
            [greeting, ready, call].iter().for_each(|line| client.say(line));
            client.close();
            assert_eq!(text(&client.answer_to(&json!(2))), "heard", "{name:?}");
            assert_eq!(client.ended(), Some(0));
            assert_eq!(world.records_of("call.finished")[0]["data"]["ok"], json!(true));
        }
    }
}

#[test]
fn a_client_that_does_not_read_keeps_nobody_from_ending() {
    let world = world();
    let server = super::odd_server();
    let mut child = world
        .command(&["mcp", "proxy", "--name", "odd", "--", &server])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    let mut input = child.stdin.take().expect("piped");
    let call = |id: u64, tool: &str, args: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": args}});
    // More than a pipe holds, and nobody takes it.
    for message in [call(1, "long", json!({"lines": 100_000})), call(2, "hang", json!({}))] {
        writeln!(input, "{message}").expect("written");
    }
    let until = Instant::now() + Duration::from_secs(60);
    while !world.called().contains(&"hang".to_owned()) && world.records_of("call.requested").len() < 2 {
        assert!(Instant::now() < until, "the calls do not arrive");
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("run");
    assert!(kill.success());
    let ended = loop {
        if let Some(status) = child.try_wait().expect("waited for") {
            break status.code();
        }
        if begun.elapsed() > Duration::from_secs(10) {
            drop(child.kill());
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(ended, Some(128 + 15));
    assert_eq!(world.records_of("session.ended").len(), 1);
    assert_eq!(world.records_of("call.finished").len(), 2, "all of it is on record, said or not");
}

#[test]
fn a_client_that_closes_and_does_not_read_keeps_nobody_either() {
    let world = world();
    let server = super::odd_server();
    let serve = ["mcp", "serve"];
    let proxy = ["mcp", "proxy", "--name", "odd", "--", &server];
    std::fs::write(world.path("ws/long.txt"), "a long line of a long file\n".repeat(9_000)).expect("written");
    let cases = [
        (&proxy[..], json!({"name": "long", "arguments": {"lines": 100_000}})),
        (&serve[..], json!({"name": "read_file", "arguments": {"path": "long.txt", "limit": 9_000}})),
    ];
    for (words, call) in cases {
        let mut command = world.command(words);
        let mut child =
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().expect("started");
        let mut input = child.stdin.take().expect("piped");
        let greeting =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
        ] {
            writeln!(input, "{message}").expect("written");
        }
        drop(input);
        let begun = Instant::now();
        while child.try_wait().expect("waited for").is_none() {
            if begun.elapsed() > Duration::from_secs(30) {
                drop(child.kill());
                panic!("{words:?} does not end");
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_client_that_is_gone_is_not_waited_for() {
    let world = world();
    let server = super::odd_server();
    let mut command = world.command(&["mcp", "proxy", "--name", "odd", "--", &server]);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).spawn().expect("started");
    let mut input = child.stdin.take().expect("piped");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hang", "arguments": {}}});
    writeln!(input, "{call}").expect("written");
    while world.records_of("call.requested").is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    drop((input, child.stdout.take()));
    let begun = Instant::now();
    while child.try_wait().expect("waited for").is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            drop(child.kill());
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(world.records_of("call.finished").len(), 1);
}

#[test]
fn a_server_that_works_is_not_taken_for_deaf() {
    let world = world();
    let mut client = world.odd(&[]);
    client.call("echo", json!({"text": "first"}));
    let slow = client.ask("tools/call", json!({"name": "slow", "arguments": {"ms": 12_000}}));
    // More than a pipe holds: it waits, and the client does not.
    let large = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x".repeat(300_000)}}));
    let cancelled = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    client.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}).to_string(),
    );
    assert_eq!(text(&client.answer_to(&slow)), "at last");
    assert_eq!(text(&client.answer_to(&large)).len(), 300_000);
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn what_was_answered_counts_however_a_proxy_ends() {
    const KILLS: usize = 12;
    let world = World::new(&format!("jackline: 1\nloop: false\nlimits: {{ steps: {} }}\n", 2 * KILLS));
    for round in 0..KILLS {
        let mut client = world.odd(&["--name", "odd", "--session", "s"]);
        for call in 0..2 {
            let said = format!("{round}/{call}");
            assert_eq!(text(&client.call("echo", json!({"text": said}))), said);
        }
        // Its checkpoint is written behind the answer: what it lacks must be found in the log.
        std::thread::sleep(Duration::from_micros(40 * round as u64));
        client.child.kill().expect("killed");
    }
    let mut last = world.odd(&["--name", "odd", "--session", "s"]);
    assert_eq!(code(&last.call("echo", json!({"text": "one more"}))), "budget/steps");
    drop(last);
    assert_eq!(world.records_of("call.finished").len(), 2 * KILLS);
}
