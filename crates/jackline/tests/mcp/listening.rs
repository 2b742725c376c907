//! Our own server over HTTP: for whoever has its token, on this machine, and for no page of another.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};

use serde_json::{Value, json};

use super::World;
use super::client::{Client, code, text};

/// A server that listens; ended with the test.
pub(crate) struct Listening {
    pub(crate) child: Child,
    pub(crate) url: String,
    /// What was shown as its token, if anything was.
    token: Option<String>,
    _errors: BufReader<ChildStderr>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Listening {
    pub(crate) fn start(world: &World, options: &[&str], token: Option<&str>) -> Self {
        let mut command = world.command(&[&["mcp", "serve", "--http", "127.0.0.1:0"], options].concat());
        command.envs(token.map(|token| ("JACKLINE_MCP_TOKEN", token)));
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("started");
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        errors.read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let shown = token.is_none() && !options.contains(&"--token-file");
        let token = shown.then(|| {
            let mut line = String::new();
            errors.read_line(&mut line).expect("a line");
            line.trim().strip_prefix("token: ").unwrap_or_else(|| panic!("{line}")).to_owned()
        });
        Self { child, url, token, _errors: errors }
    }

    pub(crate) fn authority(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Says a request byte by byte as it is; its status and body.
    fn say(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.authority()).expect("connected");
        let host = headers.iter().find(|(name, _)| *name == "Host").map_or(self.authority(), |(_, value)| value);
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("read");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status =
            answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer}"));
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// A request as a client with a token sends it.
    fn post(&self, token: &str, more: &[(&str, &str)], body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend(more);
        let (status, answer) = self.say("POST", "/mcp", &headers, &body.to_string());
        (status, serde_json::from_str(&answer).unwrap_or(Value::Null))
    }
}

fn call(tool: &str, args: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": args}})
}

fn greeting() -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

pub(crate) const TOKEN: &str = "a-token-of-some-length";

#[test]
fn who_has_the_token_works_as_over_a_pipe() {
    let world = World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: park } } ]\n");
    let server = Listening::start(&world, &[], None);
    let token = server.token.clone().expect("one was made and shown");
    assert_eq!(token.len(), 64);
    let (status, greeted) = server.post(&token, &[], &greeting());
    assert_eq!((status, &greeted["result"]["protocolVersion"]), (200, &json!("2025-11-25")), "{greeted}");
    let version = [("MCP-Protocol-Version", "2025-11-25")];
    let (_, made) = server.post(&token, &version, &call("todo_create", json!({"content": "x"})));
    assert_eq!(made["result"]["structuredContent"]["status"], "pending", "{made}");
    assert_eq!(code(&server.post(&token, &version, &call("park", json!({"reason": "x"}))).1), "rule/no");
    // The version that needs no greeting.
    let mut modern = call("todo_list", json!({}));
    modern["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "todo_list")];
    let (status, listed) = server.post(&token, &headers, &modern);
    assert_eq!(
        (status, listed["result"]["structuredContent"]["todos"].as_array().map(Vec::len)),
        (200, Some(1)),
        "{listed}"
    );
    let (status, _) = server.say(
        "GET",
        "/mcp",
        &[("Authorization", &format!("Bearer {token}")), ("Accept", "text/event-stream")],
        "",
    );
    assert_eq!(status, 405);
    assert_eq!(world.records_of("todo.created").len(), 1);
}

#[test]
fn only_who_has_the_token_is_served() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let create = call("todo_create", json!({"content": "x"})).to_string();
    let plain = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    for wrong in
        ["", "Bearer", "Bearer a-token-of-some-lengt", "Bearer a-token-of-some-lengthy", "Basic a-token-of-some-length"]
    {
        let headers = [&[("Authorization", wrong)], &plain[..]].concat();
        assert_eq!(server.say("POST", "/mcp", &headers, &create).0, 401, "{wrong}");
    }
    assert_eq!(server.say("POST", "/mcp", &plain, &create).0, 401);
    assert_eq!(server.say("GET", "/anything", &[], "").0, 401, "nobody learns what is here");
    assert!(!world.path("home/.local/state/jackline/sessions").exists(), "nothing was judged");
    assert_eq!(server.post(TOKEN, &[], &greeting()).0, 200);
    assert_eq!(server.say("GET", "/anything", &[("Authorization", &format!("Bearer {TOKEN}"))], "").0, 404);
}

#[test]
fn other_peoples_pages_and_names_are_refused() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let create = call("todo_create", json!({"content": "x"}));
    for headers in [
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Host", "evil.example")],
        [("Host", "evil.example:8650")],
    ] {
        let (status, answer) = server.post(TOKEN, &headers, &create);
        assert_eq!(status, 403, "{headers:?}: {answer}");
    }
    // Whoever stands between may look at the other one.
    for headers in
        [[("host", "evil.example"), ("X", "y")], [("Origin", "http://localhost"), ("Origin", "http://evil.example")]]
    {
        assert_eq!(server.post(TOKEN, &headers, &create).0, 400, "{headers:?}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    assert_eq!(server.say("POST", "http://evil.example/mcp", &headers, &create.to_string()).0, 400);
    let (status, _) = server.post(TOKEN, &[("Origin", "http://localhost:3000")], &greeting());
    assert_eq!(status, 200, "a page of this machine's own, with the token");
    assert!(!world.path("home/.local/state/jackline/sessions").exists(), "nothing was judged");
}

#[test]
fn no_other_address_is_listened_on() {
    let world = World::new("jackline: 1\n");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let refused = world.jackline(&["mcp", "serve", "--http", address]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("no address of this machine's own") && said.contains("help:"), "{said}");
    }
}

