//! Codex: its hook messages as events, and answers in the forms that its client obeys.
//!
//! It drops an answer with a member that it does not expect, and lets the call run; so answers hold nothing but what
//! they must. A refusal is said three times: as JSON, on standard error, and by the exit code.

mod read;
mod render;

use super::Late;
use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "codex";

/// Codex's language.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks::usual("PreToolUse", read::moment, read::COMMON),
    asked: read::asked,
    events: read::events,
    render: render::render,
    late: Late::PLAIN,
};
