//! Lists of tools that cannot be read, do not end, take too long or say two things: calls wait for none of them, and are
//! refused where they would be judged by one.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::World;
use super::client::{code, text};

const STRICT: &str = "jackline: 1\nmcp: { changed_tools: deny }\n";

fn odd_list(world: &World, options: &[&str], how: &str) -> super::client::Client {
    let mut client = world.ungreeted(options, &["--list", how]);
    client.greet();
    client
}

#[test]
fn without_a_list_that_can_be_read_calls_are_refused() {
    for how in ["endless", "doubled-key", "disguised", "deep", "null", "error"] {
        let world = World::new(STRICT);
        let mut client = odd_list(&world, &["--name", "odd"], how);
        client.request("tools/list", json!({}));
        client.request("tools/list", json!({}));
        for tool in ["echo", "nosuch"] {
            let refused = client.call(tool, json!({"a": 1}));
            assert_eq!(code(&refused), "mcp/tools-unclear", "{how}: {refused}");
        }
        assert!(world.called().is_empty(), "{how}");
        assert!(client.complaints().contains("could not be listed"), "{how}");
    }
}

#[test]
fn a_list_that_cannot_be_read_is_not_shown_either() {
    for how in ["doubled-key", "disguised", "deep", "null"] {
        let world = World::new("jackline: 1\n");
        let mut client = odd_list(&world, &[], how);
        let listed = client.request("tools/list", json!({}));
        let why = listed["error"]["message"].as_str().unwrap_or_default();
        assert!(why.starts_with("the server's list of tools cannot be read: "), "{how}: {listed}");
    }
    // Where nothing is judged, everything passes as it is.
    let world = World::new("");
    let mut client = odd_list(&world, &[], "null");
    assert_eq!(client.request("tools/list", json!({}))["result"], json!({"tools": null}));
}

#[test]
fn what_is_no_schema_at_all_is_told_as_one_that_cannot_be_used() {
    let world = World::new("jackline: 1\n");
    let mut client = odd_list(&world, &["--name", "odd"], "bare");
    assert_eq!(text(&client.call("bare", json!({"text": "x"}))), "x");
    let told = "'mcp__odd__bare' cannot be used, so nothing is held to it: it is no JSON object";
    assert!(client.complaints().contains(told));
}

#[test]
fn who_judges_without_a_list_may_call_without_one() {
    let world = World::new("jackline: 1\ntools: { unknown: allow }\n");
    let mut client = odd_list(&world, &[], "error");
    assert_eq!(text(&client.call("echo", json!({"text": "x"}))), "x");
    let world = World::new("jackline: 1\ntools: { unknown: allow }\nmcp: { changed_tools: deny }\n");
    let mut client = odd_list(&world, &[], "error");
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "mcp/tools-unclear");
}

#[test]
fn two_tools_that_are_one_here_cannot_be_called() {
    let world = World::new("jackline: 1\n");
    let mut client = odd_list(&world, &[], "alike");
    for tool in ["a.b", "a_b"] {
        assert_eq!(code(&client.call(tool, json!({"text": "x"}))), "mcp/tools-unclear", "{tool}");
    }
    // A name that only becomes one that is offered is none.
    for tool in ["a b", "c_d"] {
        assert!(
            ["tools/unknown", "mcp/tools-unclear"].contains(&code(&client.call(tool, json!({"text": "x"})))),
            "{tool}"
        );
    }
    assert_eq!(code(&client.call("c.d", json!({}))), "schema/invalid");
    assert_eq!(text(&client.call("c.d", json!({"text": "x"}))), "x");
    assert_eq!(world.called(), ["c.d"]);
    let world = World::new(STRICT);
    let mut client = odd_list(&world, &[], "twice");
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "mcp/tools-unclear");
    assert!(world.called().is_empty());
}

#[test]
fn a_change_among_very_many_tools_is_refused() {
    let world = World::new(STRICT);
    let mut client = odd_list(&world, &[], "many");
    client.request("tools/list", json!({}));
    assert_eq!(text(&client.call("t0650", json!({"text": "x"}))), "t0650");
    client.request("tools/list", json!({}));
    assert_eq!(code(&client.call("t0650", json!({"text": "y"}))), "mcp/tools-changed");
}

#[test]
fn a_slow_list_holds_nobody_but_the_calls_that_want_it() {
    let world = World::new("jackline: 1\n");
    let mut client = odd_list(&world, &["--timeout", "3s"], "slow");
    let begun = Instant::now();
    let call = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    let cancelled = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "y"}}));
    client.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}}).to_string(),
    );
    // Only ours waits: nothing that the odd server does not answer itself while it sleeps.
    let late = client.answer_to(&call);
    assert_eq!(late["error"]["code"], json!(-32001), "{late}");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(client.aside.is_empty(), "{:?}", client.aside);
    assert!(world.called().is_empty());
}

#[test]
fn a_server_is_judged_by_the_name_it_gives_itself_from_the_first_call_on() {
    let rule = "jackline: 1\npolicies: [ { name: none, rule: { tool: mcp__odd_server__echo } } ]\n";
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let call = |name: &str| json!({"name": name, "arguments": {"text": "x"}, "_meta": meta});
    let world = World::new(rule);
    let mut client = world.ungreeted(&[], &["--stateless"]);
    assert_eq!(code(&client.request("tools/call", call("echo"))), "rule/none");
    // A list before any greeting is filed under the name that comes later.
    let world = World::new(rule);
    let mut client = world.ungreeted(&[], &[]);
    client.request("tools/list", json!({}));
    client.greet();
    assert_eq!(code(&client.call("echo", json!({"text": "x"}))), "rule/none");
    assert_eq!(text(&client.call("add", json!({"a": 1, "b": 1}))), "{\"sum\":2}");
    assert_eq!(world.called(), ["add"]);
}

#[test]
fn nobody_takes_back_what_the_proxy_asks_for() {
    let world = World::new(STRICT);
    let mut client = odd_list(&world, &["--name", "odd"], "slow");
    client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x"}}));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !world.reached().iter().any(|message| message["id"] == "jackline:0") {
        assert!(std::time::Instant::now() < until, "the list is not asked for");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"jackline:0"}}"#);
    client.request("ping", json!({}));
    assert!(!world.reached().iter().any(|message| message["method"] == "notifications/cancelled"));
    assert!(client.complaints().contains("cancelled what it did not ask for"));
}

#[test]
fn calls_keep_their_order_behind_one_that_waits() {
    let world = World::new(
        "jackline: 1\npolicies: [ { name: order, sequence: { requires: { mcp__odd__add: [mcp__odd__echo] } } } ]\n",
    );
    let mut client = world.odd(&["--name", "odd"]);
    let ids: Vec<Value> = (0..20)
        .map(|n| client.ask("tools/call", json!({"name": "echo", "arguments": {"text": n.to_string()}})))
        .collect();
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(text(&client.answer_to(id)), n.to_string());
    }
    let texts: Vec<Value> = world
        .reached()
        .iter()
        .filter(|message| message["method"] == "tools/call")
        .map(|call| call["params"]["arguments"]["text"].clone())
        .collect();
    assert_eq!(texts, (0..20).map(|n| json!(n.to_string())).collect::<Vec<_>>());
}

#[test]
fn a_change_before_the_first_call_is_one_too() {
    let world = World::new(STRICT);
    let mut client = odd_list(&world, &[], "many");
    client.request("tools/list", json!({}));
    client.request("tools/list", json!({}));
    assert_eq!(code(&client.call("t0650", json!({"text": "x"}))), "mcp/tools-changed");
}
