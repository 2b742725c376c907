//! A native message that cannot be read, as an event: what it plainly says of itself, and that nobody could read the rest.

use jackline_core::event;
use jackline_core::json::JSON_BYTES_MAX;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde_json::{Value, json};

use super::{Inquiry, Message, Moment, glimpse};

/// Where hosts name the tool and the call; a later one counts more, as in what all messages of a host say.
const TOOL: &[&str] = &["tool", "toolName", "tool_name"];
const CALL: &[&str] = &["tool_use_id", "tool_call_id"];

/// What a tool is called whose name cannot be told.
const SOME_TOOL: &str = "?";

/// An event for the record; nothing where the message does not say of which session it is. `common` names where it would.
pub(super) fn message(
    (host, common): (&str, &[(&'static str, &str)]),
    asked: &Inquiry,
    native: &[u8],
    now: Timestamp,
) -> Option<Message> {
    let rows = |to: &str| common.iter().filter(|row| row.1 == to).map(|row| row.0).collect::<Vec<_>>();
    let (session, agent) = (rows("session"), rows("agent"));
    let said = glimpse::texts(native, &[&session, &agent, TOOL, CALL].concat());
    let seen = |names: &[&str]| last(&said, names);
    let mut raw = json!({ "session": seen(&session)?, "host": host, "native": asked.name });
    let event = match asked.moment {
        Moment::Gate => {
            let tool = seen(TOOL).unwrap_or(SOME_TOOL);
            json!({ "event": "call.requested", "call": { "id": seen(CALL), "tool": tool, "args": {} } })
        }
        _ => json!({ "event": "host.noted", "name": asked.name }),
    };
    join(&mut raw, event);
    join(&mut raw, seen(&agent).map(|agent| json!({ "agent": agent })).unwrap_or_default());
    let event = event::read(&raw, now).ok()?;
    join(&mut raw, json!({ "unreadable": size(native) }));
    Some(Message { partial: true, ..Message::new(event, raw) })
}

/// How much there is, and its hash; of a message that was too long, only the beginning was kept.
fn size(native: &[u8]) -> Value {
    let (bytes, sha256) = (native.len(), Digest::of(native).hex());
    if bytes > JSON_BYTES_MAX {
        json!({ "cut": true, "sha256": sha256 })
    } else {
        json!({ "bytes": bytes, "sha256": sha256 })
    }
}

/// What the last of these members says that is there. What it says twice is in doubt, and not believed.
fn last<'s>(said: &'s [(&str, Option<String>)], names: &[&str]) -> Option<&'s str> {
    let name = names.iter().rev().find(|name| said.iter().any(|(there, _)| there == *name))?;
    let mut texts = said.iter().filter(|(there, _)| there == name).map(|(_, text)| text.as_deref());
    texts.next()?.filter(|_| texts.next().is_none())
}

fn join(to: &mut Value, from: Value) {
    if let (Value::Object(to), Value::Object(from)) = (to, from) {
        to.extend(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &[(&str, &str)] = &[("session_id", "session"), ("parent_id", "session"), ("agent_id", "agent")];

    fn read(native: &str, moment: Moment) -> Option<Message> {
        message(("some", COMMON), &Inquiry::new(moment, "Some"), native.as_bytes(), Timestamp(0))
    }

    #[test]
    fn a_call_is_asked_for_by_whoever_says_so_once() {
        let native = r#"{"session_id":"s1","agent_id":"a1","tool_name":"Bash","tool_use_id":"c1","tool_input":{"#;
        let message = read(native, Moment::Gate).unwrap();
        assert_eq!((message.event.session.as_str(), message.event.agent()), ("s1", "a1"));
        let call = message.event.call().unwrap();
        assert_eq!((call.tool.as_str(), call.id.as_deref()), ("Bash", Some("c1")));
        assert_eq!(message.raw["unreadable"]["bytes"], native.len());
        assert!(read(r#"{"session_id":"s1","session_id":"s2","#, Moment::Gate).is_none());
        assert!(read(r#"{"tool_input":{"session_id":"s1""#, Moment::Gate).is_none());
    }

    #[test]
    fn names_count_as_the_host_means_them() {
        let native = r#"{"session_id":"own","parent_id":"s1","tool_use_id":"c0","tool_call_id":"c1","tool_input":{"#;
        let event = read(native, Moment::Gate).unwrap().event;
        assert_eq!((event.session.as_str(), event.call().unwrap().id.as_deref()), ("s1", Some("c1")));
    }

    #[test]
    fn of_a_message_that_was_too_long_no_size_is_told() {
        let native = format!(r#"{{"session_id":"s1","tool_input":"{}"#, "x".repeat(JSON_BYTES_MAX));
        let raw = read(&native, Moment::Gate).unwrap().raw;
        assert!(raw["unreadable"]["cut"] == true && raw["unreadable"].get("bytes").is_none(), "{raw}");
    }

    #[test]
    fn what_is_no_gate_is_noted() {
        let message = read(r#"{"session_id":"s1","prompt":"#, Moment::Prompt).unwrap();
        assert_eq!(message.event.body.name(), "host.noted");
    }
}
