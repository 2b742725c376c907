//! A tiny MCP server over standard input and output that does what tests want: answers, dies, hangs, floods, babbles,
//! changes its tools, asks back.
//!
//! `odd-mcp-server [--log FILE] [--pages] [--stateless] [--marked] [--list HOW]`: writes every line it reads to FILE, lists
//! its tools one by one, speaks only the protocol without `initialize`, begins with a byte order mark, or lists its tools in
//! an odd way ([`Server::odd_list`]).

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Bytes of a flood: more than any client takes.
const FLOOD_BYTES: usize = 20 << 20;

struct Server {
    log: Option<String>,
    pages: bool,
    stateless: bool,
    /// A byte order mark stands before the first line that it says.
    marked: bool,
    /// How it lists its tools, where that is odd.
    odd: Option<String>,
    /// Lists that were asked for.
    lists: usize,
    /// Its list was changed.
    changed: bool,
    /// The call that waits for an answer of the client's.
    asking: Option<Value>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let given = |option: &str| {
        let at = arguments.iter().position(|argument| argument == option)?;
        arguments.get(at + 1).cloned()
    };
    let (pages, stateless) = (has("--pages"), has("--stateless"));
    let (log, odd) = (given("--log"), given("--list"));
    let marked = has("--marked");
    let mut server = Server { log, pages, stateless, marked, odd, lists: 0, changed: false, asking: None };
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        server.keep(&line);
        if std::mem::take(&mut server.marked) {
            drop(write!(io::stdout(), "\u{feff}"));
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if let Some(code) = server.take(&message) {
            return ExitCode::from(code);
        }
    }
    ExitCode::SUCCESS
}

fn say(message: &Value) {
    print(&message.to_string());
}

