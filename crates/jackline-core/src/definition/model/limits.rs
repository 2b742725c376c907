//! What a definition says about budgets.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Budgets; what is absent is not limited.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub steps: Option<Steps>,
    pub deadline: Option<Deadline>,
    pub tokens: Option<u64>,
    pub cost_usd: Option<f64>,
    pub per: Per,
}

/// How many calls may be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    pub max: u64,
    /// Warns once instead of refusing.
    pub soft: bool,
}

/// When the time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deadline {
    /// Milliseconds from the first event (or from the prompt).
    After(i64),
    At(Timestamp),
}

/// What budgets are counted over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Per {
    #[default]
    Session,
    Prompt,
}

spelled!(Per { Session = "session", Prompt = "prompt" });
