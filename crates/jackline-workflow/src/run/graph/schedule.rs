//! Who is next: pure books about which nodes are settled, and what that means for those that wait for them.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use crate::expression::ExpressionFault;
use crate::loop_control::{End, Status};
use crate::run::settings::{Condition, Node};

/// How a node was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    Done,
    /// It failed, and counts as skipped.
    Passed,
    /// Its condition did not hold.
    Unmet,
    /// It failed, and the run goes on without it.
    Failed,
    /// Somebody it waits for failed.
    Left,
}

/// Whether a node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prospect {
    Run,
    Settled(Settled),
}

/// The books of a graph.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Whom each waits for.
    waits: Vec<Vec<usize>>,
    waiters: Vec<Vec<usize>>,
    /// How many each still waits for.
    left: Vec<usize>,
    settled: Vec<Option<Settled>>,
    ready: VecDeque<usize>,
}

impl Schedule {
    pub(super) fn new(nodes: &[Node]) -> Self {
        let by_id: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let waits: Vec<Vec<usize>> = nodes
            .iter()
            .map(|node| node.waits.iter().filter_map(|wait| by_id.get(wait.id.as_str()).copied()).collect())
            .collect();
        let mut waiters = vec![Vec::new(); nodes.len()];
        for (at, list) in waits.iter().enumerate() {
            for other in list {
                if let Some(waiters) = waiters.get_mut(*other) {
                    waiters.push(at);
                }
            }
        }
        let left: Vec<usize> = waits.iter().map(Vec::len).collect();
        let ready = left.iter().enumerate().filter(|(_, left)| **left == 0).map(|(at, _)| at).collect();
        Self { waits, waiters, left, settled: vec![None; nodes.len()], ready }
    }

    /// The next node of which everybody it waits for is settled.
    pub(super) fn next(&mut self) -> Option<usize> {
        self.ready.pop_front()
    }

    pub(super) fn settle(&mut self, at: usize, how: Settled) {
        if let Some(settled) = self.settled.get_mut(at) {
            *settled = Some(how);
        }
        for waiter in self.waiters.get(at).into_iter().flatten() {
            if let Some(left) = self.left.get_mut(*waiter) {
                *left -= 1;
                if *left == 0 {
                    self.ready.push_back(*waiter);
                }
            }
        }
    }

    /// Whether somebody it waits for failed, or does not run for such a reason.
    fn abandoned(&self, at: usize) -> bool {
        self.before(at).any(|settled| matches!(settled, Settled::Failed | Settled::Left))
    }

    fn before(&self, at: usize) -> impl Iterator<Item = Settled> {
        let waits = self.waits.get(at).into_iter().flatten();
        waits.filter_map(|other| self.settled.get(*other).copied().flatten())
    }

    /// How a node is settled that was skipped before an interruption.
    pub(super) fn unmet(&self, at: usize) -> Settled {
        if self.abandoned(at) { Settled::Left } else { Settled::Unmet }
    }

    /// Why a node does not run, if it does not.
    pub(super) fn prospect(
        &self,
        at: usize,
        node: &Node,
        scope: &Value,
    ) -> Result<Option<(Settled, String)>, ExpressionFault> {
        if !node.enabled {
            return Ok(Some((Settled::Unmet, "it is not enabled".to_owned())));
        }
        let outcomes: Vec<Settled> = self.before(at).collect();
        for (wait, outcome) in node.waits.iter().zip(&outcomes) {
            let failed = matches!(outcome, Settled::Failed | Settled::Left);
            match wait.condition {
                Condition::Success if failed => {
                    return Ok(Some((Settled::Left, format!("`{}`, which it waits for, failed", wait.id))));
                }
                Condition::Failure if *outcome != Settled::Failed => {
                    return Ok(Some((Settled::Unmet, format!("`{}` did not fail", wait.id))));
                }
                _ => {}
            }
        }
        let always = node.waits.iter().any(|wait| wait.condition == Condition::Always);
        if !outcomes.is_empty() && !always && outcomes.iter().all(|outcome| *outcome == Settled::Unmet) {
            return Ok(Some((Settled::Unmet, "everybody it waits for was skipped".to_owned())));
        }
        let whens = node.waits.iter().filter_map(|wait| wait.when.as_ref());
        for condition in whens.chain(&node.conditions) {
            if !condition.holds(scope)? {
                return Ok(Some((Settled::Unmet, format!("`{}` does not hold", condition.text()))));
            }
        }
        Ok(None)
    }

    /// How the whole graph ended: complete, unless somebody failed.
    pub(super) fn end(&self) -> End {
        let failed = self.settled.iter().any(|settled| matches!(settled, Some(Settled::Failed | Settled::Left) | None));
        if failed {
            return End { status: Status::Partial, reason: "agents_failed".to_owned() };
        }
        End { status: Status::Complete, reason: "complete".to_owned() }
    }
}
