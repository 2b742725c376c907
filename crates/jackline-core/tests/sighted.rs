//! A call that a hook let through comes to a proxy that knows more of its server: where that may see paths from.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong in a test's own steps fails the test")]

mod played;

use jackline_core::stack::Origin;
use played::Played;
use serde_json::json;

/// What a hook says of a call, and then the proxy before a server that was started in these directories.
fn both(played: &mut Played, id: &str, path: &str, dirs: &[&str]) -> [String; 2] {
    let call = json!({ "id": id, "tool": "mcp__files__read_file", "args": { "path": path } });
    let mut at_proxy = call.clone();
    at_proxy.as_object_mut().unwrap().insert("dirs".to_owned(), json!(dirs));
    [("claude", call), ("mcp", at_proxy)].map(|(host, call)| {
        played.code(&json!({ "event": "call.requested", "session": "s", "host": host, "call": call }))
    })
}

#[test]
fn what_a_hook_cannot_know_of_a_servers_directories_is_judged_at_the_proxy() {
    let text = "loop: false\nlimits: {steps: 4}\n\
                policies: [{paths: {protect: [\"sub/secret\"], protect_reads: true}}]";
    let mut played = Played::new(&[(Origin::Project, text)]);
    assert_eq!(both(&mut played, "1", "secret", &["/ws/sub"]), ["allow", "paths/protected"]);
    assert_eq!(both(&mut played, "2", "plain", &["/ws/sub"]), ["allow", "allow"]);
    assert_eq!(both(&mut played, "3", "secret", &["/ws"]), ["allow", "allow"]);
    // Four calls are four: what comes by a second time is not counted again.
    assert_eq!(both(&mut played, "4", "/ws/secret", &["/ws/sub"]), ["allow", "allow"]);
    assert_eq!(played.session.steps, 4);
}
