//! The plan: subtasks and how they stand. What workers did is remembered by us, whatever a manager says later.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Delegation, Worked};

/// Subtasks of a plan: more than any manager can keep in view.
pub const SUBTASKS_MAX: usize = 200;
/// The priority of repairs.
pub(super) const CRITICAL: &str = "critical";

/// How a subtask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
}

/// One part of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subtask {
    pub id: String,
    #[serde(default)]
    pub description: String,
    /// `None` when a manager leaves it to us: pending, or as it stood.
    #[serde(default)]
    pub status: Option<Progress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    #[serde(default)]
    pub required_outputs: Vec<String>,
    /// A text or a list of them, as the manager wrote it.
    #[serde(default)]
    pub success_criteria: Value,
    /// Whether we put it into the plan ourselves.
    #[serde(default, skip_serializing_if = "is_false")]
    pub repair: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Subtask {
    /// How it stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.status.unwrap_or(Progress::Pending)
    }
}

/// The members of a subtask that are known.
pub(super) const MEMBERS: &[&str] =
    &["id", "description", "status", "priority", "required_outputs", "success_criteria", "repair"];

/// All subtasks.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    pub subtasks: Vec<Subtask>,
}

impl Plan {
    /// The ids of subtasks that nobody has begun.
    #[must_use]
    pub fn pending(&self) -> Vec<&str> {
        let pending = self.subtasks.iter().filter(|subtask| subtask.progress() == Progress::Pending);
        pending.map(|subtask| subtask.id.as_str()).collect()
    }

    /// Takes a manager's plan. Statuses it leaves open stay as they were; repairs stay, so that no plan drops what the
    /// gates asked for.
    pub(super) fn replace(&mut self, mut subtasks: Vec<Subtask>) {
        let known: BTreeMap<&str, Option<Progress>> =
            self.subtasks.iter().map(|subtask| (subtask.id.as_str(), subtask.status)).collect();
        for subtask in &mut subtasks {
            let before = known.get(subtask.id.as_str()).copied().flatten();
            subtask.status = subtask.status.or(before).or(Some(Progress::Pending));
            // INVARIANT: only the breaker makes repairs.
            subtask.repair = false;
        }
        let repairs: Vec<Subtask> =
            std::mem::take(&mut self.subtasks).into_iter().filter(|subtask| subtask.repair).collect();
        let taken: BTreeSet<&str> = repairs.iter().map(|repair| repair.id.as_str()).collect();
        subtasks.retain(|subtask| !taken.contains(subtask.id.as_str()));
        subtasks.extend(repairs);
        self.subtasks = subtasks;
    }

    pub(super) fn add(&mut self, subtask: Subtask) {
        self.subtasks.push(subtask);
    }

    /// Subtasks that workers were given.
    pub(super) fn start(&mut self, delegations: &[Delegation]) {
        self.stand(delegations.iter().filter_map(|one| Some((one.subtask_id.as_deref()?, Progress::InProgress))));
    }

    /// How subtasks stand now; those that nobody began with are to be done as before.
    pub(super) fn settle(&mut self, results: &[Worked]) {
        let stands = |one: &Worked| if one.started { one.progress } else { Progress::Pending };
        let (begun, left): (Vec<_>, Vec<_>) = results.iter().partition(|one| one.started);
        // What was begun with by one stands as that one left it, whoever else was to do it too.
        let results = left.into_iter().chain(begun);
        self.stand(results.filter_map(|one| Some((one.subtask_id.as_deref()?, stands(one)))));
    }

    fn stand<'a>(&mut self, results: impl Iterator<Item = (&'a str, Progress)>) {
        let results: BTreeMap<&str, Progress> = results.collect();
        for subtask in &mut self.subtasks {
            if let Some(progress) = results.get(subtask.id.as_str()) {
                subtask.status = Some(*progress);
            }
        }
    }
}
