//! A scripted MCP client: says what the test wants, and waits only so long for what comes back.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Seconds for anything to come back; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    next_id: u64,
    /// What came beside answers: requests and notices of the server's.
    pub(crate) aside: Vec<Value>,
}

fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let input = child.stdin.take();
        let lines = lines_of(child.stdout.take().expect("piped"));
        let errors = lines_of(child.stderr.take().expect("piped"));
        Self { child, input, lines, errors, next_id: 0, aside: Vec::new() }
    }

    pub(crate) fn say(&mut self, text: &str) {
        let input = self.input.as_mut().expect("open");
        // A server that is gone is for the test to see.
        drop(writeln!(input, "{text}").and_then(|()| input.flush()));
    }

    /// The next line, whatever it is; none when the program closed its output.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("nothing was said: {}", self.complaints()),
        }
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn message(&mut self) -> Value {
        let line = self.hear().unwrap_or_else(|| panic!("the output is closed: {}", self.complaints()));
        serde_json::from_str(&line).unwrap_or_else(|fault| panic!("{fault}: {line}"))
    }

    /// The answer to an id; everything else that comes meanwhile is kept aside.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, id: &Value) -> Value {
        loop {
            let message = self.message();
            if message.get("method").is_none() && message.get("id") == Some(id) {
                return message;
            }
            self.aside.push(message);
        }
    }

    /// Sends a request without waiting; its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(&id)
    }

    /// Calls a tool; its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The same as Claude Code would, whose hook saw the call under this id.
    #[track_caller]
    pub(crate) fn call_as(&mut self, host_id: &str, tool: &str, arguments: Value) -> Value {
        let meta = json!({ "claudecode/toolUseId": host_id });
        self.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    pub(crate) fn greet(&mut self) {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let answer = self.request("initialize", params);
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Says nothing more.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the program's end.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("waited for") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end: {}", self.complaints());
    }

    /// Closes, and waits for the end.
    #[track_caller]
    pub(crate) fn leave(mut self) -> Option<i32> {
        self.close();
        self.ended()
    }

    /// What was said to people so far.
    pub(crate) fn complaints(&self) -> String {
        thread::sleep(Duration::from_millis(50));
        self.errors.try_iter().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that failed must not leave it behind; one that went well has waited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The text of a call's result.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// The code by which a call was refused.
pub(crate) fn code(answer: &Value) -> &str {
    answer["result"]["_meta"]["jackline/code"].as_str().unwrap_or_default()
}
