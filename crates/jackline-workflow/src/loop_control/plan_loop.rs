//! The plan loop: a manager that plans again and again without any work is made to delegate, or the run ends.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::plan::Plan;

/// Counts PLAN decisions since workers last did anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanLoop {
    pre_progress_plans: u32,
}

/// What becomes of a run whose manager only plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transition {
    /// There is work in the plan: the next decision must delegate it.
    ForcedDelegate,
    /// There is none.
    ForcedTerminate,
}

impl PlanLoop {
    /// Counts a PLAN; whether that is one too many.
    pub(super) const fn planned(&mut self, max: u32) -> bool {
        self.pre_progress_plans = self.pre_progress_plans.saturating_add(1);
        self.pre_progress_plans > max
    }

    /// Workers did something.
    pub(super) const fn progressed(&mut self) {
        self.pre_progress_plans = 0;
    }

    /// What follows from one PLAN too many, and its event. The plan is the one in force: the one too many is not taken.
    pub(super) fn transition(self, plan: &Plan) -> (Value, Transition) {
        let pending = plan.pending();
        let (transition, name) = if pending.is_empty() {
            (Transition::ForcedTerminate, "forced_terminate")
        } else {
            (Transition::ForcedDelegate, "forced_delegate")
        };
        let event = json!({
            "gate": "plan_loop",
            "triggered": true,
            "reason": format!("{} plans in a row without progress", self.pre_progress_plans),
            "transition": name,
            "pre_progress_plans": self.pre_progress_plans,
            "pending_subtasks": pending,
        });
        (event, transition)
    }
}
