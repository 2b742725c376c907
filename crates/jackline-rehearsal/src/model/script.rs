//! What the model will say: turns in a fixed order, in no dialect.
//!
//! A lane is one conversation: the main agent's, or a sub-agent's. Each request of a lane gets its next turn, and
//! `default` once they are used up.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::dialect::Outcome;
use super::http::Response;

/// The mark that stands for the repository's path in texts and arguments.
pub const CWD: &str = "{{CWD}}";

/// The mark in a sub-agent's task, by which its conversation is told from the main agent's where nothing else tells.
pub const SUBAGENT: &str = "[sub-agent]";

/// Who asks the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The agent that was given the prompt.
    Main,
    /// An agent that it started.
    Subagent,
}

/// One tool call. Its name is how a test finds its result again.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Unique in a script.
    pub name: String,
    /// The tool, as the host spells it.
    pub tool: String,
    /// The arguments.
    pub input: Value,
}

/// Calls `tool` under `name`.
pub fn call(name: &str, tool: &str, input: Value) -> Call {
    Call { name: name.to_owned(), tool: tool.to_owned(), input }
}

/// One answer of the model.
#[derive(Clone)]
pub(crate) struct Turn {
    pub(crate) said: Said,
    /// Done before the answer leaves, while the host waits.
    pub(crate) meanwhile: Option<Act>,
}

type Act = Arc<dyn Fn() + Send + Sync>;

/// A text, which ends the agent's turn, or calls that run side by side, with or without one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Text(String),
    Calls(Vec<Call>),
    /// Both in one turn: the agent speaks and goes on.
    Both(String, Vec<Call>),
    /// No turn of a model: an answer as it is.
    Odd(Response),
}

impl Said {
    /// The same with what the host said in place of `{{NAME.MEMBER}}`: a member of the outcome of an earlier call. Hosts
    /// name agents themselves, and a script has to name them back.
    pub(crate) fn filled(&self, outcomes: &[Outcome]) -> Self {
        let mut said = self.clone();
        if let Self::Calls(calls) | Self::Both(_, calls) = &mut said {
            calls.iter_mut().for_each(|call| replaced(&mut call.input, &|text| fill(text, outcomes)));
        }
        said
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Both(text, _) => Some(text),
            Self::Calls(_) | Self::Odd(_) => None,
        }
    }

    pub(crate) fn calls(&self) -> &[Call] {
        match self {
            Self::Text(_) | Self::Odd(_) => &[],
            Self::Calls(calls) | Self::Both(_, calls) => calls,
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meanwhile = if self.meanwhile.is_some() { " (after an act)" } else { "" };
        write!(f, "{:?}{meanwhile}", self.said)
    }
}

/// A whole script.
#[derive(Debug, Clone)]
pub struct Script {
    pub(crate) main: Vec<Turn>,
    pub(crate) subagent: Vec<Turn>,
    pub(crate) default: Turn,
}

impl Default for Script {
    fn default() -> Self {
        let default = Turn { said: Said::Text("The script has no further turn.".to_owned()), meanwhile: None };
        Self { main: Vec::new(), subagent: Vec::new(), default }
    }
}

impl Script {
    /// A script without turns.
    pub fn new() -> Self {
        Self::default()
    }

    /// The main agent says this, which ends its turn.
    pub fn say(self, text: &str) -> Self {
        self.turn(Said::Text(text.to_owned()))
    }

    /// The main agent makes one call.
    pub fn call(self, name: &str, tool: &str, input: Value) -> Self {
        self.calls([call(name, tool, input)])
    }

    /// The main agent runs a shell text.
    pub fn bash(self, name: &str, command: &str) -> Self {
        self.call(name, "Bash", serde_json::json!({ "command": command }))
    }

    /// The main agent makes several calls in one turn.
    pub fn calls(self, calls: impl IntoIterator<Item = Call>) -> Self {
        self.turn(Said::Calls(calls.into_iter().collect()))
    }

    /// The main agent says this, and runs a shell text in the same turn.
    pub fn say_and_bash(self, text: &str, name: &str, command: &str) -> Self {
        let call = call(name, "Bash", serde_json::json!({ "command": command }));
        self.turn(Said::Both(text.to_owned(), vec![call]))
    }

