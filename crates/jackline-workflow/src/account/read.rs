//! Makes an account of a run's records, one after the other. Records that say nothing to an account are passed over.

use std::collections::BTreeMap;

use jackline_core::session::nano_usd;
use jackline_core::time::Timestamp;
use serde_json::Value;

use super::spent::Spent;
use super::{Account, Budget, End, Gate, Moment, Outcome, Step};
use crate::ask::Usage;
use crate::gates;
use crate::work::brief;

/// Steps, and moments, that are told of one run; a run with more has its log.
const TOLD_MAX: usize = 50_000;
/// Characters of a text that is taken from a record.
const TEXT_CHARS_MAX: usize = 1_000;

/// Reads records into an account.
#[derive(Debug, Default)]
pub struct Reader {
    account: Account,
    began: Option<Timestamp>,
    /// Steps that have not ended, by their names.
    open: BTreeMap<String, usize>,
    spent: Spent,
}

impl Reader {
    /// Takes the next record.
    pub fn take(&mut self, record: &Value) {
        let Some(at) = text(record, "/at").and_then(Timestamp::parse) else { return };
        let began = *self.began.get_or_insert(at);
        let at_ms = u64::try_from(at.since(began)).unwrap_or_default();
        let before_ms = self.account.elapsed_ms;
        self.account.elapsed_ms = before_ms.max(at_ms);
        let agent = text(record, "/agent").unwrap_or_default().to_owned();
        let kind = text(record, "/kind").unwrap_or_default();
        self.spent.take(record, (kind, at));
        match kind {
            "run.started" => {
                let began = text(record, "/at").unwrap_or_default().to_owned();
                let account = &mut self.account;
                (account.workflow, account.began, account.run) = (agent, began, said(record, "/session"));
                (account.task, account.engine) = (said(record, "/data/task"), said(record, "/data/engine"));
            }
            "run.ended" => self.ended(record),
            "agent.started" => self.started(record, agent, at_ms),
            "agent.finished" => self.settled(record, at_ms, Outcome::Done),
            "agent.failed" | "agent.stopped" => self.settled(record, at_ms, Outcome::Failed),
            "agent.skipped" => {
                let note = Some(said(record, "/data/reason"));
                let step =
                    Step { agent, from_ms: at_ms, to_ms: Some(at_ms), outcome: Outcome::Skipped, attempt: 1, note };
                self.step(step);
            }
            "gates.judged" => self.judged(record, at_ms),
            kind => {
                match kind {
                    "run.resumed" => self.resumed(before_ms),
                    "manager.decided" => self.decided(record),
                    _ => {}
                }
                if let Some((told, text, bad)) = moment(kind, &agent, record) {
                    self.moment(Moment { at_ms, kind: told, text, bad });
                }
            }
        }
        self.counted(record);
    }

    /// What was read.
    #[must_use]
    pub fn account(self) -> Account {
        if self.account.end.is_some() {
            return self.account;
        }
        Account { budgets: self.spent.budgets(), ..self.account }
    }

    fn step(&mut self, step: Step) {
        if self.account.steps.len() < TOLD_MAX {
            self.account.steps.push(step);
        } else {
            self.account.left_out += 1;
        }
    }

    fn moment(&mut self, moment: Moment) {
        if self.account.moments.len() < TOLD_MAX {
            self.account.moments.push(moment);
        } else {
            self.account.left_out += 1;
        }
    }

    /// The turns of the run's own manager.
    fn decided(&mut self, record: &Value) {
        let count = |pointer: &str| record.pointer(pointer).and_then(Value::as_u64);
        if count("/data/depth") == Some(0) {
            self.account.iterations = count("/data/iteration").unwrap_or_default();
        }
    }

    /// The run is taken up again: it has not ended, and what was under way before is over and asked anew.
    fn resumed(&mut self, to_ms: u64) {
        self.account.end = None;
        for at in std::mem::take(&mut self.open).into_values() {
            let Some(step) = self.account.steps.get_mut(at) else { continue };
            (step.to_ms, step.outcome) = (Some(to_ms), Outcome::Failed);
            step.note = Some("the run was interrupted".to_owned());
        }
    }

