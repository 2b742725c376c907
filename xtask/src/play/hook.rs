//! Events as an agent causes them, for the hook.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use super::{Play, Ran};

/// How often all events are played in one session: once for their effects, and once when all files are there.
const ROUNDS: usize = 2;
/// Sessions that are played to a build that records: enough for what every event runs to stand out.
const RECORDED_SESSIONS: usize = 4;

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

/// What is asked about a call, in turn.
const EVENTS: [&str; 2] = ["PreToolUse", "PostToolUse"];

impl Play {
    /// Kinds of events that are played, again and again in the same order.
    pub(crate) const KINDS: usize = CALLS.len() * EVENTS.len();

    /// Plays each event, under few policies and under many, and tells what each ran.
    pub(crate) fn events(&self) -> Result<Vec<Ran>, String> {
        let mut ran = Vec::new();
        for (are_all, name) in [(true, "all"), (false, "few")] {
            self.define(are_all).map_err(|fault| format!("a definition cannot be put there: {fault}"))?;
            for session in 0..if self.watching.is_some() { 1 } else { RECORDED_SESSIONS } {
                for round in 0..ROUNDS {
                    ran.extend(self.round(&format!("{name}-{session}"), round)?);
                }
            }
        }
        Ok(ran)
    }

    fn round(&self, session: &str, round: usize) -> Result<Vec<Ran>, String> {
        let mut ran = Vec::new();
        for (number, call) in CALLS.iter().enumerate() {
            for event in EVENTS {
                ran.push(self.answer(&message(
                    &self.workspace(),
                    session,
                    event,
                    call,
                    &format!("{round}-{number}"),
                ))?);
            }
        }
        Ok(ran)
    }

    /// Asks the hook.
    fn answer(&self, message: &str) -> Result<Ran, String> {
        let input = self.place.join("message");
        let broken = |what: &str, fault: std::io::Error| format!("{what}: {fault}");
        fs::write(&input, message).map_err(|fault| broken("the message cannot be written", fault))?;
        let message = fs::File::open(&input).map_err(|fault| broken("the message cannot be read", fault))?;
        let mut command = self.command();
        command.args(["hook", "claude"]).stdin(message).stdout(Stdio::null());
        match self.run(&mut command).map_err(|fault| broken("the hook cannot be played to", fault))? {
            (status, ran) if status.success() => Ok(ran),
            (status, _) => Err(format!("the hook failed: {status}")),
        }
    }
}

fn message(workspace: &Path, session: &str, event: &str, (tool, input, output): &Call, id: &str) -> String {
    let at = workspace.display().to_string();
    let (input, output) = (input.replace('~', &at), output.replace('~', &at));
    let answered = if event == "PostToolUse" { format!(r#","tool_response":{output}"#) } else { String::new() };
    format!(
        r#"{{"session_id":"{session}","transcript_path":"{at}/none.jsonl","cwd":"{at}","permission_mode":"default",
"hook_event_name":"{event}","tool_name":"{tool}","tool_input":{input},"tool_use_id":"toolu_{id}"{answered}}}"#
    )
}
