//! The key `feedback`: read from a tree, and held to what makes sense of it.

use super::fault::{Fault, quoted};
use super::model::{Advice, Model, Provider, Severity, Trigger, WARNING_THRESHOLD_MS, milliseconds};
use super::yaml::{Node, Value};
use crate::feedback::{SUGGESTION_BYTES_MAX, SUGGESTIONS_MAX, SUMMARY_BYTES_MAX};

/// Providers of one definition: each is remembered by every session, and an agent that is told more hears nothing.
pub(super) const PROVIDERS_MAX: usize = 32;
/// Bytes of a file's name: as long as paths get.
const FILE_BYTES_MAX: usize = 4096;

/// Reads one provider. What is missing is a fault already, so any value may stand in for it.
pub(super) fn read(node: &Node) -> Provider {
    let text = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    let texts = |key: &str| -> Vec<String> {
        let items = node.get(key).map(Node::items).unwrap_or_default();
        items.iter().filter_map(Node::text).map(str::to_owned).collect()
    };
    let advice = if let Some(deadline) = node.get("deadline") {
        let threshold = seconds(deadline.get("warning_threshold_seconds"));
        Advice::Deadline { warning_threshold_ms: threshold.unwrap_or(WARNING_THRESHOLD_MS) }
    } else if node.get("command").is_some() {
        Advice::Command(texts("command"))
    } else {
        Advice::Fixed(text("static").unwrap_or_default())
    };
    let trigger = Trigger {
        every_n_calls: count(node.get("every_n_calls")),
        every_n_ms: seconds(node.get("every_n_seconds")),
        on_file_created: text("on_file_created"),
    };
    Provider {
        name: text("name"),
        severity: text("severity").and_then(|name| Severity::parse(&name)).unwrap_or_default(),
        suggestions: texts("suggestions"),
        ..Provider::new(advice, trigger)
    }
}

fn count(node: Option<&Node>) -> Option<u64> {
    match node?.value {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

fn seconds(node: Option<&Node>) -> Option<i64> {
    match node?.value {
        Value::Int(number) => Some(milliseconds(number as f64)),
        Value::Float(number) => Some(milliseconds(number)),
        _ => None,
    }
}

/// Gives every provider the key by which it is remembered.
pub(super) fn place(model: &mut Model) {
    let providers = std::mem::take(&mut model.feedback);
    model.feedback = providers.into_iter().enumerate().map(|(index, provider)| provider.at(index)).collect();
}

/// Something that does not make sense, under the key where it stands.
pub(super) struct Nonsense {
    pub(super) key: &'static str,
    pub(super) fault: Fault,
}

fn wrong(key: &'static str, message: impl Into<String>) -> Nonsense {
    Nonsense { key, fault: Fault::error(message) }
}

/// What does not make sense about one provider by itself.
pub(super) fn faults(provider: &Provider, model: &Model) -> Vec<Nonsense> {
    let mut found = triggers(&provider.trigger);
    found.extend(advice(&provider.advice));
    found.extend(beside_a_deadline(provider));
    if provider.suggestions.len() > SUGGESTIONS_MAX {
        found.push(wrong("suggestions", format!("there are more than {SUGGESTIONS_MAX} suggestions")));
    }
    if provider.suggestions.iter().any(|text| text.len() > SUGGESTION_BYTES_MAX) {
        found.push(wrong("suggestions", format!("a suggestion is longer than {SUGGESTION_BYTES_MAX} bytes")));
    }
    if matches!(provider.advice, Advice::Deadline { .. }) && model.limits.deadline.is_none() {
        let fault = Fault::warning("it never speaks: this definition has no `limits.deadline`");
        let help = "declare `limits: {deadline: 30m}`; only a wider definition's deadline would make it speak";
        found.push(Nonsense { key: "deadline", fault: fault.help(help) });
    }
    found
}

fn triggers(trigger: &Trigger) -> Vec<Nonsense> {
    let mut found = Vec::new();
    if *trigger == Trigger::default() {
        let fault = Fault::error("nothing makes it speak");
        let help = "give it `every_n_calls`, `every_n_seconds` or `on_file_created`";
        found.push(Nonsense { key: "", fault: fault.help(help) });
    }
    if trigger.every_n_calls == Some(0) {
        found.push(wrong("every_n_calls", "`every_n_calls` must be greater than 0"));
    }
    if trigger.every_n_ms.is_some_and(|ms| ms <= 0) {
        found.push(wrong("every_n_seconds", "`every_n_seconds` must be greater than 0"));
    }
    if let Some(file) = &trigger.on_file_created {
        if file.is_empty() || file.len() > FILE_BYTES_MAX {
            found.push(wrong("on_file_created", format!("`on_file_created` must have 1 to {FILE_BYTES_MAX} bytes")));
        }
        if file.contains(['*', '?']) {
            let fault = Fault::warning(format!("{} is taken as one file's name, not as a pattern", quoted(file)));
            found.push(Nonsense { key: "on_file_created", fault: fault.help("name one file") });
        }
    }
    found
}

fn advice(advice: &Advice) -> Option<Nonsense> {
    match advice {
        Advice::Deadline { warning_threshold_ms } if *warning_threshold_ms <= 0 => {
            Some(wrong("deadline", "`warning_threshold_seconds` must be greater than 0"))
        }
        Advice::Fixed(text) if text.trim().is_empty() => Some(wrong("static", "`static` must not be empty")),
        Advice::Fixed(text) if text.len() > SUMMARY_BYTES_MAX => {
            Some(wrong("static", format!("`static` is longer than {SUMMARY_BYTES_MAX} bytes")))
        }
        Advice::Command(words) if words.first().is_none_or(String::is_empty) => {
            Some(wrong("command", "`command` names no program"))
        }
        Advice::Deadline { .. } | Advice::Fixed(_) | Advice::Command(_) => None,
    }
}

/// The time that is left speaks for itself.
fn beside_a_deadline(provider: &Provider) -> Vec<Nonsense> {
    let is_deadline = matches!(provider.advice, Advice::Deadline { .. });
    let given =
        [("severity", provider.severity != Severity::default()), ("suggestions", !provider.suggestions.is_empty())];
    let of = |key: &'static str| {
        let fault = Fault::error(format!("`{key}` does not go with `deadline`, which has its own"));
        Nonsense { key, fault: fault.help("take it out, or use `static` or `command`") }
    };
    given.into_iter().filter(|(_, given)| is_deadline && *given).map(|(key, _)| of(key)).collect()
}

#[cfg(test)]
mod tests;
