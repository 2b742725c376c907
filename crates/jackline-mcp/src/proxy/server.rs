//! The way to the server, whatever it is: a program that was started here, or one that is reached by its address.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::headers;
use super::judge::PROTOCOL_VERSION;
use crate::message::{Id, Kind, Message};

/// A message on its way to the server.
#[derive(Debug, Default)]
pub(super) struct Sent<'a> {
    /// On one line, without its end.
    pub(super) text: &'a [u8],
    /// The request's, where it is one.
    pub(super) id: Option<Id>,
    pub(super) method: Option<&'a str>,
    /// What the request is about: a tool, a prompt, a resource, a task.
    pub(super) name: Option<&'a str>,
    /// Arguments that stand in headers too.
    pub(super) params: Vec<(String, String)>,
    /// The protocol that the request itself says it speaks.
    pub(super) version: Option<&'a str>,
}

impl<'a> Sent<'a> {
    /// What the way to a server needs to know of a client's message; its text is put in by who has it.
    pub(super) fn of(message: &Message<'a>) -> Self {
        let name = headers::name(message);
        let id = if let Kind::Request { id, .. } = &message.kind { Some(id.clone()) } else { None };
        let method = message.fields.get("method").and_then(Value::as_str);
        let version = message.meta(PROTOCOL_VERSION).and_then(Value::as_str);
        Self { text: &[], id, method, name, params: Vec::new(), version }
    }
}

/// A signal that asks to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Hangup,
    Interrupt,
    Terminate,
}

impl Ending {
    /// The signal of this number, where it is one.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Hangup),
            2 => Some(Self::Interrupt),
            15 => Some(Self::Terminate),
            _ => None,
        }
    }

    /// How a shell tells of a program that it ended.
    pub(crate) const fn exit_code(self) -> u8 {
        128 + match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

/// A server.
pub(super) trait Server: Send + Sync + fmt::Debug {
    /// Sends a message; or says why the server cannot be told anything.
    fn send(&self, message: &Sent<'_>) -> Result<(), String>;

    /// Nobody waits any more for the answer to this request.
    fn leave(&self, _: &Id) {}

    /// Whether it can never be sent anything again.
    fn is_lost(&self) -> bool {
        false
    }

    /// Waits until it has read nothing for long of what it was sent; never so where that cannot be told.
    fn wait_deaf(&self) -> bool {
        false
    }

    /// Nothing more will be sent.
    fn close(&self);

    /// Passes a signal on.
    fn signal(&self, signal: Ending);

    /// Waits until it has ended by itself; whether that can be seen at all.
    fn wait(&self) -> bool {
        false
    }

    /// Ends it, gently at first; how it ended, in words, and its exit code.
    fn end(&self, grace: Duration) -> (String, Option<u8>);
}
