//! How an event is read from JSON: strict about what it understands, and silent about members it does not know, since fields
//! may be added.

use serde_json::{Map, Value};

use super::{
    Body, Call, Continued, DIRS_MAX, Event, EventFault, MAIN_AGENT, NAME_BYTES_MAX, Outcome, Output, OutputSchema,
    PATH_BYTES_MAX, SESSION_ID_BYTES_MAX, StopAsk, TOOL_NAME_BYTES_MAX, usage,
};
use crate::completion::park;
use crate::exception::Exception;
use crate::extension::Extension;
use crate::listing::Listing;
use crate::operation::Operation;
use crate::overrides::Override;
use crate::schema::SCHEMA_NAME_BYTES_MAX;
use crate::session::prompt_key;
use crate::time::Timestamp;

/// Reads an event from its JSON form; `now` stands in for an absent `at`.
///
/// # Errors
/// The first thing about it that cannot be understood.
pub fn read(value: &Value, now: Timestamp) -> Result<Event, EventFault> {
    let fields = value.as_object().ok_or(EventFault::NoObject)?;
    let kind = text(fields, "event")?.ok_or(EventFault::Missing("event"))?;
    Ok(Event {
        session: session_id(fields)?,
        at: at(fields)?.unwrap_or(now),
        agent: name(fields, "agent")?.filter(|agent| !agent.is_empty() && agent != MAIN_AGENT),
        host: name(fields, "host")?,
        cwd: place(fields, "cwd")?,
        definition: place(fields, "definition")?,
        transcript: place(fields, "transcript")?,
        body: body(kind, fields)?,
    })
}

fn body(name: &str, fields: &Map<String, Value>) -> Result<Body, EventFault> {
    Ok(match name {
        "session.started" => Body::SessionStarted { invariants: fields.get("invariants").cloned() },
        "prompt.submitted" => {
            Body::PromptSubmitted { prompt: fields.get("prompt").and_then(Value::as_str).map(prompt_key) }
        }
        "call.requested" => Body::CallRequested(call(fields)?),
        "call.finished" => Body::CallFinished(call(fields)?, outcome(fields)?),
        "call.settled" => Body::CallSettled(call(fields)?),
        "agent.started" => Body::AgentStarted,
        "output.produced" => Body::OutputProduced(output(fields)?),
        "stop.requested" => Body::StopRequested(stop(fields)?),
        "park" => Body::Park { reason: park_reason(fields)? },
        "session.ended" => Body::SessionEnded,
        "session.rerooted" => Body::Rerooted { root: root(fields)? },
        "settings.changed" => Body::SettingsChanged {
            file: place(fields, "file")?.ok_or(EventFault::Missing("file"))?,
            wired: flag(fields, "wired")?.unwrap_or_default(),
        },
        "host.noted" => Body::Noted { name: short_name(fields)? },
        "session.snapshot" => Body::Snapshot { name: short_name(fields)? },
        "session.restore" => Body::Restore { name: short_name(fields)? },
        "session.reset" => Body::Reset,
        "exception.granted" => Body::ExceptionGranted(exception(fields)?),
        "exception.revoked" => Body::ExceptionRevoked(exception(fields)?),
        "override.set" => Body::OverrideSet(overriding(fields)?),
        "session.extended" => Body::Extended(extension(fields)?),
        "session.resumed" => Body::Resumed,
        "tools.listed" => Body::ToolsListed(Listing::read(fields)?),
        "policies.checked" => Body::PoliciesChecked { base: place(fields, "base")? },
        "policies.cleared" => Body::PoliciesCleared,
        name if Operation::parse(name).is_some() => operation(name, fields)?,
        name => return Err(EventFault::Unknown(name.chars().take(64).collect())),
    })
}

fn operation(name: &str, fields: &Map<String, Value>) -> Result<Body, EventFault> {
    let operation = Operation::parse(name).ok_or(EventFault::Missing("event"))?;
    let key = operation.key();
    match fields.get(key) {
        Some(given @ Value::Object(_)) => Ok(Body::Operation { operation, given: given.clone() }),
        None | Some(Value::Null) if operation.lists() => {
            Ok(Body::Operation { operation, given: Value::Object(Map::new()) })
        }
        None | Some(Value::Null) => Err(EventFault::Missing(key)),
        Some(_) => Err(EventFault::Wrong(key, "an object")),
    }
}

