//! What is not judged passes as it is, byte for byte and in order, both ways.

use serde_json::json;

use super::World;
use super::client::{Client, text};

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

/// What the client hears of a call to a tool that answers with so many levels and lines.
fn nested(client: &mut Client, levels: usize, lines: usize) -> String {
    let arguments = json!({"levels": levels, "lines": lines});
    client.ask("tools/call", json!({"name": "nested", "arguments": arguments}));
    client.hear().expect("an answer")
}

/// Structured content of so many levels, as the server writes it.
fn written(levels: usize) -> String {
    format!(r#""structuredContent":{{"x": {}1.50{}}}"#, "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn a_result_that_is_too_deep_to_be_read_passes_as_it_is() {
    let world = World::new("jackline: 1\nloop: false\n");
    let mut client = world.odd(&["--name", "odd"]);
    let depths = [1, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 127, 128, 500, 100_000];
    for levels in depths {
        let heard = nested(&mut client, levels, 1);
        assert!(
            heard.ends_with(&format!(
                "{},\"content\":[{{\"text\":\"line 1\\n\",\"type\":\"text\"}}]}}}}",
                written(levels)
            )),
            "{levels}"
        );
    }
    client.leave();
    let finished = world.records_of("call.finished");
    assert_eq!(finished.len(), depths.len());
    assert!(finished.iter().all(|record| record["data"]["ok"] == json!(true)));
}

#[test]
fn a_result_that_is_too_deep_to_be_read_is_bounded_and_advised_all_the_same() {
    let definition =
        "jackline: 1\noutputs: { lines_max: 5 }\nfeedback: [ { static: \"calm down\", every_n_calls: 2 } ]\n";
    let world = World::new(definition);
    let mut client = world.odd(&["--name", "odd"]);
    let cut = nested(&mut client, 500, 100);
    assert!(cut.contains(&written(500)) && cut.contains("line 5") && !cut.contains("line 6"), "{cut}");
    let advised = nested(&mut client, 501, 1);
    assert!(
        advised.contains(&written(501)) && advised.contains("line 1") && advised.contains("calm down"),
        "{advised}"
    );
    client.leave();
    let shown = world
        .records_of("decision")
        .iter()
        .filter(|record| record["data"]["edits"][0]["code"] == "bounds/truncated")
        .count();
    assert_eq!(shown, 1);
}

#[test]
fn what_was_not_read_of_a_result_is_on_record_as_that() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&["--name", "odd"]);
    client.ask("tools/call", json!({"name": "deep", "arguments": {}}));
    let heard = client.hear().expect("an answer");
    assert!(heard.contains(&format!("\"result\":{}", "[".repeat(5_000))), "{heard}");
    client.leave();
    let finished = world.records_of("call.finished");
    let record = finished[0].to_string();
    assert!(record.contains(r#""clipped":true,"sha256""#) && finished[0]["data"]["ok"] == json!(true), "{record}");
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

#[test]
fn a_call_in_a_batch_passes_byte_for_byte_too() {
    let world = World::new("jackline: 1\n");
    let mut client = world.odd(&[]);
    let call = r#"{"id":"b", "jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"text":"x","n":123456789012345678901,"f":1.50},"name":"echo"}}"#;
    client.say(&format!("[ {call} ]"));
    assert_eq!(client.message()[0]["id"], "b");
    let log = std::fs::read_to_string(world.path("log")).expect("a log");
    assert!(log.lines().any(|line| line == call), "{log}");
}

#[test]
fn an_answer_of_the_clients_that_cannot_be_read_is_an_error_for_the_server() {
    let world = World::new("jackline: 1\nloop: false\n");
    let mut client = world.odd(&[]);
    let long = format!(r#"{{"roots":[{{"uri":"{}"}}]}}"#, "x".repeat(17 << 20));
    let deep = format!("{}{}", "[".repeat(80), "]".repeat(80));
    let unreadable = [r#"{"roots":[{"uri":"cut \ud83d"}]}"#, r#"{"a":1,"a":2}"#, "{},\"Result\":{}", &deep, &long];
    for result in unreadable {
        let call = client.ask("tools/call", json!({"name": "ask", "arguments": {"alike": true}}));
        let asked = client.message();
        assert_eq!((&asked["method"], &asked["id"]), (&json!("roots/list"), &call));
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":{call},"result":{result}}}"#));
        let answer = client.answer_to(&call);
        assert!(text(&answer).contains("the client's answer cannot be read"), "{answer}");
    }
    let call = client.ask("tools/call", json!({"name": "ask", "arguments": {"alike": true}}));
    client.message();
    client.say(&format!(r#"[{{"id":{call},"result":{{}},"Error":{{}}}},{{"id":"p","method":"ping"}}]"#));
    let mut heard = vec![client.message(), client.message()];
    heard.sort_by_key(|message| message.is_array());
    assert!(text(&heard[0]).contains("the client's answer cannot be read"), "{heard:?}");
    assert_eq!((heard[1].as_array().map(Vec::len), &heard[1][0]["id"]), (Some(1), &json!("p")), "{heard:?}");
    assert!(client.aside.is_empty(), "{:?}", client.aside);
}
