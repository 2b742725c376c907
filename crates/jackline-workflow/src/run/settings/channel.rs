//! Channels: what a message must fit, who may send it, who gets it.

use std::collections::BTreeMap;

use jackline_runtime::Schema;
use serde::Deserialize;
use serde_json::Value;

use super::part;

/// Bytes of a message when the manifest says nothing: the protocol's own.
const MESSAGE_KB: u64 = 256;
/// Kilobytes of a message whatever the manifest says: it is handed to agents with their input.
const MESSAGE_KB_MAX: u64 = 1_024;
/// Stands for every agent.
const EVERYBODY: &str = "*";

/// All channels of a workflow.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    all: BTreeMap<String, Channel>,
    default: Option<String>,
    pub(crate) message_bytes_max: u64,
}

/// One channel.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) schema: Option<Schema>,
    /// No message at all fits.
    pub(crate) closed: bool,
    publishers: Option<Vec<String>>,
    subscribers: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    name: String,
    schema: Value,
    participants: Participants,
    acl: Participants,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Participants {
    publishers: Option<Vec<String>>,
    subscribers: Option<Vec<String>>,
}

impl Channels {
    /// Whether there is one.
    pub(crate) fn any(&self) -> bool {
        !self.all.is_empty()
    }

    pub(super) fn read(root: &Value, out: &mut Vec<String>) -> Self {
        let written: Vec<Written> = part(root, "/communication/channels", out);
        let kilobytes = root.pointer("/communication/bus/max_message_size_kb").and_then(Value::as_u64);
        let mut all = BTreeMap::new();
        for channel in written {
            let name = channel.name.clone();
            match Channel::of(channel) {
                Ok(channel) => drop(all.entry(name).or_insert(channel)),
                Err(why) => out.push(format!("the schema of the channel `{name}` cannot be used: {why}")),
            }
        }
        Self {
            all,
            default: part(root, "/communication/default_channel", out),
            message_bytes_max: kilobytes.unwrap_or(MESSAGE_KB).min(MESSAGE_KB_MAX) * 1_024,
        }
    }

    /// The channel of a name, or the one that is meant where none is named.
    pub(crate) fn get(&self, name: Option<&str>) -> Option<(&str, &Channel)> {
        let only = || self.all.keys().next().filter(|_| self.all.len() == 1).map(String::as_str);
        let name = name.or(self.default.as_deref()).or_else(only)?;
        self.all.get_key_value(name).map(|(name, channel)| (name.as_str(), channel))
    }
}

impl Channel {
    fn of(written: Written) -> Result<Self, String> {
        let schema = match &written.schema {
            Value::Object(_) => Some(Schema::new(&written.schema).map_err(|fault| fault.message)?),
            _ => None,
        };
        Ok(Self {
            schema,
            closed: written.schema == Value::Bool(false),
            publishers: written.participants.publishers.or(written.acl.publishers),
            subscribers: written.participants.subscribers.or(written.acl.subscribers),
        })
    }

    pub(crate) fn may_send(&self, agent: &str) -> bool {
        listed(self.publishers.as_deref(), agent)
    }

    pub(crate) fn may_receive(&self, agent: &str) -> bool {
        listed(self.subscribers.as_deref(), agent)
    }
}

/// Where nobody is listed, everybody is meant.
fn listed(list: Option<&[String]>, agent: &str) -> bool {
    list.is_none_or(|list| list.iter().any(|name| name == agent || name == EVERYBODY))
}
