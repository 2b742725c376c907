//! Messages of our plugin in OpenCode, read into events.

use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Events, Fields};
use crate::adapters::{Inquiry, Moment};

/// The shell's tool, whose outcome names the exit code.
const SHELL: &str = "bash";
/// The tool that reads files, whose outcome wraps their lines.
const READ: &str = "read";
/// What a call of a tool that is not there becomes.
const INVALID: &str = "invalid";
/// The member in which the plugin says that the stop before this one was held.
pub(super) const HELD: &str = "again";

/// What the plugin changes it does not approve: the client's own permissions are looked at apart from it.
pub(super) fn asked(_: &Fields, asked: Inquiry) -> Inquiry {
    Inquiry { unasked: true, ..asked }
}

/// When an event comes. One that is not known may be anything.
pub(super) fn moment(name: &str, _: bool) -> Moment {
    match name {
        "tool.execute.after" => Moment::Outcome,
        "chat.message" => Moment::Prompt,
        "session.created" => Moment::Start,
        "session.idle" => Moment::Stop { again: false },
        "session.deleted" => Moment::Passing,
        _ => Moment::Gate,
    }
}

pub(super) const COMMON: &[(&str, &str)] = &[("session", "session"), ("agent", "agent"), ("cwd", "cwd")];

pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let sub_agent = common.contains_key("agent");
    let event = match name {
        "tool.execute.before" => json!({ "event": "call.requested", "call": call(fields) }),
        "tool.execute.after" => finished(fields),
        // A sub-agent is told what to do by its agent, and begins by that.
        "chat.message" if sub_agent => native::noted(name, fields, &["hook", "servers"]),
        "chat.message" => native::prompted(fields, "prompt"),
        "session.created" if sub_agent => json!({ "event": "agent.started" }),
        "session.created" => json!({ "event": "session.started" }),
        "session.idle" => {
            let message = fields.remove("message").unwrap_or_default();
            json!({ "event": "stop.requested", "message": message, "again": fields.get(HELD) })
        }
        "session.deleted" if sub_agent => native::noted(name, fields, &["hook", "servers"]),
        "session.deleted" => json!({ "event": "session.ended" }),
        other => return Err(format!("`{other}` is nothing that this version's plugin asks")),
    };
    Ok((common, vec![event]))
}

fn call(fields: &mut Fields) -> Value {
    let input = fields.remove("input").unwrap_or_default();
    let tool = named(input.get("tool").and_then(Value::as_str).unwrap_or_default(), fields);
    json!({ "id": input.get("callID"), "tool": tool, "args": fields.remove("args").unwrap_or_default() })
}

/// A server's tool is `server_tool` here; elsewhere, and in definitions, `mcp__server__tool`.
fn named(tool: &str, fields: &Fields) -> String {
    let servers = fields.get("servers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let written = |server: &str| -> String {
        server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    };
    // The longest name wins: one server's may begin as another's.
    let mut fits: Vec<(String, &str)> = servers
        .filter_map(|server| {
            let server = written(server);
            let own = tool.strip_prefix(&server)?.strip_prefix('_').filter(|own| !own.is_empty())?;
            Some((server, own))
        })
        .collect();
    fits.sort_by_key(|(server, _)| server.len());
    fits.pop().map_or_else(|| tool.to_owned(), |(server, own)| format!("mcp__{server}__{own}"))
}

fn finished(fields: &mut Fields) -> Value {
    let mut output = fields.remove("output").unwrap_or_default();
    let usage = fields.remove("usage");
    let call = call(fields);
    let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
    let exit = output.pointer("/metadata/exit").cloned();
    let ok = match tool {
        SHELL => exit == Some(json!(0)),
        INVALID => false,
        _ => output.get("isError") != Some(&Value::Bool(true)),
    };
    // What the model is shown; the rest is for the screen.
    if let Some(text) = output.get("output").and_then(Value::as_str) {
        output = if tool == READ { page(text) } else { json!(text) };
    }
    let mut event = json!({ "event": "call.finished", "call": call, "ok": ok, "output": output });
    if let (Value::Object(event), Some(usage)) = (&mut event, usage) {
        event.insert("usage".to_owned(), usage);
    }
    event
}

/// What was read, apart from what is written around it: bounds are about lines of the file.
fn page(text: &str) -> Value {
    const OPENING: &str = "\n<content>\n";
    const CLOSING: &str = "\n</content>";
    let parts = || {
        let (head, rest) = text.split_once(OPENING)?;
        let (lines, _) = rest.rsplit_once(CLOSING)?;
        Some((head, lines.rsplit_once("\n\n(").unwrap_or((lines, ""))))
    };
    let Some((head, (lines, note))) = parts() else { return json!(text) };
    json!({ "head": format!("{head}{OPENING}"), "content": lines, "note": note.trim_end_matches(')'), "tail": CLOSING })
}
