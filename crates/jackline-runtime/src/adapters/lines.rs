//! The protocol of `jackline eval`: one event per line of JSON in, one answer per line of JSON out.

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event;
use jackline_core::json;
use jackline_core::time::Timestamp;

use super::{Adapter, Message};
use crate::answer::Answer;

/// The line protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lines;

impl Adapter for Lines {
    fn host(&self) -> Option<&str> {
        None
    }

    fn read(&self, native: &[u8], now: Timestamp) -> Result<Vec<Message>, Box<Finding>> {
        let raw = json::decode(native).map_err(|fault| Box::new(invalid(&fault.to_string())))?;
        let event = event::read(&raw, now).map_err(|fault| Box::new(invalid(&fault.to_string())))?;
        if event.body.is_persons_own() {
            let why = format!(
                "event `{}` is a person's, who makes it with `jackline allow`, `off` or `on`",
                event.body.name()
            );
            return Err(Box::new(invalid(&why)));
        }
        Ok(vec![Message { event, raw }])
    }

    fn render(&self, answers: &[Answer]) -> String {
        answers.iter().map(Answer::to_json).collect::<Vec<_>>().join("\n")
    }
}

/// A refusal of something that is no event.
#[must_use]
pub fn invalid(why: &str) -> Finding {
    Finding::deny("event", code::EVENT_INVALID, format!("The event cannot be read: {why}."))
        .suggest("send one JSON object per line, as docs/reference/events.md describes")
}