fn print(line: &str) {
    let mut out = io::stdout().lock();
    // Nobody is left to be told when the client is gone.
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl Server {
    fn keep(&self, line: &str) {
        let Some(log) = &self.log else { return };
        let file = OpenOptions::new().create(true).append(true).open(log);
        drop(file.and_then(|mut file| writeln!(file, "{line}")));
    }

    /// Takes a message; the exit code if it is the last one.
    fn take(&mut self, message: &Value) -> Option<u8> {
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str);
        match (method, id) {
            (None, Some(_)) => {
                let said = message.get("result").or_else(|| message.get("error")).cloned().unwrap_or_default();
                let call = self.asking.take();
                call.into_iter().for_each(|id| answer(&id, text(&format!("the client said {said}"))));
            }
            (Some("tools/call"), Some(id)) => return self.call(&id, message),
            (Some(method), Some(id)) => self.request(method, &id, message),
            (Some(_) | None, None) => {}
        }
        None
    }

    fn request(&mut self, method: &str, id: &Value, message: &Value) {
        let parameters = message.get("params").cloned().unwrap_or_default();
        match method {
            "initialize" if !self.stateless => answer(
                id,
                json!({
                    "protocolVersion": parameters.get("protocolVersion"),
                    "capabilities": { "tools": { "listChanged": true } },
                    "serverInfo": { "name": "odd server", "version": "1" },
                }),
            ),
            "server/discover" => {
                answer(id, json!({ "supportedVersions": ["2026-07-28"], "serverInfo": { "name": "odd server" } }))
            }
            "ping" => answer(id, json!({})),
            "tools/list"
                if self.stateless
                    && parameters.pointer("/_meta/io.modelcontextprotocol~1protocolVersion").is_none() =>
            {
                refuse(id, -32602, "the protocol version is missing");
            }
            "tools/list" => match self.odd.clone() {
                Some(odd) => self.odd_list(&odd, id),
                None => answer(id, self.list(parameters.get("cursor"))),
            },
            "odd/silence" => {}
            _ => refuse(id, -32601, "unknown method"),
        }
    }

    fn list(&self, cursor: Option<&Value>) -> Value {
        let tools = self.tools();
        if !self.pages {
            return json!({ "tools": tools });
        }
        let at: usize = cursor.and_then(Value::as_str).and_then(|at| at.parse().ok()).unwrap_or_default();
        let mut page = json!({ "tools": [tools.get(at)] });
        if let (Value::Object(page), true) = (&mut page, at + 1 < tools.len()) {
            page.insert("nextCursor".to_owned(), json!((at + 1).to_string()));
        }
        page
    }

    /// Lists that no server should give: each says something new of `echo`.
    fn odd_list(&mut self, how: &str, id: &Value) {
        self.lists += 1;
        let about = format!("said {} times", self.lists);
        let schema = json!({ "type": "object", "properties": { "text": {} }, "required": ["text"] });
        let echo = json!({ "name": "echo", "description": about, "inputSchema": schema });
        let strange = |meta: &str| {
            let tool = echo.to_string().replacen('{', &format!("{{\"_meta\":{meta},"), 1);
            print(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[{tool}]}}}}"));
        };
        let plain = |name: &str, about: &str| json!({ "name": name, "description": about, "inputSchema": schema });
        match how {
            "endless" => answer(id, json!({ "tools": [echo], "nextCursor": about })),
            "slow" => {
                thread::sleep(Duration::from_secs(2));
                answer(id, json!({ "tools": [echo], "nextCursor": about }));
            }
            "doubled-key" => strange("{\"a\":1,\"a\":2}"),
            "deep" => strange(&format!("{}{}", "[".repeat(500), "]".repeat(500))),
            "null" => answer(id, json!({ "tools": null })),
            // Strict clients take none of its tools then.
            "bare" => answer(id, json!({ "tools": [{ "name": "bare", "inputSchema": "none" }] })),
            "twice" => answer(id, json!({ "tools": [echo, plain("echo", "always the same")] })),
            "disguised" => answer(id, json!({ "tools": [plain("echo", "as ever")], "Tools": [echo] })),
            "alike" => {
                answer(id, json!({ "tools": [plain("a.b", "dotted"), plain("a_b", "lined"), plain("c.d", "alone")] }))
            }
            "many" => {
                let about = |n: usize| if n == 650 && self.lists > 1 { "changed" } else { "as ever" };
                let tools: Vec<Value> = (0..700).map(|n| plain(&format!("t{n:04}"), about(n))).collect();
                answer(id, json!({ "tools": tools }));
            }
            _ => refuse(id, -32601, "no lists here"),
        }
    }

    fn tools(&self) -> Vec<Value> {
        let any = || json!({ "type": "object" });
        let of = |name: &str, schema: Value| json!({ "name": name, "description": name, "inputSchema": schema });
        let text = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        let numbers = json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
            "required": ["a", "b"], "additionalProperties": false });
        let elsewhere = json!({ "type": "object", "$ref": "https://example.com/elsewhere.json" });
        let mut tools = vec![of("echo", text), of("add", numbers), of("far", elsewhere)];
        let plain = [
            "fail",
            "error",
            "die",
            "hang",
            "flood",
            "babble",
            "change",
            "leave",
            "long",
            "ask",
            "slow",
            "deaf",
            "input",
            "deep",
            "nested",
            "doubled",
            "nulled",
            "orphan",
            "pretend",
            "both",
            "empty",
            "wordy",
            "linked",
            "torn",
            "named-twice",
            "disguised",
            "methodless",
        ];
        tools.extend(plain.iter().map(|name| of(name, any())));
        if self.changed {
            tools.push(of("extra", any()));
            if let Some(Value::Object(echo)) = tools.first_mut() {
                echo.insert("description".to_owned(), json!("echo, and tell everybody"));
            }
        }
        tools
    }

    fn call(&mut self, id: &Value, message: &Value) -> Option<u8> {
        let parameters = message.get("params").cloned().unwrap_or_default();
        let arguments = parameters.get("arguments").cloned().unwrap_or_default();
        let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or_default();
        match parameters.get("name").and_then(Value::as_str).unwrap_or_default() {
            "echo" | "extra" | "far" | "bare" | "a.b" | "a_b" | "a b" | "c.d" | "c_d" => {
                answer(id, text(&given("text")))
            }
            "add" => {
                let sum = number("a") + number("b");
                let content = text(&format!("{{\"sum\":{sum}}}"));
                answer(id, json!({ "content": content.get("content"), "structuredContent": { "sum": sum } }));
            }
            "fail" => answer(id, json!({ "content": text("it failed").get("content"), "isError": true })),
            "error" => refuse(id, -32603, "an internal error"),
            "die" => return Some(3),
            "hang" => {}
            "flood" => answer(id, text(&"x".repeat(FLOOD_BYTES))),
            "babble" => {
                ["hello", "{\"half\":", "[1,", "\u{7f}"].iter().for_each(|line| print(line));
                answer(id, text("said"));
            }
            "change" => {
                self.changed = true;
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                answer(id, text("changed"));
            }
            "leave" => answer(id, leave()),
            "long" => answer(id, text(&lines(1..=number("lines")))),
            "ask" => {
                self.asking = Some(id.clone());
                // An id that a client may use as well, at the same time.
                let own = if arguments.get("alike").is_some() { id.clone() } else { json!(1) };
                say(&json!({ "jsonrpc": "2.0", "id": own, "method": "roots/list" }));
            }
            "slow" => {
                thread::sleep(Duration::from_millis(number("ms")));
                answer(id, text("at last"));
            }
            "deaf" => loop {
                thread::sleep(Duration::from_secs(1));
            },
            "input" if parameters.get("requestState").is_none() || arguments.get("always").is_some() => {
                let asks = json!({ "q": { "method": "elicitation/create", "params": { "message": "more?" } } });
                answer(id, json!({ "resultType": "input_required", "requestState": "s1", "inputRequests": asks }));
            }
            "input" => answer(id, text("with input")),
            "orphan" => {
                drop(Command::new("setsid").args(["sleep", "20"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn());
                // So that it has its own group before this one is ended.
                thread::sleep(Duration::from_millis(300));
                return Some(7);
            }
            "deep" => print(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{}{}}}",
                "[".repeat(5_000),
                "]".repeat(5_000)
            )),
            "nested" => nested(id, number("levels"), &lines(1..=number("lines"))),
            name => odd_answer(name, id),
        }
        None
    }
}

