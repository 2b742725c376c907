//! Native messages of Qwen Code, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::Moment;
use crate::adapters::ended::{self, Ending};
use crate::adapters::native::{self, Events, Fields};

/// The tool that calls another one, which it names.
const BRIDGE: &str = "tool_call";

/// How it tells of a command that ended by itself. The command stands first, but not where a program of the model's calls its
/// tools; of a long outcome the middle is left out, and remarks follow.
const ENDING: Ending = Ending {
    begins: &["Command: ", "Directory: "],
    shortened: Some(("Tool output was too large and has been truncated", "\nTruncated part of the output:\n")),
    notes: &["Note: this foreground command ran for ", "AI attribution note skipped: "],
    in_full: true,
};

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
pub(super) fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "PreToolUse" => Moment::Gate,
        "PostToolUse" | "PostToolUseFailure" => Moment::Outcome,
        "UserPromptSubmit" => Moment::Prompt,
        "SessionStart" | "SubagentStart" => Moment::Start,
        "Stop" | "SubagentStop" => Moment::Stop { again: false },
        // The client asks the person in any case.
        "PermissionRequest" | "PermissionDenied" => Moment::Passing,
        _ if about_tool && !KNOWN.contains(&name) => Moment::Gate,
        _ => Moment::Passing,
    }
}

/// Other events of the client; none of them is about a tool that is about to run.
const KNOWN: &[&str] = &[
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PostCompact",
    "PostToolBatch",
    "PreCompact",
    "SessionDelete",
    "SessionEnd",
    "StopFailure",
    "TodoCompleted",
    "TodoCreated",
    "UserPromptExpansion",
];

pub(super) const COMMON: &[(&str, &str)] =
    &[("session_id", "session"), ("agent_id", "agent"), ("cwd", "cwd"), ("permission_mode", "permission_mode")];

/// The events in our protocol's form; what they have in common is added by `native`.
pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let event = match name {
        "PreToolUse" => json!({ "event": "call.requested", "call": call(fields) }),
        "PostToolUse" | "PostToolUseFailure" => finished(fields),
        // The client tells of every message to the model; a person's is the one that was submitted.
        "UserPromptSubmit" if fields.contains_key("submitted_prompt") => native::prompted(fields, "submitted_prompt"),
        "SessionStart" => {
            json!({ "event": "session.started", "source": fields.get("source"), "model": fields.get("model") })
        }
        "SubagentStart" => json!({ "event": "agent.started", "agent_type": fields.get("agent_type") }),
        "SessionEnd" => json!({ "event": "session.ended", "reason": fields.get("reason") }),
        "Stop" | "SubagentStop" => native::stopping(fields, "last_assistant_message"),
        name => native::noted(name, fields, &["hook_event_name", "prompt_id", "timestamp", "transcript_path"]),
    };
    Ok((common, vec![event]))
}

/// A call, under the id that the model gave it. What is called by way of another tool is that tool's call.
fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    let (mut tool, mut args) = (take("tool_name"), take("tool_input"));
    let id = Some(take("tool_call_id")).filter(|id| !id.is_null()).unwrap_or_else(|| take("tool_use_id"));
    if tool == BRIDGE && args.get("name").is_some_and(Value::is_string) {
        tool = args.get_mut("name").map(Value::take).unwrap_or_default();
        args = args.get_mut("arguments").map(Value::take).unwrap_or_default();
    }
    json!({ "id": id, "tool": tool, "args": args })
}

/// A call that has ended; the client shows what came of it, whatever is answered.
fn finished(fields: &mut Fields) -> Value {
    let failed = fields.remove("error");
    let mut response = fields.remove("tool_response").unwrap_or_default();
    let shown = ended::flat(response.get_mut("llmContent").map(Value::take).unwrap_or_default());
    let (ok, output) = failed.map_or((true, shown), |error| (false, error));
    let call = call(fields);
    let ok = ok && (!ended::is_shells(HOST, &call) || ENDING.is_well(&output));
    let background =
        ["/args/is_background", "/args/run_in_background"].iter().any(|at| call.pointer(at) == Some(&json!(true)));
    json!({ "event": "call.finished", "call": call, "ok": ok, "background": background, "fixed": true, "output": output })
}
