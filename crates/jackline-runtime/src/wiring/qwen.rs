//! Qwen Code's hooks: which events ask us, and what of its settings would leave a session unguarded.

use super::hooks::{Asked, Form, NO_STARTUP_FILES, disabled};

/// Every event that asks us.
const EVENTS: [Asked; 10] = [
    Asked::gate("PreToolUse"),
    Asked::other("PostToolUse"),
    Asked::other("PostToolUseFailure"),
    Asked::other("UserPromptSubmit"),
    Asked::other("SessionStart"),
    Asked::other("SessionEnd"),
    Asked::stop("Stop"),
    Asked::other("SubagentStart"),
    Asked::stop("SubagentStop"),
    Asked::other("PreCompact"),
];

/// How its settings name hooks; it waits so many milliseconds.
pub const FORM: Form = Form {
    named: true,
    shielded: true,
    env: NO_STARTUP_FILES,
    timeout: ("timeout", 1000),
    comments: true,
    beside: |settings, survey| survey.switched_off = disabled(settings),
    ..Form::usual("qwen", &EVENTS)
};
