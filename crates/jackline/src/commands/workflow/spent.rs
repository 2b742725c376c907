//! What a run used so far, as its records tell it, beside what its manifest lets it use.

use jackline_core::definition::tree;
use jackline_workflow::Workflow;
use jackline_workflow::run::Entry;
use serde_json::Value;

/// What is limited: the member of `run_budget`, what it counts, how much of it a record adds, and its name among budgets.
type Limited = (&'static str, &'static str, fn(&Entry) -> f64, &'static str);

const LIMITED: [Limited; 4] = [
    ("max_agent_runs", "agent runs", |entry| f64::from(u8::from(is_end(entry))), "agent_runs"),
    ("max_total_tokens", "tokens", |entry| usage(entry, "input_tokens") + usage(entry, "output_tokens"), "tokens"),
    ("max_tool_calls", "tool calls", |entry| usage(entry, "tool_calls"), "tool_calls"),
    ("max_cost_usd", "dollars", |entry| usage(entry, "cost_usd"), "cost_usd"),
];

/// Each thing that is limited, and how much of it was used.
#[derive(Debug, Default)]
pub(super) struct Spent {
    limits: [Option<f64>; LIMITED.len()],
    used: [f64; LIMITED.len()],
}

impl Spent {
    /// Nothing yet, of what this workflow may use.
    pub(super) fn of(flow: &Workflow) -> Self {
        let root = flow.manifest().and_then(|manifest| tree(manifest.root)).unwrap_or_default();
        let limit = |(member, ..): Limited| root.pointer(&format!("/orchestration/run_budget/{member}"))?.as_f64();
        Self { limits: LIMITED.map(limit), ..Self::default() }
    }

    /// What a record tells was used. A run that is taken up again begins with what was used before.
    pub(super) fn take(&mut self, entry: &Entry) {
        let before = |name: &str| entry.data.pointer(&format!("/budgets/{name}/used")).and_then(Value::as_f64);
        for (used, (_, _, adds, name)) in self.used.iter_mut().zip(LIMITED) {
            *used = match entry.kind {
                "run.resumed" => before(name).unwrap_or(*used),
                "run.ended" => *used,
                _ => *used + adds(entry),
            };
        }
    }

    /// In words; nothing where nothing is limited.
    pub(super) fn shown(&self) -> String {
        let limited = self.limits.iter().zip(self.used).zip(LIMITED);
        let limited = limited.filter_map(|((limit, used), (_, what, ..))| Some(((*limit)?, used, what)));
        limited.map(|(limit, used, what)| format!(" · {used} of {limit} {what}")).collect()
    }
}

/// Whether somebody who was asked has answered, or failed to.
fn is_end(entry: &Entry) -> bool {
    matches!(entry.kind, "agent.finished" | "agent.failed") && entry.data.get("usage").is_some()
}

fn usage(entry: &Entry, member: &str) -> f64 {
    entry.data.pointer(&format!("/usage/{member}")).and_then(Value::as_f64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(kind: &'static str, data: Value) -> Entry {
        Entry { kind, agent: "writer".to_owned(), step: None, data }
    }

    #[test]
    fn what_is_limited_is_shown() {
        let mut spent = Spent { limits: [Some(4.0), Some(1000.0), None, Some(0.5)], ..Spent::default() };
        let usage = json!({"input_tokens": 300, "output_tokens": 20, "tool_calls": 3, "cost_usd": 0.25});
        spent.take(&entry("agent.started", json!({"attempt": 1})));
        spent.take(&entry("agent.failed", json!({"usage": usage})));
        spent.take(&entry("referee.answered", json!({"usage": {"input_tokens": 30}})));
        spent.take(&entry("agent.finished", json!({"usage": {"input_tokens": 50}})));
        assert_eq!(spent.shown(), " · 2 of 4 agent runs · 400 of 1000 tokens · 0.25 of 0.5 dollars");
        assert_eq!(Spent::default().shown(), "");
    }

    #[test]
    fn what_was_used_before_counts() {
        let mut spent = Spent { limits: [Some(4.0), Some(1000.0), None, None], ..Spent::default() };
        let budgets = json!({"agent_runs": {"used": 2, "limit": 4}, "tokens": {"used": 300, "limit": 1000}});
        spent.take(&entry("run.resumed", json!({ "budgets": budgets })));
        spent.take(&entry("agent.finished", json!({"usage": {"input_tokens": 50}})));
        assert_eq!(spent.shown(), " · 3 of 4 agent runs · 350 of 1000 tokens");
        // The end repeats what was counted on the way.
        spent.take(&entry("run.ended", json!({"usage": {"input_tokens": 350}})));
        assert_eq!(spent.shown(), " · 3 of 4 agent runs · 350 of 1000 tokens");
    }
}
