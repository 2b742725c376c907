//! Which commit is compared to: what is checked out, or where that left the default branch of the remote.

use std::fs;
use std::sync::atomic::Ordering;

use super::changes::{Survey, Unclear};
use super::names;
use crate::probes::fingerprint::small;
use crate::probes::git::{GitFault, PACKED_BYTES_MAX};

/// Branches of the remote that are compared to, the first that is there.
const DEFAULT_BRANCHES: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];

impl Survey<'_> {
    /// The commit that is checked out; none where there is no commit yet.
    pub(super) fn head(&self) -> Result<Option<String>, Unclear> {
        if let Some(head) = self.head.get() {
            return Ok(head.clone());
        }
        let head = match self.repository.checked_out() {
            Some(head) => Some(head),
            None => self.answer(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?,
        };
        Ok(self.head.get_or_init(|| head).clone())
    }

    /// Where this branch left the remote's default branch; what is checked out where there is no remote.
    pub(super) fn base(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(base) = self.left(branch)? {
                return Ok(Some(base));
            }
        }
        self.fall_back()
    }

    /// Where this branch left another; the tip of that, where they have nothing in common, or nothing is checked out: a
    /// history that was cut, or is not there, must not make less count. Nothing where there is no such branch.
    fn left(&self, branch: &str) -> Result<Option<String>, Unclear> {
        match self.run(&["merge-base", "HEAD", branch], Vec::new()) {
            Ok(printed) => Ok(Some(String::from_utf8_lossy(&printed).trim().to_owned())),
            Err(GitFault::Failed(why)) => {
                // It complains of a branch that is not there as of a repository that it cannot read.
                let Some(tip) = self.tip(branch)? else { return Ok(None) };
                // Of what it does not know git complains; that there is no common commit is no fault to it.
                let is_fault = why.starts_with("fatal:");
                if is_fault && self.head()?.is_some() {
                    return Err(GitFault::Failed(why).into());
                }
                self.cut.fetch_or(!is_fault, Ordering::Relaxed);
                Ok(Some(tip))
            }
            Err(fault) => Err(fault.into()),
        }
    }

    fn tip(&self, branch: &str) -> Result<Option<String>, Unclear> {
        let commit = format!("{branch}^{{commit}}");
        Ok(self.answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?)
    }

    /// The tip of the remote's default branch; what is checked out where there is no remote.
    pub(super) fn default_tip(&self) -> Result<Option<String>, Unclear> {
        for branch in self.remote_branches() {
            if let Some(tip) = self.tip(branch)? {
                return Ok(Some(tip));
            }
        }
        self.fall_back()
    }

    /// What is checked out; whether there is a remote after all is remembered, for people to be told.
    fn fall_back(&self) -> Result<Option<String>, Unclear> {
        self.local.store(true, Ordering::Relaxed);
        self.astray.store(self.has_refs(b"refs/remotes/"), Ordering::Relaxed);
        self.head()
    }

    /// There is a remote, and none of its branches is known to be the default one.
    pub(super) fn is_astray(&self) -> bool {
        self.astray.load(Ordering::Relaxed)
    }

    /// What is checked out was compared to, for want of a branch.
    pub(super) fn is_local(&self) -> bool {
        self.local.load(Ordering::Relaxed)
    }

    /// The branch that was compared to has no commit in common with what is checked out.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Whether any reference begins so, as far as the disk tells.
    fn has_refs(&self, beginning: &[u8]) -> bool {
        let common = &self.repository.common;
        let packed = small(&common.join("packed-refs"), PACKED_BYTES_MAX);
        let in_packed = packed.is_some_and(|all| all.windows(beginning.len()).any(|window| window == beginning));
        let mut loose = fs::read_dir(common.join(names::from_bytes(beginning))).into_iter().flatten().flatten();
        in_packed || loose.next().is_some()
    }

    /// Where this branch left a commit that was named; that commit itself, where they have nothing in common.
    pub(super) fn named(&self, name: &str) -> Result<String, Unclear> {
        let tip = self.tip(name)?.ok_or_else(|| Unclear::NoCommit(name.to_owned()))?;
        Ok(self.left(&tip)?.unwrap_or(tip))
    }

    /// Whether what is checked out came after a commit. So it did after one that git does not know any more: that it went must
    /// not make less count.
    pub(super) fn comes_after(&self, commit: &str) -> Result<bool, Unclear> {
        match self.run(&["merge-base", "--is-ancestor", commit, "HEAD"], Vec::new()) {
            Ok(_) => Ok(true),
            Err(GitFault::Failed(why)) => Ok(!why.is_empty()),
            Err(fault) => Err(fault.into()),
        }
    }

    /// A look at the disk spares a call for each branch that cannot be there.
    fn remote_branches(&self) -> &'static [&'static str] {
        let common = &self.repository.common;
        let there = common.join("reftable").is_dir() || self.has_refs(b"refs/remotes/origin/");
        let symbolic = common.join("refs/remotes/origin/HEAD").exists() || common.join("reftable").is_dir();
        match (there, symbolic) {
            (false, _) => &[],
            (true, true) => &DEFAULT_BRANCHES,
            (true, false) => DEFAULT_BRANCHES.get(1..).unwrap_or_default(),
        }
    }
}
