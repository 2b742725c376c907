//! MCP servers behind the proxy, in a session whose hooks are wired: each call is one call, and joins its session.

use jackline_rehearsal::client::Play;
use jackline_rehearsal::{Mcp, Run, Script, install};
use serde_json::{Value, json};

use super::{World, outcome, ran, refused, sound};

/// Plays a script against servers that were put behind the proxy.
fn behind_the_proxy(world: &World, servers: &Value, script: Script) -> Run {
    world.write("servers.json", &json!({ "mcpServers": servers }).to_string());
    let wrapped = world.jackline(&["mcp", "wrap", "--config", "servers.json"]);
    assert_eq!(wrapped.status.code(), Some(0), "{}", String::from_utf8_lossy(&wrapped.stderr));
    let play = Play::default().with(&["--mcp-config", "servers.json", "--strict-mcp-config"]);
    world.play_with(script, &play)
}

#[test]
fn a_call_that_hook_and_proxy_see_is_one_call() {
    let world = World::guarded();
    let server = install::odd_mcp_server().unwrap_or_else(|why| panic!("{why}"));
    let run = behind_the_proxy(
        &world,
        &json!({"notes": {"command": server, "args": ["--log", world.stage.top().join("log")]}}),
        Script::new()
            .call("fine", "mcp__notes__echo", json!({"text": "hello"}))
            .call("odd", "mcp__notes__add", json!({"a": 1, "b": 2, "c": 3}))
            .say("done"),
    );
    sound(&run);
    ran(&run, "fine");
    assert!(outcome(&run, "fine").text.contains("hello"));
    refused(&run, "odd", &["additionalProperties"]);
    let seen = world.records_of("call.requested", "fine");
    let hosts: Vec<&str> = seen.iter().filter_map(|record| record["host"].as_str()).collect();
    assert_eq!(hosts, ["claude", "mcp"]);
    assert_eq!(seen[0]["step"], seen[1]["step"], "counted once");
    let sessions: std::collections::BTreeSet<String> =
        world.records().iter().map(|record| record["session"].to_string()).collect();
    assert_eq!(sessions.len(), 1, "the proxy joined the session of the hooks");
}

#[test]
fn a_server_at_an_address_is_wrapped_and_judged() {
    let world = World::guarded();
    let server = Mcp::start().expect("started");
    let run = behind_the_proxy(
        &world,
        &json!({"notes": {"type": "http", "url": server.url()}}),
        Script::new()
            .call("loud", "mcp__notes__note", json!({"text": "now!"}))
            .call("calm", "mcp__notes__note", json!({"text": "later"}))
            .call("wrong", "mcp__notes__note", json!({"text": 5}))
            .say("done"),
    );
    sound(&run);
    refused(&run, "loud", &["notes are calm"]);
    ran(&run, "calm");
    refused(&run, "wrong", &[]);
    assert_eq!(server.calls(), [json!({"text": "later"})]);
}
