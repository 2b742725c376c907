//! Servers that are reached over streamable HTTP: JSON and streams, sessions, versions, headers, and what goes wrong.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::World;
use super::client::{Client, code, text};

/// A request as it came in.
#[derive(Debug, Clone)]
struct Heard {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Heard {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A server on loopback that keeps what it heard.
#[derive(Debug, Clone)]
struct Server {
    url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    /// Calls of `hang` that the client left.
    left: Arc<AtomicUsize>,
    /// Times that it forgot its sessions.
    forgotten: Arc<AtomicUsize>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("bound");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let server = Self { url, heard: Arc::default(), left: Arc::default(), forgotten: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let server = serving.clone();
                thread::spawn(move || server.serve(&connection));
            }
        });
        server
    }

    fn serve(&self, connection: &TcpStream) {
        let mut input = BufReader::new(connection);
        while let Some(request) = read(&mut input) {
            if request.body["method"] == "notifications/initialized" {
                // What overtakes it is seen before it.
                thread::sleep(Duration::from_millis(100));
            }
            self.heard.lock().expect("whole").push(request.clone());
            if request.body["params"]["name"] == "hang" {
                // It is not answered, and the stream stays open, as the protocol lets a server do with what is cancelled.
                let mut output = connection;
                drop(output.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"));
                while input.read(&mut [0]).is_ok_and(|read| read > 0) {}
                self.left.fetch_add(1, Ordering::Relaxed);
                return;
            }
            if request.body["params"]["name"] == "wait" {
                self.wait_for_the_next();
            }
            let mut output = connection;
            if output.write_all(self.reply(&request).as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Works on a call, and says nothing at all until the client has answered a question and pinged.
    fn wait_for_the_next(&self) {
        let until = Instant::now() + Duration::from_secs(30);
        let answered = || self.heard().iter().any(|request| request.body["id"] == "question");
        while (!answered() || self.asked("ping").is_empty()) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The session that it gives now.
    fn session(&self) -> String {
        match self.forgotten.load(Ordering::Relaxed) {
            0 => "abc".to_owned(),
            times => format!("abc-{times}"),
        }
    }

    fn reply(&self, request: &Heard) -> String {
        let greets = request.body["method"] == "initialize";
        if !greets && request.header("mcp-session-id").is_some_and(|named| named != self.session()) {
            return response("404 Not Found", "text/plain", "", "");
        }
        reply(request, &self.session())
    }

    fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("whole").clone()
    }

    /// The requests for one method of the protocol.
    fn asked(&self, method: &str) -> Vec<Heard> {
        self.heard().into_iter().filter(|request| request.body["method"] == method).collect()
    }

    fn proxy(&self, world: &World, options: &[&str]) -> Client {
        let arguments = [&["mcp", "proxy", "--name", "far", "--url", &self.url], options].concat();
        Client::start(world.command(&arguments))
    }
}

fn read(input: &mut BufReader<&TcpStream>) -> Option<Heard> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        line.clear();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut request = Heard { method, path, headers, body: Value::Null };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    request.body = serde_json::from_slice(&body).unwrap_or_default();
    Some(request)
}

fn response(status: &str, kind: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// What the server answers: calls of `stream` come as a stream, those of `resume` in two.
fn reply(request: &Heard, session: &str) -> String {
    let id = request.body.get("id").cloned();
    let event = |message: &Value| format!("event: message\ndata: {message}\n\n");
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let said = |text: &str| answer(json!({"content": [{"type": "text", "text": text}]}));
    let json = |body: &Value| response("200 OK", "application/json; charset=utf-8", "", &format!("{body:#}"));
    let tool = request.body["params"]["name"].as_str().unwrap_or_default();
    match (request.method.as_str(), request.body["method"].as_str().unwrap_or_default()) {
        ("GET", _) if request.header("last-event-id") == Some("7") => {
            let last = json!({"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "resumed"}]}});
            response("200 OK", "text/event-stream", "", &event(&last))
        }
        ("GET", _) => {
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hello"}});
            response("200 OK", "text/event-stream", "", &format!("retry: 60000\n{}", event(&notice)))
        }
        ("DELETE", _) => response("200 OK", "text/plain", "", ""),
        (_, "initialize") => {
            let body = answer(
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "far"}}),
            );
            response("200 OK", "application/json", &format!("Mcp-Session-Id: {session}\r\n"), &body.to_string())
        }
        (_, "tools/list") => json(&answer(json!({"tools": [
            {"name": "echo", "inputSchema": {"type": "object"}}, {"name": "stream", "inputSchema": {"type": "object"}},
            {"name": "resume", "inputSchema": {"type": "object"}}, {"name": "refuse", "inputSchema": {"type": "object"}},
            {"name": "hang", "inputSchema": {"type": "object"}}, {"name": "wait", "inputSchema": {"type": "object"}},
            {"name": "größe", "inputSchema": {"type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}}]}))),
        (_, "tools/call") if tool == "stream" => {
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}});
            let alive = "event: ping\ndata: {}\n\n".to_owned();
            response("200 OK", "text/event-stream", "", &(alive + &event(&progress) + &event(&said("streamed"))))
        }
        (_, "tools/call") if tool == "resume" => {
            response("200 OK", "text/event-stream", "", "id: 7\nretry: 10\ndata: \n\n")
        }
        (_, "tools/call") if tool == "refuse" => response("401 Unauthorized", "text/plain", "", "go away"),
        (_, "tools/call") => json(&said("near")),
        (_, "ping") => json(&answer(json!({}))),
        (_, "") => response("202 Accepted", "text/plain", "", ""),
        _ if id.is_none() => response("202 Accepted", "text/plain", "", ""),
        _ => response("404 Not Found", "text/plain", "", ""),
    }
}

#[test]
fn calls_go_over_http_and_are_judged() {
    let world =
        World::new("jackline: 1\npolicies: [ { name: no, rule: { tool: mcp__far__echo, args: { loud: true } } } ]\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &["--header", "Authorization: Bearer t0p"]);
    client.greet();
    assert_eq!(text(&client.call("echo", json!({}))), "near");
    assert_eq!(code(&client.call("echo", json!({"loud": true}))), "rule/no");
    assert_eq!(text(&client.call("stream", json!({}))), "streamed");
    assert!(client.aside.iter().any(|message| message["method"] == "notifications/progress"), "{:?}", client.aside);
    assert!(client.aside.iter().all(|message| message["method"].is_string()), "only messages: {:?}", client.aside);
    assert_eq!(client.leave(), Some(0));
    let calls = server.asked("tools/call");
    assert_eq!(calls.len(), 2);
    for call in &calls {
        assert_eq!(call.header("mcp-session-id"), Some("abc"));
        assert_eq!(call.header("mcp-protocol-version"), Some("2025-06-18"));
        assert_eq!(call.header("authorization"), Some("Bearer t0p"));
    }
    assert_eq!(server.heard().last().map(|request| request.method.clone()).as_deref(), Some("DELETE"));
    assert_eq!(world.records_of("call.finished").len(), 2);
    assert!(!world.records().iter().any(|record| record.to_string().contains("t0p")));
}

#[test]
fn what_the_server_says_by_itself_is_heard() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    let notice = client.message();
    assert_eq!((&notice["method"], &notice["params"]["data"]), (&json!("notifications/message"), &json!("hello")));
}

#[test]
fn a_stream_that_breaks_off_is_taken_up_again() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    client.request("ping", json!({}));
    assert_eq!(text(&client.call("resume", json!({}))), "resumed");
}

#[test]
fn refusals_and_servers_that_are_not_there_are_errors() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    let refused = client.call("refuse", json!({}));
    assert!(refused["error"]["message"].as_str().is_some_and(|why| why.contains("status 401")), "{refused}");
    let unknown = client.request("prompts/list", json!({}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|why| why.contains("404")), "{unknown}");
    let nowhere = ["mcp", "proxy", "--url", "http://127.0.0.1:9/mcp"];
    let mut client = Client::start(world.command(&nowhere));
    let answer = client.request("ping", json!({}));
    assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("cannot be reached")), "{answer}");
}

#[test]
fn requests_that_say_what_they_are_about_say_it_in_headers_too() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let answer = client.request("tools/call", json!({"name": "echo", "arguments": {}, "_meta": meta}));
    assert_eq!(text(&answer), "near");
    let call = &server.asked("tools/call")[0];
    let said = ["mcp-protocol-version", "mcp-method", "mcp-name"].map(|name| call.header(name).unwrap_or_default());
    assert_eq!(said, ["2026-07-28", "tools/call", "echo"]);
    // The list that the proxy asked for says so too.
    assert_eq!(server.asked("tools/list")[0].header("mcp-method"), Some("tools/list"));
    client.request("tools/call", json!({"name": "größe", "arguments": {"region": "eu"}, "_meta": meta}));
    let call = &server.asked("tools/call")[1];
    let said = ["mcp-name", "mcp-param-region"].map(|name| call.header(name).unwrap_or_default());
    assert_eq!(said, ["=?base64?Z3LDtsOfZQ==?=", "eu"]);
    client.request("tasks/get", json!({"taskId": "t1", "_meta": meta}));
    assert_eq!(server.asked("tasks/get")[0].header("mcp-name"), Some("t1"));
}

/// More than may be in flight.
const MANY: usize = 70;

#[test]
fn what_nobody_waits_for_is_left_and_makes_room() {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    for n in 0..MANY {
        let id = client.ask("tools/call", json!({"name": "hang", "arguments": {"n": n}}));
        while server.asked("tools/call").len() <= n {
            thread::sleep(Duration::from_millis(1));
        }
        client.say(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string(),
        );
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    let until = Instant::now() + Duration::from_secs(30);
    while server.left.load(Ordering::Relaxed) < MANY {
        assert!(Instant::now() < until, "{} of {MANY} were left", server.left.load(Ordering::Relaxed));
        thread::sleep(Duration::from_millis(10));
    }
    let mut hasty = server.proxy(&world, &["--timeout", "300ms"]);
    hasty.greet();
    for n in 0..60 {
        hasty.ask("tools/call", json!({"name": "hang", "arguments": {"n": n}}));
    }
    let mut late = 0;
    while late < 60 {
        let answer = hasty.message();
        assert!(answer["method"].is_string() || answer["error"]["code"] == json!(-32001), "{answer}");
        late += usize::from(answer["error"].is_object());
    }
    for n in 0..MANY {
        assert_eq!(text(&hasty.call("echo", json!({"n": n}))), "near");
    }
}

#[test]
fn a_server_that_forgot_the_session_is_greeted_anew() {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    assert_eq!(text(&client.call("echo", json!({"n": 1}))), "near");
    server.forgotten.fetch_add(1, Ordering::Relaxed);
    for n in 2..=3 {
        assert_eq!(text(&client.call("echo", json!({"n": n}))), "near");
    }
    assert_eq!(server.asked("initialize").len(), 2);
    assert_eq!(server.asked("initialize")[1].header("mcp-session-id"), None);
    assert_eq!(server.asked("notifications/initialized").len(), 2);
    assert_eq!(server.asked("tools/list").len(), 2, "what it offers may be something else now");
    assert_eq!(server.asked("tools/call").last().and_then(|call| call.header("mcp-session-id")), Some("abc-1"));
    assert!(client.complaints().contains("had forgotten the session"));
    // What is not found in a session that is known is no reason to greet.
    let unknown = client.request("prompts/list", json!({}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|why| why.contains("404")), "{unknown}");
    assert_eq!(server.asked("initialize").len(), 2);
}

#[test]
fn a_server_that_is_elsewhere_in_the_same_place_is_found() {
    let world = World::new("jackline: 1\n");
    let other = Server::start();
    let door = |location: String| {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("bound");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let mut input = BufReader::new(&connection);
                while let Some(request) = read(&mut input) {
                    let more = format!("Location: {location}\r\n");
                    let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": {}}).to_string();
                    let answer = match request.path.as_str() {
                        "/mcp" => response("307 Temporary Redirect", "text/plain", &more, ""),
                        _ => response("200 OK", "application/json", "", &body),
                    };
                    let mut output = &connection;
                    if output.write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            }
        });
        url
    };
    let ping = |url: &str| {
        let mut client = Client::start(world.command(&["mcp", "proxy", "--url", url]));
        client.request("ping", json!({}))
    };
    assert_eq!(ping(&door("/mcp/".to_owned()))["result"], json!({}));
    let away = ping(&door(other.url.clone()));
    let why = away["error"]["message"].as_str().expect("a message");
    assert!(why.contains("status 307") && why.contains(other.url.trim_end_matches("/mcp")), "{away}");
    assert!(!why.contains("/mcp"), "the rest of an address may be a secret: {away}");
    assert!(other.heard().is_empty(), "nobody else is sent anything");
}

