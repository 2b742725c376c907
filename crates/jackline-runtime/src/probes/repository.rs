//! What git says of the repository around the workspace: commits, cleanness, what its remotes are known to hold.
//!
//! No network is asked: what a remote holds is what the last fetch or push wrote down.

use std::path::Path;
use std::time::{Duration, Instant};

use jackline_core::probe::{Fact, GitQuestion, Told};

use super::git::{At, GIT_MS_MAX, Git, GitFault, Repository, without_filters};

/// Paths that are named when the work tree is not clean.
const PATHS_SHOWN_MAX: usize = 3;

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

    fn clean(&self) -> Result<Fact, GitFault> {
        let neutral = self.without_filters()?;
        let mut words: Vec<&str> = neutral.iter().flat_map(|setting| ["-c", setting]).collect();
        // Inside a submodule settings of its own would count: only which commit it is at is looked at.
        words.extend(["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=dirty"]);
        let printed = self.git.run(&self.at, &words, Vec::new())?;
        let changed: Vec<String> = printed
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.get(3..).filter(|path| !path.is_empty()))
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        if changed.is_empty() {
            return Ok(told(true, "there is nothing to commit"));
        }
        let more = if changed.len() > PATHS_SHOWN_MAX { "..." } else { "" };
        let shown: Vec<&str> = changed.iter().take(PATHS_SHOWN_MAX).map(String::as_str).collect();
        Ok(told(false, &format!("{} path(s) changed: {}{more}", changed.len(), shown.join(", "))))
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