#[test]
fn a_token_comes_from_a_file_and_a_bad_one_is_refused() {
    let world = World::new("jackline: 1\n");
    fs::write(world.path("token"), format!("{TOKEN}\n")).expect("written");
    fs::write(world.path("short"), "short\n").expect("written");
    let file = world.path("token");
    let server = Listening::start(
        &world,
        &["--token-file", file.to_str().expect("UTF-8")],
        Some("another-token-in-the-environment"),
    );
    assert_eq!(server.post(TOKEN, &[], &greeting()).0, 200);
    for name in ["short", "none", "ws"] {
        let path = world.path(name);
        let refused =
            world.jackline(&["mcp", "serve", "--http", "127.0.0.1:0", "--token-file", path.to_str().expect("UTF-8")]);
        assert_eq!(refused.status.code(), Some(2), "{name}");
        assert!(!String::from_utf8_lossy(&refused.stderr).contains("short\n"), "{name}");
    }
}

#[test]
fn what_is_no_request_gets_an_error() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let status = |body: &str| server.say("POST", "/mcp", &headers, body).0;
    for body in ["{bad", "[]", "5", r#"{"jsonrpc":"2.0"}"#] {
        assert!((400..500).contains(&status(body)), "{body}");
    }
    let marked = format!("\u{feff}{}", greeting());
    assert_eq!(status(&marked), 200, "a byte order mark is heard by nobody");
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "x".repeat(17 << 20));
    assert_eq!(status(&long), 413);
    let (_, unknown) = server.post(TOKEN, &[], &json!({"jsonrpc": "2.0", "id": 1, "method": "no/such"}));
    assert_eq!(unknown["error"]["code"], json!(-32601), "{unknown}");
    let deep = (0..100).fold(json!("x"), |inner, _| json!([inner]));
    let (_, deep) = server.post(TOKEN, &[], &call("park", json!({"reason": deep})));
    assert!(deep["error"]["code"].is_i64(), "{deep}");
}

#[test]
fn who_still_writes_a_message_that_is_too_long_is_told_so() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let mut stream = TcpStream::connect(server.authority()).expect("connected");
    let (host, bytes) = (server.authority(), 40 << 20);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let part = vec![b'x'; bytes / 2];
    stream.write_all(&part).expect("sent");
    std::thread::sleep(std::time::Duration::from_millis(300));
    stream.write_all(&part).expect("the server still listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("is longer than"), "{answer}");
}

#[test]
fn the_proxy_reaches_it_and_a_signal_ends_it() {
    let world = World::new("jackline: 1\n");
    let mut server = Listening::start(&world, &[], Some(TOKEN));
    let mut command = world.command(&[
        "mcp",
        "proxy",
        "--name",
        "jackline",
        "--url",
        &server.url,
        "--header-env",
        "Authorization=AUTH",
    ]);
    command.env("AUTH", format!("Bearer {TOKEN}"));
    let mut client = Client::start(command);
    client.greet();
    assert!(text(&client.call("todo_create", json!({"content": "x"}))).contains("pending"));
    assert_eq!(client.leave(), Some(0));
    let asked = world.records_of("call.requested");
    assert_eq!(asked.len(), 2, "the proxy and the server saw it");
    assert_eq!(asked[0]["step"], asked[1]["step"], "it was counted once");
    let pid = rustix::process::Pid::from_child(&server.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    assert_eq!(server.child.wait().expect("ended").code(), Some(143));
}

#[test]
fn what_is_no_message_is_told_so_in_a_message() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let doubled = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a","path":"b","content":"x"}}}"#;
    let long = format!("{{\"id\":1,\"method\":\"{}\"}}", "x".repeat(17 << 20));
    for (body, status, want) in [
        ("{bad", 400, -32700),
        ("", 400, -32700),
        ("[]", 400, -32600),
        ("5", 400, -32600),
        (doubled, 400, -32700),
        (&long, 413, -32600),
    ] {
        let shown: String = body.chars().take(40).collect();
        let (got, answer) = server.say("POST", "/mcp", &headers, body);
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{shown}: {answer}"));
        assert_eq!((got, &answer["error"]["code"]), (status, &json!(want)), "{shown}: {answer}");
    }
    assert!(!world.path("ws/a").exists() && !world.path("ws/b").exists());
}

#[test]
fn who_shows_no_token_keeps_nobody_out() {
    let world = World::new("jackline: 1\n");
    let server = Listening::start(&world, &[], Some(TOKEN));
    let silent: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(server.authority()).expect("connected")).collect();
    let begun = std::time::Instant::now();
    let (status, _) = server.post(TOKEN, &[], &greeting());
    assert_eq!(status, 200);
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    drop(silent);
}

#[test]
fn an_address_may_be_written_in_several_ways_and_a_wrong_one_is_told() {
    let world = World::new("jackline: 1\n");
    let output = world.jackline(&["mcp", "serve", "--http", "nowhere"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("`nowhere` is no address") && said.contains("127.0.0.1:8650"),
        "{said}"
    );
}
