//! Copilot CLI: its hook messages as events, and answers in the forms that its client obeys.
//!
//! Its events have two spellings. We are asked by the ones that begin with a capital: only those name themselves. Of a
//! refusal by the exit code alone the model is not told why, so a refusal is JSON as well.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Asked, Heard, Reply};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "copilot";

/// Copilot CLI's language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Copilot;

impl Adapter for Copilot {
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

    fn late(&self) -> &'static str {
        render::LATE
    }
}
