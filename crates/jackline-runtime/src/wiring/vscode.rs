//! VS Code's agent hooks, as its documentation has them: which events ask us. They stand in a file of our own.

use super::hooks::{Form, HookEvent};

/// Every event that asks us.
pub const EVENTS: [HookEvent; 8] = [
    HookEvent::gate("PreToolUse"),
    HookEvent::other("PostToolUse"),
    HookEvent::other("UserPromptSubmit"),
    HookEvent::other("SessionStart"),
    HookEvent::stop("Stop"),
    HookEvent::other("SubagentStart"),
    HookEvent::stop("SubagentStop"),
    HookEvent::other("PreCompact"),
];

/// How its files of hooks name them.
pub const FORM: Form = Form { grouped: false, ..Form::usual("vscode", &EVENTS) };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Removed, Timeouts, Wiring as _};
    use serde_json::{Value, json};

    #[test]
    fn entries_stand_in_no_groups() {
        let line = CommandLine::from_shell("jackline hook vscode").unwrap();
        let text = FORM.add(None, &line, Timeouts::default()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let gate = json!({ "type": "command", "command": "jackline hook vscode", "timeout": 10 });
        assert_eq!(value["hooks"]["PreToolUse"], json!([gate]));
        assert!(FORM.survey(text.as_bytes()).unwrap().missing().is_empty());
        assert_eq!(FORM.remove(&text).unwrap(), Removed::All);
    }
}