fn session_id(fields: &Map<String, Value>) -> Result<String, EventFault> {
    let id = text(fields, "session")?.ok_or(EventFault::Missing("session"))?;
    if id.is_empty() || id.len() > SESSION_ID_BYTES_MAX {
        return Err(EventFault::Wrong("session", "between 1 and 1024 bytes long"));
    }
    Ok(id.to_owned())
}

fn at(fields: &Map<String, Value>) -> Result<Option<Timestamp>, EventFault> {
    let Some(text) = text(fields, "at")? else { return Ok(None) };
    Timestamp::parse(text).map(Some).ok_or(EventFault::Wrong("at", "an RFC 3339 time such as 2026-01-01T00:00:00Z"))
}

fn exception(fields: &Map<String, Value>) -> Result<Exception, EventFault> {
    let value = fields.get("exception").ok_or(EventFault::Missing("exception"))?;
    let read = serde_json::from_value(value.clone()).ok().filter(Exception::is_bounded);
    read.ok_or(EventFault::Wrong("exception", "an exception as the log keeps it"))
}

fn overriding(fields: &Map<String, Value>) -> Result<Override, EventFault> {
    let value = fields.get("override").ok_or(EventFault::Missing("override"))?;
    Override::read(value).map_err(|must| EventFault::Wrong("override", must))
}

fn extension(fields: &Map<String, Value>) -> Result<Extension, EventFault> {
    let value = fields.get("extension").ok_or(EventFault::Missing("extension"))?;
    let read = serde_json::from_value(value.clone()).ok().filter(Extension::is_bounded);
    read.ok_or(EventFault::Wrong("extension", "an extension as the log keeps it"))
}

fn short_name(fields: &Map<String, Value>) -> Result<String, EventFault> {
    let name = text(fields, "name")?.ok_or(EventFault::Missing("name"))?;
    if name.is_empty() || name.len() > TOOL_NAME_BYTES_MAX {
        return Err(EventFault::Wrong("name", "between 1 and 256 bytes long"));
    }
    Ok(name.to_owned())
}

fn call(fields: &Map<String, Value>) -> Result<Call, EventFault> {
    let call = match fields.get("call") {
        Some(Value::Object(call)) => call,
        Some(_) => return Err(EventFault::Wrong("call", "an object")),
        None => return Err(EventFault::Missing("call")),
    };
    let tool = text(call, "tool")?.ok_or(EventFault::Missing("call.tool"))?;
    if tool.is_empty() || tool.len() > TOOL_NAME_BYTES_MAX {
        return Err(EventFault::Wrong("call.tool", "between 1 and 256 bytes long"));
    }
    let (args, broken) = args(call)?;
    Ok(Call {
        id: name(call, "id")?,
        tool: tool.to_owned(),
        args,
        broken,
        action: name(call, "action")?.unwrap_or_else(|| "tool_call".to_owned()),
        unlisted: call.get("unlisted") == Some(&Value::Bool(true)),
        own_id: call.get("own_id") == Some(&Value::Bool(true)),
        dirs: dirs(call)?,
        continued: continued(call)?,
    })
}

fn continued(call: &Map<String, Value>) -> Result<Option<Continued>, EventFault> {
    let fields = match call.get("continued") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(fields)) => fields,
        Some(_) => return Err(EventFault::Wrong("call.continued", "an object")),
    };
    let part = |name: &str| fields.get(name).cloned().unwrap_or_default();
    let holds = |name: &str| fields.get(name) == Some(&Value::Bool(true));
    let (known, agreed) = (holds("known"), holds("agreed"));
    Ok(Some(Continued { asked: part("asked"), given: part("given"), known, agreed }))
}

fn dirs(call: &Map<String, Value>) -> Result<Vec<String>, EventFault> {
    let Some(dirs) = call.get("dirs").filter(|dirs| !dirs.is_null()) else { return Ok(Vec::new()) };
    let absolute = |dir: &Value| dir.as_str().filter(|dir| dir.starts_with('/')).map(str::to_owned);
    let few = dirs.as_array().filter(|dirs| dirs.len() <= DIRS_MAX);
    let all: Option<Vec<String>> = few.and_then(|dirs| dirs.iter().map(absolute).collect());
    all.ok_or(EventFault::Wrong("call.dirs", "a list of a few absolute paths"))
}

