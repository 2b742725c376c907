//! Calls as the log has them: looked up by id, by command, by tool; with what became of them.
//!
//! Pure: records are handed in, oldest first. What the log says was decided when the call was made is believed; what
//! an agent says about a call is not asked.

mod scan;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use scan::Scan;

use crate::audit;
use crate::done;
use crate::probe::Fact;
use crate::sha::{Digest, Key};
use crate::stack::Layer;
use crate::time::Timestamp;

/// Bytes of a session's log that are looked through, from its end: some ten thousand calls. Older calls are not found.
pub const SCAN_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Calls that one question may be answered with.
pub const CALLS_SHOWN_MAX: u32 = 50;
/// Calls that are listed unless more or fewer are asked for.
pub const CALLS_SHOWN_DEFAULT: u32 = 10;
/// Bytes of a command that are kept of it.
pub const COMMAND_BYTES_MAX: usize = 256;

/// Which calls are meant; all that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Query {
    pub id: Option<String>,
    /// The beginning of a simple command inside the shell text.
    pub command: Option<String>,
    /// The definitions, by their digests, to each of which the call must run the command: what one declares of a tool is
    /// not the word of another. Where there are none, who is widest has the word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Key>,
    /// A tool's or step's name, or `@kind`.
    pub tool: Option<String>,
    /// Only calls that succeeded and count as this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Meaning>,
    /// How many, from the end.
    pub last: u32,
}

impl Query {
    /// The call of this id.
    #[must_use]
    pub fn of_id(id: &str) -> Self {
        Self { id: Some(id.to_owned()), last: 1, ..Self::default() }
    }

    /// The latest call that ran this command.
    #[must_use]
    pub fn of_command(command: &str) -> Self {
        Self { command: Some(command.to_owned()), last: 1, ..Self::default() }
    }

    /// The latest successful call that counts as this.
    #[must_use]
    pub fn counting(meaning: Meaning) -> Self {
        Self { counting: Some(meaning), last: 1, ..Self::default() }
    }
}

/// What a successful call has to count as. Whose step is meant is settled by who asks: a step of another definition
/// under the same name is another step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// A step, by the name that sessions remember it by.
    Step(String),
    /// A tool or glob, or `@kind`; never a step.
    Tool(String),
}

impl Meaning {
    /// What a name means in one definition.
    #[must_use]
    pub fn of(layer: &Layer, name: &str) -> Self {
        match layer.step(name) {
            Some(step) => Self::Step(done::step_name(layer, step)),
            None => Self::Tool(name.to_owned()),
        }
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It has not finished, or was only started in the background.
    Unfinished,
    Refused,
    Failed,
    Succeeded,
}

impl Became {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Succeeded => "succeeded",
        }
    }
}

/// A call of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    pub id: Option<String>,
    pub tool: String,
    pub agent: String,
    /// The number of its record.
    pub seq: u64,
    pub step: u64,
    pub at: Timestamp,
    pub became: Became,
    pub exit_code: Option<i64>,
    /// The beginning of its shell text, for a shell call.
    pub command: Option<String>,
    pub shell: bool,
    /// That it succeeded proves that the command asked for did.
    pub proven: bool,
    /// Files were written while it ran or after it.
    pub outdated: bool,
    /// The work tree as it left it, where a claim may rest on it and there is one; zeros where that could not be told.
    #[serde(default)]
    pub tree: Option<Digest>,
    /// Why its outcome is no proof of anything.
    #[serde(default)]
    pub flaw: Option<Flaw>,
}

/// What is wrong with the outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It was never requested: nobody judged it, and when it began is not known.
    Unasked,
    /// It finished as another one than it was requested as.
    Exchanged,
    /// The host said that it was over before it told of an outcome.
    Settled,
}

impl Flaw {
    /// As a reason goes on after the call's name.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Unasked => "was never requested, so when it began is not known",
            Self::Exchanged => "finished with another text than it was requested with, so it proves nothing",
            Self::Settled => "was over before an outcome of it was told, so it proves nothing",
        }
    }
}

impl Logged {
    /// Whether files were written since it began, or the work tree is another one now.
    #[must_use]
    pub fn is_outdated_by(&self, work_tree: &Fact) -> bool {
        let Some(then) = self.tree else { return self.outdated };
        self.outdated || then == Digest::ZERO || *work_tree != Fact::Content(Some(then))
    }

    /// As a list shows it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "id": self.id,
            "tool": self.tool,
            "command": self.command,
            "agent": self.agent,
            "at": self.at.to_string(),
            "step": self.step,
            "status": self.became.name(),
            "exit_code": self.exit_code,
            "files_written_since": self.outdated,
        })
    }
}

/// What was found for one query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Oldest first.
    pub calls: Vec<Logged>,
    /// The log was longer than what was looked through.
    pub cut: bool,
}

fn clipped(text: &str) -> String {
    audit::head(text, COMMAND_BYTES_MAX).to_owned()
}
