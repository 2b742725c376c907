//! Whoever calls and whatever is called: sub-agents, tools of MCP servers, calls side by side.

use jackline_rehearsal::client::Play;
use jackline_rehearsal::{Mcp, Script, call};
use serde_json::json;

use super::{World, ran, refused, sound};

#[test]
fn a_sub_agents_calls_are_judged_as_its_own() {
    let world = World::guarded();
    let task = json!({"description": "write", "prompt": "write", "subagent_type": "general-purpose",
                      "run_in_background": false});
    let sub = Script::new().bash("sub-secret", "echo KEY=1 > .env").bash("sub-fine", "touch fine").say("sub done");
    let run = world.play(Script::new().call("task", "Agent", task).bash("own", "touch own").say("done").subagent(sub));
    sound(&run);
    refused(&run, "sub-secret", &[".env"]);
    ran(&run, "sub-fine");
    ran(&run, "own");
    assert!(world.has("fine") && world.has("own") && !world.has(".env"));
    let agent = |name: &str| world.records_of("call.requested", name).first().expect("recorded")["agent"].clone();
    assert_eq!((agent("task"), agent("own")), (json!("main"), json!("main")));
    assert_ne!(agent("sub-fine"), json!("main"));
    assert_eq!(agent("sub-fine"), agent("sub-secret"));
}

#[test]
fn tools_of_mcp_servers_are_judged() {
    let world = World::guarded();
    let server = Mcp::start().expect("started");
    let servers = json!({"mcpServers": {"notes": {"type": "http", "url": server.url()}}}).to_string();
    let run = world.play_with(
        Script::new()
            .call("loud", "mcp__notes__note", json!({"text": "now!"}))
            .call("calm", "mcp__notes__note", json!({"text": "later"}))
            .say("done"),
        &Play::default().with(&["--mcp-config", &servers, "--strict-mcp-config"]),
    );
    sound(&run);
    refused(&run, "loud", &["notes are calm"]);
    ran(&run, "calm");
    assert_eq!(server.calls(), [json!({"text": "later"})]);
    assert_eq!((world.decided("loud"), world.decided("calm")), ("deny".to_owned(), "allow".to_owned()));
}

#[test]
fn of_two_calls_side_by_side_only_the_refused_one_is_missing() {
    let world = World::guarded();
    let bash = |name: &str, command: &str| call(name, "Bash", json!({ "command": command }));
    let run =
        world.play(Script::new().calls([bash("bad", "touch infra.ok .env"), bash("good", "touch good")]).say("done"));
    sound(&run);
    refused(&run, "bad", &[".env"]);
    ran(&run, "good");
    assert!(world.has("good") && !world.has(".env") && !world.has("infra.ok"));
}
