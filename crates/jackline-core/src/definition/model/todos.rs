//! The key `todos`: what the owner requires, and what agents may do with todos. And `checks`: where checks ask.

use serde::{Deserialize, Serialize};

use crate::todos::check::Check;

/// The key `todos`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todos {
    /// `None` leaves it to other layers; where none speaks it is `deny`.
    pub agent_commands: Option<AgentCommands>,
    pub native: Native,
    pub require: Vec<Required>,
}

/// Whether agents may put checks that run programs or ask addresses into their own todos; ordered from the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentCommands {
    Deny,
    Allow,
}

spelled!(AgentCommands { Deny = "deny", Allow = "allow" });

/// What becomes of the host's own todo tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Native {
    #[default]
    Record,
    Deny,
}

spelled!(Native { Record = "record", Deny = "deny" });

/// A todo that is in every session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Required {
    pub content: String,
    pub checks: Vec<Check>,
}
