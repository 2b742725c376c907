//! Native messages of VS Code's agent hooks, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Events, Fields};
use crate::adapters::{Moment, ended, served};

/// How a line begins that says how a command ended.
const EXIT_LINE: &str = "Command exited with code ";
/// Tools that start something and do not wait for its end.
const SENDING: &str = "send_to_terminal";
const TASK: &str = "create_and_run_task";

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
pub(super) fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "PreToolUse" => Moment::Gate,
        "PostToolUse" => Moment::Outcome,
        "UserPromptSubmit" => Moment::Prompt,
        "SessionStart" | "SubagentStart" => Moment::Start,
        "Stop" | "SubagentStop" => Moment::Stop { again: false },
        "PreCompact" | "SessionEnd" => Moment::Passing,
        _ if about_tool => Moment::Gate,
        _ => Moment::Passing,
    }
}

pub(super) const COMMON: &[(&str, &str)] = &[
    ("sessionId", "session"),
    ("session_id", "session"),
    ("agent_id", "agent"),
    ("cwd", "cwd"),
    ("transcript_path", "transcript"),
];

/// Members of every message that say nothing of what happened.
const DROPPED: &[&str] = &["hookEventName", "hook_event_name", "timestamp"];

pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let event = match name {
        "PreToolUse" => json!({ "event": "call.requested", "call": call(fields) }),
        "PostToolUse" => {
            let output = fields.remove("tool_response").unwrap_or_default();
            let call = call(fields);
            let ok = succeeded(&output, &call);
            let background = is_left_running(&call, &output);
            json!({ "event": "call.finished", "call": call, "ok": ok, "background": background, "output": output })
        }
        "UserPromptSubmit" if native::is_our_own(fields.get("prompt")) => native::noted(name, fields, DROPPED),
        "UserPromptSubmit" => native::prompted(fields, "prompt"),
        "SessionStart" => json!({ "event": "session.started", "source": fields.get("source") }),
        "SubagentStart" => json!({ "event": "agent.started", "agent_type": fields.get("agent_type") }),
        "Stop" | "SubagentStop" => json!({ "event": "stop.requested", "again": fields.get("stop_hook_active") }),
        name => native::noted(name, fields, DROPPED),
    };
    Ok((common, vec![event]))
}

fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    let (id, tool, args) = (take("tool_use_id"), take("tool_name"), take("tool_input"));
    json!({ "id": id, "tool": served::after_mcp(HOST, tool), "args": args })
}

/// Of a command that failed, the client says so in its text. A line that the command itself printed can make it count
/// as failed, never as having gone well; and without a text nothing is said, nor of what was only sent somewhere.
fn succeeded(output: &Value, call: &Value) -> bool {
    let failed = |line: &str| line.trim().strip_prefix(EXIT_LINE).is_some_and(|code| code.trim() != "0");
    let said = output.as_str().filter(|said| !said.trim().is_empty());
    let fine = said.is_some_and(|said| !said.lines().any(failed) && !said.lines().any(is_unfinished));
    let went_well = match call.get("tool").and_then(Value::as_str) {
        Some(SENDING | TASK) => false,
        _ if ended::is_shells(HOST, call) => fine,
        _ => said.is_none_or(|said| !said.lines().any(failed)),
    };
    output.get("isError") != Some(&Value::Bool(true)) && went_well
}

/// Whether a line says that a command has not come to its end.
fn is_unfinished(line: &str) -> bool {
    ["Command is running", "Command timed out", "Command is still running"].iter().any(|front| line.starts_with(front))
}

fn is_left_running(call: &Value, output: &Value) -> bool {
    call.pointer("/args/isBackground") == Some(&Value::Bool(true))
        || ended::is_shells(HOST, call) && output.as_str().is_some_and(|said| said.lines().any(is_unfinished))
}
