//! How a manager delegates: who it is, what its loop may use, which gates only warn.

use serde::Deserialize;
use serde_json::Value;

use super::node::agent_name;
use super::{Node, part};
use crate::loop_control::Limits;

/// Managers below managers whatever is said: the ceiling of R32.
const DEPTH_MAX: u32 = 10;
/// Workers at once whatever is said: each is a process, and machines have few processors.
const PARALLEL_MAX: usize = 256;

/// How a manager delegates.
#[derive(Debug)]
pub(crate) struct Delegation {
    pub(crate) manager: String,
    /// The agent of workers that name none.
    pub(crate) worker: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) budget: Budgeted,
    /// Whether completion gates only warn, as `look` knows it.
    pub(crate) gates: Value,
    /// What the graph says about some of the workers.
    pub(crate) nodes: Vec<Node>,
}

/// What a loop may use.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Budgeted {
    pub(crate) max_loops: u32,
    pub(crate) max_total_workers: u64,
    pub(crate) max_total_tokens: u64,
    pub(crate) max_tool_calls: u64,
    pub(crate) max_depth: u32,
    pub(crate) max_concurrent_submanagers: usize,
    pub(crate) max_total_submanagers_per_run: u32,
    pub(crate) max_parallel_workers: usize,
    pub(crate) max_workers_per_iteration: usize,
    pub(crate) max_rejected_completions: u32,
}

impl Default for Budgeted {
    /// The protocol's own.
    fn default() -> Self {
        Self {
            max_loops: 100,
            max_total_workers: 500,
            max_total_tokens: 10_000_000,
            max_tool_calls: 1_500,
            max_depth: 4,
            max_concurrent_submanagers: 3,
            max_total_submanagers_per_run: 6,
            max_parallel_workers: 16,
            max_workers_per_iteration: 6,
            max_rejected_completions: 2,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    manager: Option<String>,
    worker: Option<String>,
    budget: Budgeted,
    planning: Planning,
    gates: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Planning {
    plan_commit_mode: Option<String>,
    max_pre_progress_plans: Option<u32>,
}

impl Delegation {
    pub(super) fn read(root: &Value, nodes: Vec<Node>, out: &mut Vec<String>) -> Self {
        let written: Written = part(root, "/orchestration/delegation_loop", out);
        let mut budget = written.budget;
        budget.max_depth = budget.max_depth.min(DEPTH_MAX);
        budget.max_parallel_workers = budget.max_parallel_workers.clamp(1, PARALLEL_MAX);
        if written.manager.is_none() {
            out.push("`delegation_loop` names no `manager`".to_owned());
        }
        let strict = written.planning.plan_commit_mode.is_none_or(|mode| mode == "strict");
        let limits = Limits {
            max_loops: budget.max_loops,
            max_pre_progress_plans: written.planning.max_pre_progress_plans.unwrap_or(if strict { 2 } else { 3 }),
            max_rejected_completions: budget.max_rejected_completions,
        };
        Self {
            manager: written.manager.as_deref().map(agent_name).unwrap_or_default(),
            worker: written.worker.as_deref().map(agent_name),
            limits,
            budget,
            gates: written.gates,
            nodes,
        }
    }

    /// What the graph says about a worker, if it does.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == name || node.agent == name)
    }
}
