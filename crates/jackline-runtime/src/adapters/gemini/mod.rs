//! Gemini CLI: its hook messages as events, and answers in the forms that its client obeys.
//!
//! A refusal is said three times: as JSON, on standard error, and by the exit code. Without a word on standard error it
//! lets a call pass that is refused by the exit code alone.

mod read;
mod render;

use super::Late;
use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "gemini";

/// Gemini CLI's language.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks::usual("BeforeTool", read::moment, read::COMMON),
    asked: |_, asked| asked,
    events: read::events,
    render: render::render,
    late: Late::PLAIN,
};
