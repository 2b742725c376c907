//! Native messages of Claude Code, read into events.

use serde_json::{Value, json};

use super::{Claude, HOST};
use crate::adapters::Moment;
use crate::adapters::native::{self, Events, Fields, Hooks, text};

/// Calls of one turn; a client runs a handful at once.
const BATCH_CALLS_MAX: usize = 256;
/// Who wrote a prompt that a person did; the client names others, and a version that does not name any leaves the member out.
const PERSONS: &[&str] = &["user", "sdk"];
/// What a prompt begins with that no person wrote, and what it is.
const WRITTEN: &[(&str, &str)] = &[
    // A background task has finished.
    ("<task-notification>", "TaskNotification"),
    ("[SYSTEM NOTIFICATION - NOT USER INPUT]", "TaskNotification"),
    // Another agent has something to say, or a server of messages.
    ("<cross-session-message", MESSAGE),
    ("<teammate-message", MESSAGE),
    ("<channel source=", MESSAGE),
    // What an agent schedules instead of a text, and the texts that the client puts in its place.
    ("<<autonomous-loop", SCHEDULED),
    ("<<loop.md", SCHEDULED),
    ("# Autonomous loop check", SCHEDULED),
    ("# Autonomous loop tick", SCHEDULED),
    ("# /loop tick", SCHEDULED),
    // What was scheduled while no client ran.
    ("The following one-shot scheduled task", SCHEDULED),
];
/// A prompt of the client's clock.
const SCHEDULED: &str = "ScheduledPrompt";
/// A message in a prompt's clothes.
const MESSAGE: &str = "Message";
/// Any other that the client says no person wrote.
const INJECTED: &str = "InjectedPrompt";

pub(super) const HOOKS: Hooks = Hooks::usual("PreToolUse", moment, COMMON);

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

/// The events in our protocol's form; what they have in common is added by `native`.
pub(super) fn events(claude: &Claude, name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
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
        "Stop" | "SubagentStop" => vec![native::stopping(fields, "last_assistant_message")],
        "ConfigChange" => vec![changed_settings(claude, fields)],
        name => vec![noted(name, fields)],
    };
    Ok((common, events))
}

/// Where what was used is written down comes last: a sub-agent that stops names its own.
const COMMON: &[(&str, &str)] = &[
    ("session_id", "session"),
    ("agent_id", "agent"),
    ("cwd", "cwd"),
    ("permission_mode", "permission_mode"),
    ("transcript_path", "transcript"),
    ("agent_transcript_path", "transcript"),
];

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
    match written_by(&prompt, fields.get("source")) {
        Some(name) => json!({ "event": "host.noted", "name": name, "about": prompt }),
        None => json!({ "event": "prompt.submitted", "prompt": prompt }),
    }
}

/// What a prompt is that no person wrote.
fn written_by(prompt: &Value, source: Option<&Value>) -> Option<&'static str> {
    let text = prompt.as_str().unwrap_or_default().trim_start();
    let begins = WRITTEN.iter().find(|(begin, _)| text.starts_with(begin)).map(|(_, name)| *name);
    let others = |source: &&Value| !source.is_null() && !source.as_str().is_some_and(|by| PERSONS.contains(&by));
    begins.or_else(|| source.filter(others).map(|_| INJECTED))
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
    native::noted(name, fields, &["hook_event_name", "prompt_id", "effort"])
}

fn text_of<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}
