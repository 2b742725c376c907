//! Codex's hooks: which events ask us. Whether it runs them hangs on its trust, which is kept elsewhere.

pub mod trust;

use super::hooks::{Asked, Form};

/// Every event that asks us. One that has nothing to say is not asked for: each costs the agent a process.
pub const EVENTS: [Asked; 9] = [
    Asked::gate("PreToolUse"),
    Asked::other("PostToolUse"),
    Asked::other("UserPromptSubmit"),
    Asked::other("SessionStart"),
    Asked::other("SessionEnd"),
    Asked::stop("Stop"),
    Asked::other("SubagentStart"),
    Asked::stop("SubagentStop"),
    Asked::other("PreCompact"),
];

/// How its files of hooks name them.
pub const FORM: Form = Form {
    host: "codex",
    events: &EVENTS,
    head: &[],
    grouped: true,
    typed: true,
    named: false,
    command: "command",
    exec: false,
    timeout: ("timeout", 1),
    on_failure: None,
    comments: false,
    beside: |_, _| {},
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Removed, Timeouts, Wiring as _};
    use serde_json::{Value, json};

    #[test]
    fn an_entry_is_a_shells_text_and_goes_as_it_came() {
        let line = CommandLine::from_shell("/o/jackline hook codex --store '/a b'").unwrap();
        let text = FORM.add(None, &line, Timeouts::default()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let hook = json!({ "type": "command", "command": "/o/jackline hook codex --store '/a b'", "timeout": 10 });
        assert_eq!(value["hooks"]["PreToolUse"], json!([{ "hooks": [hook] }]));
        assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["timeout"], 20);
        let survey = FORM.survey(text.as_bytes()).unwrap();
        assert_eq!((survey.missing(), survey.open().count()), (vec![], 0));
        assert!(survey.entries.iter().all(|entry| entry.line == line));
        assert_eq!(FORM.remove(&text).unwrap(), Removed::All);
        let wrapped = text.replace("/o/jackline hook", "true && /o/jackline hook");
        assert_eq!(FORM.survey(wrapped.as_bytes()).unwrap().entries.len(), 0);
        let more = text.replace(" '/a b'\"", " '/a b' || true\"");
        assert_eq!(FORM.survey(more.as_bytes()).unwrap().open().count(), EVENTS.len());
    }
}
