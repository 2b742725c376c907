//! What adapters share in reading: hosts' messages are JSON objects that name their event.

use jackline_core::code;
use jackline_core::decision::Finding;
use jackline_core::event;
use jackline_core::json::{self, JSON_DEPTH_MAX};
use jackline_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{Heard, Inquiry, Message, Moment, glimpse, halves};

/// Levels that a message wraps around a call's arguments: the object itself, `tool_calls`, one of them.
const WRAPPING_LEVELS: usize = 3;
/// Marks an event whose `ok` stands in the transcript; no member of the event itself.
pub(super) const IN_TRANSCRIPT: &str = "ok_in_transcript";

pub(super) type Fields = Map<String, Value>;

/// What a host's message has in common with others of its kind, and the events that it holds.
pub(super) type Events = Result<(Fields, Vec<Value>), String>;

/// A message's members, within the bounds of any event's.
fn fields(native: &[u8]) -> Result<Fields, String> {
    match json::decode_to_depth(native, JSON_DEPTH_MAX + WRAPPING_LEVELS) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(fault) => Err(fault.to_string()),
    }
}

/// The members of a message; or what it is about, and why it cannot be read. A half character matters only where a call
/// is judged: elsewhere the rest of the message is worth more.
fn members(native: &[u8], glance: impl FnOnce(&[u8]) -> Inquiry) -> Result<Fields, (Inquiry, String)> {
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

/// How a host's messages name their events. One whose name is not known is told apart by whether it may be about a tool
/// that is about to run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hooks {
    /// The members in which a message may name its event.
    pub(super) names: &'static [&'static str],
    /// The member in which a stop says that the one before it was held.
    pub(super) held: &'static str,
    /// The one event before a tool runs that is understood.
    pub(super) gate: &'static str,
    /// When an event comes; told its name, and whether it may be about a tool.
    pub(super) moment: fn(&str, bool) -> Moment,
    /// What all messages say of themselves, as `common` takes it.
    pub(super) common: &'static [(&'static str, &'static str)],
}

/// The member in which most hosts say that the stop before this one was held.
pub(super) const HELD: &str = "stop_hook_active";

impl Hooks {
    /// Named as Claude Code names them, which most hosts do.
    pub(super) const fn usual(
        gate: &'static str,
        moment: fn(&str, bool) -> Moment,
        common: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { names: &["hook_event_name"], held: HELD, gate, moment, common }
    }

    /// What a native message holds: `asked` says what else it says of itself, `events` what it is in our protocol's form.
    pub(super) fn read(
        &self,
        native: &[u8],
        now: Timestamp,
        asked: impl FnOnce(&Fields, Inquiry) -> Inquiry,
        events: impl FnOnce(&str, &mut Fields) -> Events,
    ) -> Heard {
        let mut fields = match members(native, |native| self.glance(native)) {
            Ok(fields) => fields,
            // What is no JSON still says which event it is, if its beginning is whole. It must not block a prompt.
            Err((asked, why)) => return heard(asked, Err(why), now),
        };
        let asked = asked(&fields, self.asked(&fields));
        let events = if asked.name.is_empty() {
            Err(format!("it names no event (`{}`); wire the host with `jackline init`", self.names.join("`, `")))
        } else if asked.moment == Moment::Gate && asked.name != self.gate {
            Err(format!("`{}` is not a tool gate that this version knows", asked.name))
        } else {
            events(&asked.name, &mut fields)
        };
        heard(asked, events, now)
    }

    /// What a message is about, told without reading it: for faults that come before or instead of reading.
    pub(super) fn glance(&self, native: &[u8]) -> Inquiry {
        let said = glimpse::texts(native, self.names);
        let name = said.first().and_then(|(_, name)| name.clone()).unwrap_or_default();
        let moment = match (self.moment)(&name, true) {
            // One that names two events may be either.
            _ if name.is_empty() || said.iter().any(|(_, other)| other.as_ref() != Some(&name)) => Moment::Gate,
            Moment::Stop { .. } => Moment::Stop { again: glimpse::is_held(native, self.held) },
            moment => moment,
        };
        Inquiry::new(moment, name)
    }

    /// What a message that was read is about.
    fn asked(&self, fields: &Fields) -> Inquiry {
        let mut said = self.names.iter().filter_map(|member| text(fields, member));
        let name = said.next().unwrap_or_default();
        let moment = match (self.moment)(name, is_about_tool(fields)) {
            _ if said.any(|other| other != name) => Moment::Gate,
            // A message without a name may be anything, but a person's words alone are about no tool.
            _ if name.is_empty() && is_prompt(fields) => Moment::Prompt,
            _ if name.is_empty() => Moment::Gate,
            Moment::Stop { .. } => Moment::Stop { again: is_held(fields, self.held) },
            moment => moment,
        };
        Inquiry::new(moment, name)
    }
}

/// Whether a stop says that the one before it was held: some hosts say so, others count.
pub(super) fn is_held(fields: &Fields, member: &str) -> bool {
    let value = fields.get(member);
    value == Some(&Value::Bool(true)) || value.and_then(Value::as_u64).is_some_and(|count| count > 0)
}

/// Whether a message says anything of a tool: `tool_input`, `toolName`, `tool_calls`.
fn is_about_tool(fields: &Fields) -> bool {
    let begins =
        |name: &String| name.strip_prefix("tool").is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()));
    fields.keys().any(begins)
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

/// A person's prompt, which stands in this member.
pub(super) fn prompted(fields: &mut Fields, member: &str) -> Value {
    json!({ "event": "prompt.submitted", "prompt": fields.remove(member).unwrap_or_default() })
}

/// An agent that wants to stop; its last words stand in this member.
pub(super) fn stopping(fields: &mut Fields, member: &str) -> Value {
    let message = fields.remove(member).unwrap_or_default();
    json!({ "event": "stop.requested", "message": message, "again": fields.get(HELD) })
}

/// What was heard: the events in our protocol's form become messages.
fn heard(asked: Inquiry, events: Events, now: Timestamp) -> Heard {
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
