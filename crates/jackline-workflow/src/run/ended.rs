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
        let mut text = format!("{}: {}", visible(&self.run_id), self.status.word());
        if self.status != Status::Complete {
            let _ = write!(text, " ({})", visible(&self.reason));
        }
        text.push('\n');
        for event in self.open() {
            let member = |name: &str| visible(event.get(name).and_then(Value::as_str).unwrap_or_default());
            let _ = writeln!(text, "  gate {}: {}", member("gate"), member("reason"));
        }
        let _ = writeln!(text, "files: {}", self.directory.display());
        text
    }

    /// What each gate said last, where that was no. Whatever gates rejected on the way, a run that is complete passed them.
    fn open(&self) -> Vec<&Value> {
        let gate = |event: &Value| event.get("gate").and_then(Value::as_str).map(str::to_owned);
        let events = if self.status == Status::Complete { &[][..] } else { &self.gate_events };
        let mut last: Vec<&Value> = Vec::new();
        for event in events {
            last.retain(|before| gate(before) != gate(event));
            last.push(event);
        }
        last.retain(|event| event.get("triggered") == Some(&json!(true)));
        last
    }
}
