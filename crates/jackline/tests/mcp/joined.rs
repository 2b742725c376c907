//! Which session calls belong to; and calls that a hook saw before.

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

fn hooked(event: &str, session: &str, id: &str, args: &Value) -> Value {
    let call = json!({"id": id, "tool": "mcp__odd__echo", "args": args});
    json!({"event": event, "session": session, "host": "claude", "call": call, "ok": true})
}

fn started(session: &str) -> Value {
    json!({"event": "session.started", "session": session, "host": "claude"})
}

fn sessions(world: &World) -> Vec<String> {
    let mut ids: Vec<String> =
        world.records().iter().map(|record| record["session"].as_str().expect("one").to_owned()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[test]
fn a_call_that_a_hook_saw_is_one_call() {
    let world = World::new("jackline: 1\nlimits: { steps: 3 }\n");
    world.eval(&[started("s1"), started("s2")]);
    let mut client = world.odd(&["--name", "odd"]);
    for n in 1..=3 {
        let (id, args) = (format!("toolu_{n}"), json!({"text": n.to_string()}));
        assert_eq!(world.eval(&[hooked("call.requested", "s2", &id, &args)])[0]["verdict"], "allow");
        assert_eq!(text(&client.call_as(&id, "echo", args.clone())), n.to_string());
        world.eval(&[hooked("call.finished", "s2", &id, &args)]);
    }
    // Three calls were counted, not six; the next is one too many for the hook itself.
    let refused = world.eval(&[hooked("call.requested", "s2", "toolu_4", &json!({"text": "4"}))]);
    assert_eq!(refused[0]["code"], "budget/steps");
    client.leave();
    assert_eq!(sessions(&world), ["s1", "s2"]);
    let sighted = world.records_of("call.requested").into_iter().filter(|record| record["host"] == "mcp");
    assert_eq!(sighted.map(|record| record["step"].as_u64().unwrap_or_default()).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn what_a_hook_asked_a_person_about_is_not_asked_again() {
    let world = World::new("jackline: 1\npolicies: [ { name: sure, rule: { tool: mcp__odd__echo, verdict: ask } } ]\n");
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": "x"});
    world.eval(&[hooked("call.requested", "s1", "toolu_1", &args)]);
    assert_eq!(text(&client.call_as("toolu_1", "echo", args.clone())), "x");
    // A call that no hook saw, and one of the same id with other arguments, are new ones.
    assert_eq!(code(&client.call_as("toolu_2", "echo", args)), "rule/sure");
    world.eval(&[hooked("call.requested", "s1", "toolu_3", &json!({"text": "calm"}))]);
    assert_eq!(code(&client.call_as("toolu_3", "echo", json!({"text": "other"}))), "rule/sure");
}

#[test]
fn a_second_sighting_still_knows_the_server() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": 5});
    assert_eq!(world.eval(&[hooked("call.requested", "s1", "toolu_1", &args)])[0]["verdict"], "allow");
    assert_eq!(code(&client.call_as("toolu_1", "echo", args.clone())), "schema/invalid");
    assert!(world.called().is_empty());
    // Refused here is refused: the host's word that it went well earns nothing.
    world.eval(&[hooked("call.finished", "s1", "toolu_1", &args)]);
    let changes = world
        .records()
        .iter()
        .flat_map(|record| record["changes"].as_array().cloned().unwrap_or_default())
        .collect::<Vec<_>>();
    assert!(!changes.iter().any(|change| change["done"]["name"] == "mcp__odd__echo"), "{changes:?}");
}

#[test]
fn a_call_is_sighted_once() {
    let world = World::new("jackline: 1\npolicies: [ { name: sure, rule: { tool: mcp__odd__echo, verdict: ask } } ]\n");
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": "x"});
    world.eval(&[hooked("call.requested", "s1", "toolu_1", &args)]);
    let hanging = json!({"name": "echo", "arguments": args, "_meta": {"claudecode/toolUseId": "toolu_1"}});
    assert_eq!(text(&client.request("tools/call", hanging.clone())), "x");
    assert_eq!(code(&client.request("tools/call", hanging)), "rule/sure");
}

#[test]
fn a_sub_agents_call_stays_its_own() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": "x"});
    let mut event = hooked("call.requested", "s1", "toolu_1", &args);
    event["agent"] = json!("reviewer");
    world.eval(&[event]);
    client.call_as("toolu_1", "echo", args);
    client.leave();
    let agents: Vec<_> = world.records_of("call.finished").iter().map(|record| record["agent"].clone()).collect();
    assert_eq!(agents, [json!("reviewer")]);
}

#[test]
fn a_question_that_a_host_takes_for_a_no_is_no_call_to_come() {
    let world = World::new(
        "jackline: 1\nloop: false\npolicies: [ { name: sure, rule: { tool: mcp__odd__echo, verdict: ask } } ]\n",
    );
    let mut client = world.odd(&["--name", "odd", "--session", "s1"]);
    for (host, want) in [("codex", "rule/sure"), ("gemini", "rule/sure"), ("opencode", "rule/sure"), ("vscode", "")] {
        let args = json!({"text": host});
        let mut event = hooked("call.requested", "s1", host, &args);
        event["host"] = json!(host);
        world.eval(&[event]);
        let answer = client.call("echo", args);
        assert_eq!(code(&answer), want, "{host}: {answer}");
    }
}

#[test]
fn a_sub_agents_call_is_its_own_where_nothing_of_it_comes_along() {
    let world = World::new("jackline: 1\npolicies: [ { read_before_write: {} } ]\n");
    std::fs::write(world.path("ws/a.txt"), "a\n").expect("written");
    let event = |agent: &str, tool: &str, args: Value| {
        let call = json!({"tool": format!("mcp__jackline__{tool}"), "args": args});
        json!({"event": "call.requested", "session": "s1", "host": "codex", "agent": agent, "call": call})
    };
    let read = json!({"path": "a.txt"});
    world.eval(&[started("s1"), event("reviewer", "read_file", read.clone())]);
    let mut client = world.served(&["--session", "s1"]);
    assert_eq!(code(&client.call("read_file", read)), "");
    assert_eq!(code(&client.call("guard_status", json!({}))), "");
    client.leave();
    let agents: Vec<_> = world.records_of("call.finished").iter().map(|record| record["agent"].clone()).collect();
    assert_eq!(agents, [json!("reviewer"), json!("main")]);
    let write = |agent: &str| event(agent, "write_file", json!({"path": "a.txt", "content": "b"}));
    let answers = world.eval(&[write("main"), write("reviewer")]);
    assert_eq!(answers[0]["code"], "read-before-write/unread", "{}", answers[0]);
    assert_eq!(answers[1]["verdict"], "allow", "{}", answers[1]);
}

#[test]
fn without_an_id_the_only_live_session_is_joined() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("over"), json!({"event": "session.ended", "session": "over"}), started("here")]);
    let mut client = world.odd(&[]);
    client.call("echo", json!({"text": "x"}));
    client.leave();
    assert_eq!(world.records_of("call.requested")[0]["session"], "here");
    assert_eq!(world.records_of("session.ended").len(), 1, "a session that was joined is not ended");
}

