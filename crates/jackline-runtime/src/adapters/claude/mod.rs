//! Claude Code: its hook messages as events, and answers in the forms that its client obeys.
//!
//! Allowing is silence: an approving answer would switch off the person's own permission prompts.

mod read;
mod render;

use jackline_core::time::Timestamp;

use super::{Adapter, Heard, Inquiry, Message, Reply, unread};
use crate::answer::Answer;

/// The host's name in events and records.
pub const HOST: &str = "claude";

/// Claude Code's language.
#[derive(Debug, Clone, Default)]
pub struct Claude {
    /// What its messages call the settings that hold our hooks: `local_settings`, for instance.
    pub wired: Option<&'static str>,
}

impl Claude {
    /// Inquiry by the hooks in these settings: `user`, `local` or `project`.
    #[must_use]
    pub fn wired_by(scope: Option<&str>) -> Self {
        let settings = [("user", "user_settings"), ("local", "local_settings"), ("project", "project_settings")];
        let named = |scope: &str| settings.into_iter().find(|(own, _)| *own == scope).map(|(_, settings)| settings);
        Self { wired: scope.and_then(named) }
    }
}

impl Adapter for Claude {
    fn host(&self) -> Option<&str> {
        Some(HOST)
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        read::HOOKS.read(native, now, |_, asked| asked, |name, fields| read::events(self, name, fields))
    }

    fn glance(&self, native: &[u8]) -> Inquiry {
        read::HOOKS.glance(native)
    }

    fn unread(&self, asked: &Inquiry, native: &[u8], now: Timestamp) -> Option<Message> {
        unread::message((HOST, read::HOOKS.common), asked, native, now)
    }

    fn render(&self, asked: &Inquiry, answers: &[Answer]) -> Reply {
        render::render(asked, answers)
    }
}
