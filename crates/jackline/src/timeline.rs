//! A session's log as a person reads it: one line an event, its decision beside it.

use jackline_core::audit;
use jackline_core::decision::Verdict;
use jackline_core::exception::Exception;
use jackline_core::extension::Extension;
use jackline_core::legible;
use serde_json::Value;

use crate::commands::session;
use crate::exceptions;
use crate::paint::Paint;

/// Bytes of an argument or a reason that fit on a line.
const SHOWN_BYTES_MAX: usize = 120;

/// A text member of a record, empty when it is absent.
pub(crate) fn text<'a>(record: &'a Value, member: &str) -> &'a str {
    record.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// A text from outside without what could steer a terminal: no control characters, one line.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || legible::steers(c) { ' ' } else { c }).collect()
}

/// The same, and not too long.
pub(crate) fn shown(text: &str) -> String {
    let head = audit::head(text, SHOWN_BYTES_MAX);
    let mut shown = harmless(head);
    if head.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Whether a record is of a workflow's run: each of those stands for itself.
pub(crate) fn is_of_run(record: &Value) -> bool {
    text(record, "host") == "workflow"
}

/// What a record of a run tells, on one line.
pub(crate) fn happened(record: &Value, paint: Paint) -> String {
    let time = text(record, "at").get(11..19).unwrap_or("--:--:--");
    let seq = record.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let said = ["status", "decision", "gate", "kind", "channel", "reason", "refused"];
    let said = said.iter().filter_map(|name| record.get("data")?.get(name)?.as_str());
    let said: Vec<String> = said.map(shown).collect();
    let step = shown(text(record, "call"));
    let line = format!(
        "{} {} {} {} {} {}",
        paint.dim(time),
        paint.dim(&format!("#{seq:<5}")),
        paint.bold(&format!("{:<17}", shown(text(record, "kind")))),
        shown(text(record, "agent")),
        paint.dim(&step),
        said.join(" · "),
    );
    line.trim_end().to_owned()
}

/// Whether a record tells of others that were retired: it belongs to no event.
pub(crate) fn is_of_retention(record: &Value) -> bool {
    matches!(text(record, "kind"), "records.retired" | "session.retired")
}

/// What such a record tells, on one line.
pub(crate) fn retired(record: &Value, paint: Paint) -> String {
    let time = text(record, "at").get(11..19).unwrap_or("--:--:--");
    let number = |pointer: &str| record.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let said = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).map(shown);
    let of = said("/data/session").map(|session| format!(" of session {session}")).unwrap_or_default();
    let to = said("/data/archive").map(|archive| format!(", to {archive}")).unwrap_or_default();
    format!(
        "{} {} {} records {} to {}{of}{to} ({})",
        paint.dim(time),
        paint.dim(&format!("#{:<5}", number("/seq"))),
        paint.bold(text(record, "kind")),
        number("/data/first"),
        number("/data/last"),
        said("/data/by").unwrap_or_default(),
    )
}

/// The number of the last record that is missing before a log's first one; nothing where none is.
pub(crate) fn missing(first: &Value) -> Option<u64> {
    first.get("seq").and_then(Value::as_u64)?.checked_sub(1).filter(|last| *last > 0)
}

/// The same in words.
pub(crate) fn missing_words(last: u64) -> String {
    format!("records 1 to {last} were retired; `jackline audit verify` tells when")
}

/// The verdict that a decision's record gives.
pub(crate) fn verdict(decision: &Value) -> Verdict {
    match decision.pointer("/data/verdict").and_then(Value::as_str) {
        Some("ask") => Verdict::Ask,
        Some("deny") => Verdict::Deny,
        Some("halt") => Verdict::Halt,
        _ => Verdict::Allow,
    }
}

