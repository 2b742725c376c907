//! Qwen Code: its hook messages as events, and answers in the forms that its client obeys.
//!
//! A refusal is said three times: as JSON, on standard error, and by the exit code; of a call such that no other hook's consent
//! lifts it. It rewrites neither a call nor what came of it, whatever its documentation says.

mod read;
mod render;

use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "qwen";

/// Qwen Code's language.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks::usual("PreToolUse", read::moment, read::COMMON),
    asked: |_, asked| asked,
    events: read::events,
    render: render::render,
    late: render::LATE,
};
