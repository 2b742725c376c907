//! Native messages of VS Code's agent hooks, read into events. Names are spelled in two ways, and both are taken.

use jackline_core::time::Timestamp;
use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Fields, text};
use crate::adapters::{Asked, Heard, Moment};

pub(super) fn read(native: &[u8], now: Timestamp) -> Heard {
    let mut fields = match native::fields(native) {
        Ok(fields) => fields,
        Err(why) => return native::heard(glance(native), Err(why), now),
    };
    let asked = asked(&fields);
    let events = if asked.moment == Moment::Gate && asked.name != "PreToolUse" {
        Err(format!("`{}` is not a tool gate that this version knows", asked.name))
    } else {
        Ok(events(&asked.name, &mut fields))
    };
    native::heard(asked, events, now)
}

/// What a message is about, told without reading it.
pub(super) fn glance(native: &[u8]) -> Asked {
    let seen = |member: &str| native::glimpsed(native, member);
    let name = seen("\"hookEventName\"").or_else(|| seen("\"hook_event_name\"")).unwrap_or_default();
    Asked::new(moment(&name, true), name)
}

fn asked(fields: &Fields) -> Asked {
    let name = text(fields, "hookEventName").or_else(|| text(fields, "hook_event_name")).unwrap_or_default();
    let moment = match moment(name, fields.contains_key("tool_input")) {
        Moment::Stop { .. } => Moment::Stop { again: fields.get("stop_hook_active") == Some(&Value::Bool(true)) },
        moment => moment,
    };
    Asked::new(moment, name)
}

/// When an event comes. A message without a name may be anything.
fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "" | "PreToolUse" => Moment::Gate,
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

fn events(name: &str, fields: &mut Fields) -> (Fields, Vec<Value>) {
    let common = native::common(fields, (HOST, name), COMMON);
    let event = match name {
        "PreToolUse" => json!({ "event": "call.requested", "call": call(fields) }),
        "PostToolUse" => {
            let output = fields.remove("tool_response").unwrap_or_default();
            json!({ "event": "call.finished", "call": call(fields), "ok": succeeded(&output), "output": output })
        }
        "UserPromptSubmit" => {
            json!({ "event": "prompt.submitted", "prompt": fields.remove("prompt").unwrap_or_default() })
        }
        "SessionStart" => json!({ "event": "session.started", "source": fields.get("source") }),
        "SubagentStart" => json!({ "event": "agent.started", "agent_type": fields.get("agent_type") }),
        "Stop" | "SubagentStop" => json!({ "event": "stop.requested", "again": fields.get("stop_hook_active") }),
        name => native::noted(name, fields, &["hookEventName", "hook_event_name", "timestamp"]),
    };
    (common, vec![event])
}

fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    json!({ "id": take("tool_use_id"), "tool": take("tool_name"), "args": take("tool_input") })
}

/// Of a command that failed, the client says so in its text.
fn succeeded(output: &Value) -> bool {
    let said = output.as_str().unwrap_or_default();
    let exit = said.lines().find_map(|line| line.trim().strip_prefix("Command exited with code "));
    output.get("isError") != Some(&Value::Bool(true)) && exit.is_none_or(|code| code.trim() == "0")
}
