//! What a run has used so far of what it may use, counted from its records: one that was killed, or is at work, has none
//! that says so.

use std::collections::BTreeSet;

use jackline_core::time::Timestamp;
use serde_json::Value;

use super::Budget;

/// The mark between the name of a step and the number of its try.
const TRY: char = '#';
/// How the steps begin that are turns of a manager.
const TURN: &str = "manager@";

/// Counts what a run uses.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// What is counted, and how much there is of it, as the first record says.
    limits: Vec<(String, Option<f64>)>,
    tokens: f64,
    tool_calls: f64,
    cost_usd: f64,
    agent_runs: f64,
    /// Milliseconds at work.
    at_work_ms: u64,
    last: Option<Timestamp>,
    /// Turns of managers, by their steps.
    turns: BTreeSet<String>,
    /// Work that managers handed out, by where the names of its steps begin.
    jobs: BTreeSet<String>,
}

impl Spent {
    /// Takes the next record, of a kind and a step.
    pub(super) fn take(&mut self, record: &Value, (kind, at): (&str, Timestamp)) {
        // Nobody was at work between the last record of a run and the one that takes it up again.
        let idle = matches!(kind, "run.resumed" | "session.repaired");
        if let Some(last) = self.last.replace(at).filter(|_| !idle) {
            self.at_work_ms += u64::try_from(at.since(last)).unwrap_or_default();
        }
        match kind {
            "run.started" => self.limits = limits(record),
            "agent.started" => self.began(record.pointer("/call").and_then(Value::as_str).unwrap_or_default()),
            // The end repeats what was counted on the way.
            "run.ended" => {}
            _ => self.used(record, kind),
        }
    }

    fn used(&mut self, record: &Value, kind: &str) {
        let Some(usage) = record.pointer("/data/usage") else { return };
        let count = |name: &str| usage.get(name).and_then(Value::as_f64).unwrap_or_default();
        self.tokens += count("input_tokens") + count("output_tokens");
        self.tool_calls += count("tool_calls");
        self.cost_usd += count("cost_usd");
        self.agent_runs += f64::from(u8::from(matches!(kind, "agent.finished" | "agent.failed")));
    }

    fn began(&mut self, step: &str) {
        let step = step.split(TRY).next().unwrap_or_default();
        let ends = step.match_indices('/').filter_map(|(at, _)| step.get(..=at));
        self.jobs.extend(ends.filter(|path| is_job(path)).map(str::to_owned));
        if step.rsplit('/').next().is_some_and(|last| last.starts_with(TURN)) {
            self.turns.insert(step.to_owned());
        }
    }

    /// How much of each is used.
    pub(super) fn budgets(&self) -> Vec<Budget> {
        let budgets = self.limits.iter().filter_map(|(name, limit)| {
            let used = match name.as_str() {
                "tokens" | "loop_tokens" => self.tokens,
                "tool_calls" | "loop_tool_calls" => self.tool_calls,
                "cost_usd" => self.cost_usd,
                "agent_runs" => self.agent_runs,
                "wall_time_s" => self.at_work_ms as f64 / 1_000.0,
                "loops" => self.turns.len() as f64,
                "workers" => self.jobs.len() as f64,
                _ => return None,
            };
            Some(Budget { name: name.clone(), used, limit: *limit })
        });
        budgets.collect()
    }
}

/// What the first record of a run says there is.
fn limits(record: &Value) -> Vec<(String, Option<f64>)> {
    let budgets = record.pointer("/data/budgets").and_then(Value::as_object).into_iter().flatten();
    budgets.map(|(name, budget)| (name.clone(), budget.get("limit").and_then(Value::as_f64))).collect()
}

/// Whether a path ends with the number of a turn and of a piece of work in it, such as `2.0/`.
fn is_job(path: &str) -> bool {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.split_once('.').is_some_and(|(turn, at)| [turn, at].iter().all(|part| part.parse::<u32>().is_ok()))
}
