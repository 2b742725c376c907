//! Native messages of VS Code's agent hooks, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Events, Fields};
use crate::adapters::{Moment, ended, served};

/// How a line begins that says how a command ended.
const EXIT_LINE: &str = "Command exited with code ";

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

const COMMON: &[(&str, &str)] = &[
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
            let ok = succeeded(&output, ended::is_shells(HOST, &call));
            json!({ "event": "call.finished", "call": call, "ok": ok, "output": output })
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
/// as failed, never as having gone well; and without a text nothing is said.
fn succeeded(output: &Value, is_shells: bool) -> bool {
    let failed = |line: &str| line.trim().strip_prefix(EXIT_LINE).is_some_and(|code| code.trim() != "0");
    let said = output.as_str();
    output.get("isError") != Some(&Value::Bool(true)) && said.map_or(!is_shells, |said| !said.lines().any(failed))
}
