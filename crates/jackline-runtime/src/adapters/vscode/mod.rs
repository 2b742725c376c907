//! VS Code: its hook messages as events, and answers in the forms of its documentation; it was never run with us.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Asked, Heard, Reply};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "vscode";

/// VS Code's language.
#[derive(Debug, Clone, Copy, Default)]
pub struct VsCode;

impl Adapter for VsCode {
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
