//! Checks that ask addresses, through the real program, against a server on this machine.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::World;

/// A server that answers by path, and tells which requests it got: first line and authorization.
struct Server {
    address: String,
    heard: Receiver<(String, Option<String>)>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("bound"));
        let (tell, heard) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut lines = BufReader::new(stream.try_clone().expect("the same")).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let token = headers.iter().find_map(|line| {
                    line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("authorization"))
                });
                drop(tell.send((first.clone(), token.map(|(_, token)| token.to_owned()))));
                drop(stream.write_all(reply(&first).as_bytes()));
            }
        });
        Self { address, heard }
    }
}

fn reply(first: &str) -> String {
    let (status, more, body) = match first.split(' ').nth(1).unwrap_or_default() {
        "/repos/acme/app/pulls/1" => ("200 OK", "", r#"{"number":1,"merged":false}"#),
        "/repos/acme/app/pulls/2" => ("200 OK", "", r#"{"number":2,"merged":true}"#),
        "/moved" => ("302 Found", "location: /health\r\n", ""),
        "/health" => ("204 No Content", "", ""),
        _ => ("404 Not Found", "", "{}"),
    };
    format!("HTTP/1.1 {status}\r\n{more}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// Makes a todo of the owner's with one check and has it verified; the message of its check.
fn verified(server: &Server, check: &Value) -> (bool, String) {
    let definition = json!({
        "jackline": 1,
        "checks": { "github_api": server.address },
        "todos": { "require": [{ "content": "x", "checks": [check] }] },
    });
    let world = World::empty();
    world.write("given.yaml", &definition.to_string());
    let ask = |event: Value| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.arg("eval").arg("--definition").arg(world.path("given.yaml")).arg("--store").arg(world.path("store"));
        command.current_dir(world.path("ws")).env_clear().env("HOME", world.path("home")).env("GH_TOKEN", "t0ken");
        let (_, stdout, stderr) = world.spawn(command, &event.to_string());
        serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stdout}{stderr}"))
    };
    let id = ask(json!({ "event": "todo.list", "session": "s" }))["result"]["todos"][0]["id"].clone();
    ask(json!({ "event": "todo.start", "session": "s", "todo": { "id": id } }));
    ask(
        json!({ "event": "todo.claim", "session": "s", "todo": { "id": id, "explanation": "it is there, go and look yourself" } }),
    );
    let answer = ask(json!({ "event": "todo.verify", "session": "s", "todo": { "id": id } }));
    let result = &answer["result"]["results"][0];
    let log = std::fs::read_dir(world.path("store/sessions")).expect("there").next().expect("one").expect("readable");
    let log = std::fs::read_to_string(log.path().join("audit.jsonl")).expect("a log");
    assert!(!log.contains("t0ken"), "the token is in the log");
    (result["passed"] == true, result["message"].as_str().unwrap_or_default().to_owned())
}

#[track_caller]
fn check(check: Value, want: (bool, &str), heard: (&str, Option<&str>)) {
    let server = Server::start();
    let text = check.to_string().replace("SERVER", &server.address);
    let check: Value = serde_json::from_str(&text).expect("JSON");
    let (passed, message) = verified(&server, &check);
    assert_eq!(passed, want.0, "{message}");
    assert!(message.contains(want.1), "{message}");
    let all: Vec<_> = server.heard.try_iter().collect();
    assert_eq!(all, [(format!("GET {} HTTP/1.1", heard.0), heard.1.map(str::to_owned))]);
}

#[test]
fn pull_requests_are_asked_for_with_the_token() {
    let pull = |kind: &str, number: u64| json!({ kind: { "repo": "acme/app", "number": number } });
    let token = Some("Bearer t0ken");
    check(pull("pr_exists", 1), (true, "it exists"), ("/repos/acme/app/pulls/1", token));
    check(pull("pr_merged", 1), (false, "it is not merged"), ("/repos/acme/app/pulls/1", token));
    check(pull("pr_merged", 2), (true, "it is merged"), ("/repos/acme/app/pulls/2", token));
    check(pull("pr_exists", 3), (false, "the answer was 404"), ("/repos/acme/app/pulls/3", token));
}

#[test]
fn an_address_is_asked_once_without_the_token_and_never_followed() {
    check(json!({ "http_status": { "url": "SERVER/health", "status": 204 } }), (true, "it does"), ("/health", None));
    check(
        json!({ "http_status": { "url": "SERVER/moved", "status": 204 } }),
        (false, "it answers 302"),
        ("/moved", None),
    );
    check(json!({ "http_status": { "url": "SERVER/gone" } }), (false, "it answers 404"), ("/gone", None));
}

#[test]
fn an_address_that_does_not_answer_has_not_passed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    drop(listener);
    let (passed, message) = verified(&Server::start(), &json!({ "http_status": { "url": url } }));
    assert!(!passed && message.contains("does not answer"), "{message}");
}
