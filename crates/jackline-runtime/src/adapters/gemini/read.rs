//! Native messages of Gemini CLI, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::ended::{self, Ending};
use crate::adapters::native::{self, Events, Fields};
use crate::adapters::{Moment, served};

/// How the outcome of a command begins that ended by itself.
const ENDING: Ending = Ending { begins: &["Output: "], shortened: None, notes: &[], in_full: false };

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
pub(super) fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "BeforeTool" => Moment::Gate,
        "AfterTool" => Moment::Outcome,
        "BeforeAgent" => Moment::Prompt,
        "SessionStart" => Moment::Start,
        "AfterAgent" => Moment::Stop { again: false },
        _ if about_tool && !KNOWN.contains(&name) => Moment::Gate,
        _ => Moment::Passing,
    }
}

/// Other events of the client; none of them is about a tool that is about to run.
const KNOWN: &[&str] =
    &["AfterModel", "BeforeModel", "BeforeToolSelection", "Notification", "PreCompress", "SessionEnd"];

pub(super) const COMMON: &[(&str, &str)] = &[("session_id", "session"), ("cwd", "cwd")];

/// The events in our protocol's form; what they have in common is added by `native`.
pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let event = match name {
        "BeforeTool" => json!({ "event": "call.requested", "call": call(fields) }),
        "AfterTool" => finished(fields),
        "BeforeAgent" if native::is_our_own(fields.get("prompt")) => noted(name, fields),
        "BeforeAgent" => native::prompted(fields, "prompt"),
        "SessionStart" => json!({ "event": "session.started", "source": fields.get("source") }),
        "SessionEnd" => json!({ "event": "session.ended", "reason": fields.get("reason") }),
        "AfterAgent" => native::stopping(fields, "prompt_response"),
        name => noted(name, fields),
    };
    Ok((common, vec![event]))
}

fn noted(name: &str, fields: &mut Fields) -> Value {
    native::noted(name, fields, &["hook_event_name", "timestamp", "transcript_path"])
}

/// A call; the client gives it no id. A server's tool is called as it is on most hosts.
fn call(fields: &mut Fields) -> Value {
    let args = fields.remove("tool_input").unwrap_or_default();
    let tool = fields.remove("tool_name").unwrap_or_default();
    let named = fields.get("mcp_context").and_then(|context| {
        let part = |name: &str| context.get(name)?.as_str();
        Some(format!("mcp__{}__{}", part("server_name")?, part("tool_name")?))
    });
    json!({ "tool": named.map_or_else(|| served::after_mcp(HOST, tool), Value::from), "args": args })
}

fn finished(fields: &mut Fields) -> Value {
    let mut response = fields.remove("tool_response").unwrap_or_default();
    let failed = response.get("error").is_some_and(|error| !error.is_null());
    let output = ended::flat(response.get_mut("llmContent").map(Value::take).unwrap_or_default());
    let call = call(fields);
    let ok = !failed && (!ended::is_shells(HOST, &call) || ENDING.is_well(&output));
    let background = call.pointer("/args/is_background") == Some(&Value::Bool(true));
    json!({ "event": "call.finished", "call": call, "ok": ok, "background": background, "output": output })
}