#[test]
fn several_live_sessions_are_no_guess() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("one"), started("two")]);
    let mut client = world.odd(&[]);
    let refused = client.call("echo", json!({"text": "x"}));
    assert_eq!(code(&refused), "session/ambiguous", "{refused}");
    assert!(world.called().is_empty());
    let mut named = world.odd(&["--session", "two"]);
    assert_eq!(text(&named.call("echo", json!({"text": "x"}))), "x");
    assert_eq!(world.records_of("call.requested")[0]["session"], "two");
}

#[test]
fn of_several_sessions_the_one_whose_hook_let_the_call_through_is_meant() {
    let world = World::new("jackline: 1\nloop: false\nlimits: { steps: 3 }\n");
    world.eval(&[started("one")]);
    let mut client = world.odd(&["--name", "odd"]);
    assert_eq!(text(&client.call("echo", json!({"text": "alone"}))), "alone");
    world.eval(&[started("two")]);
    let args = |text: &str| json!({"text": text});
    let hooked = |session: &str, text: &str| {
        let call = json!({"tool": "mcp__odd__echo", "args": args(text)});
        json!({"event": "call.requested", "session": session, "host": "gemini", "call": call})
    };
    // Nobody's hook saw it, and it was another session that was alone before.
    assert_eq!(code(&client.call("echo", args("unseen"))), "session/ambiguous");
    for text in ["first", "second"] {
        world.eval(&[hooked("two", text)]);
        assert_eq!(client.call("echo", args(text))["result"]["content"][0]["text"], text);
    }
    world.eval(&[hooked("one", "both"), hooked("two", "both")]);
    assert_eq!(code(&client.call("echo", args("both"))), "session/ambiguous");
    client.leave();
    let counted = |session: &str| {
        world
            .records_of("call.requested")
            .iter()
            .filter(|call| call["session"] == session && call["host"] == "mcp")
            .count()
    };
    assert_eq!((counted("one"), counted("two")), (1, 2));
}

