//! The account of a run: what happened when, what was decided, used and left behind. Read from a run's records; shown to
//! people and programs, on a terminal, as a picture, or as a page that can be attached to a pull request.
//!
//! Whatever an agent wrote is data here: it is cut, made visible and escaped, and no form of the account runs or loads
//! anything.

mod files;
mod html;
mod read;
mod spent;
mod svg;
mod text;

use serde::Serialize;
use serde_json::Value;

use crate::ask::Usage;

pub use files::deliverables;
pub use read::Reader;

/// Everything that is told of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Account {
    pub run: String,
    pub workflow: String,
    pub engine: String,
    pub task: String,
    /// When it began, as a timestamp.
    pub began: String,
    /// Milliseconds from its beginning to its last record.
    pub elapsed_ms: u64,
    /// How it ended; none while it has not.
    pub end: Option<End>,
    pub iterations: u64,
    /// What agents did, in the order they began.
    pub steps: Vec<Step>,
    /// What else happened, in order.
    pub moments: Vec<Moment>,
    /// What gates said, in order.
    pub gates: Vec<Gate>,
    pub budgets: Vec<Budget>,
    pub usage: Usage,
    pub deliverables: Vec<Deliverable>,
    /// Steps, moments and gates that there was no room for; the log has them.
    pub left_out: u64,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct End {
    pub status: String,
    pub reason: String,
}

/// One piece of work of one agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Step {
    pub agent: String,
    /// Milliseconds after the run began.
    pub from_ms: u64,
    /// None while it has not ended.
    pub to_ms: Option<u64>,
    pub outcome: Outcome,
    /// Which try it is, from 1.
    pub attempt: u64,
    /// Why it failed, or what it was for.
    pub note: Option<String>,
}

/// What came of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done,
    Failed,
    Skipped,
    /// Nothing is on record.
    #[default]
    Open,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Open => "open",
        }
    }
}

/// Something that happened at one point in time.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Moment {
    pub at_ms: u64,
    /// A word: `plan`, `delegate`, `complete`, `refused`, ...
    pub kind: String,
    pub text: String,
    /// Whether it stands in the way of the run.
    pub bad: bool,
}

/// What a gate said.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Gate {
    pub at_ms: u64,
    pub gate: String,
    pub passed: bool,
    pub reason: Option<String>,
    pub findings: Vec<String>,
}

/// How much of a budget is used.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Budget {
    pub name: String,
    pub used: f64,
    /// None where there is no limit.
    pub limit: Option<f64>,
}

/// A file that the run left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Deliverable {
    pub path: String,
    pub bytes: u64,
}

impl Account {
    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// How it stands, in a few words.
    fn standing(&self) -> String {
        match &self.end {
            Some(End { status, reason }) if status == reason => status.clone(),
            Some(End { status, reason }) => format!("{status} ({reason})"),
            None => "not ended".to_owned(),
        }
    }

    /// Which colour its end has.
    fn class(&self) -> &'static str {
        match self.end.as_ref().map(|end| end.status.as_str()) {
            Some("complete") => "done",
            Some("partial") | None => "warned",
            Some(_) => "failed",
        }
    }
}

/// Milliseconds as people say them.
fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// A number without a fraction where it has none.
fn number(number: f64) -> String {
    if number.fract() == 0.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// Bytes as people say them.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// What agents and those who look at their answers took, as far as they told.
fn spent(usage: &Usage) -> Option<String> {
    let Usage { requests, input_tokens, output_tokens, cost_nano_usd } = *usage;
    let cost = jackline_core::session::shown_usd(cost_nano_usd);
    let cost = if cost_nano_usd == 0 { String::new() } else { format!(", {cost:.4} USD") };
    let asked = if requests == 0 { String::new() } else { format!("{requests} requests, ") };
    let any = requests + input_tokens + output_tokens + cost_nano_usd > 0;
    any.then(|| format!("{asked}{input_tokens} tokens in, {output_tokens} out{cost}"))
}
