//! What git says of the repository around the workspace: commits, cleanness, what its remotes are known to hold.
//!
//! No network is asked: what a remote holds is what the last fetch or push wrote down.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jackline_core::probe::{Fact, GitQuestion, Told};

use super::git::{At, GIT_MS_MAX, Git, GitFault, Repository, without_filters};

/// Paths that are named when the work tree is not clean.
const PATHS_SHOWN_MAX: usize = 3;

/// Settings that would have git believe a file's time or size.
const EXACT: [&str; 3] = ["core.checkStat=default", "core.trustctime=true", "core.ignoreStat=false"];
const LIST_UNTRACKED: [&str; 6] =
    ["ls-files", "-z", "-o", "--directory", "--no-empty-directory", "--exclude-per-directory=.gitignore"];
const LIST_MARKED: [&str; 4] = ["ls-files", "-z", "-v", "-s"];
const HASH: [&str; 3] = ["hash-object", "--no-filters", "--stdin-paths"];

/// The answer where there is no git.
pub(super) fn absent() -> Fact {
    Fact::Unknown("there is no git program".to_owned())
}

pub(super) fn answer(git: &Git, root: &Path, question: &GitQuestion) -> Fact {
    let Some(repository) = crate::canonical(root).ok().as_deref().and_then(Repository::around) else {
        return told(false, "there is no git repository");
    };
    let asked = Asked {
        git,
        at: At { dir: root, top: &repository.top, until: Instant::now() + Duration::from_millis(GIT_MS_MAX) },
    };
    let answered = match question {
        GitQuestion::Commit { sha } => asked.commit(sha),
        GitQuestion::Clean => asked.clean(),
        GitQuestion::Pushed { branch, remote } => asked.pushed(branch.as_deref(), remote),
    };
    answered.unwrap_or_else(|fault| Fact::Unknown(fault.to_string()))
}

/// A path of the index that git does not look at.
struct Marked<'a> {
    /// Left out of the work tree, as in a sparse one.
    skipped: bool,
    mode: &'a [u8],
    id: &'a [u8],
    path: &'a [u8],
}

impl<'a> Marked<'a> {
    /// Reads an entry of `ls-files -v -s`; `None` for one that git looks at.
    fn read(entry: &'a [u8]) -> Option<Self> {
        let (tag, rest) = entry.split_first()?;
        let tab = rest.iter().position(|byte| *byte == b'\t')?;
        let (about, path) = (rest.get(..tab)?, rest.get(tab + 1..)?);
        let mut words = about.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (mode, id) = (words.next()?, words.next()?);
        let skipped = tag.eq_ignore_ascii_case(&b'S');
        (skipped || tag.is_ascii_lowercase()).then_some(Self { skipped, mode, id, path })
    }

    fn seen(&self, top: &Path) -> Option<Metadata> {
        fs::symlink_metadata(top.join(OsStr::from_bytes(self.path))).ok()
    }

    /// A sparse work tree does not have it; a submodule is told by its commit.
    fn is_left_out(&self, top: &Path) -> bool {
        self.mode == b"160000" || self.skipped && self.seen(top).is_none()
    }

    /// Whether it is a file as the index has it, so that its content decides.
    fn is_plain(&self, top: &Path) -> bool {
        let program = self.mode == b"100755";
        let line = !self.path.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
        line && self.mode.starts_with(b"100")
            && self.seen(top).is_some_and(|meta| meta.is_file() && (meta.mode() & 0o100 != 0) == program)
    }
}

struct Asked<'a> {
    git: &'a Git,
    at: At<'a>,
}

