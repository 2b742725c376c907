//! Claude Code: its environment, its arguments, and its stream of events.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value, json};

pub use super::PATH;
use super::{Client, Play, Run, cleared};
use crate::model::Model;
use crate::stage::Stage;

/// Nothing but the model is asked for, and being root is no reason to refuse.
const SWITCHES: &[&str] = &[
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "IS_SANDBOX",
];

/// Every line on standard output is an event, hooks included.
const ARGUMENTS: &[&str] = &["--output-format", "stream-json", "--verbose", "--include-hook-events"];

/// One installed version.
#[derive(Debug, Clone)]
pub struct Claude {
    /// The native program.
    pub program: PathBuf,
}

impl Client for Claude {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        let mut command = cleared(&self.program, stage, model);
        command.env("CLAUDE_CONFIG_DIR", stage.home().join(".claude"));
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy");
        command.envs(SWITCHES.iter().map(|name| (name, "1")));
        command.envs(play.variables.iter().map(|(name, value)| (name, value)));
        command.args(["-p", &play.prompt]).args(ARGUMENTS).args(["--permission-mode", &play.permission_mode]);
        if !play.servers.is_empty() {
            command.args(["--mcp-config", &servers(play), "--strict-mcp-config"]);
        }
        command.args(&play.arguments);
        Ok(command)
    }
}

fn servers(play: &Play) -> String {
    let named = play.servers.iter().map(|(name, url)| (name.clone(), json!({"type": "http", "url": url})));
    json!({"mcpServers": named.collect::<Map<_, _>>()}).to_string()
}

/// What Claude Code says of a session.
impl Run {
    fn of_kind<'a>(&'a self, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
        self.events.iter().filter(move |event| text(event, "type") == kind)
    }

    fn system<'a>(&'a self, subtype: &'a str) -> impl Iterator<Item = &'a Value> {
        self.of_kind("system").filter(move |event| text(event, "subtype") == subtype)
    }

    /// The last event of all, which says how it went.
    pub fn result(&self) -> Option<&Value> {
        self.of_kind("result").next_back()
    }

    /// Why it ended: `completed`, `hook_stopped`, ...
    pub fn terminal_reason(&self) -> &str {
        self.result().map_or("", |result| text(result, "terminal_reason"))
    }

    /// The tools of calls that were not permitted, as the host counts them.
    pub fn permission_denials(&self) -> Vec<String> {
        let denials = self.result().and_then(|result| result.get("permission_denials")).and_then(Value::as_array);
        denials.into_iter().flatten().map(|denial| text(denial, "tool_name").to_owned()).collect()
    }

    /// The ends of hooks of one kind, each with its output, exit code and outcome.
    pub fn hooks<'a>(&'a self, event: &'a str) -> Vec<&'a Value> {
        self.system("hook_response").filter(|response| text(response, "hook_event") == event).collect()
    }

    /// The ends of hooks that did not go well: exit codes other than 0, no answer in time, an unusable answer.
    pub fn broken_hooks(&self) -> Vec<&Value> {
        self.system("hook_response").filter(|response| text(response, "outcome") != "success").collect()
    }

    /// Warnings of gates that broke, so that the host had to go on without their word.
    pub fn no_verdicts(&self) -> Vec<&Value> {
        self.system("informational").filter(|event| text(event, "tag") == "hook_no_verdict").collect()
    }

    /// The tools that the host says it has.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.system("init").filter_map(|init| init.get("tools")?.as_array()).flatten();
        tools.filter_map(|tool| tool.as_str().map(str::to_owned)).collect()
    }

    /// What the person was told beside the conversation.
    pub fn notices(&self) -> Vec<&str> {
        self.system("informational").map(|event| text(event, "content")).collect()
    }

    /// The host's name of the session.
    pub fn session(&self) -> &str {
        self.events.iter().map(|event| text(event, "session_id")).find(|id| !id.is_empty()).unwrap_or_default()
    }
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}