    fn started(&mut self, record: &Value, agent: String, from_ms: u64) {
        let attempt = record.pointer("/data/attempt").and_then(Value::as_u64).unwrap_or(1);
        if let Some(name) = text(record, "/call") {
            self.open.insert(name.to_owned(), self.account.steps.len());
        }
        self.step(Step { agent, from_ms, attempt, ..Step::default() });
    }

    /// A piece of work is over.
    fn settled(&mut self, record: &Value, to_ms: u64, outcome: Outcome) {
        let begun = text(record, "/call").and_then(|name| self.open.remove(name));
        let Some(step) = begun.and_then(|at| self.account.steps.get_mut(at)) else { return };
        (step.to_ms, step.outcome) = (Some(to_ms), outcome);
        let reason = said(record, "/data/reason");
        step.note = (!reason.is_empty()).then_some(reason);
    }

    /// What agents and whoever was asked about them took.
    fn counted(&mut self, record: &Value) {
        let Some(usage) = record.pointer("/data/usage") else { return };
        // The end repeats what was counted on the way.
        if text(record, "/kind") == Some("run.ended") {
            return;
        }
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let cost = usage.get("cost_usd").and_then(Value::as_f64).unwrap_or_default();
        self.account.usage += Usage {
            requests: count("requests"),
            input_tokens: count("input_tokens"),
            output_tokens: count("output_tokens"),
            cost_nano_usd: nano_usd(cost),
        };
    }

    fn judged(&mut self, record: &Value, at_ms: u64) {
        let gates = record.pointer("/data/judgement/gates").and_then(Value::as_array).into_iter().flatten();
        let is = |gate: &Value, name: &str| gate.get(name).and_then(Value::as_bool).unwrap_or_default();
        let mut told = gates.filter(|gate| is(gate, "applicable")).map(|gate| Gate {
            at_ms,
            gate: said(gate, "/gate"),
            passed: is(gate, "passed"),
            reason: Some(said(gate, "/reason")).filter(|reason| !reason.is_empty()),
            findings: texts(gate.get("findings")),
        });
        let room = TOLD_MAX.saturating_sub(self.account.gates.len());
        self.account.gates.extend(told.by_ref().take(room));
        self.account.left_out += told.count() as u64;
    }

    fn ended(&mut self, record: &Value) {
        self.account.end = Some(End { status: said(record, "/data/status"), reason: said(record, "/data/reason") });
        self.account.iterations = record.pointer("/data/iterations").and_then(Value::as_u64).unwrap_or_default();
        let budgets = record.pointer("/data/budgets").and_then(Value::as_object).into_iter().flatten();
        let number = |budget: &Value, name: &str| budget.get(name).and_then(Value::as_f64);
        self.account.budgets = budgets
            .map(|(name, budget)| Budget {
                name: name.clone(),
                used: number(budget, "used").unwrap_or_default(),
                limit: number(budget, "limit"),
            })
            .collect();
    }
}

/// What a record tells as a moment: in a word, in a sentence, and whether it stands in the way.
fn moment(kind: &str, agent: &str, record: &Value) -> Option<(String, String, bool)> {
    let reason = said(record, "/data/reason");
    let about = |text: String| if text.is_empty() { agent.to_owned() } else { format!("{agent}: {text}") };
    Some(match kind {
        "run.resumed" => ("resumed".to_owned(), String::new(), false),
        "manager.decided" => {
            let refused = said(record, "/data/refused");
            (said(record, "/data/decision"), refused.clone(), !refused.is_empty())
        }
        // Those of the gates themselves are told with the judgement.
        "gate.event" => {
            let gate = said(record, "/data/gate");
            if gates::Gate::ALL.iter().any(|known| known.name() == gate) {
                return None;
            }
            let bad = record.pointer("/data/triggered").and_then(Value::as_bool).unwrap_or_default();
            (gate, [reason, said(record, "/data/transition")].join(" ").trim().to_owned(), bad)
        }
        "agent.judged" => {
            let verdict = said(record, "/data/verdict");
            let bad = record.pointer("/data/triggered").and_then(Value::as_bool).unwrap_or_default();
            (format!("judge {verdict}"), about(reason), bad)
        }
        "critique.reviewed" => ("critique".to_owned(), about(score(record)), false),
        "step.scored" | "run.evaluated" => ("evaluation".to_owned(), about(score(record)), false),
        "agent.gave_up" => ("gave up".to_owned(), about(reason), true),
        "state.refused" => ("refused".to_owned(), about("it wrote reserved keys".to_owned()), true),
        "message.rejected" => ("message rejected".to_owned(), about(reason), true),
        _ => return None,
    })
}

