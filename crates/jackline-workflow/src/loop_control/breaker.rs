//! The circuit breaker of completion: work that was rejected too often is repaired by order, or the run ends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plan::{CRITICAL, Plan, Progress, Subtask};
use crate::gates::Judgement;

/// Counts rejected COMPLETE decisions since the last DELEGATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Breaker {
    rejected_completions: u32,
}

impl Breaker {
    /// Counts a rejection: one for each COMPLETE, however many gates rejected it. Whether the breaker fires.
    pub(super) const fn rejected(&mut self, max: u32) -> bool {
        self.rejected_completions = self.rejected_completions.saturating_add(1);
        max > 0 && self.rejected_completions >= max
    }

    pub(super) const fn reset(&mut self) {
        self.rejected_completions = 0;
    }

    /// The event of the breaker that fires.
    pub(super) fn event(self, repair: Option<&Subtask>) -> Value {
        let mut event = json!({
            "gate": "completion_circuit_breaker",
            "triggered": true,
            "reason": match repair {
                Some(_) => "a repair is put into the plan and must be delegated",
                None => "nothing that was rejected says what to repair",
            },
            "rejected_completions": self.rejected_completions,
        });
        if let (Some(event), Some(repair)) = (event.as_object_mut(), repair) {
            event.insert("repair_subtask_id".to_owned(), json!(repair.id));
        }
        event
    }
}

/// The subtask that mends the first defect that can be mended by making something.
pub(super) fn repair(judgement: &Judgement, plan: &Plan, iteration: u32) -> Option<Subtask> {
    let (outcome, outputs) = judgement.rejections().find_map(|outcome| Some((outcome, outcome.repair()?)))?;
    let reason = outcome.reason.as_deref().unwrap_or_default();
    Some(Subtask {
        id: unused(plan, iteration),
        description: format!("repair what gate `{}` rejected: {reason}", outcome.gate.name()),
        status: Some(Progress::Pending),
        priority: Some(CRITICAL.to_owned()),
        required_outputs: outputs,
        success_criteria: json!(outcome.payload.findings),
        repair: true,
    })
}

/// An id that no subtask has, whatever a manager called its own.
fn unused(plan: &Plan, iteration: u32) -> String {
    let taken = |id: &String| plan.subtasks.iter().any(|subtask| subtask.id == *id);
    let first = format!("repair_auto_{iteration}");
    let further = (2..).map(|number: u32| format!("repair_auto_{iteration}_{number}"));
    std::iter::once(first.clone()).chain(further).find(|id| !taken(id)).unwrap_or(first)
}
