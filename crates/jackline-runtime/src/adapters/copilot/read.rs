//! Native messages of Copilot CLI, read into events.

use jackline_core::tools::LSP_RENAME;
use serde_json::{Value, json};

use super::HOST;
use crate::adapters::native::{self, Events, Fields, text};
use crate::adapters::{Inquiry, Moment, ended, served};

/// How the line begins in which a shell's outcome says how it ended, and what stands before the exit code.
const SHELL_LINE: (&str, &str) = ("<shellId: ", " completed with exit code ");

/// The argument under which we see what a tool is given that takes no arguments but a text.
const FREE_FORM: &str = "input";

/// The end of a sub-agent is told twice; the other telling is the one that is judged.
pub(super) fn asked(fields: &Fields, asked: Inquiry) -> Inquiry {
    let told_twice = asked.name == "Stop" && fields.contains_key("agent_id");
    if told_twice { Inquiry::new(Moment::Passing, asked.name) } else { asked }
}

/// When an event comes. One that is not known is only recorded, unless a tool may be about to run.
pub(super) fn moment(name: &str, about_tool: bool) -> Moment {
    match name {
        "PreToolUse" => Moment::Gate,
        "PostToolUse" | "PostToolUseFailure" => Moment::Outcome,
        "UserPromptSubmit" => Moment::Prompt,
        "SessionStart" => Moment::Start,
        "Stop" | "SubagentStop" => Moment::Stop { again: false },
        // The client asks the person in any case.
        "PermissionRequest" => Moment::Passing,
        _ if about_tool && !KNOWN.contains(&name) => Moment::Gate,
        _ => Moment::Passing,
    }
}

/// Other events of the client; none of them is about a tool that is about to run.
const KNOWN: &[&str] = &["ErrorOccurred", "Notification", "PreCompact", "SessionEnd", "SubagentStart"];

/// What a sub-agent calls its session is its own name; the session is its agent's.
pub(super) const COMMON: &[(&str, &str)] =
    &[("session_id", "session"), ("parent_agent_id", "session"), ("agent_id", "agent"), ("cwd", "cwd")];

/// The events in our protocol's form; what they have in common is added by `native`.
pub(super) fn events(name: &str, fields: &mut Fields) -> Events {
    let common = native::common(fields, (HOST, name), COMMON);
    let of_subagent = common.contains_key("agent");
    let event = match name {
        "PreToolUse" => json!({ "event": "call.requested", "call": call(fields) }),
        "PostToolUse" | "PostToolUseFailure" => finished(fields),
        // What a sub-agent is told by its agent is no person's word; with it, it begins.
        "UserPromptSubmit" if of_subagent => {
            json!({ "event": "agent.started", "agent_type": fields.get("agent_type") })
        }
        "UserPromptSubmit" if native::is_our_own(fields.get("prompt")) || is_notice(fields) => noted(name, fields),
        "UserPromptSubmit" => native::prompted(fields, "prompt"),
        "SessionStart" => json!({ "event": "session.started", "source": fields.get("source") }),
        "SessionEnd" => json!({ "event": "session.ended", "reason": fields.get("reason") }),
        "Stop" if of_subagent => noted(name, fields),
        "Stop" | "SubagentStop" => native::stopping(fields, "last_assistant_message"),
        name => noted(name, fields),
    };
    Ok((common, vec![event]))
}

fn noted(name: &str, fields: &mut Fields) -> Value {
    native::noted(name, fields, &["hook_event_name", "timestamp", "transcript_path"])
}

/// What a prompt begins with that no person wrote: something in the background has ended.
const NOTICE: &str = "<system_notification>";

fn is_notice(fields: &Fields) -> bool {
    text(fields, "prompt").is_some_and(|prompt| prompt.trim_start().starts_with(NOTICE))
}

/// The tool that asks a language's server, and what it is told where it writes.
const LSP: (&str, &str) = ("lsp", "rename");

/// A call; the client gives it no id.
fn call(fields: &mut Fields) -> Value {
    let mut take = |member: &str| fields.remove(member).unwrap_or_default();
    let (mut tool, args) = (take("tool_name"), take("tool_input"));
    if tool == LSP.0 && args.get("operation").is_some_and(|operation| operation == LSP.1) {
        tool = json!(LSP_RENAME);
    }
    // A tool for patches is given the patch itself.
    let args = if args.is_string() { json!({ FREE_FORM: args }) } else { args };
    json!({ "tool": served::before_dash(HOST, tool), "args": args })
}

fn finished(fields: &mut Fields) -> Value {
    let tool = text(fields, "tool_name").unwrap_or_default().to_owned();
    if let Some(error) = fields.remove("error") {
        return json!({ "event": "call.finished", "call": call(fields), "ok": false, "fixed": true, "output": error });
    }
    let mut result = fields.remove("tool_result").unwrap_or_default();
    let went_well = result.get("result_type").and_then(Value::as_str) == Some("success");
    let output = result.get_mut("text_result_for_llm").map(Value::take).unwrap_or_default();
    let code = ended::is_shell(HOST, &tool).then(|| exit_code(output.as_str().unwrap_or_default()));
    let ok = went_well && code.is_none_or(|code| code == Some(0));
    // A shell's call that does not say how it ended has not.
    let background = went_well && code == Some(None);
    json!({ "event": "call.finished", "call": call(fields), "ok": ok, "background": background, "output": output })
}

/// How a shell's command ended; the last line says it, and none says it while the command runs.
fn exit_code(shown: &str) -> Option<i64> {
    let line = shown.lines().last()?.strip_prefix(SHELL_LINE.0)?;
    let (_, code) = line.split_once(SHELL_LINE.1)?;
    code.strip_suffix('>')?.parse().ok()
}
