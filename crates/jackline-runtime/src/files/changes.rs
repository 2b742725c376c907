//! What changed in a repository since a commit, told by git in as few calls as that takes; nothing is ever staged.
//!
//! Git compares its index with a commit and stat data with its index; a file that only looks touched is read again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use jackline_core::files::detector::{Changed, Changes};

use super::names::{listed, shown};
use crate::probes::git::{At, Git, GitFault, Repository, without_filters};

/// Milliseconds for all git calls of one look at the end of a turn.
pub const LOOK_MS_MAX: u64 = 12_000;
/// The same when a prompt is submitted, where a person waits: the hook's own deadline comes soon after.
pub(super) const PROMPT_LOOK_MS_MAX: u64 = 4_000;
/// Changed files of one look: far more than a session changes, and each is held against every policy.
pub(super) const CHANGED_MAX: usize = 100_000;
/// Branches of the remote that are compared to, the first that is there.
const DEFAULT_BRANCHES: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];
/// Bytes of a list of packed references that is looked through for a remote.
const PACKED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why it could not be told what changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unclear {
    #[error("there is no git program")]
    NoGit,
    #[error("there is no git repository around the policies")]
    NoRepository,
    #[error(transparent)]
    Git(#[from] GitFault),
    #[error("git's listing cannot be read")]
    Listing,
    #[error("`{0}` is no commit of this repository")]
    NoCommit(String),
    #[error("more than {CHANGED_MAX} files changed")]
    Many,
}

/// How a tracked file differs from a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tracked {
    /// The commit does not have it.
    pub(super) added: bool,
    /// The index already holds what the work tree does.
    pub(super) staged: bool,
}

/// A repository under a look: what was told once is not asked again.
pub(super) struct Survey<'a> {
    git: &'a Git,
    root: &'a Path,
    repository: Repository,
    until: Instant,
    neutral: OnceLock<Vec<String>>,
    untracked: OnceLock<Vec<String>>,
    head: OnceLock<Option<String>>,
}

