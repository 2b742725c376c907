//! Events as an agent causes them, for the hook.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::{Place, Times};

/// A tool, what it is given, and what it answered once it was run.
type Call = (&'static str, &'static str, &'static str);

/// Calls as agents make them all day; `~` is the workspace.
const CALLS: &[Call] = &[
    ("Bash", r#"{"command":"cargo fmt && cargo build --release && git status --short"}"#, r#"{"stdout":"done"}"#),
    ("Bash", r#"{"command":"cd src && ls -la | grep rs > /dev/null; cat 'a b.rs'"}"#, r#"{"stdout":"x"}"#),
    ("Bash", r#"{"command":"git push --force origin main"}"#, r#"{"stdout":""}"#),
    ("Read", r#"{"file_path":"~/src/one.rs"}"#, r#"{"type":"text"}"#),
    ("Edit", r#"{"file_path":"~/src/one.rs","old_string":"a","new_string":"b"}"#, r#"{"filePath":"~/src/one.rs"}"#),
    ("Write", r#"{"file_path":"~/src/new.rs","content":"fn f() {}\n"}"#, r#"{"type":"create"}"#),
    ("Grep", r#"{"pattern":"fn main","path":"~/src"}"#, r#"{"mode":"content","numFiles":1}"#),
];

/// Plays each event once for its effects, and once more to see what is run when all files are there.
pub(super) fn play(program: &Path, place: &Place) -> Result<Times, String> {
    let mut times = Times::new();
    for (round, is_watched) in [false, true].into_iter().enumerate() {
        for (number, call) in CALLS.iter().enumerate() {
            for event in ["PreToolUse", "PostToolUse"] {
                let message = message(&place.workspace(), event, call, &format!("{round}-{number}"));
                for name in answer(program, place, &message, is_watched)? {
                    *times.entry(name).or_default() += 1;
                }
            }
        }
    }
    Ok(times)
}

fn message(workspace: &Path, event: &str, (tool, input, output): &Call, id: &str) -> String {
    let at = workspace.display().to_string();
    let (input, output) = (input.replace('~', &at), output.replace('~', &at));
    let answered = if event == "PostToolUse" { format!(r#","tool_response":{output}"#) } else { String::new() };
    format!(
        r#"{{"session_id":"order","transcript_path":"{at}/none.jsonl","cwd":"{at}","permission_mode":"default",
"hook_event_name":"{event}","tool_name":"{tool}","tool_input":{input},"tool_use_id":"toolu_{id}"{answered}}}"#
    )
}

/// Asks the hook; gives the functions it ran, where that is looked at.
fn answer(program: &Path, place: &Place, message: &str, is_watched: bool) -> Result<BTreeSet<String>, String> {
    let input = place.0.join("message");
    let broken = |what: &str, fault: std::io::Error| format!("{what}: {fault}");
    fs::write(&input, message).map_err(|fault| broken("the message cannot be written", fault))?;
    let message = fs::File::open(&input).map_err(|fault| broken("the message cannot be read", fault))?;
    let mut command = place.command(program, is_watched);
    command.args(["hook", "claude"]).stdin(message).stdout(Stdio::null());
    let status = command.status().map_err(|fault| broken("valgrind is needed, and cannot be started", fault))?;
    if !status.success() {
        return Err(format!("the hook failed: {status}"));
    }
    if is_watched { place.ran() } else { Ok(BTreeSet::new()) }
}