#[test]
fn secrets_come_from_variables_and_mistakes_do_not_show_them() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let arguments = ["mcp", "proxy", "--url", &server.url, "--header-env", "X-Key=SECRET_OF_MINE"];
    let mut command = world.command(&arguments);
    command.env("SECRET_OF_MINE", "hidden");
    let mut client = Client::start(command);
    client.request("ping", json!({}));
    assert_eq!(server.asked("ping")[0].header("x-key"), Some("hidden"));
    let unset = world.jackline(&arguments);
    assert_eq!(unset.status.code(), Some(2));
    let wrong = world.jackline(&["mcp", "proxy", "--url", &server.url, "--header", "hidden"]);
    assert!(wrong.status.code() == Some(2) && !String::from_utf8_lossy(&wrong.stderr).contains("hidden"));
    let no_address = world.jackline(&["mcp", "proxy", "--url", "ftp://hidden"]);
    assert!(no_address.status.code() == Some(2) && !String::from_utf8_lossy(&no_address.stderr).contains("hidden"));
}

#[test]
fn an_address_comes_from_a_variable_and_is_not_shown() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let arguments = ["mcp", "proxy", "--name", "far", "--url-env", "ADDRESS_OF_MINE"];
    let mut command = world.command(&arguments);
    command.env("ADDRESS_OF_MINE", format!("{}?key=hidden", server.url));
    let mut client = Client::start(command);
    client.greet();
    let waiting = client.ask("tools/call", json!({"name": "hang", "arguments": {}}));
    while server.asked("tools/call").is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.asked("tools/call")[0].path, "/mcp?key=hidden");
    let pid = client.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().is_ok_and(|status| status.success()));
    let answer = client.answer_to(&waiting).to_string();
    assert!(answer.contains("was left") && !answer.contains("hidden"), "{answer}");
    client.ended();
    assert!(!client.complaints().contains("hidden"));
    let unset = world.jackline(&arguments);
    assert_eq!(unset.status.code(), Some(2));
}

