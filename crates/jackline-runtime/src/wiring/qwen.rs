//! Qwen Code's hooks: which events ask us, and what of its settings would leave a session unguarded.

use super::hooks::{Form, HookEvent, NO_STARTUP_FILES, disabled};
use super::shield::Shield;

/// Every event that asks us.
const EVENTS: [HookEvent; 10] = [
    HookEvent::gate("PreToolUse"),
    HookEvent::other("PostToolUse"),
    HookEvent::other("PostToolUseFailure"),
    HookEvent::other("UserPromptSubmit"),
    HookEvent::other("SessionStart"),
    HookEvent::other("SessionEnd"),
    HookEvent::stop("Stop"),
    HookEvent::other("SubagentStart"),
    HookEvent::stop("SubagentStop"),
    HookEvent::other("PreCompact"),
];

/// A refusal, with its reason to be filled in. What is refused by the exit code the client reads from standard error, and of
/// plain words there another hook's `allow` takes the place; not of `continue: false`.
const REFUSAL: &str = concat!(
    r#"{"continue":false,"stopReason":"REASON","decision":"deny","reason":"REASON","hookSpecificOutput":"#,
    r#"{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"REASON"}}"#,
);

/// How its settings name hooks; it waits so many milliseconds.
pub const FORM: Form = Form {
    named: true,
    shield: Some(Shield::Answer(REFUSAL)),
    env: NO_STARTUP_FILES,
    timeout: ("timeout", 1000),
    comments: true,
    marked: true,
    beside: |settings, survey| survey.switched_off = disabled(settings),
    ..Form::usual("qwen", &EVENTS)
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Timeouts, Wiring as _};
    use serde_json::Value;
    use std::process::{Command, Stdio};

    #[test]
    fn a_gate_that_cannot_ask_refuses_such_that_no_other_hook_lifts_it() {
        let line = CommandLine::from_shell("/nowhere/jackline hook qwen --store '/a b'").unwrap();
        let text = FORM.add(None, &line, Timeouts::default()).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let gate = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
        // As the client runs it.
        let output = Command::new("bash").args(["-c", gate]).stdin(Stdio::null()).output().unwrap();
        let refusal: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((output.status.code(), &refusal["continue"]), (Some(2), &Value::Bool(false)));
        for reason in ["/stopReason", "/reason", "/hookSpecificOutput/permissionDecisionReason"] {
            let reason = refusal.pointer(reason).and_then(Value::as_str).unwrap();
            assert!(reason.starts_with("Jackline could not be asked"), "{reason}");
        }
        let survey = FORM.survey(text.as_bytes()).unwrap();
        assert_eq!((survey.missing(), survey.open().count()), (vec![], 0));
        assert!(survey.entries.iter().all(|entry| entry.line == line));
    }
}