/// The arguments; or why their text is none. Such a call is still a call: it is counted, recorded and refused.
fn args(call: &Map<String, Value>) -> Result<(Value, Option<String>), EventFault> {
    let text = call.get("args_text").filter(|text| !text.is_null());
    match (call.get("args"), text) {
        // Which of the two is meant nobody can tell.
        (Some(args), Some(_)) if !args.is_null() => {
            Err(EventFault::Wrong("call.args_text", "absent where `call.args` is given"))
        }
        (Some(args), _) if !args.is_null() => Ok((args.clone(), None)),
        (_, Some(Value::String(raw))) => Ok(match crate::json::decode(raw.as_bytes()) {
            Ok(args @ Value::Object(_)) => (args, None),
            Ok(_) => (Value::String(raw.clone()), Some("it is another value".to_owned())),
            Err(fault) => (Value::String(raw.clone()), Some(fault.to_string())),
        }),
        (_, Some(_)) => Err(EventFault::Wrong("call.args_text", "a string")),
        _ => Ok((Value::Object(Map::new()), None)),
    }
}

fn outcome(fields: &Map<String, Value>) -> Result<Outcome, EventFault> {
    let ok = flag(fields, "ok")?.ok_or(EventFault::Missing("ok"))?;
    let background = flag(fields, "background")?.unwrap_or_default();
    let fixed = flag(fields, "fixed")?.unwrap_or_default();
    let output = fields.get("output").cloned().unwrap_or(Value::Null);
    Ok(Outcome { ok, background, fixed, output, usage: usage::read(fields)? })
}

fn output(fields: &Map<String, Value>) -> Result<Output, EventFault> {
    let schema = match fields.get("schema") {
        Some(Value::String(name)) if name.is_empty() || name.len() > SCHEMA_NAME_BYTES_MAX => {
            return Err(EventFault::Wrong("schema", "between 1 and 256 bytes long"));
        }
        Some(Value::String(name)) => OutputSchema::Named(name.clone()),
        Some(schema @ Value::Object(_)) => OutputSchema::Given(schema.clone()),
        Some(_) => return Err(EventFault::Wrong("schema", "an object or a name")),
        None => return Err(EventFault::Missing("schema")),
    };
    let text = text(fields, "text")?.ok_or(EventFault::Missing("text"))?;
    Ok(Output { last: flag(fields, "final")?.unwrap_or_default(), ..Output::new(schema, text) })
}

fn stop(fields: &Map<String, Value>) -> Result<StopAsk, EventFault> {
    let owned = |key| text(fields, key).map(|text| text.map(str::to_owned));
    Ok(StopAsk {
        message: owned("message")?,
        output: fields.get("output").filter(|output| !output.is_null()).cloned(),
        reason: owned("reason")?,
        again: flag(fields, "again")?.unwrap_or_default(),
    })
}

fn park_reason(fields: &Map<String, Value>) -> Result<String, EventFault> {
    let reason = text(fields, "reason")?.ok_or(EventFault::Missing("reason"))?;
    park::bounded(reason).ok_or(EventFault::Wrong("reason", "a text that says why"))
}

fn root(fields: &Map<String, Value>) -> Result<Option<String>, EventFault> {
    match place(fields, "root")? {
        Some(root) if !root.starts_with('/') => Err(EventFault::Wrong("root", "an absolute path")),
        root => Ok(root),
    }
}

fn flag(fields: &Map<String, Value>, key: &'static str) -> Result<Option<bool>, EventFault> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(EventFault::Wrong(key, "true or false")),
    }
}

fn name(fields: &Map<String, Value>, key: &'static str) -> Result<Option<String>, EventFault> {
    match text(fields, key)? {
        Some(name) if name.len() > NAME_BYTES_MAX => Err(EventFault::Wrong(key, "at most 1024 bytes long")),
        name => Ok(name.map(str::to_owned)),
    }
}

