//! A native message that cannot be read, as an event: what it plainly says of itself, and that nobody could read the rest.

use jackline_core::event;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde_json::{Value, json};

use super::{Inquiry, Message, Moment, glimpse};

/// The member of a record that says that its message was not read. Such a record cannot be judged again.
pub(crate) const UNREADABLE: &str = "unreadable";

/// Where hosts name the session. What is said twice is in doubt, and not believed.
const SESSION: &[&str] = &["session_id", "sessionId", "conversation_id", "session"];
/// Where they name the agent, the tool and the call.
const AGENT: &[&str] = &["agent_id", "agent"];
const TOOL: &[&str] = &["tool_name", "toolName"];
const CALL: &[&str] = &["tool_use_id", "tool_call_id"];

/// What a tool is called whose name cannot be told.
const SOME_TOOL: &str = "?";

/// An event for the record; nothing where the message does not say of which session it is.
pub(super) fn message(host: &str, asked: &Inquiry, native: &[u8], now: Timestamp) -> Option<Message> {
    let said = glimpse::texts(native, &[SESSION, AGENT, TOOL, CALL].concat());
    let seen = |names: &[&str]| only(said.iter().filter(|(name, _)| names.contains(name)));
    let mut raw = json!({ "session": seen(SESSION)?, "host": host, "native": asked.name });
    let event = match asked.moment {
        Moment::Gate => {
            let tool = seen(TOOL).unwrap_or(SOME_TOOL);
            json!({ "event": "call.requested", "call": { "id": seen(CALL), "tool": tool, "args": {} } })
        }
        _ => json!({ "event": "host.noted", "name": asked.name }),
    };
    join(&mut raw, event);
    join(&mut raw, seen(AGENT).map(|agent| json!({ "agent": agent })).unwrap_or_default());
    let event = event::read(&raw, now).ok()?;
    let bytes = native.len();
    join(&mut raw, json!({ UNREADABLE: { "bytes": bytes, "sha256": Digest::of(native).hex() } }));
    Some(Message::new(event, raw))
}

fn only<'s>(mut said: impl Iterator<Item = &'s (&'s str, Option<String>)>) -> Option<&'s str> {
    let (_, text) = said.next()?;
    text.as_deref().filter(|_| said.next().is_none())
}

fn join(to: &mut Value, from: Value) {
    if let (Value::Object(to), Value::Object(from)) = (to, from) {
        to.extend(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(native: &str, moment: Moment) -> Option<Message> {
        message("claude", &Inquiry::new(moment, "Some"), native.as_bytes(), Timestamp(0))
    }

    #[test]
    fn a_call_is_asked_for_by_whoever_says_so_once() {
        let native = r#"{"session_id":"s1","agent_id":"a1","tool_name":"Bash","tool_use_id":"c1","tool_input":{"#;
        let message = read(native, Moment::Gate).unwrap();
        assert_eq!((message.event.session.as_str(), message.event.agent()), ("s1", "a1"));
        let call = message.event.call().unwrap();
        assert_eq!((call.tool.as_str(), call.id.as_deref()), ("Bash", Some("c1")));
        assert_eq!(message.raw[UNREADABLE]["bytes"], native.len());
        assert!(read(r#"{"session_id":"s1","session_id":"s2","#, Moment::Gate).is_none());
        assert!(read(r#"{"tool_input":{"session_id":"s1""#, Moment::Gate).is_none());
    }

    #[test]
    fn what_is_no_gate_is_noted() {
        let message = read(r#"{"session_id":"s1","prompt":"#, Moment::Prompt).unwrap();
        assert_eq!(message.event.body.name(), "host.noted");
    }
}
