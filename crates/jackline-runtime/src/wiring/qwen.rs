//! Qwen Code's hooks: which events ask us, and what of its settings would leave a session unguarded.

use super::hooks::{Form, HookEvent, NO_STARTUP_FILES, disabled};

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