/// A score as people are told it.
fn score(record: &Value) -> String {
    match record.pointer("/data/score").and_then(Value::as_f64) {
        Some(score) => format!("{score:.2}"),
        None => format!("no score {}", said(record, "/data/failed")).trim().to_owned(),
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// A text of a record on one line, cut.
fn said(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => brief(text, TEXT_CHARS_MAX),
        Some(Value::Null) | None => String::new(),
        // A long one was clipped when it was recorded: its beginning tells.
        Some(Value::Object(clipped)) if clipped.get("clipped") == Some(&Value::Bool(true)) => {
            brief(clipped.get("head").and_then(Value::as_str).unwrap_or_default(), TEXT_CHARS_MAX)
        }
        Some(other) => brief(&other.to_string(), TEXT_CHARS_MAX),
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    items.map(|item| brief(item, TEXT_CHARS_MAX)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(second: u32, kind: &str, call: Option<&str>, data: Value) -> Value {
        json!({"at": format!("2026-01-02T03:04:{second:02}.000Z"), "kind": kind, "agent": "writer", "session": "run-7",
               "call": call, "data": data})
    }

    #[test]
    fn records_become_an_account() {
        let mut reader = Reader::default();
        for record in [
            record(0, "run.started", None, json!({"task": "tides", "engine": "dag"})),
            record(1, "agent.started", Some("w#1"), json!({"attempt": 1})),
            record(3, "agent.failed", Some("w#1"), json!({"reason": "its time was up"})),
            record(4, "agent.started", Some("w#2"), json!({"attempt": 2})),
            record(
                6,
                "agent.finished",
                Some("w#2"),
                json!({"usage": {"requests": 1, "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5}}),
            ),
            record(
                6,
                "agent.judged",
                Some("w#2"),
                json!({"verdict": "accepted", "reason": "fine", "triggered": false}),
            ),
            record(
                7,
                "gates.judged",
                None,
                json!({"judgement": {"gates": [
                {"gate": "file", "applicable": true, "passed": false, "reason": "broken", "findings": ["x"]},
                {"gate": "eval", "applicable": false, "passed": true}]}}),
            ),
            record(7, "gate.event", None, json!({"gate": "file", "triggered": true})),
            record(
                7,
                "gate.event",
                None,
                json!({"gate": "plan_loop", "triggered": true, "reason": "no progress", "transition": "forced_delegate"}),
            ),
            record(8, "nobody.knows", None, json!({})),
            record(
                9,
                "run.ended",
                None,
                json!({"status": "partial", "reason": "max_loops", "iterations": 2,
                "usage": {"input_tokens": 5}, "budgets": {"tokens": {"used": 7, "limit": 10}}}),
            ),
            json!("no record"),
        ] {
            reader.take(&record);
        }
        let account = reader.account();
        assert_eq!((account.run.as_str(), account.task.as_str(), account.elapsed_ms), ("run-7", "tides", 9_000));
        let steps: Vec<_> = account.steps.iter().map(|step| (step.outcome, step.attempt, step.to_ms)).collect();
        assert_eq!(steps, [(Outcome::Failed, 1, Some(3_000)), (Outcome::Done, 2, Some(6_000))]);
        assert_eq!(account.gates.len(), 1);
        let kinds: Vec<_> = account.moments.iter().map(|moment| (moment.kind.as_str(), moment.text.as_str())).collect();
        assert_eq!(kinds, [("judge accepted", "writer: fine"), ("plan_loop", "no progress forced_delegate")]);
        assert_eq!(account.usage, Usage { requests: 1, input_tokens: 5, output_tokens: 2, cost_nano_usd: 500_000_000 });
        assert_eq!(account.budgets, [Budget { name: "tokens".to_owned(), used: 7.0, limit: Some(10.0) }]);
        assert_eq!(account.end.unwrap().reason, "max_loops");
    }

    #[test]
    fn a_run_that_was_killed_has_open_steps_until_it_is_taken_up() {
        let mut reader = Reader::default();
        reader.take(&record(0, "run.started", None, json!({})));
        reader.take(&record(1, "agent.started", Some("w#1"), json!({})));
        let account = reader.account.clone();
        assert_eq!((account.steps[0].outcome, account.end), (Outcome::Open, None));
        reader.take(&record(5, "run.resumed", None, json!({})));
        reader.take(&record(6, "agent.started", Some("w#1"), json!({})));
        reader.take(&record(7, "agent.finished", Some("w#1"), json!({})));
        let steps: Vec<_> = reader.account().steps.into_iter().map(|step| (step.outcome, step.to_ms)).collect();
        assert_eq!(steps, [(Outcome::Failed, Some(1_000)), (Outcome::Done, Some(7_000))]);
    }

    #[test]
    fn a_run_without_an_end_has_budgets() {
        let mut reader = Reader::default();
        let limits = json!({
            "agent_runs": {"used": 0, "limit": 9}, "cost_usd": {"used": 0, "limit": null}, "loops": {"used": 0, "limit": 5},
            "tokens": {"used": 0, "limit": null}, "wall_time_s": {"used": 0, "limit": 60}, "workers": {"used": 0, "limit": 8},
        });
        let used = json!({"attempt": 1, "usage": {"requests": 2, "input_tokens": 30, "cost_usd": 0.5}});
        for record in [
            record(0, "run.started", None, json!({ "budgets": limits })),
            record(1, "agent.started", Some("manager@1#1"), json!({})),
            record(2, "agent.finished", Some("manager@1#1"), used.clone()),
            record(
                2,
                "manager.decided",
                Some("manager@1"),
                json!({"iteration": 1, "depth": 0, "decision": "DELEGATE"}),
            ),
            record(2, "agent.started", Some("1.0/work#1"), json!({})),
            record(3, "agent.failed", Some("1.0/work#1"), used.clone()),
            record(3, "agent.started", Some("1.0/work#2"), json!({})),
            record(3, "agent.started", Some("1.1/manager@1#1"), json!({})),
            record(4, "agent.stopped", Some("1.1/manager@1#1"), used),
            record(4, "run.ended", None, json!({"status": "aborted", "reason": "sigterm", "iterations": 1})),
            record(30, "run.resumed", None, json!({})),
            record(32, "agent.started", Some("1.1/manager@1#1"), json!({})),
        ] {
            reader.take(&record);
        }
        let account = reader.account();
        let budgets: Vec<_> = account.budgets.iter().map(|one| (one.name.as_str(), one.used, one.limit)).collect();
        let want = [
            ("agent_runs", 2.0, Some(9.0)),
            ("cost_usd", 1.5, None),
            ("loops", 2.0, Some(5.0)),
            ("tokens", 90.0, None),
            ("wall_time_s", 6.0, Some(60.0)),
            ("workers", 2.0, Some(8.0)),
        ];
        assert_eq!(budgets, want);
        assert_eq!((account.end, account.iterations, account.usage.requests), (None, 1, 6));
    }

    #[test]
    fn what_was_clipped_and_what_there_is_no_room_for_is_told() {
        let mut reader = Reader::default();
        reader.take(&record(0, "agent.started", Some("w#1"), json!({})));
        let reason = json!({"bytes": 20_000, "clipped": true, "head": "the model refuses"});
        reader.take(&record(1, "agent.failed", Some("w#1"), json!({ "reason": reason })));
        for _ in 0..TOLD_MAX + 6 {
            reader.take(&record(2, "agent.skipped", None, json!({})));
        }
        let account = reader.account();
        assert_eq!(account.steps[0].note.as_deref(), Some("the model refuses"));
        assert_eq!((account.steps.len(), account.left_out), (TOLD_MAX, 7));
    }
}
