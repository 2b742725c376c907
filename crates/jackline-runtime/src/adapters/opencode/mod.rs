//! OpenCode, through the plugin that `init` writes: its messages as events, and answers as that plugin carries them out.
//!
//! A refusal is a member `deny`, which the plugin throws; so is whatever it cannot make sense of.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Asked, Heard, Reply};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "opencode";

/// The plugin's language.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenCode;

impl Adapter for OpenCode {
    fn host(&self) -> Option<&str> {
        Some(HOST)
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        read::read(native, now)
    }

    fn glance(&self, native: &[u8]) -> Asked {
        read::glance(native)
    }

    fn render(&self, asked: &Asked, answers: &[Answer]) -> Reply {
        render::render(asked, answers)
    }
}
