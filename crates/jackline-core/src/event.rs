//! One thing the host told us, in our words, with its time; and how it is read from JSON.
//!
//! Reading is strict about what it understands and silent about members it does not know: fields may be added.

mod usage;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::completion::park;
use crate::exception::Exception;
use crate::extension::Extension;
use crate::listing::Listing;
use crate::operation::Operation;
use crate::overrides::Override;
use crate::schema::SCHEMA_NAME_BYTES_MAX;
use crate::time::Timestamp;

/// A session id longer than this is no id; hosts use UUIDs.
pub const SESSION_ID_BYTES_MAX: usize = 1024;
/// A tool name longer than this is no name; it would only bloat records.
pub const TOOL_NAME_BYTES_MAX: usize = 256;

/// An agent's, a host's or a call's name longer than this is no name; sessions remember dozens of them.
pub const NAME_BYTES_MAX: usize = 1024;
/// A working directory or a definition's path longer than this cannot be opened (`PATH_MAX`).
pub const PATH_BYTES_MAX: usize = 4096;

/// One thing the host told us.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub session: String,
    /// The only clock of a decision.
    pub at: Timestamp,
    /// The sub-agent, when it is not the main one.
    pub agent: Option<String>,
    pub host: Option<String>,
    /// Where relative paths start; the workspace root when absent.
    pub cwd: Option<String>,
    /// A definition for this one session, named by its first event.
    pub definition: Option<String>,
    /// Where the host writes down what was used, if it does.
    pub transcript: Option<String>,
    pub body: Body,
}

/// The name under which the main agent is kept.
pub const MAIN_AGENT: &str = "main";

impl Event {
    /// An event of the main agent that names nothing else.
    #[must_use]
    pub fn new(session: impl Into<String>, at: Timestamp, body: Body) -> Self {
        let (agent, host, cwd, definition, transcript) = (None, None, None, None, None);
        Self { session: session.into(), at, agent, host, cwd, definition, transcript, body }
    }

    /// The agent's name, `main` unless a sub-agent is named.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.agent.as_deref().unwrap_or(MAIN_AGENT)
    }

    /// The call this event is about, if it is about one.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match &self.body {
            Body::CallRequested(call) | Body::CallFinished(call, _) | Body::CallSettled(call) => Some(call),
            _ => None,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    SessionStarted {
        invariants: Option<Value>,
    },
    PromptSubmitted,
    CallRequested(Call),
    CallFinished(Call, Outcome),
    /// The host says at a turn's end that a call is over. It may never have asked us: hosts refuse calls by themselves.
    CallSettled(Call),
    /// A sub-agent begins.
    AgentStarted,
    /// The agent produced a plan or another structured output.
    OutputProduced(Output),
    StopRequested(StopAsk),
    /// The agent cannot go on, and says why.
    Park {
        reason: String,
    },
    SessionEnded,
    /// The host works in another directory from now on, or (`None`) in the first one again.
    Rerooted {
        root: Option<String>,
    },
    /// A settings file of the host was changed; `wired` when it is the one that holds our hooks.
    SettingsChanged {
        file: String,
        wired: bool,
    },
    /// Something else that the host told, kept for the record.
    Noted {
        name: String,
    },
    Snapshot {
        name: String,
    },
    Restore {
        name: String,
    },
    Reset,
    /// A person made an exception; what it lets pass is asked for when it is needed.
    ExceptionGranted(Exception),
    /// A person ended one early.
    ExceptionRevoked(Exception),
    /// The host demands something of an agent for a while.
    OverrideSet(Override),
    /// A person added to the limits.
    Extended(Extension),
    /// A person lifted what halted the run.
    Resumed,
    /// Something is asked of the session's todos, its facts or its calls; `given` is read when it is decided about.
    Operation {
        operation: Operation,
        given: Value,
    },
    /// An MCP server listed its tools.
    ToolsListed(Listing),
    /// File policies are to be looked at by themselves, against `base` where it is given.
    PoliciesChecked {
        base: Option<String>,
    },
    /// A person has what is remembered of file policies forgotten.
    PoliciesCleared,
}

