//! File policies on disk: the folder they are in, what changed according to git, and the queue that people look at.
//!
//! Everything is looked at when it is asked for, bounded, and nothing is staged. What is written lies below `tmp`
//! beside the policies: a view, which only counts where a session's log backs it.

pub mod actions;
mod ahead;
mod attributes;
mod baselines;
mod blob;
mod changes;
mod commits;
mod compared;
mod configured;
mod contents;
mod declared;
mod detection;
pub mod folder;
mod holding;
mod ignored;
mod index;
pub mod legacy;
mod listing;
mod names;
pub mod promises;
pub mod queue;
mod references;
mod touched;
mod tree;
mod withheld;

pub use actions::ACTIONS_MS_MAX;
pub(crate) use ahead::Ahead;
pub use changes::{LOOK_MS_MAX, NO_COMMIT};
pub(crate) use detection::detect;
pub use detection::{Detection, Fired, Question, look_at};
pub use folder::{Folder, Levels, Place, find, look_for, policies};

use std::path::{Path, PathBuf};

use jackline_core::files::policy::Policy;
use jackline_core::files::seen::{Baseline, NAMES_TOLD_MAX, NOTED_MAX, Noted, PolicyFault, Seen};
use jackline_core::files::settings;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;

use crate::probes::git::Git;

/// The folders of policies that are there and count, as the definitions in force say.
#[must_use]
pub fn folders(stack: &Stack) -> Vec<Folder> {
    folders_in(stack, &Levels::around(Path::new(&stack.root)))
}

/// The same in a work tree.
pub(crate) fn folders_in(stack: &Stack, tree: &Levels) -> Vec<Folder> {
    let mut found: Vec<Folder> = Vec::new();
    for named in settings::folders(stack) {
        let folder = tree.find(named.dir.as_deref());
        found.extend(folder.filter(|folder| !found.contains(folder)));
    }
    found
}

/// Folders that a definition names and that are not there: their policies would be switched off in silence.
#[must_use]
pub fn missing(stack: &Stack) -> Vec<PolicyFault> {
    let named = settings::folders(stack).into_iter().filter_map(|folder| folder.demanded().cloned());
    named.filter(|dir| find(Path::new(&stack.root), Some(dir)).is_none()).map(|dir| not_there(&dir)).collect()
}

/// A folder that is not there, as it is told.
pub(crate) fn not_there(dir: &str) -> PolicyFault {
    let message = "there is no such folder in the workspace, and `file_policies.dir` names it".to_owned();
    PolicyFault { file: dir.to_owned(), line: 1, message, help: None, warning: false }
}

/// What the policies of a folder are called.
pub(crate) fn names_of(folder: &Folder) -> Seen {
    let all = policies(folder).policies;
    let names = all.iter().take(NAMES_TOLD_MAX).map(|policy| policy.name.clone()).collect();
    Seen::Names { names, total: all.len(), noted: noted(folder, &all) }
}

/// Which policies there are, and what they say, unless there are too many.
fn noted(folder: &Folder, all: &[Policy]) -> Vec<Noted> {
    let noted = |policy: &Policy| Noted { file: folder.file(&policy.id), digest: policy.digest.short() };
    all.iter().filter(|_| all.len() <= NOTED_MAX).map(noted).collect()
}

/// Keeps how everything is as a prompt is submitted, where a policy compares to it.
///
/// # Errors
/// Why it could not be told or kept.
pub(crate) fn capture(
    git: &Git,
    (folder, kept): (&Folder, &[PathBuf]),
    (session, at, began): (&str, Timestamp, Option<Timestamp>),
) -> Result<Option<Baseline>, String> {
    baselines::capture(git, (folder, kept), (session, at, began))
}
