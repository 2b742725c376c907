//! Copilot CLI: its hook messages as events, and answers in the forms that its client obeys.
//!
//! Its events have two spellings. We are asked by the ones that begin with a capital: only those name themselves. Of a
//! refusal by the exit code alone the model is not told why, so a refusal is JSON as well.

mod read;
mod render;

use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "copilot";

/// Copilot CLI's language.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks::usual("PreToolUse", read::moment, read::COMMON),
    asked: read::asked,
    events: read::events,
    render: render::render,
    late: render::LATE,
};
