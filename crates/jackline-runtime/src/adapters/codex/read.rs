//! Native messages of Codex, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Events, Fields, IN_TRANSCRIPT, text};
use crate::adapters::{Inquiry, Moment};

/// The shell's tool. What it returned does not say how it ended.
const SHELL: &str = "Bash";
/// How the outcome of a patch begins when it was made.
const PATCHED: &str = "Exit code: 0\n";

/// A mode in which nobody is asked about calls.
pub(super) fn asked(fields: &Fields, asked: Inquiry) -> Inquiry {
    Inquiry { unasked: text(fields, "permission_mode") == Some("bypassPermissions"), ..asked }
}

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
pub(super) fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "PreToolUse" => Moment::Gate,
        "PostToolUse" => Moment::Outcome,
        "UserPromptSubmit" => Moment::Prompt,
        "SessionStart" | "SubagentStart" => Moment::Start,
        "Stop" | "SubagentStop" => Moment::Stop { again: false },
        // The client asks the person in any case.
        "PermissionRequest" => Moment::Passing,
        _ if about_tool && !KNOWN.contains(&name) => Moment::Gate,
        _ => Moment::Passing,
    }
}

/// Other events of the client; none of them is about a tool that is about to run.
const KNOWN: &[&str] = &["Interrupt", "Notification", "PostCompact", "PreCompact", "SessionEnd", "StopFailure"];

/// Where what was used is written down comes last: a sub-agent that stops names its own.
pub(super) const COMMON: &[(&str, &str)] = &[
    ("session_id", "session"),
    ("agent_id", "agent"),
    ("cwd", "cwd"),
    ("permission_mode", "permission_mode"),
    ("transcript_path", "transcript"),
    ("agent_transcript_path", "transcript"),
];

/// The events in our protocol's form; what they have in common is added by `native`.
pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let event = match name {
        "PreToolUse" => json!({ "event": "call.requested", "call": call(fields) }),
        "PostToolUse" => finished(fields),
        // What a sub-agent is told by its agent is no person's word.
        "UserPromptSubmit" if !common.contains_key("agent") => native::prompted(fields, "prompt"),
        "SessionStart" => {
            json!({ "event": "session.started", "source": fields.get("source"), "model": fields.get("model") })
        }
        "SubagentStart" => json!({ "event": "agent.started", "agent_type": fields.get("agent_type") }),
        "SessionEnd" => json!({ "event": "session.ended", "reason": fields.get("reason") }),
        "Stop" | "SubagentStop" => native::stopping(fields, "last_assistant_message"),
        name => native::noted(name, fields, &["hook_event_name", "turn_id", "model"]),
    };
    Ok((common, vec![event]))
}

fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    json!({ "id": take("tool_use_id"), "tool": take("tool_name"), "args": take("tool_input") })
}

/// A call that has ended. The client tells of patches only when they were made, and of a shell's command how it ended
/// only in the transcript.
fn finished(fields: &mut Fields) -> Value {
    let tool = text(fields, "tool_name").unwrap_or_default().to_owned();
    let output = fields.remove("tool_response").unwrap_or_default();
    let ok = match tool.as_str() {
        SHELL => false,
        "apply_patch" => output.as_str().is_some_and(|output| output.starts_with(PATCHED)),
        _ => output.get("isError") != Some(&Value::Bool(true)),
    };
    let mut event = json!({ "event": "call.finished", "call": call(fields), "ok": ok, "output": output });
    if let Value::Object(event) = &mut event
        && tool == SHELL
    {
        event.insert(IN_TRANSCRIPT.to_owned(), Value::Bool(true));
    }
    event
}
