//! Codex: its hook messages as events, and answers in the forms that its client obeys.
//!
//! It drops an answer with a member that it does not expect, and lets the call run; so answers hold nothing but what
//! they must. A refusal is said three times: as JSON, on standard error, and by the exit code.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Asked, Heard, Reply};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "codex";

/// Codex's language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Codex;

impl Adapter for Codex {
    fn host(&self) -> Option<&str> {
        Some(HOST)
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        read::HOOKS.read(native, now)
    }

    fn glance(&self, native: &[u8]) -> Asked {
        read::HOOKS.glance(native)
    }

    fn render(&self, asked: &Asked, answers: &[Answer]) -> Reply {
        render::render(asked, answers)
    }
}
