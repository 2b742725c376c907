//! How everything was when a prompt was submitted: kept on disk, and believed only as a session remembers it.

use std::collections::BTreeMap;
use std::fs;

use jackline_core::files::detector::{Changed, Changes};
use jackline_core::files::policy::CompareTo;
use jackline_core::files::seen::Baseline;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::changes::{PROMPT_LOOK_MS_MAX, Survey, Unclear};
use super::contents::{self, Contents};
use super::folder::{self, Folder};
use super::queue;
use crate::probes::fingerprint::small;
use crate::probes::git::Git;

/// Baselines that are kept; the oldest goes.
const BASELINES_MAX: usize = 16;
/// Bytes of one: a path and a digest for each file that was not committed.
const BASELINE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Prompts in the same second that are told apart.
const SAME_SECOND_MAX: usize = 9;

/// The state that a prompt began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    timestamp: String,
    /// The commit that was checked out.
    commit: Option<String>,
    staged_files: Vec<String>,
    #[serde(default)]
    modified_files: Vec<String>,
    untracked_files: Vec<String>,
    /// What every file contained that was not committed; `null` for one that was deleted.
    digests: BTreeMap<String, Option<Digest>>,
}

/// Keeps how everything is now; nothing where no policy compares to it.
pub(super) fn capture(git: &Git, folder: &Folder, at: Timestamp) -> Result<Option<Baseline>, String> {
    let wanted = folder::policies(folder).policies.iter().any(|policy| policy.compare_to == CompareTo::Prompt);
    if !wanted {
        return Ok(None);
    }
    let kept = look(git, folder, at).map_err(|why| why.to_string())?;
    write(folder, &kept, at).map(Some).map_err(|fault| format!("the baseline cannot be kept: {fault}"))
}

fn look(git: &Git, folder: &Folder, at: Timestamp) -> Result<Kept, Unclear> {
    let survey = Survey::new(git, &folder.root, PROMPT_LOOK_MS_MAX)?;
    let commit = survey.head()?;
    let tracked = survey.tracked(commit.as_deref())?;
    let untracked_files = survey.untracked()?.to_vec();
    let dirty: Vec<&str> = tracked.keys().chain(&untracked_files).map(String::as_str).collect();
    let names =
        |staged: bool| tracked.iter().filter(|(_, how)| how.staged == staged).map(|(name, _)| name.clone()).collect();
    let (staged_files, modified_files) = (names(true), names(false));
    let digests = contents::of(&folder.root, &dirty);
    Ok(Kept { timestamp: at.to_string(), commit, staged_files, modified_files, untracked_files, digests })
}

fn write(folder: &Folder, kept: &Kept, at: Timestamp) -> std::io::Result<Baseline> {
    let dir = queue::place(folder, "baselines")?;
    let text = serde_json::to_vec_pretty(kept)?;
    let seconds = at.0.div_euclid(1000);
    let name = |number: usize| match number {
        0 => format!("prompt_{seconds}.json"),
        number => format!("prompt_{seconds}-{number}.json"),
    };
    let file = (0..SAME_SECOND_MAX).map(name).find(|name| !dir.join(name).exists()).unwrap_or_else(|| name(0));
    queue::replace(&dir.join(&file), &text)?;
    prune(&dir);
    Ok(Baseline { file, digest: Digest::of(&text), reference: seconds.to_string() })
}

/// Takes the oldest away. One that cannot be is in nobody's way.
fn prune(dir: &std::path::Path) {
    let mut names: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(BASELINES_MAX);
    names.iter().take(more).for_each(|name| drop(fs::remove_file(dir.join(name))));
}

/// A kept baseline, if it is still what the session remembers.
pub(super) fn load(folder: &Folder, baseline: &Baseline) -> Option<Kept> {
    let plain = !baseline.file.contains('/');
    let bytes =
        plain.then(|| small(&folder.state().join("baselines").join(&baseline.file), BASELINE_BYTES_MAX)).flatten()?;
    (Digest::of(&bytes) == baseline.digest).then(|| serde_json::from_slice(&bytes).ok()).flatten()
}

/// What changed since a prompt: files that were not committed then count only if they contain something else now.
pub(super) fn since(survey: &Survey<'_>, folder: &Folder, kept: &Kept) -> Result<Changes, Unclear> {
    let now = survey.since(kept.commit.as_deref())?;
    let dirty: Vec<&str> = kept.digests.keys().map(String::as_str).collect();
    let contents: Contents = contents::of(&folder.root, &dirty);
    let then = |path: &str| kept.digests.get(path);
    let other = now.iter().filter(|file| then(&file.path).is_none()).cloned();
    let differs = kept.digests.iter().filter_map(|(path, then)| {
        let now = contents.get(path).copied().flatten();
        (now != *then).then(|| Changed { path: path.clone(), created: then.is_none() })
    });
    Ok(Changes::new(other.chain(differs).collect()))
}