#[test]
fn sessions_elsewhere_make_no_guess_of_it() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("one"), started("two")]);
    std::fs::create_dir(world.path("other")).expect("made");
    std::fs::write(world.path("other/jackline.yaml"), "jackline: 1\n").expect("written");
    let elsewhere = world.path("other");
    let started_there = |n: usize| {
        let mut event = started(&format!("elsewhere-{n}"));
        event["cwd"] = json!(elsewhere.to_str().expect("UTF-8"));
        event
    };
    let events: Vec<Value> = (0..70).map(started_there).collect();
    let mut eval = world.command(&["eval", "--workspace", elsewhere.to_str().expect("UTF-8")]);
    let mut eval =
        eval.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().expect("started");
    {
        use std::io::Write as _;
        let mut input = eval.stdin.take().expect("piped");
        events.iter().for_each(|event| writeln!(input, "{event}").expect("written"));
    }
    assert!(eval.wait().expect("ended").success());
    let mut client = world.odd(&[]);
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "session/ambiguous");
    client.leave();
    assert_eq!(sessions(&world), ["one", "two"]);
}

#[test]
fn a_call_that_says_where_it_belongs_speaks_for_no_other() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("one"), started("two")]);
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": "x"});
    world.eval(&[hooked("call.requested", "two", "toolu_1", &args)]);
    assert_eq!(text(&client.call_as("toolu_1", "echo", args.clone())), "x");
    assert_eq!(code(&client.call("echo", args)), "session/ambiguous");
}

#[test]
fn a_session_that_was_started_here_ends_here_whatever_is_joined_meanwhile() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    let args = json!({"text": "x"});
    client.call("echo", args.clone());
    world.eval(&[started("host"), hooked("call.requested", "host", "toolu_1", &args)]);
    assert_eq!(text(&client.call_as("toolu_1", "echo", args)), "x");
    client.leave();
    let ended = world.records_of("session.ended");
    assert!(ended.len() == 1 && ended[0]["session"].as_str().is_some_and(|id| id.starts_with("mcp-")), "{ended:?}");
}

#[test]
fn without_a_session_one_is_started_and_shared_and_ended() {
    let world = World::new("jackline: 1\n");
    let (mut one, mut two) = (world.odd(&["--name", "one"]), world.odd(&["--name", "two"]));
    one.call("echo", json!({"text": "x"}));
    two.call("echo", json!({"text": "y"}));
    two.leave();
    one.leave();
    let ids = sessions(&world);
    assert!(ids.len() == 1 && ids[0].starts_with("mcp-"), "{ids:?}");
    assert_eq!((world.records_of("session.started").len(), world.records_of("session.ended").len()), (1, 1));
    // What is over is not joined.
    let mut three = world.odd(&["--name", "three"]);
    three.call("echo", json!({"text": "z"}));
    three.leave();
    assert_eq!(sessions(&world).len(), 2);
}
