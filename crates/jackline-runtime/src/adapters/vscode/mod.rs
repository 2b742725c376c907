//! VS Code: its hook messages as events, and answers in the forms of its documentation; it was never run with us.

mod read;
mod render;

use super::Late;
use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "vscode";

/// VS Code's language. Names are spelled in two ways, and both are taken.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks {
        names: &["hookEventName", "hook_event_name"],
        ..Hooks::usual("PreToolUse", read::moment, read::COMMON)
    },
    asked: |_, asked| asked,
    events: read::events,
    render: render::render,
    late: Late::PLAIN,
};
