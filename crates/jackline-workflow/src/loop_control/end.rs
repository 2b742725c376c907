//! How a run ends.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Complete,
    Partial,
    Failed,
    Aborted,
}

impl Status {
    /// Its word in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
        }
    }
}

/// How a run ended, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub status: Status,
    /// A stable word: `complete`, `max_loops`, `plan_loop_stall`, `max_rejected_completions`, `eval_fail`, `fail`, or what
    /// stopped the run from outside.
    pub reason: String,
}
