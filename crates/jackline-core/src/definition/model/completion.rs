//! What must hold before the agent may stop.

use serde::{Deserialize, Serialize};

/// Milliseconds a command of a check may be given: no host waits longer for an answer.
pub const COMMAND_TIMEOUT_MS_MAX: u64 = 600_000;
/// Stops that are blocked in a row when nobody says otherwise: hosts give up after eight.
pub const BLOCKS_MAX_DEFAULT: u32 = 6;

/// The key `completion`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    pub check: Check,
    /// Stops that are blocked in a row; the next one is let through as incomplete.
    pub blocks_max: u32,
    /// Whether the stops of sub-agents are judged too.
    pub subagents: bool,
    pub when: When,
    pub line: u32,
}

impl Completion {
    /// This check, with the defaults.
    #[must_use]
    pub const fn new(check: Check) -> Self {
        Self { check, blocks_max: BLOCKS_MAX_DEFAULT, subagents: false, when: When::Always, line: 0 }
    }
}

/// Which turns are judged; ordered from the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    #[default]
    Always,
    /// Only those in which something was written or run since the last prompt.
    Worked,
}

spelled!(When { Always = "always", Worked = "worked" });

/// One condition, or a combination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// All of them, asked in this order up to the first that does not hold.
    All(Vec<Check>),
    /// Any of them, asked in this order up to the first that holds.
    Any(Vec<Check>),
    /// These files exist.
    Files(Vec<String>),
    /// This tool or step is done, and nothing was written since.
    Done(String),
    Command(Command),
    /// Every todo is verified or waived.
    Todos,
    /// No file policy is outstanding.
    FilePolicies,
}

/// A command that must exit with 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub run: Vec<String>,
    pub timeout_ms: u64,
}

impl Check {
    /// The checks that are no combination, in order. Recursion is bounded: both ways into a model check the depth.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::All(checks) | Self::Any(checks) => checks.iter().flat_map(Self::leaves).collect(),
            Self::Files(_) | Self::Done(_) | Self::Command(_) | Self::Todos | Self::FilePolicies => vec![self],
        }
    }

    /// The commands among them.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.leaves().into_iter().filter_map(|check| match check {
            Self::Command(command) => Some(command),
            Self::All(_) | Self::Any(_) | Self::Files(_) | Self::Done(_) | Self::Todos | Self::FilePolicies => None,
        })
    }

    /// The tools and steps that must be done.
    pub fn done(&self) -> impl Iterator<Item = &str> {
        self.leaves().into_iter().filter_map(|check| match check {
            Self::Done(name) => Some(name.as_str()),
            Self::All(_) | Self::Any(_) | Self::Files(_) | Self::Command(_) | Self::Todos | Self::FilePolicies => None,
        })
    }
}
