//! Qwen Code: its hook messages as events, and answers in the forms that its client obeys.
//!
//! A refusal is said three times: as JSON, on standard error, and by the exit code. It rewrites neither a call nor what
//! came of it, whatever its documentation says.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Asked, Heard, Reply};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "qwen";

/// Qwen Code's language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Qwen;

impl Adapter for Qwen {
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
