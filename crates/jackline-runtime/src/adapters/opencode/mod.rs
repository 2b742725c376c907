//! OpenCode, through the plugin that `init` writes: its messages as events, and answers as that plugin carries them out.
//!
//! A refusal is a member `deny`, which the plugin throws; so is whatever it cannot make sense of.

mod read;
mod render;

use super::Late;
use super::language::Language;
use super::native::Hooks;

/// The host's name in events and records.
pub const HOST: &str = "opencode";

/// The plugin's language. It writes the name of the event first.
pub const LANGUAGE: Language = Language {
    host: HOST,
    hooks: Hooks {
        names: &["hook"],
        held: read::HELD,
        ..Hooks::usual("tool.execute.before", read::moment, read::COMMON)
    },
    asked: read::asked,
    events: read::events,
    render: render::render,
    late: Late::PLAIN,
};
