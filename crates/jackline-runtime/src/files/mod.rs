//! File policies on disk: the folder they are in, what changed according to git, and the queue that people look at.
//!
//! Everything is looked at when it is asked for, bounded, and nothing is staged. What is written lies below `tmp`
//! beside the policies: a view, which only counts where a session's log backs it.

pub mod actions;
mod baselines;
mod changes;
mod contents;
mod detection;
pub mod folder;
pub mod legacy;
mod names;
pub mod promises;
pub mod queue;

pub use actions::ACTIONS_MS_MAX;
pub use changes::LOOK_MS_MAX;
pub(crate) use detection::detect;
pub use detection::{Detection, Fired, Question, look_at};
pub use folder::{Folder, find, policies};

use std::path::Path;

use jackline_core::files::seen::Baseline;
use jackline_core::files::settings;
use jackline_core::stack::Stack;
use jackline_core::time::Timestamp;

use crate::probes::git::Git;

/// The folders of policies that are there and count, as the definitions in force say.
#[must_use]
pub fn folders(stack: &Stack) -> Vec<Folder> {
    let mut found: Vec<Folder> = Vec::new();
    for named in settings::folders(stack) {
        let folder = find(Path::new(&stack.root), named.dir.as_deref());
        found.extend(folder.filter(|folder| !found.contains(folder)));
    }
    found
}

/// Keeps how everything is as a prompt is submitted, where a policy compares to it.
///
/// # Errors
/// Why it could not be told or kept.
pub(crate) fn capture(git: &Git, folder: &Folder, at: Timestamp) -> Result<Option<Baseline>, String> {
    baselines::capture(git, folder, at)
}
