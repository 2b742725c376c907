//! Copilot CLI's hooks: which events ask us. They stand in a file of our own.

use super::hooks::{Form, HookEvent, disabled};
use super::shield::Shield;

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

/// How its files of hooks name them. In those it takes no comments, unlike in its settings.
pub const FORM: Form = Form {
    head: &[("version", 1)],
    grouped: false,
    command: "bash",
    shield: Some(Shield::Plain),
    timeout: ("timeoutSec", 1),
    beside: |settings, survey| survey.switched_off = disabled(settings),
    ..Form::usual("copilot", &EVENTS)
};

/// How its settings do, beside much else.
pub const SETTINGS: Form = Form { comments: true, marked: true, ..FORM };
