//! Native messages of Claude Code, read into events.

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event;
use jackline_core::json::{self, JSON_DEPTH_MAX};
use jackline_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Claude, HOST};
use crate::adapters::{Asked, Heard, Message, Moment};

/// Levels that a message wraps around a call's arguments: the object itself, `tool_calls`, one of them.
const WRAPPING_LEVELS: usize = 3;
/// Calls of one turn; a client runs a handful at once.
const BATCH_CALLS_MAX: usize = 256;
/// Bytes of a message that are looked at for its name alone; the client writes it after a few paths.
const GLANCE_BYTES_MAX: usize = 32 * 1024;
/// Bytes of an event's name that are looked at then.
const NAME_BYTES_MAX: usize = 64;
/// What a prompt begins with that no person wrote: a background task has finished.
const NOTIFICATION: &str = "<task-notification>";

type Fields = Map<String, Value>;

pub(super) fn read(claude: &Claude, native: &[u8], now: Timestamp) -> Heard {
    match json::decode_to_depth(native, JSON_DEPTH_MAX + WRAPPING_LEVELS) {
        Ok(Value::Object(mut fields)) => {
            let asked = asked(&fields);
            let events = if asked.moment == Moment::Gate && asked.name != "PreToolUse" {
                Err(format!("`{}` is not a tool gate that this version knows", asked.name))
            } else {
                events(claude, &asked.name, &mut fields)
            };
            Heard { messages: messages(events, now).map_err(|why| invalid(&why)), asked }
        }
        Ok(_) => unreadable(native, "it is no JSON object"),
        Err(fault) => unreadable(native, &fault.to_string()),
    }
}

/// A message that is no JSON still says which event it is, if its beginning is whole. It must not block a prompt.
fn unreadable(native: &[u8], why: &str) -> Heard {
    Heard { asked: glance(native), messages: Err(invalid(why)) }
}

fn invalid(why: &str) -> Box<Finding> {
    let finding = Finding::deny("event", code::EVENT_INVALID, format!("The hook's message cannot be read: {why}."));
    Box::new(finding.suggest("ask the owner to run `jackline doctor`; the client may be newer than Jackline"))
}

/// What a message is about, told without reading it: for faults that come before or instead of reading.
pub(super) fn glance(native: &[u8]) -> Asked {
    let name = glimpsed(native).unwrap_or_default();
    let moment = if name.is_empty() { Moment::Gate } else { moment(&name, true) };
    Asked { moment, name }
}

/// The event's name, seen in the raw text. A quote inside a text is escaped, so this is a member's name; and the
/// client writes it before anything that an agent chose.
fn glimpsed(native: &[u8]) -> Option<String> {
    const MEMBER: &[u8] = b"\"hook_event_name\"";
    let native = native.get(..native.len().min(GLANCE_BYTES_MAX)).unwrap_or_default();
    let at = native.windows(MEMBER.len()).position(|window| window == MEMBER)?;
    let rest = native.get(at + MEMBER.len()..)?;
    let text: String = rest.iter().take(NAME_BYTES_MAX).map(|byte| char::from(*byte)).collect();
    let value = text.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|(name, _)| name.to_owned())
}

fn asked(fields: &Fields) -> Asked {
    let name = text(fields, "hook_event_name").unwrap_or_default().to_owned();
    let moment = match moment(&name, fields.contains_key("tool_input")) {
        Moment::Stop { .. } => Moment::Stop { again: fields.get("stop_hook_active") == Some(&Value::Bool(true)) },
        // A message without a name may be anything.
        _ if name.is_empty() => Moment::Gate,
        moment => moment,
    };
    Asked { moment, name }
}

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "PreToolUse" => Moment::Gate,
        "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" => Moment::Outcome,
        "UserPromptSubmit" | "UserPromptExpansion" => Moment::Prompt,
        "SessionStart" | "SubagentStart" => Moment::Start,
        "Stop" | "SubagentStop" => Moment::Stop { again: false },
        "ConfigChange" => Moment::Settings,
        // The client asks the person in any case.
        "PermissionRequest" | "PermissionDenied" => Moment::Passing,
        _ if about_tool && !KNOWN.contains(&name) => Moment::Gate,
        _ => Moment::Passing,
    }
}