fn lines(numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|n| format!("line {n}\n")).collect()
}

/// Answers with some lines, and with structured content of so many levels.
fn nested(id: &Value, levels: u64, lines: &str) {
    let levels = usize::try_from(levels).unwrap_or_default();
    let (deep, deeper) = ("[".repeat(levels), "]".repeat(levels));
    let content = json!([{ "type": "text", "text": lines }]);
    print(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"structuredContent":{{"x": {deep}1.50{deeper}}},"content":{content}}}}}"#
    ));
}

/// Answers that no server should give.
fn odd_answer(name: &str, id: &Value) {
    match name {
        "pretend" => {
            let mut result = text(&lines(1..=2_000));
            if let Value::Object(result) = &mut result {
                result.insert("resultType".to_owned(), json!("input_required"));
            }
            answer(id, result);
        }
        "both" => say(&json!({ "jsonrpc": "2.0", "id": id, "method": "odd/both", "result": text(&lines(1..=2_000)) })),
        "doubled" => print(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"content":[]}}}}"#)),
        "torn" => print(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"result":{{"content":[]}}}}"#)),
        "named-twice" => print(&format!(r#"{{"jsonrpc":"2.0","id":{id},"id":{id},"result":{{"content":[]}}}}"#)),
        "disguised" => print(&format!(r#"{{"jsonrpc":"2.0","id":{id},"Result":{{"content":[]}}}}"#)),
        "methodless" => say(&json!({ "jsonrpc": "2.0", "id": id, "method": null, "result": text("said") })),
        "nulled" => say(&json!({ "jsonrpc": "2.0", "id": id, "result": text("said"), "error": null })),
        "empty" => say(&json!({ "jsonrpc": "2.0", "id": id })),
        "wordy" => {
            let error = json!({ "code": -32000, "message": lines(1..=1_000), "data": lines(1..=1_000) });
            say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        "linked" => {
            let link = json!({ "type": "resource_link", "uri": "a:b", "name": "n", "description": lines(1..=1_000) });
            answer(id, json!({ "content": [link, { "type": "odd", "body": lines(1..=1_000) }] }));
        }
        name if name.starts_with('t') => answer(id, text(name)),
        _ => refuse(id, -32602, "no such tool"),
    }
}

/// Starts someone who stays; says who.
fn leave() -> Value {
    let mut sleeper = Command::new("sleep");
    sleeper.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match sleeper.spawn() {
        Ok(child) => text(&child.id().to_string()),
        Err(fault) => text(&fault.to_string()),
    }
}

fn answer(id: &Value, result: Value) {
    say(&json!({ "result": result, "jsonrpc": "2.0", "id": id }));
}

fn refuse(id: &Value, code: i64, message: &str) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
}
