//! One agent's answer beside what it was asked for: what judges, critics and metrics look at.

use serde_json::{Value, json};

/// An answer, and what it answers.
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    /// Who answered.
    pub agent: &'a str,
    /// What the whole run is for.
    pub task: &'a str,
    /// What this agent was asked to do.
    pub instructions: &'a str,
    pub output: &'a Value,
    /// What the agent promises to answer.
    pub contract: Option<&'a Value>,
}

impl Work<'_> {
    /// As whoever looks at it is told.
    #[must_use]
    pub fn told(&self) -> Value {
        json!({
            "agent": self.agent,
            "task": self.task,
            "instructions": self.instructions,
            "output": self.output,
            "contract": self.contract,
        })
    }

    /// How sure the agent says it is; none where that is no number from 0 to 1.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        self.output.get("confidence").and_then(Value::as_f64).filter(|confidence| (0.0..=1.0).contains(confidence))
    }
}

/// A text of somebody who was asked, on one line and cut.
pub(crate) fn brief(text: &str, chars_max: usize) -> String {
    let line = crate::visible::visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let head: String = line.chars().take(chars_max).collect();
    if head.len() < line.len() { format!("{head}…") } else { head }
}