/// Other events of the client; none of them is about a tool that is about to run.
const KNOWN: &[&str] = &[
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "Notification",
    "PostCompact",
    "PostModelSwitch",
    "PreCompact",
    "PreModelSwitch",
    "SessionEnd",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// The events in our protocol's form; what they have in common is added by [`messages`].
fn events(claude: &Claude, name: &str, fields: &mut Fields) -> Result<(Fields, Vec<Value>), String> {
    let common = common(name, fields);
    let events = match name {
        "PreToolUse" => vec![json!({ "event": "call.requested", "call": call(fields) })],
        "PostToolUse" => finished(fields),
        "PostToolUseFailure" => {
            let output = fields.remove("error").unwrap_or_default();
            // The client shows what a failed call printed, whatever is answered.
            vec![
                json!({ "event": "call.finished", "call": call(fields), "ok": false, "fixed": true, "output": output }),
            ]
        }
        "PostToolBatch" => settled(fields)?,
        "UserPromptSubmit" => vec![prompt(fields)],
        "SessionStart" => {
            vec![json!({ "event": "session.started", "source": fields.get("source"), "model": fields.get("model") })]
        }
        "SubagentStart" => vec![json!({ "event": "agent.started", "agent_type": fields.get("agent_type") })],
        "SessionEnd" => vec![json!({ "event": "session.ended", "reason": fields.get("reason") })],
        // The client summarises a conversation with an agent that has no kind: nobody's work ends there.
        "SubagentStop" if text(fields, "agent_type") == Some("") => vec![noted(name, fields)],
        "Stop" | "SubagentStop" => {
            let message = fields.remove("last_assistant_message").unwrap_or_default();
            vec![json!({ "event": "stop.requested", "message": message, "again": fields.get("stop_hook_active") })]
        }
        "ConfigChange" => vec![changed_settings(claude, fields)],
        name => vec![noted(name, fields)],
    };
    Ok((common, events))
}

fn common(name: &str, fields: &mut Fields) -> Fields {
    let mut common = Fields::new();
    let mut take = |from: &str, to: &str| {
        if let Some(value) = fields.remove(from) {
            common.insert(to.to_owned(), value);
        }
    };
    take("session_id", "session");
    take("agent_id", "agent");
    take("cwd", "cwd");
    take("permission_mode", "permission_mode");
    // Where what was used is written down: a sub-agent that stops names its own.
    take("transcript_path", "transcript");
    take("agent_transcript_path", "transcript");
    common.insert("host".to_owned(), json!(HOST));
    common.insert("native".to_owned(), json!(name));
    common
}

fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    json!({ "id": take("tool_use_id"), "tool": take("tool_name"), "args": take("tool_input") })
}

/// A call that the client says succeeded, and a change of work tree where it was one.
fn finished(fields: &mut Fields) -> Vec<Value> {
    let tool = text(fields, "tool_name").unwrap_or_default().to_owned();
    let output = fields.remove("tool_response").unwrap_or_default();
    let set = |member: &str| output.get(member).is_some_and(|value| !value.is_null() && *value != json!(false));
    // What only began, was cut short, or ended with a status that the client excuses has not succeeded.
    let launched = text_of(&output, "status").is_some_and(|status| status.ends_with("_launched"));
    let background = set("backgroundTaskId") || set("isAsync") || launched || tool == "Monitor";
    let ok = !set("interrupted") && !set("returnCodeInterpretation");
    let moved = match tool.as_str() {
        "EnterWorktree" => output.get("worktreePath").cloned().map(|root| json!({ "root": root })),
        "ExitWorktree" => Some(json!({})),
        _ => None,
    };
    let mut events = vec![
        json!({ "event": "call.finished", "call": call(fields), "ok": ok, "background": background, "output": output }),
    ];
    events.extend(moved.map(|mut moved| {
        if let Value::Object(moved) = &mut moved {
            moved.insert("event".to_owned(), json!("session.rerooted"));
        }
        moved
    }));
    events
}

fn settled(fields: &mut Fields) -> Result<Vec<Value>, String> {
    let Some(Value::Array(calls)) = fields.remove("tool_calls") else {
        return Err("`tool_calls` is no list".to_owned());
    };
    if calls.len() > BATCH_CALLS_MAX {
        return Err(format!("it holds {} calls, more than {BATCH_CALLS_MAX}", calls.len()));
    }
    let one = |item: Value| match item {
        Value::Object(mut item) => {
            let output = item.remove("tool_response").unwrap_or_default();
            Ok(json!({ "event": "call.settled", "call": call(&mut item), "output": output }))
        }
        _ => Err("one of `tool_calls` is no object".to_owned()),
    };
    calls.into_iter().map(one).collect()
}

/// A prompt; or a notice in a prompt's clothes, which is no person speaking.
fn prompt(fields: &mut Fields) -> Value {
    let prompt = fields.remove("prompt").unwrap_or_default();
    if prompt.as_str().is_some_and(|prompt| prompt.trim_start().starts_with(NOTIFICATION)) {
        return json!({ "event": "host.noted", "name": "TaskNotification", "about": prompt });
    }
    json!({ "event": "prompt.submitted", "prompt": prompt })
}

fn changed_settings(claude: &Claude, fields: &mut Fields) -> Value {
    let source = text(fields, "source").unwrap_or_default();
    let wired = claude.wired == Some(source);
    match fields.get("file_path") {
        Some(file) if source.ends_with("_settings") => {
            json!({ "event": "settings.changed", "file": file, "wired": wired, "source": source })
        }
        _ => noted("ConfigChange", fields),
    }
}

fn noted(name: &str, fields: &mut Fields) -> Value {
    for common in ["hook_event_name", "prompt_id", "effort"] {
        fields.remove(common);
    }
    json!({ "event": "host.noted", "name": name, "about": std::mem::take(fields) })
}

fn messages(events: Result<(Fields, Vec<Value>), String>, now: Timestamp) -> Result<Vec<Message>, String> {
    let (common, events) = events?;
    let whole = |event: Value| {
        let mut raw = common.clone();
        if let Value::Object(event) = event {
            raw.extend(event);
        }
        let raw = Value::Object(raw);
        let event = event::read(&raw, now).map_err(|fault| fault.to_string())?;
        Ok(Message { event, raw, by_person: false })
    };
    events.into_iter().map(whole).collect()
}

fn text<'a>(fields: &'a Fields, member: &str) -> Option<&'a str> {
    fields.get(member).and_then(Value::as_str)
}

fn text_of<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}
