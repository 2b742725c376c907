//! A client's calls, for the MCP proxy before our own server.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};

use super::Place;

/// What a client asks; the first two are asked once for each session.
const ASKED: &[(&str, &str)] = &[
    ("initialize", r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"order","version":"1"}}"#),
    ("tools/list", "{}"),
    ("tools/call", r#"{"name":"list_dir","arguments":{"path":"src"}}"#),
    ("tools/call", r#"{"name":"read_file","arguments":{"path":"src/one.rs"}}"#),
    ("tools/call", r#"{"name":"guard_status","arguments":{}}"#),
];

/// Plays a session, and gives the functions that the proxy ran.
pub(super) fn play(program: &Path, place: &Place) -> Result<BTreeSet<String>, String> {
    let mut command = place.command(program, true);
    command.args(["mcp", "proxy", "--name", "order", "--session", "order", "--definition", "jackline.yaml", "--"]);
    command.arg(program).args(["mcp", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut proxy = command.spawn().map_err(|fault| format!("valgrind is needed, and cannot be started: {fault}"))?;
    let asked = ask_all(&mut proxy);
    let ended = proxy.wait().map_err(|fault| format!("the proxy is not to be waited for: {fault}"))?;
    asked.map_err(|fault| format!("the proxy does not answer: {fault}"))?;
    if !ended.success() {
        return Err(format!("the proxy failed: {ended}"));
    }
    place.ran()
}

/// Asks one thing after another, each once the one before is answered, and closes both ends.
fn ask_all(proxy: &mut Child) -> io::Result<()> {
    let (Some(mut input), Some(output)) = (proxy.stdin.take(), proxy.stdout.take()) else {
        return Err(io::Error::other("it has no pipes"));
    };
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