    /// The server says this instead of letting the model speak: a status, headers, a body.
    pub fn odd(self, status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.turn(Said::Odd(Response { headers, ..Response::text(status, body.to_owned()) }))
    }

    fn turn(mut self, said: Said) -> Self {
        self.main.push(Turn { said, meanwhile: None });
        self
    }

    /// Does something while the host waits for the turn added last: what another process does in the session's midst.
    pub fn meanwhile(mut self, act: impl Fn() + Send + Sync + 'static) -> Self {
        if let Some(turn) = self.main.last_mut() {
            turn.meanwhile = Some(Arc::new(act));
        }
        self
    }

    /// The sub-agent's turns are the main ones of this script.
    pub fn subagent(mut self, script: Script) -> Self {
        self.subagent = script.main;
        self
    }

    /// The turn of a lane by its number from 0, and whether it is one of the script's own.
    pub(crate) fn at(&self, lane: Lane, number: usize) -> (&Turn, bool) {
        self.lane(lane).get(number).map_or((&self.default, false), |turn| (turn, true))
    }

    pub(crate) fn lane(&self, lane: Lane) -> &[Turn] {
        match lane {
            Lane::Main => &self.main,
            Lane::Subagent => &self.subagent,
        }
    }

    /// The same with the repository's path in place of its mark.
    pub(crate) fn placed(mut self, cwd: &str) -> Self {
        for turn in self.main.iter_mut().chain(&mut self.subagent) {
            match &mut turn.said {
                Said::Text(text) => *text = text.replace(CWD, cwd),
                Said::Calls(calls) => calls.iter_mut().for_each(|call| place(&mut call.input, cwd)),
                Said::Both(text, calls) => {
                    *text = text.replace(CWD, cwd);
                    calls.iter_mut().for_each(|call| place(&mut call.input, cwd));
                }
                Said::Odd(_) => {}
            }
        }
        self
    }
}

fn place(value: &mut Value, cwd: &str) {
    replaced(value, &|text| text.replace(CWD, cwd));
}

/// Puts something in place of every text in a value.
fn replaced(value: &mut Value, by: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = by(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replaced(item, by)),
        Value::Object(members) => members.values_mut().for_each(|member| replaced(member, by)),
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
    }
}

fn fill(text: &str, outcomes: &[Outcome]) -> String {
    let mark = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let member = mark.and_then(|mark| mark.split_once('.')).and_then(|(name, member)| {
        let outcome = outcomes.iter().rev().find(|outcome| outcome.name == name)?;
        let said: Value = serde_json::from_str(&outcome.text).ok()?;
        said.get(member)?.as_str().map(str::to_owned)
    });
    member.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lanes_are_played_in_order_and_end_in_the_default() {
        let script = Script::new().say("a").say("b").subagent(Script::new().say("s"));
        let said = |lane, number| format!("{:?}", script.at(lane, number).0);
        assert_eq!(said(Lane::Main, 1), "Text(\"b\")");
        assert_eq!(said(Lane::Subagent, 0), "Text(\"s\")");
        assert!(!script.at(Lane::Main, 2).1 && !script.at(Lane::Subagent, 1).1);
    }

    #[test]
    fn what_the_host_said_is_named_back() {
        let said = Said::Calls(vec![call("w", "wait", json!({"ids": ["{{spawn.agent}}", "{{other.agent}}"]}))]);
        let text = r#"{"agent": "a1"}"#.to_owned();
        let spawned = Outcome { name: "spawn".to_owned(), text, failed: false };
        assert_eq!(said.filled(&[spawned]).calls()[0].input, json!({"ids": ["a1", "{{other.agent}}"]}));
    }

    #[test]
    fn the_repository_is_named_at_any_depth() {
        let script = Script::new().call("w", "Write", json!({"a": [{"b": "{{CWD}}/x"}], "n": 1})).placed("/repo");
        let Said::Calls(calls) = &script.main[0].said else { panic!("calls") };
        assert_eq!(calls[0].input, json!({"a": [{"b": "/repo/x"}], "n": 1}));
    }
}
