//! What is not judged passes as it is, byte for byte and in order, both ways.

use serde_json::json;

use super::World;
use super::client::text;

#[test]
fn messages_pass_byte_for_byte() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let odd_ones = [
        r#"{ "jsonrpc" : "2.0", "id":"a-1", "method":"resources/read", "params":{"uri":"x://é","n":1.10,"big":12345678901234567890} }"#,
        r#"{"method":"notifications/roots/list_changed","jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","method":"something/new","params":{"_meta":{"k":[null,1e5]}}}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":{"roots":[]}}"#,
    ];
    odd_ones.iter().for_each(|line| client.say(line));
    // Refused by the server, in the server's own words.
    assert_eq!(
        client.message(),
        json!({"jsonrpc": "2.0", "id": "a-1", "error": {"code": -32601, "message": "unknown method"}})
    );
    client.request("ping", json!({}));
    let log = std::fs::read_to_string(world.path("log")).expect("kept");
    let reached: Vec<&str> = log.lines().collect();
    let first = reached.iter().position(|line| *line == odd_ones[0]).expect("as it was");
    assert_eq!(reached[first..first + odd_ones.len()], odd_ones);
}

#[test]
fn a_judged_call_and_its_result_pass_byte_for_byte_too() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    client.call("echo", json!({"text": "first"}));
    let call = r#"{"params":{"arguments":{"text":"a\u00e9 1.10"},"name":"echo","_meta":{"progressToken":1.50}},"method":"tools/call","id":77,"jsonrpc":"2.0"}"#;
    client.say(call);
    let line = client.hear().expect("an answer");
    assert_eq!(
        line,
        "{\"id\":77,\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"text\":\"aé 1.10\",\"type\":\"text\"}]}}"
    );
    assert!(std::fs::read_to_string(world.path("log")).expect("kept").lines().any(|reached| reached == call));
}

#[test]
fn a_server_may_ask_back_while_it_is_called() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let call = client.ask("tools/call", json!({"name": "ask", "arguments": {}}));
    let asked = client.message();
    assert_eq!((&asked["method"], &asked["id"]), (&json!("roots/list"), &json!(1)));
    // The server's ids are its own: one that the client uses too confuses nobody.
    client.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"file:///ws"}]}}"#);
    assert_eq!(text(&client.answer_to(&call)), "the client said {\"roots\":[{\"uri\":\"file:///ws\"}]}");
}

#[test]
fn notices_of_the_server_pass() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    client.call("change", json!({}));
    assert_eq!(client.aside, [json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})]);
}