fn place(fields: &Map<String, Value>, key: &'static str) -> Result<Option<String>, EventFault> {
    match text(fields, key)? {
        Some(path) if path.len() > PATH_BYTES_MAX => Err(EventFault::Wrong(key, "at most 4096 bytes long")),
        path => Ok(path.map(str::to_owned)),
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &'static str) -> Result<Option<&'a str>, EventFault> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(EventFault::Wrong(key, "a string")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(value: &Value, want: &str) {
        let fault = read(value, Timestamp(0)).expect_err("must be refused");
        assert_eq!(fault.to_string(), want);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check(&json!([]), "the line is no JSON object");
        check(&json!({"event": "call.requested"}), "`session` is missing");
        check(&json!({"event": "call.imagined", "session": "s"}), "unknown event `call.imagined`");
        check(&json!({"event": "fact.retract", "session": "s"}), "`fact` is missing");
        check(&json!({"event": "park", "session": "s"}), "`reason` is missing");
        check(&json!({"event": "call.requested", "session": "s", "call": 1}), "`call` must be an object");
        check(&json!({"event": "call.requested", "session": "s", "call": {}}), "`call.tool` is missing");
        check(&json!({"event": "call.finished", "session": "s", "call": {"tool": "t"}}), "`ok` is missing");
        check(&json!({"event": "session.reset", "session": 1}), "`session` must be a string");
        check(
            &json!({"event": "session.reset", "session": "s", "at": "today"}),
            "`at` must be an RFC 3339 time such as 2026-01-01T00:00:00Z",
        );
        let long = "x".repeat(PATH_BYTES_MAX + 1);
        check(
            &json!({"event": "session.reset", "session": "s", "agent": long}),
            "`agent` must be at most 1024 bytes long",
        );
        check(&json!({"event": "session.reset", "session": "s", "cwd": long}), "`cwd` must be at most 4096 bytes long");
        let call = json!({"tool": "t", "id": long});
        check(
            &json!({"event": "call.requested", "session": "s", "call": call}),
            "`id` must be at most 1024 bytes long",
        );
    }

    #[test]
    fn usage_that_cannot_be_understood_is_not_taken_for_none() {
        let usage = |usage: Value| json!({"event": "call.finished", "session": "s", "call": {"tool": "t"}, "ok": true, "usage": usage});
        check(&usage(json!({"input_tokens": "9"})), "`input_tokens` must be a whole number, zero or more");
        check(&usage(json!({"output_tokens": -1})), "`output_tokens` must be a whole number, zero or more");
        check(&usage(json!({"cost_usd": "1"})), "`cost_usd` must be a number, zero or more");
        check(&usage(json!({"cost_usd": -0.5})), "`cost_usd` must be a number, zero or more");
        check(&usage(json!(7)), "`usage` must be an object");
        let tokens = |given: Value| match read(&usage(given), Timestamp(0)).expect("readable").body {
            Body::CallFinished(_, outcome) => outcome.usage.tokens,
            _ => 0,
        };
        assert_eq!(tokens(json!({"input_tokens": 5.0, "output_tokens": null})), 5);
        assert_eq!(tokens(json!({"input_tokens": 1e30, "output_tokens": 7})), u64::MAX);
    }

    #[test]
    fn an_agent_without_a_name_is_the_main_one() {
        let event = json!({"event": "prompt.submitted", "session": "s", "agent": ""});
        assert_eq!(read(&event, Timestamp(0)).expect("readable").agent(), MAIN_AGENT);
    }

    #[test]
    fn argument_text_is_decoded_strictly() {
        let event = json!({"event": "call.requested", "session": "s", "call": {"tool": "t", "args_text": "{\"a\":1}"}});
        let read_back = read(&event, Timestamp(0)).expect("readable");
        assert_eq!(read_back.call().map(|call| call.args.clone()), Some(json!({"a": 1})));
        for (text, why) in [("{\"a\":1,\"a\":2}", "occurs twice"), ("{\"a\":", "ends"), ("[1]", "another")] {
            let event = json!({"event": "call.requested", "session": "s", "call": {"tool": "t", "args_text": text}});
            let call = read(&event, Timestamp(0)).expect("a call all the same").call().cloned().expect("one");
            assert_eq!(call.args, json!(text));
            assert!(call.broken.as_ref().is_some_and(|broken| broken.contains(why)), "{:?}", call.broken);
        }
    }
}
