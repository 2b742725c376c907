//! One thing the host told us, in our words, with its time.

mod read;
mod usage;

use serde_json::Value;
use thiserror::Error;

use crate::exception::Exception;
use crate::extension::Extension;
use crate::listing::Listing;
use crate::operation::Operation;
use crate::overrides::Override;
use crate::sha::Key;
use crate::time::Timestamp;

pub use read::read;

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
    /// A person spoke, unless an agent had its host say the same later.
    PromptSubmitted {
        /// What [`prompt_key`](crate::session::prompt_key) makes of its text, which itself is kept nowhere but on record.
        prompt: Option<Key>,
    },
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
            Self::PromptSubmitted { .. } => "prompt.submitted",
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
    /// Its server wanted to know something before it goes on with the call, and the client says it now.
    pub continued: Option<Continued>,
}

/// What a client comes back with when a server has asked for input.
#[derive(Debug, Clone, PartialEq)]
pub struct Continued {
    /// What the server wanted to know, and what it is told.
    pub asked: Value,
    pub given: Value,
    /// Who tells of it let the call through before, and saw the server ask: else it is a new call.
    pub known: bool,
    /// A host's hook let the call through before that, so whoever was to be asked about it was.
    pub agreed: bool,
}

/// Directories from which a relative path is seen: where a server is started, and what it is told of.
pub const DIRS_MAX: usize = 8;

impl Call {
    /// A plain tool call; the id, where the host has one, is set on it.
    #[must_use]
    pub fn new(tool: impl Into<String>, args: Value) -> Self {
        let (action, unlisted, own_id, dirs) = ("tool_call".to_owned(), false, false, Vec::new());
        Self { id: None, tool: tool.into(), args, action, broken: None, unlisted, own_id, dirs, continued: None }
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
