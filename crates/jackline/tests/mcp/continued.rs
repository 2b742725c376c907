//! Calls that go on, because their server wanted to know something first: one call each, and judged each time.

use serde_json::{Value, json};

use super::World;
use super::client::{Client, code, text};

/// How often a server may ask within one call.
const ROUNDS_MAX: usize = 16;

/// A call of the tool that asks back, again and again where `always` is among its arguments.
fn input(args: &Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    json!({"name": "input", "arguments": args, "_meta": meta})
}

fn begin(client: &mut Client, args: &Value) -> Value {
    client.request("tools/call", input(args))
}

/// The client comes back with this.
fn go_on(client: &mut Client, args: &Value, said: &str) -> Value {
    let mut call = input(args);
    call["requestState"] = json!("s1");
    call["inputResponses"] = json!({"q": {"action": "accept", "content": {"said": said}}});
    client.request("tools/call", call)
}

#[track_caller]
fn asks(answer: &Value) {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}

fn stateless(definition: &str) -> (World, Client) {
    let world = World::new(definition);
    let client = world.ungreeted(&["--name", "odd"], &["--stateless"]);
    (world, client)
}

#[test]
fn a_call_that_goes_on_is_judged_and_on_record_each_time() {
    let (world, mut client) = stateless("jackline: 1\n");
    let args = json!({"always": true});
    asks(&begin(&mut client, &args));
    asks(&go_on(&mut client, &args, "first"));
    let rule = "policies: [{name: no-input, rule: {tool: mcp__odd__input, reason: never}}]\n";
    std::fs::write(world.path("ws/jackline.yaml"), format!("jackline: 1\n{rule}")).expect("written");
    let refused = go_on(&mut client, &args, "second");
    assert_eq!(code(&refused), "rule/no-input", "{refused}");
    client.leave();
    assert_eq!(world.called().len(), 2);
    let requested = world.records_of("call.requested");
    let said: Vec<&Value> = requested.iter().map(|record| &record["data"]["call"]["continued"]["given"]["q"]).collect();
    assert_eq!(said.len(), 3, "{requested:?}");
    assert_eq!(
        (said[1]["content"]["said"].as_str(), said[2]["content"]["said"].as_str()),
        (Some("first"), Some("second"))
    );
    assert_eq!(requested[1]["data"]["call"]["continued"]["asked"]["q"]["params"]["message"], "more?");
    assert_eq!(requested[0]["data"]["call"]["id"], requested[2]["data"]["call"]["id"]);
    let finished = world.records_of("call.finished");
    assert_eq!(finished.iter().map(|record| &record["data"]["ok"]).collect::<Vec<_>>(), [&json!(false)]);
}

#[test]
fn a_call_that_goes_on_is_counted_once() {
    let (world, mut client) = stateless("jackline: 1\nlimits: {steps: 2}\n");
    let args = json!({"always": true});
    asks(&begin(&mut client, &args));
    (0..6).for_each(|n| asks(&go_on(&mut client, &args, &n.to_string())));
    asks(&begin(&mut client, &json!({})));
    assert_eq!(text(&go_on(&mut client, &json!({}), "x")), "with input");
    assert_eq!(code(&begin(&mut client, &json!({"n": 3}))), "budget/steps");
    assert_eq!(world.called().len(), 9);
}

#[test]
fn time_runs_out_for_a_call_that_goes_on() {
    let (world, mut client) = stateless("jackline: 1\nlimits: {deadline: 1s}\n");
    let args = json!({"always": true});
    asks(&begin(&mut client, &args));
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert_eq!(code(&go_on(&mut client, &args, "late")), "budget/deadline");
    assert_eq!(world.called().len(), 1);
}

#[test]
fn a_server_asks_back_only_so_often() {
    let (world, mut client) = stateless("jackline: 1\n");
    let args = json!({"always": true});
    asks(&begin(&mut client, &args));
    (1..ROUNDS_MAX).for_each(|n| asks(&go_on(&mut client, &args, &n.to_string())));
    let failed = go_on(&mut client, &args, "last");
    assert!(failed["error"]["message"].to_string().contains("asked for input more than 16 times"), "{failed}");
    client.leave();
    assert_eq!(world.records_of("call.finished").len(), 1);
}

#[test]
fn a_call_that_nobody_goes_on_with_has_an_end_on_record() {
    let (world, mut client) = stateless("jackline: 1\n");
    asks(&begin(&mut client, &json!({})));
    client.leave();
    let finished = world.records_of("call.finished");
    assert_eq!((finished.len(), &finished[0]["data"]["ok"]), (1, &json!(false)), "{finished:?}");
    assert!(finished[0].to_string().contains("more?"), "{finished:?}");
}

#[test]
fn a_state_that_no_server_gave_is_a_new_call() {
    let (world, mut client) = stateless("jackline: 1\nlimits: {steps: 1}\n");
    let args = json!({});
    assert_eq!(text(&go_on(&mut client, &args, "made up")), "with input");
    assert_eq!(code(&go_on(&mut client, &args, "again")), "budget/steps");
    assert_eq!(world.called().len(), 1);
}
