//! Translates hosts' native messages into events and answers back. Pure: no files, no store, no clock.

pub mod lines;

use jackline_core::decision::Finding;
use jackline_core::event::Event;
use jackline_core::time::Timestamp;
use serde_json::Value;

use crate::answer::Answer;

/// An event together with the JSON it was read from, which is what the log keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub event: Event,
    pub raw: Value,
}

/// One host's language.
pub trait Adapter: Send + Sync {
    /// The host's name in events and records.
    fn host(&self) -> Option<&str>;

    /// The events that a native message holds; `now` stands in where it names no time.
    ///
    /// # Errors
    /// A refusal that says why it could not be read.
    fn read(&self, native: &[u8], now: Timestamp) -> Result<Vec<Message>, Box<Finding>>;

    /// The native reply to all of them.
    fn render(&self, answers: &[Answer]) -> String;
}
