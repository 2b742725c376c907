//! Copilot CLI's hooks: which events ask us. They stand in a file of our own.

use super::hooks::{Form, HookEvent, disabled};

/// Every event that asks us. The client spells them in two ways, and only this one names itself in its messages.
const EVENTS: [HookEvent; 9] = [
    HookEvent::gate("PreToolUse"),
    HookEvent::other("PostToolUse"),
    HookEvent::other("PostToolUseFailure"),
    HookEvent::other("UserPromptSubmit"),
    HookEvent::other("SessionStart"),
    HookEvent::other("SessionEnd"),
    HookEvent::stop("Stop"),
    HookEvent::stop("SubagentStop"),
    HookEvent::other("PreCompact"),
];

/// How its settings name hooks.
pub const FORM: Form = Form {
    head: &[("version", 1)],
    grouped: false,
    command: "bash",
    shielded: true,
    timeout: ("timeoutSec", 1),
    comments: true,
    beside: |settings, survey| survey.switched_off = disabled(settings),
    ..Form::usual("copilot", &EVENTS)
};
