//! Stops: what the person is told of how a run ended.

use jackline_core::decision::{Decision, Finding};
use serde_json::Value;

/// Characters of what was open that a person is told; the log has the rest.
const NOTICE_CHARS_MAX: usize = 300;

/// What a person should know of a stop that was let through without everything holding.
pub(super) fn notice(decision: &Decision) -> Option<String> {
    let note = decision.notes.iter().find(|note| note.kind == "stop.decided")?;
    let parked = note.data.get("parked").and_then(Value::as_str);
    let open = || {
        let mut told: Vec<&str> = decision.findings.iter().map(Finding::shown).collect();
        told.dedup();
        told.join(" ")
    };
    let told = match (note.data.get("stopped").and_then(Value::as_str)?, parked) {
        ("fault", None) if !decision.findings.is_empty() => {
            format!("the agent stopped, and nobody judged it: {}", open())
        }
        // What an earlier turn left open was told then.
        ("incomplete", _) if decision.findings.is_empty() => return None,
        ("incomplete", _) => format!("the agent stopped, and it is incomplete: {}", open()),
        (_, Some(reason)) => format!("the agent parked: {reason}"),
        _ => return None,
    };
    let line = told.split_whitespace().filter(|word| !word.contains("blocker>")).collect::<Vec<_>>().join(" ");
    Some(line.chars().take(NOTICE_CHARS_MAX).collect())
}

/// What a person should know of file policies: what the agent gave its word for, and what cannot be used.
pub(super) fn of_policies(decision: &Decision) -> Vec<String> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut told = Vec::new();
    for note in &decision.notes {
        if note.kind == "policy.settled" && text(&note.data, "settled_by") == "promise" {
            told.push(format!("the agent promised that nothing needs to change: {}", text(&note.data, "name")));
        }
        if note.kind == "policy.settled" && text(&note.data, "settled_by") == "deleted" {
            let name = text(&note.data, "name");
            told.push(format!("a command was not run, since its files are deleted, or links: {name}"));
        }
        if note.kind == "policy.rewrote" {
            let names = listed(&note.data, "names");
            told.push(format!("commands of file policies ({names}) changed {}", listed(&note.data, "files")));
        }
        let faults =
            (note.kind == "policy.faulty").then(|| note.data.get("faults").and_then(Value::as_array)).flatten();
        told.extend(faults.into_iter().flatten().map(|fault| {
            let (file, message) = (text(fault, "file"), text(fault, "message"));
            match fault.get("warning").and_then(Value::as_bool) {
                Some(true) => format!("file policies, `{file}`: {message}"),
                _ => format!("the file policy `{file}` cannot be used: {message}"),
            }
        }));
    }
    told.iter().map(|line| line.chars().take(NOTICE_CHARS_MAX).collect()).collect()
}

/// What a note names, and of files how many more there are.
fn listed(data: &Value, key: &str) -> String {
    let named = data.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let more = data.get("left_out").and_then(Value::as_u64).filter(|more| key == "files" && *more > 0);
    let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
    format!("{}{more}", named.collect::<Vec<_>>().join(", "))
}
