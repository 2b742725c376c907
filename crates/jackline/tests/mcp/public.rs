//! Public servers, bare and behind the proxy: the same where no policy is declared, and guarded where one is.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jackline_rehearsal::install::{self, Package};
use serde_json::{Value, json};

use super::World;
use super::client::{Client, code, text};

fn program(package: Package) -> String {
    package.path().unwrap_or_else(|why| panic!("{why}")).to_str().expect("UTF-8").to_owned()
}

/// A server as its client would start it.
fn bare(world: &World, server: &[&str]) -> Client {
    let (program, arguments) = server.split_first().expect("a program");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(world.path("ws")).env_clear();
    command.env("HOME", world.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    Client::start(command)
}

/// Says the same to both and compares what comes back, message by message.
#[track_caller]
fn alike(world: &World, server: &[&str], requests: &[(&str, Value)]) {
    let said = |mut client: Client| {
        // What the one before made.
        drop(std::fs::remove_file(world.path("ws/b.txt")));
        client.greet();
        let answers: Vec<Value> =
            requests.iter().map(|(method, params)| client.request(method, params.clone())).collect();
        client.leave();
        answers
    };
    let without = said(bare(world, server));
    let with = said(world.proxy(&["--name", "public"], server));
    for ((bare, proxied), asked) in without.iter().zip(&with).zip(requests) {
        assert_eq!(bare, proxied, "{asked:?}");
    }
    assert!(without.iter().filter(|answer| answer.get("result").is_some()).count() > requests.len() / 2);
}

fn call(tool: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({"name": tool, "arguments": arguments}))
}

#[test]
fn the_filesystem_server_behaves_as_if_it_were_bare() {
    let world = World::new("jackline: 1\n");
    std::fs::write(world.path("ws/a.txt"), "one\ntwo\n").expect("written");
    let ws = world.path("ws");
    let ws = ws.to_str().expect("UTF-8");
    let server = program(install::SERVERS[0]);
    let file = |name: &str| format!("{ws}/{name}");
    alike(
        &world,
        &[&server, ws],
        &[
            ("tools/list", json!({})),
            ("ping", json!({})),
            call("list_allowed_directories", json!({})),
            call("list_directory", json!({"path": ws})),
            call("read_text_file", json!({"path": file("a.txt")})),
            call("read_text_file", json!({"path": file("a.txt"), "head": 1})),
            call("write_file", json!({"path": file("b.txt"), "content": "three\n"})),
            call("edit_file", json!({"path": file("b.txt"), "edits": [{"oldText": "three", "newText": "four"}]})),
            call("edit_file", json!({"path": file("b.txt"), "edits": [{"oldText": "four", "newText": "three"}]})),
            call("read_multiple_files", json!({"paths": [file("a.txt"), file("b.txt")]})),
            call("search_files", json!({"path": ws, "pattern": "*.txt"})),
            call("read_text_file", json!({"path": "/etc/passwd"})),
            call("read_text_file", json!({"path": file("missing.txt")})),
            ("resources/list", json!({})),
            ("no/such/method", json!({})),
        ],
    );
}

#[test]
fn the_filesystem_server_is_guarded_where_a_policy_is_declared() {
    let world = World::new(
        "jackline: 1\npolicies:\n  - read_before_write: {}\n  - paths: { protect: [\"*.lock\"] }\nmcp: { changed_tools: deny }\n",
    );
    std::fs::write(world.path("ws/a.txt"), "one\n").expect("written");
    let ws = world.path("ws");
    let server = program(install::SERVERS[0]);
    let mut client = world.proxy(&["--name", "files"], &[&server, ws.to_str().expect("UTF-8")]);
    client.greet();
    let file = |name: &str| ws.join(name).to_str().expect("UTF-8").to_owned();
    let write = |name: &str| json!({"path": file(name), "content": "two\n"});
    let refused = client.call("write_file", write("a.txt"));
    assert_eq!(code(&refused), "read-before-write/unread", "{refused}");
    assert_eq!(std::fs::read_to_string(world.path("ws/a.txt")).expect("there"), "one\n");
    assert_eq!(text(&client.call("read_text_file", json!({"path": file("a.txt")}))), "one\n");
    assert!(client.call("write_file", write("a.txt"))["result"]["isError"] != json!(true));
    assert_eq!(std::fs::read_to_string(world.path("ws/a.txt")).expect("there"), "two\n");
    assert_eq!(code(&client.call("write_file", write("x.lock"))), "paths/protected");
    assert_eq!(code(&client.call("write_file", write("jackline.yaml"))), "self/protected");
    assert!(!world.path("ws/x.lock").exists());
}

#[test]
fn the_everything_server_behaves_as_if_it_were_bare() {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = program(install::SERVERS[1]);
    alike(
        &world,
        &[&server, "stdio"],
        &[
            ("tools/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/templates/list", json!({})),
            call("echo", json!({"message": "hello"})),
            call("get-sum", json!({"a": 2, "b": 40})),
            call("get-tiny-image", json!({})),
            call("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
            call("get-structured-content", json!({"location": "New York"})),
            call("get-resource-links", json!({"count": 3})),
        ],
    );
}

#[test]
fn progress_comes_while_a_call_runs() {
    let world = World::new("jackline: 1\n");
    let server = program(install::SERVERS[1]);
    let mut client = world.proxy(&["--name", "everything"], &[&server, "stdio"]);
    client.greet();
    let params = json!({"name": "trigger-long-running-operation", "arguments": {"duration": 1, "steps": 2}, "_meta": {"progressToken": "p"}});
    let answer = client.request("tools/call", params);
    assert!(answer["result"]["content"].is_array(), "{answer}");
    let progress = client.aside.iter().filter(|message| message["method"] == "notifications/progress").count();
    assert!(progress >= 1, "{:?}", client.aside);
}

/// The everything server over HTTP, on a port of its own; ended with the test.
struct Listening(std::process::Child, String);

impl Listening {
    fn start(world: &World) -> Self {
        let port =
            std::net::TcpListener::bind(("127.0.0.1", 0)).expect("bound").local_addr().expect("an address").port();
        let mut command = Command::new(program(install::SERVERS[1]));
        command.arg("streamableHttp").env_clear().env("PORT", port.to_string()).current_dir(world.path("ws"));
        command.env("HOME", world.path("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().expect("started"), format!("http://127.0.0.1:{port}/mcp"));
        let until = Instant::now() + Duration::from_secs(60);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "the server does not listen");
            thread::sleep(Duration::from_millis(50));
        }
        server
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn the_everything_server_is_reached_over_http_too() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: mcp__far__get-env } } ]\n");
    let server = Listening::start(&world);
    let mut client = Client::start(world.command(&["mcp", "proxy", "--name", "far", "--url", &server.1]));
    client.greet();
    let tools = client.request("tools/list", json!({}));
    assert!(tools["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
    assert_eq!(text(&client.call("echo", json!({"message": "hello"}))), "Echo: hello");
    assert_eq!(code(&client.call("get-sum", json!({"a": "x", "b": 1}))), "schema/invalid");
    assert_eq!(code(&client.call("get-env", json!({}))), "rule/no");
    let params = json!({"name": "trigger-long-running-operation", "arguments": {"duration": 1, "steps": 2}, "_meta": {"progressToken": "p"}});
    assert!(client.request("tools/call", params)["result"]["content"].is_array());
    assert!(client.aside.iter().any(|message| message["method"] == "notifications/progress"), "{:?}", client.aside);
    assert_eq!(client.leave(), Some(0));
}
