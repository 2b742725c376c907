//! Native messages of Cursor, read into events.

use jackline_core::json;
use jackline_core::tools::SOME_SERVER;
use serde_json::{Value, json as object};

use super::HOST;
use crate::adapters::native::{self, Events, Fields};
use crate::adapters::{Moment, ended};

/// How it names a server's tool.
const SERVERS_TOOL: &str = "MCP:";
/// The member that counts the stops held before this one.
pub(super) const HELD_COUNT: &str = "loop_count";

/// When an event comes. Whatever comes before something is a gate, known or not.
pub(super) fn moment(name: &str, _: bool) -> Moment {
    match name {
        "postToolUse" | "postToolUseFailure" => Moment::Outcome,
        "beforeSubmitPrompt" => Moment::Prompt,
        "sessionStart" | "subagentStart" => Moment::Start,
        "stop" | "subagentStop" => Moment::Stop { again: false },
        "sessionEnd" | "preCompact" => Moment::Passing,
        name if name.starts_with("after") || name.starts_with("post") => Moment::Passing,
        _ => Moment::Gate,
    }
}

pub(super) const COMMON: &[(&str, &str)] =
    &[("conversation_id", "session"), ("agent_id", "agent"), ("cwd", "cwd"), ("transcript_path", "transcript")];

/// Members of every message that say nothing of what happened; one of them is a person's.
const DROPPED: &[&str] =
    &["hook_event_name", "generation_id", "cursor_version", "user_email", "workspace_roots", "model"];

pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let root = fields.get("workspace_roots").and_then(|roots| roots.get(0)).cloned();
    let mut common = native::common(fields, (HOST, name), COMMON);
    if let Some(root) = root {
        common.entry("cwd").or_insert(root);
    }
    let event = match name {
        "preToolUse" => object!({ "event": "call.requested", "call": call(fields) }),
        "postToolUse" => {
            let output = decoded(fields.remove("tool_output").unwrap_or_default());
            let call = call(fields);
            // A command that does not say how it ended has not succeeded.
            let well = |exit: Option<i64>| exit.map_or(!ended::is_shells(HOST, &call), |exit| exit == 0);
            let ok = output.get("isError") != Some(&Value::Bool(true)) && well(exit(&output));
            object!({ "event": "call.finished", "call": call, "ok": ok, "output": output })
        }
        "postToolUseFailure" => {
            let output = fields.remove("error_message").unwrap_or_default();
            object!({ "event": "call.finished", "call": call(fields), "ok": false, "fixed": true, "output": output })
        }
        // A stop is held by a message that takes the place of a person's.
        "beforeSubmitPrompt" if native::is_our_own(fields.get("prompt")) => native::noted(name, fields, DROPPED),
        "beforeSubmitPrompt" => native::prompted(fields, "prompt"),
        "sessionStart" => object!({ "event": "session.started", "model": fields.get("model") }),
        "subagentStart" => object!({ "event": "agent.started", "agent_type": fields.get("subagent_type") }),
        "sessionEnd" => object!({ "event": "session.ended", "reason": fields.get("reason") }),
        "stop" | "subagentStop" => {
            let again = native::is_held(fields, HELD_COUNT);
            object!({ "event": "stop.requested", "reason": fields.get("status"), "again": again })
        }
        name => native::noted(name, fields, DROPPED),
    };
    Ok((common, vec![event]))
}

fn exit(output: &Value) -> Option<i64> {
    output.get("exitCode").or_else(|| output.get("exit_code")).and_then(Value::as_i64)
}

fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    let (id, tool, args) = (take("tool_use_id"), take("tool_name"), decoded(take("tool_input")));
    let tool = tool.as_str().map_or(tool.clone(), |name| object!(named(name)));
    object!({ "id": id, "tool": tool, "args": args })
}

/// A server's tool is `MCP:server:tool` or `MCP:tool` here; elsewhere, and in definitions, `mcp__server__tool`.
fn named(tool: &str) -> String {
    match tool.strip_prefix(SERVERS_TOOL).map(|rest| rest.split_once(':').unwrap_or((SOME_SERVER, rest))) {
        Some((server, own)) => format!("mcp__{}__{}", server.trim(), own.trim()),
        None => tool.to_owned(),
    }
}

/// Some values are JSON in a text; what is none stays as it is.
fn decoded(value: Value) -> Value {
    match value.as_str().map(|text| json::decode(text.as_bytes())) {
        Some(Ok(decoded @ (Value::Object(_) | Value::Array(_)))) => decoded,
        _ => value,
    }
}
