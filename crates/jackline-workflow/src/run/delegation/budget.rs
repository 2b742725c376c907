//! What a manager's loop may use: split for managers below it, and what they leave is given back. Pure.

use crate::run::answer::Usage;
use crate::run::settings::Budgeted;
use crate::run::tab::Tab;

/// The least and the most of what is left that a manager below may use.
const FRACTION: std::ops::RangeInclusive<f64> = 0.05..=0.95;

/// How much there is of something, and how much of it is used or promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Meter {
    max: u64,
    used: u64,
}

impl Meter {
    const fn of(max: u64) -> Self {
        Self { max, used: 0 }
    }

    const fn left(self) -> u64 {
        self.max.saturating_sub(self.used)
    }

    const fn spend(&mut self, count: u64) {
        self.used = self.used.saturating_add(count);
    }

    /// A part of what is left, promised to somebody else; at least one, if there is one.
    fn part(&mut self, fraction: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a whole number, rounded down"
        )]
        let part = ((self.left() as f64 * fraction) as u64).max(1).min(self.left());
        self.spend(part);
        Self::of(part)
    }

    /// What was promised is given back, save what was used of it.
    const fn reclaim(&mut self, given: Self) {
        self.used = self.used.saturating_sub(given.max.saturating_sub(given.used));
    }
}

/// What a loop may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Budget {
    loops: Meter,
    workers: Meter,
    tokens: Meter,
    tool_calls: Meter,
}

impl Budget {
    pub(super) const fn of(settings: &Budgeted) -> Self {
        Self {
            loops: Meter::of(settings.max_loops as u64),
            workers: Meter::of(settings.max_total_workers),
            tokens: Meter::of(settings.max_total_tokens),
            tool_calls: Meter::of(settings.max_tool_calls),
        }
    }

    /// What keeps the manager from another turn, if anything does. Workers that are used up do not: what they did may be
    /// all there was to do.
    pub(super) const fn exhausted(&self) -> Option<&'static str> {
        if self.loops.left() == 0 {
            return Some("max_loops");
        }
        if self.tokens.left() == 0 {
            return Some("max_total_tokens");
        }
        if self.tool_calls.left() == 0 {
            return Some("max_tool_calls");
        }
        None
    }

    /// Turns that are left.
    pub(super) const fn loops_left(&self) -> u64 {
        self.loops.left()
    }

    pub(super) const fn turn(&mut self) {
        self.loops.spend(1);
    }

    pub(super) const fn workers_left(&self) -> u64 {
        self.workers.left()
    }

    pub(super) const fn work(&mut self, workers: u64) {
        self.workers.spend(workers);
    }

    /// Workers that were counted and did not begin.
    pub(super) const fn unwork(&mut self, workers: u64) {
        self.workers.used = self.workers.used.saturating_sub(workers);
    }

    pub(super) const fn charge(&mut self, usage: &Usage) {
        self.tokens.spend(usage.tokens());
        self.tool_calls.spend(usage.tool_calls);
    }

    /// What one part of the work may still use.
    pub(super) fn tab(&self) -> Tab {
        Tab::new(self.tokens.left(), self.tool_calls.left())
    }

    /// A part for a manager below.
    pub(super) fn split(&mut self, fraction: f64) -> Self {
        let fraction =
            if fraction.is_nan() { *FRACTION.start() } else { fraction.clamp(*FRACTION.start(), *FRACTION.end()) };
        Self {
            loops: self.loops.part(fraction),
            workers: self.workers.part(fraction),
            tokens: self.tokens.part(fraction),
            tool_calls: self.tool_calls.part(fraction),
        }
    }

    /// Takes back what a manager below left of its part.
    pub(super) const fn reclaim(&mut self, given: &Self) {
        self.loops.reclaim(given.loops);
        self.workers.reclaim(given.workers);
        self.tokens.reclaim(given.tokens);
        self.tool_calls.reclaim(given.tool_calls);
    }

    /// How much of each there was, and is used.
    pub(super) fn used(&self) -> serde_json::Value {
        let meter = |meter: Meter| serde_json::json!({"used": meter.used, "limit": meter.max});
        serde_json::json!({
            "loops": meter(self.loops), "workers": meter(self.workers),
            "loop_tokens": meter(self.tokens), "loop_tool_calls": meter(self.tool_calls),
        })
    }

    /// As a manager is told it.
    pub(super) fn left(&self) -> serde_json::Value {
        serde_json::json!({
            "loops": self.loops.left(), "workers": self.workers.left(),
            "tokens": self.tokens.left(), "tool_calls": self.tool_calls.left(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_promised_and_given_back() {
        let mut budget = Budget::of(&Budgeted { max_loops: 10, max_total_workers: 8, ..Budgeted::default() });
        budget.turn();
        let mut child = budget.split(0.5);
        assert_eq!((budget.loops_left(), child.loops_left()), (5, 4));
        assert_eq!((budget.workers_left(), child.workers_left()), (4, 4));
        child.turn();
        child.work(3);
        budget.reclaim(&child);
        assert_eq!((budget.loops_left(), budget.workers_left()), (8, 5));
        assert_eq!(budget.exhausted(), None);
        assert_eq!(Budget::of(&Budgeted { max_loops: 0, ..Budgeted::default() }).exhausted(), Some("max_loops"));
    }

    proptest! {
        /// However often a budget is split, given back and split again, nobody together uses more than there was.
        #[test]
        fn nothing_is_used_twice(max in 0_u32..200, steps in proptest::collection::vec((0.0_f64..1.0, 0_u64..50), 0..20)) {
            let mut budget = Budget::of(&Budgeted { max_loops: max, ..Budgeted::default() });
            let mut used = 0;
            for (fraction, turns) in steps {
                let mut child = budget.split(fraction);
                for _ in 0..turns {
                    if child.exhausted() == Some("max_loops") { break }
                    child.turn();
                    used += 1;
                }
                budget.reclaim(&child);
            }
            prop_assert!(used <= u64::from(max));
            prop_assert_eq!(budget.loops_left(), u64::from(max) - used);
        }
    }
}
