//! A client's calls, for the MCP proxy before our own server.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::thread;

use super::traps::Functions;
use super::{Play, Ran};

/// What a client asks; the first two are asked once for each session.
const ASKED: &[(&str, &str)] = &[
    ("initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"order","version":"1"}}"#),
    ("tools/list", "{}"),
    ("tools/call", r#"{"name":"list_dir","arguments":{"path":"lib"}}"#),
    ("tools/call", r#"{"name":"read_file","arguments":{"path":"lib/one.py"}}"#),
    ("tools/call", r#"{"name":"guard_status","arguments":{}}"#),
];

impl Play {
    /// Plays a session, and tells what the proxy ran.
    pub(crate) fn proxy(&self) -> Result<Ran, String> {
        let mut command = self.command();
        command.args(["mcp", "proxy", "--name", "play", "--session", "play", "--definition", "jackline.yaml", "--"]);
        command.arg(&self.program).args(["mcp", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let broken = |fault: io::Error| format!("the proxy cannot be played to: {fault}");
        let started = if self.watching.is_some() { Functions::start(&mut command) } else { command.spawn() };
        let mut proxy = started.map_err(broken)?;
        let (input, output) = (proxy.stdin.take(), proxy.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("the proxy has no pipes".to_owned()) };
        // The thread that started it must watch it, so another one talks to it.
        let asking = thread::spawn(|| ask_all(input, output));
        let ended = match &self.watching {
            Some(functions) => functions.watch(&proxy),
            None => proxy.wait().map(|status| (status, Ran::new())),
        };
        let (status, ran) = ended.map_err(broken)?;
        let asked = asking.join().map_err(|_| "nobody asked the proxy".to_owned())?;
        asked.map_err(|fault| format!("the proxy does not answer: {fault}"))?;
        if status.success() { Ok(ran) } else { Err(format!("the proxy failed: {status}")) }
    }
}

/// Asks one thing after another, each once the one before is answered, and closes both ends.
fn ask_all(mut input: ChildStdin, output: ChildStdout) -> io::Result<()> {
    let mut answers = BufReader::new(output).lines();
    for (id, (method, params)) in ASKED.iter().enumerate() {
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)?;
        let answer = answers.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        if !answer.contains(r#""result""#) {
            return Err(io::Error::other(answer));
        }
        if id == 0 {
            writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
        }
    }
    Ok(())
}