impl<'a> Survey<'a> {
    pub(super) fn new(git: &'a Git, root: &'a Path, ms_max: u64) -> Result<Self, Unclear> {
        let canonical = crate::canonical(root).map_err(GitFault::from)?;
        let repository = Repository::around(&canonical).ok_or(Unclear::NoRepository)?;
        let until = Instant::now() + Duration::from_millis(ms_max);
        let (neutral, untracked, head) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { git, root, repository, until, neutral, untracked, head })
    }

    fn run(&self, words: &[&str], input: Vec<u8>) -> Result<Vec<u8>, GitFault> {
        self.git.run(&At { dir: self.root, top: &self.repository.top, until: self.until }, words, input)
    }

    /// What git printed, trimmed; nothing when it said no.
    fn answer(&self, words: &[&str]) -> Result<Option<String>, GitFault> {
        match self.run(words, Vec::new()) {
            Ok(printed) => {
                Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned()).filter(|text| !text.is_empty()))
            }
            Err(GitFault::Failed(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The commit that is checked out; none where there is no commit yet.
    pub(super) fn head(&self) -> Result<Option<String>, Unclear> {
        if let Some(head) = self.head.get() {
            return Ok(head.clone());
        }
        let head = self.answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        Ok(self.head.get_or_init(|| head).clone())
    }

    /// Where this branch left the remote's default branch; what is checked out where there is no remote.
    pub(super) fn base(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(base) = self.answer(&["merge-base", "HEAD", branch])? {
                return Ok(Some(base));
            }
        }
        self.head()
    }

    /// The tip of the remote's default branch; what is checked out where there is no remote.
    pub(super) fn default_tip(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(tip) = self.answer(&["rev-parse", "--verify", "--quiet", &format!("{branch}^{{commit}}")])? {
                return Ok(Some(tip));
            }
        }
        self.head()
    }

    /// Where this branch left a commit that was named; that commit itself, where they have nothing in common.
    pub(super) fn named(&self, name: &str) -> Result<String, Unclear> {
        let commit = format!("{name}^{{commit}}");
        let found = self.answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        let tip = found.ok_or_else(|| Unclear::NoCommit(name.to_owned()))?;
        Ok(self.answer(&["merge-base", "HEAD", &tip])?.unwrap_or(tip))
    }

    /// A look at the disk spares a call for each branch that cannot be there.
    fn remote_branches(&self) -> &'static [&'static str] {
        let common = &self.repository.common;
        let named = || {
            let packed = crate::probes::fingerprint::small(&common.join("packed-refs"), PACKED_BYTES_MAX);
            const REMOTE: &[u8] = b"refs/remotes/origin/";
            packed.is_some_and(|packed| packed.windows(REMOTE.len()).any(|window| window == REMOTE))
        };
        let there = common.join("refs/remotes/origin").is_dir() || common.join("reftable").is_dir() || named();
        let symbolic = common.join("refs/remotes/origin/HEAD").exists() || common.join("reftable").is_dir();
        match (there, symbolic) {
            (false, _) => &[],
            (true, true) => &DEFAULT_BRANCHES,
            (true, false) => DEFAULT_BRANCHES.get(1..).unwrap_or_default(),
        }
    }

    /// Asks at once for what every look needs, so that git's calls run side by side.
    pub(super) fn prepare(&self) -> Result<(), Unclear> {
        let at = || At { dir: self.root, top: &self.repository.top, until: self.until };
        let git = self.git;
        let (listed, configured) = thread::scope(|scope| {
            let configured = scope.spawn(|| git.run(&at(), &["config", "--name-only", "-z", "--list"], Vec::new()));
            let listed = git.run(&at(), &["ls-files", "-z", "-o", "--exclude-standard"], Vec::new());
            (listed, configured.join())
        });
        let configured =
            configured.unwrap_or(Err(GitFault::Failed("its settings could not be asked for".to_owned())))?;
        let _ = self.neutral.set(without_filters(&configured)?);
        let untracked: Vec<String> = names(&listed?);
        if untracked.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let _ = self.untracked.set(untracked);
        Ok(())
    }

    /// Files that git does not know and does not ignore. A repository inside another is one name.
    pub(super) fn untracked(&self) -> Result<&[String], Unclear> {
        if self.untracked.get().is_none() {
            self.prepare()?;
        }
        Ok(self.untracked.get().map(Vec::as_slice).unwrap_or_default())
    }

    /// Tracked files that differ from a commit, or from nothing at all where there is none.
    pub(super) fn tracked(&self, commit: Option<&str>) -> Result<BTreeMap<String, Tracked>, Unclear> {
        self.untracked()?;
        let Some(commit) = commit else {
            let printed = self.run(&["ls-files", "-z"], Vec::new())?;
            let added = Tracked { added: true, staged: true };
            return Ok(names(&printed).into_iter().map(|name| (name, added)).collect());
        };
        let neutral = self.neutral.get().map(Vec::as_slice).unwrap_or_default();
        let mut words: Vec<&str> = neutral.iter().flat_map(|setting| ["-c", setting]).collect();
        // Inside a submodule settings of its own would count: only which commit it is at is looked at.
        words.extend(["diff-index", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"]);
        words.extend(["--ignore-submodules=dirty", "--relative", commit, "--"]);
        let printed = self.run(&words, Vec::new())?;
        let entries = entries(&printed).ok_or(Unclear::Listing)?;
        if entries.len() > CHANGED_MAX {
            return Err(Unclear::Many);
        }
        let touched = self.only_touched(&entries)?;
        let changed = entries.iter().filter(|entry| !touched.contains(&entry.path));
        Ok(changed.map(|entry| (shown(entry.path), entry.tracked())).collect())
    }

    /// Files whose stat data alone differ: git is asked for their content, without filters.
    fn only_touched<'e>(&self, entries: &[Entry<'e>]) -> Result<Vec<&'e [u8]>, Unclear> {
        // Names with a line end would break git's list of lines: such a file counts as changed.
        let unsure: Vec<&Entry<'e>> = entries
            .iter()
            .filter(|entry| entry.may_be_touched() && !entry.path.iter().any(|byte| matches!(byte, b'\n' | b'\r')))
            .collect();
        if unsure.is_empty() {
            return Ok(Vec::new());
        }
        let lines: Vec<u8> = unsure.iter().flat_map(|entry| [b"./".as_slice(), entry.path, b"\n"].concat()).collect();
        // A file that is gone by now ends the call: all of them count as changed then.
        let printed = match self.run(&["hash-object", "--no-filters", "--stdin-paths"], lines) {
            Ok(printed) => printed,
            Err(GitFault::Failed(_)) => return Ok(Vec::new()),
            Err(fault) => return Err(fault.into()),
        };
        let ids = printed.split(|byte| *byte == b'\n').filter(|id| !id.is_empty());
        Ok(unsure.iter().zip(ids).filter(|(entry, id)| entry.before == *id).map(|(entry, _)| entry.path).collect())
    }

    /// Everything that changed since a commit.
    pub(super) fn since(&self, commit: Option<&str>) -> Result<Changes, Unclear> {
        let tracked = self.tracked(commit)?;
        let untracked = self.untracked()?;
        // What was taken out of the index and still lies there is in both lists, and was there before.
        let known = |name: &&String| !tracked.contains_key(*name);
        let new = untracked.iter().filter(known).map(|name| Changed { path: name.clone(), created: true });
        let old = tracked.iter().map(|(name, how)| Changed { path: name.clone(), created: how.added });
        Ok(Changes::new(old.chain(new).collect()))
    }
}

fn names(printed: &[u8]) -> Vec<String> {
    listed(printed).map(|name| shown(name.strip_suffix(b"/").unwrap_or(name))).collect()
}

/// One line of a comparison.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    modes: (&'a [u8], &'a [u8]),
    before: &'a [u8],
    after: &'a [u8],
    status: u8,
    path: &'a [u8],
}

impl Entry<'_> {
    fn tracked(&self) -> Tracked {
        Tracked { added: self.status == b'A', staged: !self.unhashed() }
    }

    /// The work tree's content is not that of the index.
    fn unhashed(&self) -> bool {
        self.after.iter().all(|digit| *digit == b'0')
    }

    fn may_be_touched(&self) -> bool {
        self.status == b'M' && self.unhashed() && self.modes.0 == self.modes.1 && self.modes.0.starts_with(b"100")
    }
}

/// Reads `:mode mode id id status NUL path NUL`, again and again; `None` when it is something else.
fn entries(printed: &[u8]) -> Option<Vec<Entry<'_>>> {
    let mut all = Vec::new();
    let mut parts = listed(printed);
    while let Some(about) = parts.next() {
        let mut words = about.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (from, to) = (words.next()?, words.next()?);
        let (before, after) = (words.next()?, words.next()?);
        let status = *words.next()?.first()?;
        all.push(Entry { modes: (from, to), before, after, status, path: parts.next()? });
    }
    Some(all)
}

#[cfg(test)]
mod tests;
