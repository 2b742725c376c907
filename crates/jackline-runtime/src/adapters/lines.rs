//! The protocol of `jackline eval`: one event per line of JSON in, one answer per line of JSON out.

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event;
use jackline_core::json;
use jackline_core::time::Timestamp;

use super::{Adapter, Heard, Inquiry, Message, Moment, Reply};
use crate::answer::Answer;

/// The line protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lines;

impl Adapter for Lines {
    fn host(&self) -> Option<&str> {
        None
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        Heard { asked: self.glance(native), messages: message(native, now).map(|message| vec![message]) }
    }

    fn glance(&self, _: &[u8]) -> Inquiry {
        Inquiry::new(Moment::Gate, "")
    }

    fn render(&self, _: &Inquiry, answers: &[Answer]) -> Reply {
        Reply::said(answers.iter().map(Answer::to_json).collect::<Vec<_>>().join("\n"))
    }
}

fn message(native: &[u8], now: Timestamp) -> Result<Message, Box<Finding>> {
    let raw = json::decode(native).map_err(|fault| Box::new(invalid(&fault.to_string())))?;
    let event = event::read(&raw, now).map_err(|fault| Box::new(invalid(&fault.to_string())))?;
    if event.body.is_persons_own() {
        return Err(Box::new(persons_own(event.body.name())));
    }
    Ok(Message::new(event, raw))
}

/// A refusal of an event that only a person's own command may send.
#[must_use]
pub fn persons_own(kind: &str) -> Finding {
    invalid(&format!("event `{kind}` is a person's, who makes it with a command of their own"))
}

/// A refusal of something that is no event.
#[must_use]
pub fn invalid(why: &str) -> Finding {
    Finding::deny("event", code::EVENT_INVALID, format!("The event cannot be read: {why}."))
        .suggest("send one JSON object per line, as docs/reference/events.md describes")
}
