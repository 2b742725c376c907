//! How a run ended, as it is recorded and shown.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::loop_control::Status;
use crate::visible::visible;

/// How a run ended; nothing sensitive is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub run_id: String,
    pub status: Status,
    /// A stable word, or one with the agent it is about.
    pub reason: String,
    /// Turns of the manager.
    pub iterations: u32,
    pub agent_runs: u64,
    pub usage: Value,
    /// What it may use, and used: `{name: {used, limit}}`.
    pub budgets: Value,
    pub gate_events: Vec<Value>,
    pub output: Value,
    /// Where the run's files are.
    pub directory: PathBuf,
}

impl Ended {
    /// The one record in which a run ends.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "run_id": self.run_id,
            "status": self.status,
            "reason": self.reason,
            "iterations": self.iterations,
            "agent_runs": self.agent_runs,
            "usage": self.usage,
            "budgets": self.budgets,
            "gate_events": self.gate_events,
            "output": self.output,
            "directory": self.directory,
        })
    }

    /// For people: how it ended, what gates rejected last, where the files are.
    #[must_use]
    pub fn human(&self) -> String {
        let status = serde_json::to_value(self.status).unwrap_or_default();
        let mut text = format!("{}: {}", visible(&self.run_id), status.as_str().unwrap_or_default());
        if self.status != Status::Complete {
            let _ = write!(text, " ({})", visible(&self.reason));
        }
        text.push('\n');
        for event in self.gate_events.iter().filter(|event| event.get("triggered") == Some(&json!(true))) {
            let member = |name: &str| visible(event.get(name).and_then(Value::as_str).unwrap_or_default());
            let _ = writeln!(text, "  gate {}: {}", member("gate"), member("reason"));
        }
        let _ = writeln!(text, "files: {}", self.directory.display());
        text
    }
}
