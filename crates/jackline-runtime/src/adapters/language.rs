//! A host's language as a value: what differs between hosts that start a hook for every event.

use jackline_core::time::Timestamp;

use super::native::{Events, Fields, Hooks};
use super::{Adapter, Heard, Inquiry, Late, Message, Reply, unread};
use crate::answer::Answer;

/// How one host speaks.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    /// The host's name in events and records.
    pub(super) host: &'static str,
    /// How its messages name their events.
    pub(super) hooks: Hooks,
    /// What a message says of itself beside its name.
    pub(super) asked: fn(&Fields, Inquiry) -> Inquiry,
    /// What a message is in our protocol's form.
    pub(super) events: fn(&str, &mut Fields) -> Events,
    /// The reply to all events of a message.
    pub(super) render: fn(&Inquiry, &[Answer]) -> Reply,
    /// What is said when a gate's deadline is over.
    pub(super) late: Late,
}

impl Adapter for Language {
    fn host(&self) -> Option<&str> {
        Some(self.host)
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        self.hooks.read(native, now, self.asked, self.events)
    }

    fn glance(&self, native: &[u8]) -> Inquiry {
        self.hooks.glance(native)
    }

    fn unread(&self, asked: &Inquiry, native: &[u8], now: Timestamp) -> Option<Message> {
        unread::message((self.host, self.hooks.common), asked, native, now)
    }

    fn render(&self, asked: &Inquiry, answers: &[Answer]) -> Reply {
        (self.render)(asked, answers)
    }

    fn late(&self) -> Late {
        self.late
    }
}