impl Body {
    /// The event's name in the protocol and in the log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "session.started",
            Self::PromptSubmitted => "prompt.submitted",
            Self::CallRequested(_) => "call.requested",
            Self::CallFinished(..) => "call.finished",
            Self::CallSettled(_) => "call.settled",
            Self::AgentStarted => "agent.started",
            Self::OutputProduced(_) => "output.produced",
            Self::StopRequested(_) => "stop.requested",
            Self::Park { .. } => "park",
            Self::SessionEnded => "session.ended",
            Self::Rerooted { .. } => "session.rerooted",
            Self::SettingsChanged { .. } => "settings.changed",
            Self::Noted { .. } => "host.noted",
            Self::Snapshot { .. } => "session.snapshot",
            Self::Restore { .. } => "session.restore",
            Self::Reset => "session.reset",
            Self::ExceptionGranted(_) => "exception.granted",
            Self::ExceptionRevoked(_) => "exception.revoked",
            Self::OverrideSet(_) => "override.set",
            Self::Extended(_) => "session.extended",
            Self::Resumed => "session.resumed",
            Self::Operation { operation, .. } => operation.name(),
            Self::ToolsListed(_) => "tools.listed",
            Self::PoliciesChecked { .. } => "policies.checked",
            Self::PoliciesCleared => "policies.cleared",
        }
    }

    /// Whether only a person's own command may tell of it, and no host.
    #[must_use]
    pub const fn is_persons_own(&self) -> bool {
        match self {
            Self::ExceptionGranted(_) | Self::ExceptionRevoked(_) | Self::Extended(_) | Self::Resumed => true,
            Self::PoliciesCleared => true,
            Self::Operation { operation, .. } => operation.is_persons_own(),
            _ => false,
        }
    }
}

/// One tool invocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: Option<String>,
    pub tool: String,
    pub args: Value,
    /// The kind of action: `tool_call`, or a plan's action type.
    pub action: String,
    /// Why the arguments' text could not be decoded; `args` is that text then.
    pub broken: Option<String>,
    /// Its server does not offer it under the very name that it was called by, whatever the tool's name here is like.
    pub unlisted: bool,
    /// Its id was made by who tells of it, for want of the host's.
    pub own_id: bool,
    /// Directories from which its server may see a relative path, besides the workspace's root.
    pub dirs: Vec<String>,
}

/// Directories from which a relative path is seen: where a server is started, and what it is told of.
pub const DIRS_MAX: usize = 8;

impl Call {
    /// A plain tool call; the id, where the host has one, is set on it.
    #[must_use]
    pub fn new(tool: impl Into<String>, args: Value) -> Self {
        let (action, unlisted, own_id, dirs) = ("tool_call".to_owned(), false, false, Vec::new());
        Self { id: None, tool: tool.into(), args, action, broken: None, unlisted, own_id, dirs }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ok: bool,
    /// It was only started: whether it succeeds is not known yet, so it proves nothing.
    pub background: bool,
    /// The host shows the output as it is, whatever is answered.
    pub fixed: bool,
    pub output: Value,
    pub usage: Usage,
}

impl Outcome {
    /// An outcome that names no cost.
    #[must_use]
    pub fn new(ok: bool, output: Value) -> Self {
        Self { ok, background: false, fixed: false, output, usage: Usage::default() }
    }
}

/// A plan or another structured output of the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    pub schema: OutputSchema,
    /// As it was written.
    pub text: String,
    /// What it says, or why it is no JSON.
    pub value: Result<Value, String>,
    /// It is the run's result.
    pub last: bool,
}

/// What an output must fit.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputSchema {
    /// One of ours, or that of a declared tool.
    Named(String),
    /// The host's own.
    Given(Value),
}

impl Output {
    /// An output as it was written, decoded strictly.
    #[must_use]
    pub fn new(schema: OutputSchema, text: impl Into<String>) -> Self {
        let text = text.into();
        let value = crate::json::decode(text.as_bytes()).map_err(|fault| fault.to_string());
        Self { schema, text, value, last: false }
    }
}

/// What a host says when an agent wants to stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StopAsk {
    /// The agent's last message.
    pub message: Option<String>,
    /// Its structured output, where it has one.
    pub output: Option<Value>,
    /// Why it stops, in the host's words.
    pub reason: Option<String>,
    /// The host's own mark that the stop before this one was held.
    pub again: bool,
}

/// What a call cost, where the host reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub tokens: u64,
    pub cost_usd: f64,
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EventFault {
    #[error("the line is no JSON object")]
    NoObject,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{0}` must be {1}")]
    Wrong(&'static str, &'static str),
    #[error("unknown event `{0}`")]
    Unknown(String),
}

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
        "prompt.submitted" => Body::PromptSubmitted,
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
    })
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
