//! How everything was when a prompt was submitted: kept on disk, and believed only as a session remembers it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::files::detector::{Changed, Changes};
use jackline_core::files::policy::CompareTo;
use jackline_core::files::seen::Baseline;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::changes::{PROMPT_LOOK_MS_MAX, Survey, Told, Unclear};
use super::contents::{self, Contents};
use super::folder::{self, Folder};
use super::queue;
use crate::probes::fingerprint::small;
use crate::probes::git::Git;

/// Baselines of all sessions that are kept; the oldest goes. Whose is gone compares to the commit of its prompt.
const BASELINES_MAX: usize = 256;
/// Those of one session: the last, and the one before for whoever is looking at it.
const BASELINES_OF_SESSION_MAX: usize = 2;
/// Hexadecimal digits that tell sessions apart.
const MARK_DIGITS: usize = 12;
/// Bytes of one: a path and a digest for each file that was not committed.
const BASELINE_BYTES_MAX: u64 = 32 * 1024 * 1024;

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
pub(super) fn capture(
    git: &Git,
    (folder, states): (&Folder, &[PathBuf]),
    (session, at, began): (&str, Timestamp, Option<Timestamp>),
) -> Result<Option<Baseline>, String> {
    let wanted = folder::policies(folder).policies.iter().any(|policy| policy.compare_to == CompareTo::Prompt);
    if !wanted {
        return Ok(None);
    }
    let kept = look(git, (folder, states), (at, began)).map_err(|why| why.to_string())?;
    let (commit, reference) = (kept.commit.clone(), at.0.div_euclid(1000).to_string());
    let (file, digest, unkept) = match write(folder, &kept, session, &reference) {
        Ok((file, digest)) => (file, digest, None),
        // The commit is remembered all the same: what is compared to is earlier then, never later.
        Err(fault) => (String::new(), Digest::ZERO, Some(fault.to_string())),
    };
    Ok(Some(Baseline { file, digest, reference, commit, unkept, tree: None }))
}

fn look(
    git: &Git,
    (folder, states): (&Folder, &[PathBuf]),
    (at, began): (Timestamp, Option<Timestamp>),
) -> Result<Kept, Unclear> {
    let survey = Survey::new(git, &folder.root, PROMPT_LOOK_MS_MAX)?.beside(folder, states).doubting(began);
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

fn write(folder: &Folder, kept: &Kept, session: &str, seconds: &str) -> std::io::Result<(String, Digest)> {
    let dir = queue::place(folder, "baselines")?;
    let text = serde_json::to_vec_pretty(kept)?;
    let mark = Digest::of(session.as_bytes()).hex();
    let mark = mark.get(..MARK_DIGITS).unwrap_or_default();
    let file = format!("prompt_{seconds}-{mark}.json");
    queue::replace(&dir.join(&file), &text)?;
    prune(&dir, mark);
    Ok((file, Digest::of(&text)))
}

/// Takes the oldest away: those of this session first, so that no session drives out what another compares to. One that
/// cannot be taken away is in nobody's way.
fn prune(dir: &Path, mark: &str) {
    let names = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort_by_key(|name| seconds(name));
    let own: Vec<String> = names.iter().filter(|name| name.ends_with(&format!("-{mark}.json"))).cloned().collect();
    let too_many = own.len().saturating_sub(BASELINES_OF_SESSION_MAX);
    let gone: Vec<String> = own.into_iter().take(too_many).collect();
    names.retain(|name| !gone.contains(name));
    let more = names.len().saturating_sub(BASELINES_MAX);
    gone.iter().chain(names.iter().take(more)).for_each(|name| drop(fs::remove_file(dir.join(name))));
}

/// When one was kept; what has another name is older than all.
fn seconds(name: &str) -> u64 {
    let digits = name.strip_prefix("prompt_").and_then(|rest| rest.split(['-', '.']).next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// A kept baseline, if it is still what the session remembers.
pub(super) fn load(folder: &Folder, baseline: &Baseline) -> Option<Kept> {
    let plain = !baseline.file.is_empty() && !baseline.file.contains('/');
    let bytes =
        plain.then(|| small(&folder.state().join("baselines").join(&baseline.file), BASELINE_BYTES_MAX)).flatten()?;
    (Digest::of(&bytes) == baseline.digest).then(|| serde_json::from_slice(&bytes).ok()).flatten()
}

/// What changed since a prompt: files that were not committed then count only if they contain something else now.
pub(super) fn since(survey: &Survey<'_>, folder: &Folder, kept: &Kept) -> Result<Told, Unclear> {
    let Told { changes: now, whole } = survey.since_then(kept.commit.as_deref())?;
    let dirty: Vec<&str> = kept.digests.keys().map(String::as_str).collect();
    let contents: Contents = contents::of(&folder.root, &dirty);
    let then = |path: &str| kept.digests.get(path);
    let other = now.iter().filter(|file| then(&file.path).is_none()).cloned();
    let differs = kept.digests.iter().filter_map(|(path, then)| {
        let now = contents.get(path).copied().flatten();
        (now != *then).then(|| Changed { path: path.clone(), created: then.is_none() })
    });
    Ok(Told { changes: Changes::new(other.chain(differs).collect()), whole })
}