impl Asked<'_> {
    fn commit(&self, sha: &str) -> Result<Fact, GitFault> {
        let found = self.resolved(&format!("{sha}^{{commit}}"))?;
        Ok(match found {
            Some(_) => told(true, "it is in the repository"),
            None => told(false, "there is no such commit"),
        })
    }

    /// Nothing is changed, staged or untracked. Only what the repository itself says to ignore is left out: marks in the
    /// index, `.git/info/exclude` and settings would hide files on this machine alone.
    fn clean(&self) -> Result<Fact, GitFault> {
        let neutral = self.without_filters()?;
        let mut words: Vec<&str> = neutral.iter().flat_map(|setting| ["-c", setting]).collect();
        words.extend(EXACT.iter().flat_map(|setting| ["-c", setting]));
        // Inside a submodule settings of its own would count: only which commit it is at is looked at.
        words.extend(["status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=dirty"]);
        let printed = self.git.run(&self.at, &words, Vec::new())?;
        let tracked = printed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        let whole = At { dir: self.at.top, top: self.at.top, until: self.at.until };
        let untracked = self.git.run(&whole, &LIST_UNTRACKED, Vec::new())?;
        let hidden = self.hidden(&whole)?;
        let paths = tracked.chain(untracked.split(|byte| *byte == 0)).chain(hidden.iter().map(Vec::as_slice));
        let paths = paths.filter(|path| !path.is_empty());
        let changed: BTreeSet<String> = paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        if changed.is_empty() {
            return Ok(told(true, "there is nothing to commit"));
        }
        let more = if changed.len() > PATHS_SHOWN_MAX { "..." } else { "" };
        let shown: Vec<&str> = changed.iter().take(PATHS_SHOWN_MAX).map(String::as_str).collect();
        Ok(told(false, &format!("{} path(s) changed: {}{more}", changed.len(), shown.join(", "))))
    }

    /// Paths that git was told not to look at (`--assume-unchanged`, `--skip-worktree`), and that are not what it knows.
    fn hidden(&self, whole: &At<'_>) -> Result<Vec<Vec<u8>>, GitFault> {
        let listing = self.git.run(whole, &LIST_MARKED, Vec::new())?;
        let listed = listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        let marked: Vec<Marked<'_>> = listed.filter_map(Marked::read).collect();
        let (suspects, mut hidden): (Vec<&Marked<'_>>, Vec<&Marked<'_>>) =
            marked.iter().filter(|entry| !entry.is_left_out(whole.top)).partition(|entry| entry.is_plain(whole.top));
        if !suspects.is_empty() {
            let names = suspects.iter().flat_map(|entry| [b"./".as_slice(), entry.path, b"\n"].concat()).collect();
            let printed = self.git.run(whole, &HASH, names)?;
            let ids: Vec<&[u8]> = printed.split(|byte| *byte == b'\n').filter(|id| !id.is_empty()).collect();
            let same = |at: usize, entry: &Marked<'_>| ids.get(at).is_some_and(|id| *id == entry.id);
            hidden.extend(suspects.iter().enumerate().filter(|(at, entry)| !same(*at, entry)).map(|(_, entry)| *entry));
        }
        Ok(hidden.into_iter().map(|entry| entry.path.to_owned()).collect())
    }

    /// Settings that keep git from running the repository's own filter programs over changed files.
    fn without_filters(&self) -> Result<Vec<String>, GitFault> {
        let listed = self.git.run(&self.at, &["config", "--name-only", "-z", "--list"], Vec::new())?;
        without_filters(&listed)
    }

    fn pushed(&self, branch: Option<&str>, remote: &str) -> Result<Fact, GitFault> {
        let branch = match branch {
            Some(branch) => branch.to_owned(),
            None => match self.printed(&["symbolic-ref", "--quiet", "--short", "HEAD"])? {
                Some(branch) => branch,
                None => return Ok(told(false, "no branch is checked out")),
            },
        };
        let (here, there) = (format!("refs/heads/{branch}"), format!("refs/remotes/{remote}/{branch}"));
        let Some(ours) = self.resolved(&here)? else { return Ok(told(false, "there is no such branch")) };
        let Some(theirs) = self.resolved(&there)? else {
            return Ok(told(false, &format!("{remote} is not known to have it")));
        };
        let behind = self.printed(&["merge-base", "--is-ancestor", &ours, &theirs])?;
        Ok(match ours == theirs || behind.is_some() {
            true => told(true, &format!("{remote} has all of it, as far as was fetched or pushed")),
            false => told(false, &format!("{remote} is not known to have all of it")),
        })
    }

    /// The object that a name leads to.
    fn resolved(&self, name: &str) -> Result<Option<String>, GitFault> {
        self.printed(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])
    }

    /// What git printed, trimmed; nothing when it said no.
    fn printed(&self, words: &[&str]) -> Result<Option<String>, GitFault> {
        match self.git.run(&self.at, words, Vec::new()) {
            Ok(printed) => Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned())),
            Err(GitFault::Failed(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

fn told(holds: bool, seen: &str) -> Fact {
    Fact::Told(Told::Holds { holds, seen: seen.to_owned() })
}

#[cfg(test)]
mod tests;
