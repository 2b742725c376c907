//! Delivers messages: through a channel that is there, from somebody who may send, to somebody who may receive, and only
//! when they fit the channel's schema (R15).

use serde_json::{Value, json};

use super::answer::Message;
use super::settings::Channels;

/// Errors of a schema that a rejection tells: the first are the ones to mend.
const ERRORS_SHOWN_MAX: usize = 5;

/// A message under way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Letter {
    pub(super) channel: String,
    pub(super) from: String,
    pub(super) to: Vec<String>,
    pub(super) content: Value,
}

impl Letter {
    /// As whoever gets it sees it.
    pub(super) fn shown(&self) -> Value {
        json!({"channel": self.channel, "from": self.from, "content": self.content})
    }
}

/// Why a message is not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejected {
    pub(super) channel: Option<String>,
    pub(super) reason: String,
}

/// The letter that a message becomes, or why it becomes none. `everybody` are all agents of the workflow.
pub(super) fn post(
    channels: &Channels,
    from: &str,
    message: &Message,
    everybody: &mut dyn Iterator<Item = &str>,
) -> Result<Letter, Rejected> {
    let refuse = |reason: String| Rejected { channel: message.channel.clone(), reason };
    let Some((name, channel)) = channels.get(message.channel.as_deref()) else {
        return Err(refuse(match &message.channel {
            Some(name) => format!("there is no channel `{name}`"),
            None => "it names no channel".to_owned(),
        }));
    };
    if !channel.may_send(from) {
        return Err(refuse(format!("`{from}` may not send on `{name}`")));
    }
    let bytes = message.content.to_string().len() as u64;
    if bytes > channels.message_bytes_max {
        return Err(refuse(format!("it has {bytes} bytes, more than {}", channels.message_bytes_max)));
    }
    if channel.closed {
        return Err(refuse(format!("no message fits the schema of `{name}`")));
    }
    let errors = match channel.schema.as_ref().map(|schema| schema.errors(&message.content)) {
        None => Vec::new(),
        Some(Ok(errors)) => errors,
        Some(Err(why)) => return Err(refuse(format!("whether it fits the schema of `{name}` cannot be told: {why}"))),
    };
    if !errors.is_empty() {
        let told = errors.iter().take(ERRORS_SHOWN_MAX);
        let told: Vec<String> = told.map(|error| format!("at `{}` {}", error.instance_path, error.message)).collect();
        return Err(refuse(format!("it does not fit the schema of `{name}`: {}", told.join("; "))));
    }
    let meant = |to: &&str| *to != from && message.to.as_deref().is_none_or(|named| named == *to);
    let to: Vec<String> = everybody.filter(meant).filter(|to| channel.may_receive(to)).map(str::to_owned).collect();
    if to.is_empty() {
        return Err(refuse(match &message.to {
            Some(named) => format!("`{named}` receives nothing on `{name}`"),
            None => format!("nobody receives anything on `{name}`"),
        }));
    }
    Ok(Letter { channel: name.to_owned(), from: from.to_owned(), to, content: message.content.clone() })
}
