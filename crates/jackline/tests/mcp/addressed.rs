//! Calls to our own server that a hook or a proxy saw before: one call, in the session that the record knows it in.

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

fn hooked(event: &str, session: &str, id: &str, args: &Value) -> Value {
    let call = json!({"id": id, "tool": "mcp__jackline__todo_create", "args": args});
    json!({"event": event, "session": session, "host": "claude", "call": call, "ok": true})
}

fn started(session: &str) -> Value {
    json!({"event": "session.started", "session": session, "host": "claude"})
}

fn with_address(args: &Value, session: &str, call: &str) -> Value {
    let mut args = args.clone();
    args["_jackline"] = json!({"session": session, "call": call});
    args
}

#[test]
fn a_hook_writes_the_address_over_whatever_is_there() {
    let world = World::new("jackline: 1\n");
    let forged = with_address(&json!({"content": "x"}), "another", "call");
    let answer = &world.eval(&[hooked("call.requested", "s1", "toolu_1", &forged)])[0];
    assert_eq!(answer["edits"][0]["value"], with_address(&json!({"content": "x"}), "s1", "toolu_1"), "{answer}");
    assert_eq!(answer["edits"][0]["code"], "session/addressed");
}

#[test]
fn a_call_that_a_hook_saw_is_one_call_of_its_session() {
    let world = World::new("jackline: 1\nlimits: { steps: 3 }\n");
    world.eval(&[started("s1"), started("s2")]);
    let mut client = world.served(&[]);
    for n in 1..=3 {
        let (id, args) = (format!("toolu_{n}"), json!({"content": format!("todo {n}")}));
        let answer = world.eval(&[hooked("call.requested", "s2", &id, &args)]).remove(0);
        let made = client.call("todo_create", answer["edits"][0]["value"].clone());
        assert_eq!(made["result"]["structuredContent"]["status"], "pending", "{made}");
        world.eval(&[hooked("call.finished", "s2", &id, &args)]);
    }
    let refused = world.eval(&[hooked("call.requested", "s2", "toolu_4", &json!({"content": "4"}))]);
    assert_eq!(refused[0]["code"], "budget/steps", "three calls were counted, not six");
    client.leave();
    let created = world.records_of("todo.created");
    assert!(created.len() == 3 && created.iter().all(|record| record["session"] == "s2"));
}

#[test]
fn an_address_that_the_record_does_not_know_is_not_believed() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("s1"), started("s2")]);
    let args = json!({"content": "x"});
    world.eval(&[hooked("call.requested", "s1", "toolu_1", &args), hooked("call.finished", "s1", "toolu_1", &args)]);
    let mut client = world.served(&[]);
    for (session, call) in [("s1", "toolu_9"), ("s1", "toolu_1"), ("nobody", "toolu_1"), ("../s1", "x")] {
        let refused = client.call("todo_create", with_address(&args, session, call));
        assert_eq!(code(&refused), "session/ambiguous", "{session} {call}: {refused}");
    }
    assert_eq!(code(&client.call("todo_create", json!({"content": "x", "_jackline": "s1"}))), "session/ambiguous");
    assert!(world.records_of("todo.created").is_empty());
    // The one that is named when the server starts needs no address.
    let mut named = world.served(&["--session", "s1"]);
    assert!(text(&named.call("todo_create", args)).contains("pending"));
    assert_eq!(world.records_of("todo.created")[0]["session"], "s1");
}

#[test]
fn one_address_opens_once() {
    let world = World::new("jackline: 1\npolicies: [ { name: sure, rule: { tool: todo_create, verdict: ask } } ]\n");
    let mut client = world.served(&[]);
    let args = json!({"content": "x"});
    world.eval(&[hooked("call.requested", "s1", "toolu_1", &args)]);
    let addressed = with_address(&args, "s1", "toolu_1");
    assert!(text(&client.call("todo_create", addressed.clone())).contains("pending"), "a person was asked before");
    assert_eq!(code(&client.call("todo_create", addressed)), "rule/sure");
    world.eval(&[hooked("call.requested", "s1", "toolu_2", &args)]);
    let other = with_address(&json!({"content": "something else"}), "s1", "toolu_2");
    assert_eq!(code(&client.call("todo_create", other)), "rule/sure", "another call under the same id");
}

#[test]
fn without_a_hook_sessions_are_joined_as_everywhere() {
    let world = World::new("jackline: 1\n");
    world.eval(&[started("here")]);
    let mut client = world.served(&[]);
    client.call("todo_create", json!({"content": "x"}));
    client.leave();
    assert_eq!(world.records_of("todo.created")[0]["session"], "here");
    world.eval(&[json!({"event": "session.ended", "session": "here"})]);
    let mut fresh = world.served(&[]);
    fresh.call("todo_list", json!({}));
    fresh.leave();
    assert_eq!(world.records_of("session.ended").len(), 2, "what was started here ends here");
}

