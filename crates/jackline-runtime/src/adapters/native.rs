//! What adapters share in reading: hosts' messages are JSON objects that name their event.

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event;
use jackline_core::json::{self, JSON_DEPTH_MAX};
use jackline_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Asked, Heard, Message, Moment, glimpse, halves};

/// Levels that a message wraps around a call's arguments: the object itself, `tool_calls`, one of them.
const WRAPPING_LEVELS: usize = 3;
/// Marks an event whose `ok` stands in the transcript; no member of the event itself.
pub(super) const IN_TRANSCRIPT: &str = "ok_in_transcript";

pub(super) type Fields = Map<String, Value>;

/// What a host's message has in common with others of its kind, and the events that it holds.
pub(super) type Events = Result<(Fields, Vec<Value>), String>;

/// A message's members, within the bounds of any event's.
pub(super) fn fields(native: &[u8]) -> Result<Fields, String> {
    match json::decode_to_depth(native, JSON_DEPTH_MAX + WRAPPING_LEVELS) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(fault) => Err(fault.to_string()),
    }
}

/// The members of a message; or what it is about, and why it cannot be read. A half character matters only where a call
/// is judged: elsewhere the rest of the message is worth more.
pub(super) fn members(native: &[u8], glance: impl FnOnce(&[u8]) -> Asked) -> Result<Fields, (Asked, String)> {
    let why = match fields(native) {
        Ok(fields) => return Ok(fields),
        Err(why) => why,
    };
    let asked = glance(native);
    match halves::replaced(native).filter(|_| asked.moment != Moment::Gate) {
        Some(whole) => fields(&whole).map_err(|why| (asked, why)),
        None => Err((asked, why)),
    }
}

/// How a host's hooks name their events: the one before a tool runs, when each comes, and what it is in our protocol's
/// form. A message whose name is not known is told apart by whether it may be about a tool that is about to run.
pub(super) struct Hooks {
    pub(super) gate: &'static str,
    pub(super) moment: fn(&str, bool) -> Moment,
    pub(super) asked: fn(&Fields) -> Asked,
    pub(super) events: fn(&str, &mut Fields) -> Events,
}

/// The member in which hooks name their event.
const EVENT_NAME: &str = "hook_event_name";
/// The member in which they say that the stop before this one was held.
pub(super) const HELD: &str = "stop_hook_active";

/// What is told of a message that does not say what it is about.
const NAMELESS: &str = "it names no event (`hook_event_name`); wire the host with `jackline init`";

impl Hooks {
    pub(super) fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        let mut fields = match members(native, |native| self.glance(native)) {
            Ok(fields) => fields,
            Err((asked, why)) => return heard(asked, Err(why), now),
        };
        let asked = (self.asked)(&fields);
        let events = if asked.name.is_empty() {
            Err(NAMELESS.to_owned())
        } else if asked.moment == Moment::Gate && asked.name != self.gate {
            Err(format!("`{}` is not a tool gate that this version knows", asked.name))
        } else {
            (self.events)(&asked.name, &mut fields)
        };
        heard(asked, events, now)
    }

    /// What a message is about, told without reading it.
    pub(super) fn glance(&self, native: &[u8]) -> Asked {
        glanced(native, self.moment)
    }
}

/// What a message is about that names its event as most do, told without reading it.
pub(super) fn glanced(native: &[u8], moment: fn(&str, bool) -> Moment) -> Asked {
    let name = glimpse::text(native, EVENT_NAME).unwrap_or_default();
    let moment = match moment(&name, true) {
        _ if name.is_empty() => Moment::Gate,
        Moment::Stop { .. } => Moment::Stop { again: glimpse::is_set(native, HELD) },
        moment => moment,
    };
    Asked::new(moment, name)
}

/// What a message that was read is about.
pub(super) fn asked(fields: &Fields, moment: fn(&str, bool) -> Moment) -> Asked {
    let name = text(fields, EVENT_NAME).unwrap_or_default();
    let moment = match moment(name, fields.contains_key("tool_input")) {
        Moment::Stop { .. } => Moment::Stop { again: fields.get(HELD) == Some(&Value::Bool(true)) },
        // A message without a name may be anything, but a person's words alone are about no tool.
        _ if name.is_empty() && is_prompt(fields) => Moment::Prompt,
        _ if name.is_empty() => Moment::Gate,
        moment => moment,
    };
    Asked::new(moment, name)
}

fn is_prompt(fields: &Fields) -> bool {
    fields.contains_key("prompt") && !fields.keys().any(|name| name.to_ascii_lowercase().contains("tool"))
}

/// Members that all events of a message have, under our names; a later row wins.
pub(super) fn common(fields: &mut Fields, (host, name): (&str, &str), members: &[(&str, &str)]) -> Fields {
    let mut common = Fields::new();
    for (from, to) in members {
        if let Some(value) = fields.remove(*from) {
            common.insert((*to).to_owned(), value);
        }
    }
    common.insert("host".to_owned(), json!(host));
    common.insert("native".to_owned(), json!(name));
    common
}

/// An event that is only recorded; `dropped` members say nothing.
pub(super) fn noted(name: &str, fields: &mut Fields, dropped: &[&str]) -> Value {
    for member in dropped {
        fields.remove(*member);
    }
    json!({ "event": "host.noted", "name": name, "about": std::mem::take(fields) })
}

/// What was heard: the events in our protocol's form become messages.
pub(super) fn heard(asked: Asked, events: Events, now: Timestamp) -> Heard {
    Heard { messages: messages(events, now).map_err(|why| invalid(&why)), asked }
}

fn messages(events: Events, now: Timestamp) -> Result<Vec<Message>, String> {
    let (common, events) = events?;
    let whole = |event: Value| {
        let mut raw = common.clone();
        if let Value::Object(event) = event {
            raw.extend(event);
        }
        let unproven = raw.remove(IN_TRANSCRIPT).is_some();
        let raw = Value::Object(raw);
        let event = event::read(&raw, now).map_err(|fault| fault.to_string())?;
        Ok(Message { unproven, ..Message::new(event, raw) })
    };
    events.into_iter().map(whole).collect()
}

fn invalid(why: &str) -> Box<Finding> {
    let finding = Finding::deny("event", code::EVENT_INVALID, format!("The hook's message cannot be read: {why}."));
    Box::new(finding.suggest("ask the owner to run `jackline doctor`; the client may be newer than Jackline"))
}

/// Whether a prompt is what we said when we held a stop: some hosts hand that on as if a person had written it. It ends
/// with a line of ours, and no person's prompt does.
pub(super) fn is_our_own(prompt: Option<&Value>) -> bool {
    let line = prompt.and_then(Value::as_str).and_then(|prompt| prompt.trim_end().lines().last());
    line.is_some_and(|line| line.starts_with("[jackline: ") && line.ends_with(']'))
}

pub(super) fn text<'a>(fields: &'a Fields, member: &str) -> Option<&'a str> {
    fields.get(member).and_then(Value::as_str)
}