#[test]
fn a_request_is_sent_after_the_notices_that_were_said_before_it() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    client.request("ping", json!({}));
    let heard: Vec<String> = server.heard().iter().map(|request| request.body["method"].to_string()).collect();
    let at = |method: &str| heard.iter().position(|heard| heard.contains(method));
    assert!(at("notifications/initialized") < at("ping"), "{heard:?}");
    assert!(at("notifications/initialized").is_some(), "{heard:?}");
    // What is refused is told, since nobody waits for it.
    server.forgotten.fetch_add(1, Ordering::Relaxed);
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/refused"}"#);
    client.request("ping", json!({}));
}

#[test]
fn what_is_said_at_once_arrives_in_order() {
    let world = World::new("jackline: 1\nloop: false\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    let info = json!({ "name": "test", "version": "1" });
    client.ask("initialize", json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }));
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let list = client.ask("tools/list", json!({}));
    client.answer_to(&list);
    let calls: Vec<Value> =
        (0..40).map(|n| client.ask("tools/call", json!({ "name": "echo", "arguments": { "n": n } }))).collect();
    let mut answered = 0;
    while answered < calls.len() {
        answered += usize::from(calls.contains(&client.message()["id"]));
    }
    let posts: Vec<Heard> = server.heard().into_iter().filter(|request| request.method == "POST").collect();
    let methods: Vec<&str> = posts.iter().filter_map(|post| post.body["method"].as_str()).collect();
    assert_eq!(methods[..3], ["initialize", "notifications/initialized", "tools/list"], "{methods:?}");
    let sessions: Vec<Option<&str>> = posts[1..].iter().map(|post| post.header("mcp-session-id")).collect();
    assert!(sessions.iter().all(|session| *session == Some("abc")), "{sessions:?}");
    let arrived: Vec<&Value> = posts.iter().map(|post| &post.body["params"]["arguments"]["n"]).collect();
    assert_eq!(arrived[3..], (0..40).map(|n| json!(n)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
}

#[test]
fn what_a_server_works_on_holds_up_nothing_that_it_waits_for() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut client = server.proxy(&world, &[]);
    client.greet();
    let began = Instant::now();
    let call = client.ask("tools/call", json!({"name": "wait", "arguments": {}}));
    while server.asked("tools/call").is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    client.say(r#"{"jsonrpc":"2.0","id":"question","result":{}}"#);
    let ping = client.ask("ping", json!({}));
    let mut answered = 0;
    while answered < 2 {
        let message = client.message();
        answered += usize::from(message["result"].is_object() && [&call, &ping].contains(&&message["id"]));
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_proxy_of_the_environment_has_no_part_in_what_is_on_this_machine() {
    let world = World::new("jackline: 1\n");
    let server = Server::start();
    let mut command = world.command(&["mcp", "proxy", "--name", "far", "--url", &server.url]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    let mut client = Client::start(command);
    client.greet();
    assert_eq!(text(&client.call("echo", json!({}))), "near");
}
