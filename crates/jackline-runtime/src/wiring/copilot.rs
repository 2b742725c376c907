//! Copilot CLI's hooks: which events ask us. They stand in a file of our own.

use super::hooks::{Asked, Form, disabled};

/// Every event that asks us. The client spells them in two ways, and only this one names itself in its messages.
const EVENTS: [Asked; 9] = [
    Asked::gate("PreToolUse"),
    Asked::other("PostToolUse"),
    Asked::other("PostToolUseFailure"),
    Asked::other("UserPromptSubmit"),
    Asked::other("SessionStart"),
    Asked::other("SessionEnd"),
    Asked::stop("Stop"),
    Asked::stop("SubagentStop"),
    Asked::other("PreCompact"),
];

/// How its settings name hooks.
pub const FORM: Form = Form {
    head: &[("version", 1)],
    grouped: false,
    command: "bash",
    shielded: true,
    timeout: ("timeoutSec", 1),
    beside: |settings, survey| survey.switched_off = disabled(settings),
    ..Form::usual("copilot", &EVENTS)
};