/// The findings of a decision's record.
pub(crate) fn findings(decision: &Value) -> &[Value] {
    decision.pointer("/data/findings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether something was found that would have been denied, had it been enforced.
pub(crate) fn would_deny(decision: &Value) -> bool {
    verdict(decision) == Verdict::Allow
        && findings(decision).iter().any(|finding| {
            finding.get("enforced") == Some(&Value::Bool(false)) && matches!(text(finding, "verdict"), "deny" | "halt")
        })
}

/// Whether it was let through by an exception.
pub(crate) fn lifted(decision: &Value) -> bool {
    verdict(decision) == Verdict::Allow && findings(decision).iter().any(|finding| exception(finding).is_some())
}

/// The exception that lifted a finding.
pub(crate) fn exception(finding: &Value) -> Option<&str> {
    finding.get("exception").and_then(Value::as_str)
}

/// One event and its decision, on one or two lines.
pub(crate) fn row(event: &Value, decision: &Value, paint: Paint) -> String {
    let verdict = verdict(decision);
    let time = text(event, "at").get(11..19).unwrap_or("--:--:--");
    let seq = decision.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let mark = match (verdict, would_deny(decision)) {
        (Verdict::Allow, _) if lifted(decision) => "+ lift",
        (Verdict::Allow, true) => "~ would",
        (Verdict::Allow, false) => "✓",
        (Verdict::Ask, _) => "? ask",
        (Verdict::Deny, _) => "✗ deny",
        (Verdict::Halt, _) => "■ halt",
    };
    let mark = paint.verdict(verdict, &format!("{mark:<7}"));
    let subject = subject(event, paint);
    let stopped = decision.pointer("/data/stopped").and_then(Value::as_str);
    let stopped = stopped.map(|stopped| format!(" → {}", shown(stopped))).unwrap_or_default();
    let cut = cut(decision).unwrap_or_default();
    let row = format!("{} {} {mark} {subject}{stopped}{cut}", paint.dim(time), paint.dim(&format!("#{seq:<5}")));
    let mut row = row.trim_end().to_owned();
    for finding in findings(decision) {
        let by = exception(finding).map(|id| format!("  (exception {})", shown(id))).unwrap_or_default();
        let line = format!("{}  {}{by}", shown(text(finding, "code")), shown(text(finding, "reason")));
        row.push_str(&format!("\n{:25}{}", "", paint.verdict(verdict, &line)));
    }
    row
}

/// How much of an outcome was shown, where that was not all of it.
fn cut(decision: &Value) -> Option<String> {
    let edits = decision.pointer("/data/edits")?.as_array()?;
    let meta = edits.iter().find(|edit| text(edit, "target") == "output")?.get("meta")?;
    let count = |member: &str| meta.get(member).and_then(Value::as_u64);
    Some(format!(" → {} of {} lines shown", count("lines_shown")?, count("total_lines")?))
}

/// What an event is about.
fn subject(event: &Value, paint: Paint) -> String {
    let agent = text(event, "agent");
    let by = if agent.is_empty() || agent == "main" { String::new() } else { format!("[{}] ", shown(agent)) };
    let what = match text(event, "kind") {
        "call.requested" => match arguments(event) {
            none if none.is_empty() => paint.bold(&tool(event)),
            arguments => format!("{} {}", paint.bold(&tool(event)), paint.dim(&arguments)),
        },
        "call.finished" if event.pointer("/data/ok") == Some(&Value::Bool(false)) => format!("{} failed", tool(event)),
        "call.finished" => paint.dim(&format!("{} finished", tool(event))),
        "call.settled" => format!("{} did not run", tool(event)),
        "settings.changed" => told("settings changed", event, "/data/file", paint),
        "session.rerooted" => told("moved to", event, "/data/root", paint),
        "host.noted" => paint.dim(&shown(event.pointer("/data/name").and_then(Value::as_str).unwrap_or_default())),
        "prompt.submitted" => told("prompt", event, "/data/prompt", paint),
        "stop.requested" => told("stop", event, "/data/message", paint),
        "park" => told("park", event, "/data/reason", paint),
        "tools.listed" => told("tools of MCP server", event, "/data/server", paint),
        "session.snapshot" => told("snapshot", event, "/data/name", paint),
        "session.restore" => told("restore", event, "/data/name", paint),
        kind @ ("exception.granted" | "exception.revoked") => {
            let made = event.pointer("/data/exception").and_then(excepted).unwrap_or_default();
            format!("{} {}", paint.bold(kind), paint.dim(&made))
        }
        "session.extended" => {
            let extension = event.pointer("/data/extension").cloned().unwrap_or_default();
            let more = serde_json::from_value(extension).map(|more| extended(&more)).unwrap_or_default();
            format!("{} {}", paint.bold("session.extended"), paint.dim(&more))
        }
        "override.set" => {
            let set = event.pointer("/data/override").map(Value::to_string).unwrap_or_default();
            format!("{} {}", paint.bold("override.set"), paint.dim(&shown(&set)))
        }
        kind => match operated(event) {
            Some(given) => format!("{} {}", paint.bold(kind), paint.dim(&given)),
            None => shown(kind),
        },
    };
    format!("{by}{what}")
}

/// What an operation was given that tells most: a text, else the id of what it is about.
fn operated(event: &Value) -> Option<String> {
    let data = event.get("data")?;
    let given = ["todo", "fact", "calls"].iter().find_map(|key| data.get(*key))?;
    ["content", "text", "id", "command", "tool"].iter().find_map(|name| given.get(*name)?.as_str()).map(shown)
}

/// What a record beside the event's own says of a todo or a fact.
pub(crate) fn noted(record: &Value) -> Option<String> {
    let kind = text(record, "kind");
    if !kind.starts_with("todo.") && !kind.starts_with("fact.") {
        return None;
    }
    let about = [record.get("after"), record.get("before")].into_iter().flatten();
    let named =
        about.into_iter().find_map(|value| ["content", "text"].iter().find_map(|name| value.get(*name)?.as_str()));
    let named = named.map(|named| format!(": {}", shown(named))).unwrap_or_default();
    Some(format!("{kind} by {}{named}", text(record, "actor")))
}

/// An exception of a record, in words.
pub(crate) fn excepted(exception: &Value) -> Option<String> {
    let exception: Exception = serde_json::from_value(exception.clone()).ok()?;
    let once = if exception.once { ", once" } else { "" };
    let (id, reason, by) = (shown(&exception.id), shown(&exception.reason), shown(&exception.by));
    Some(format!("{id}: {}{once}, until {}; {reason} ({by})", exceptions::words(&exception.what), exception.until))
}

/// What became of a provider's turn, in words.
pub(crate) fn advised(kind: &str, record: &Value) -> String {
    let data = record.get("data").unwrap_or(&Value::Null);
    let name = shown(text(data, "provider"));
    match kind {
        "feedback.given" => format!("feedback of {name} ({})", shown(text(data, "severity"))),
        "feedback.held" => format!("feedback of {name} waits for the next call: there was no more room"),
        _ => format!("feedback of {name} failed: {}", shown(text(data, "fault"))),
    }
}

fn extended(more: &Extension) -> String {
    format!("{}; {} ({})", session::words(more), shown(&more.reason), shown(&more.by))
}

fn tool(event: &Value) -> String {
    shown(text(event, "target").strip_prefix("tool:").unwrap_or("?"))
}

fn told(what: &str, event: &Value, pointer: &str, paint: Paint) -> String {
    match event.pointer(pointer).and_then(Value::as_str) {
        Some(text) => format!("{what} {}", paint.dim(&format!("“{}”", shown(text)))),
        None => what.to_owned(),
    }
}

/// The arguments that tell most: a command or a path, else all of them.
fn arguments(event: &Value) -> String {
    let Some(args) = event.pointer("/data/call/args") else { return String::new() };
    let telling = ["command", "file_path", "path", "notebook_path", "pattern", "url"];
    match telling.iter().find_map(|name| args.get(*name)?.as_str()) {
        Some(text) => shown(text),
        None if args.as_object().is_none_or(serde_json::Map::is_empty) => String::new(),
        None => shown(&args.to_string()),
    }
}