#[test]
fn the_proxy_before_our_own_server_adds_no_call() {
    let world = World::new("jackline: 1\nlimits: { steps: 4 }\n");
    std::fs::write(world.path("ws/a.txt"), "one\n").expect("written");
    let mut client = world.proxy(&["--name", "jackline"], &[super::JACKLINE, "mcp", "serve"]);
    client.greet();
    let tools = client.request("tools/list", json!({}));
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(17));
    let made = client.call("todo_create", json!({"content": "x"}));
    assert_eq!(made["result"]["structuredContent"]["status"], "pending", "{made}");
    assert_eq!(text(&client.call("read_file", json!({"path": "a.txt"}))), "one\n");
    // A hook that saw the call before the proxy did.
    let session = world.records()[0]["session"].as_str().expect("one").to_owned();
    let args = json!({"content": "y"});
    world.eval(&[hooked("call.requested", &session, "toolu_1", &args)]);
    let made = client.call_as("toolu_1", "todo_create", with_address(&args, &session, "toolu_1"));
    assert_eq!(made["result"]["structuredContent"]["status"], "pending", "{made}");
    assert_eq!(code(&client.call("todo_create", json!({"content": 5}))), "schema/invalid");
    assert_eq!(code(&client.call("todo_list", json!({}))), "budget/steps", "each call was counted once");
    client.leave();
    let sessions: std::collections::BTreeSet<String> =
        world.records().iter().map(|record| record["session"].to_string()).collect();
    assert_eq!(sessions.len(), 1);
}

/// A hook of Claude Code's sees a call of a file tool; its arguments as they go on.
fn seen_by_a_hook(world: &World, id: &str, tool: &str, args: &Value) -> Value {
    let call = json!({"id": id, "tool": format!("mcp__jackline__{tool}"), "args": args});
    let event = json!({"event": "call.requested", "session": "s1", "host": "claude", "call": call});
    let answer = world.eval(&[event]).remove(0);
    assert_eq!(answer["verdict"], "allow", "{answer}");
    answer["edits"][0]["value"].clone()
}

#[test]
fn a_link_that_is_put_there_after_the_hook_leads_nowhere() {
    let definition =
        "jackline: 1\nloop: false\npolicies:\n  - paths: { protect: [\"prot/**\"], protect_reads: true }\n";
    for (tool, more) in [
        ("read_file", json!({})),
        ("write_file", json!({"content": "agent"})),
        ("edit_file", json!({"old_text": "secret", "new_text": "agent"})),
        ("list_dir", json!({})),
        ("search", json!({"pattern": "secret"})),
    ] {
        let world = World::new(definition);
        std::fs::create_dir(world.path("ws/prot")).expect("made");
        std::fs::create_dir(world.path("ws/d")).expect("made");
        std::fs::write(world.path("ws/prot/f.txt"), "secret\n").expect("written");
        std::fs::write(world.path("ws/d/f.txt"), "mine\n").expect("written");
        let mut args = more;
        args["path"] = json!(if tool == "list_dir" { "d" } else { "d/f.txt" });
        let mut client = world.served(&[]);
        let addressed = seen_by_a_hook(&world, "toolu_1", tool, &args);
        seen_by_a_hook(&world, "toolu_2", tool, &args);
        std::fs::rename(world.path("ws/d"), world.path("ws/d0")).expect("moved");
        std::os::unix::fs::symlink("prot", world.path("ws/d")).expect("linked");
        for answer in [client.call(tool, addressed), client.call_as("toolu_2", tool, args.clone())] {
            assert_eq!(code(&answer), "paths/unresolvable", "{tool}: {answer}");
            assert!(!answer.to_string().contains("secret"), "{tool}: {answer}");
        }
        assert_eq!(std::fs::read_to_string(world.path("ws/prot/f.txt")).expect("there"), "secret\n", "{tool}");
    }
}

#[test]
fn what_guards_the_session_is_not_reached_by_such_a_link_either() {
    let world = World::new("jackline: 1\n");
    std::fs::write(world.path("ws/n.txt"), "mine\n").expect("written");
    let mut client = world.served(&[]);
    let addressed = seen_by_a_hook(&world, "toolu_1", "write_file", &json!({"path": "n.txt", "content": "agent"}));
    std::fs::remove_file(world.path("ws/n.txt")).expect("gone");
    std::os::unix::fs::symlink("jackline.yaml", world.path("ws/n.txt")).expect("linked");
    assert_eq!(code(&client.call("write_file", addressed)), "paths/unresolvable");
    assert_eq!(std::fs::read_to_string(world.path("ws/jackline.yaml")).expect("there"), "jackline: 1\n");
}

#[test]
fn a_call_has_one_name_here_however_it_is_written() {
    let world = World::new("jackline: 1\npolicies: [ { name: sure, rule: { tool: todo_create, verdict: ask } } ]\n");
    let mut client = world.served(&[]);
    let args = json!({"content": "x"});
    world.eval(&[hooked("call.requested", "s1", "toolu_1", &args)]);
    assert!(text(&client.call_as("toolu_1", "mcp__jackline__todo_create", args.clone())).contains("pending"));
    assert_eq!(code(&client.call_as("toolu_1", "todo_create", args)), "rule/sure", "a person agreed to one");
}
