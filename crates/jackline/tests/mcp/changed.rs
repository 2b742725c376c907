//! Servers that change their tools while a session runs.

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

/// The findings of all decisions by one code.
fn findings(world: &World, wanted: &str) -> Vec<Value> {
    let decisions = world.records_of("decision");
    let all = decisions.iter().flat_map(|record| record["data"]["findings"].as_array().cloned().unwrap_or_default());
    all.filter(|finding| finding["code"] == wanted).collect()
}

#[test]
fn a_changed_list_is_told_and_named() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    client.request("tools/list", json!({}));
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    client.call("change", json!({}));
    client.request("tools/list", json!({}));
    let said = client.complaints();
    assert!(
        said.contains("MCP server 'odd' changed its tools while the session runs: 'echo', 'extra' differ or are new."),
        "{said}"
    );
    assert_eq!(text(&client.call("extra", json!({"text": "new"}))), "new");
    client.leave();
    assert_eq!(world.records_of("tools.listed").len(), 2);
    let findings = findings(&world, "mcp/tools-changed");
    assert_eq!((findings.len(), &findings[0]["enforced"]), (1, &json!(false)), "{findings:?}");
}

#[test]
fn calls_of_changed_tools_are_refused_where_the_owner_says_so() {
    let world = World::new("jackline: 1\nmcp: { changed_tools: deny }\n");
    let mut client = world.odd(&["--name", "odd"]);
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    client.call("change", json!({}));
    // The client did not look; the proxy does before the next call.
    for tool in ["echo", "extra"] {
        let refused = client.call(tool, json!({"text": "y"}));
        assert_eq!(code(&refused), "mcp/tools-changed", "{refused}");
    }
    assert_eq!(text(&client.call("add", json!({"a": 1, "b": 1}))), "{\"sum\":2}");
    assert_eq!(world.called(), ["echo", "change", "add"]);
}

#[test]
fn a_list_is_compared_over_restarts_of_the_proxy() {
    let world = World::new("jackline: 1\nmcp: { changed_tools: deny }\n");
    let mut first = world.odd(&["--name", "odd", "--session", "s1"]);
    first.call("echo", json!({"text": "x"}));
    first.leave();
    let mut second = world.odd(&["--name", "odd", "--session", "s1"]);
    assert_eq!(text(&second.call("echo", json!({"text": "y"}))), "y");
    second.call("change", json!({}));
    assert_eq!(code(&second.call("echo", json!({"text": "z"}))), "mcp/tools-changed");
    second.leave();
    // Back as it was: what was changed once stays changed in this session, and is new to another.
    let mut third = world.odd(&["--name", "odd", "--session", "s1"]);
    assert_eq!(code(&third.call("echo", json!({"text": "a"}))), "mcp/tools-changed");
    let mut other = world.odd(&["--name", "odd", "--session", "s2"]);
    assert_eq!(text(&other.call("echo", json!({"text": "b"}))), "b");
}
