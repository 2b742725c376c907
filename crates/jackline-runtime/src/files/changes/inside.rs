//! Repositories inside the one that is looked at: submodules, other work trees of it, and those that git does not know.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{CHANGED_MAX, Entry, GitFault, Listing, Repository, Submodule, Survey, Tracked, Unclear, names, shown};
use crate::probes::below::{self, Below};

/// Repositories inside the one that is looked at (submodules, and those git does not know) that git is asked about, a few
/// calls each. What lies in any other counts as new.
const REPOSITORIES_MAX: usize = 64;

impl<'a> Survey<'a> {
    /// Whether another work tree of this repository lies there.
    pub(super) fn is_linked(&self, below: &[u8]) -> bool {
        let there = Repository::at(&self.root.join(names::from_bytes(below))).filter(|there| there.linked);
        let common = |repository: &Repository| crate::canonical(&repository.common).ok();
        there.is_some_and(|there| common(&there).is_some_and(|place| Some(place) == common(&self.repository)))
    }

    /// Files that git does not know, with those of repositories that it only names.
    pub(super) fn not_known(&self, listing: &Listing) -> Result<Vec<String>, Unclear> {
        let mut untracked: Vec<String> = listing.untracked.iter().map(|name| shown(name)).collect();
        for nested in &listing.nested {
            untracked.extend(self.all_in(nested)?);
            // Its own name stays: a policy may be about the directory.
            untracked.push(shown(nested));
            if untracked.len() > CHANGED_MAX {
                return Err(Unclear::Many);
            }
        }
        untracked.sort_unstable();
        untracked.dedup();
        Ok(untracked)
    }

    /// All files of a directory that git does not look into, from here: as the repository there lists them, or walked
    /// through where there is none, or git cannot list it.
    pub(super) fn all_in(&self, below: &[u8]) -> Result<Vec<String>, Unclear> {
        let inner = self.enter(below);
        let listed = match inner.map(|inner| inner.since(None)) {
            Some(Err(Unclear::Git(GitFault::Failed(_)))) | None => None,
            Some(told) => Some(told?.iter().map(|file| file.path.clone()).collect::<Vec<_>>()),
        };
        let files = match listed {
            Some(listed) => listed,
            None => {
                let dir = self.root.join(names::from_bytes(below));
                // Of more than can be looked at nobody can tell what is new.
                let hidden = || Below { files: Vec::new(), closed: vec![Vec::new()] };
                let found = below::files(&dir, CHANGED_MAX).unwrap_or_else(hidden);
                self.close(&dir, found.closed);
                found.files.iter().map(|name| shown(name)).collect()
            }
        };
        let below = shown(below);
        Ok(files.into_iter().map(|file| format!("{below}/{file}")).collect())
    }

    /// The repository in a directory of this one; nothing where there is none, or git was asked about as many as it may:
    /// what lies there is walked through then, and all of it counts.
    fn enter(&self, below: &[u8]) -> Option<Survey<'a>> {
        let root = self.root.join(names::from_bytes(below));
        let repository = Some(&root).filter(|root| below::is_directory(root)).and_then(|root| Repository::at(root))?;
        if self.all.entered.fetch_add(1, Ordering::Relaxed) >= REPOSITORIES_MAX {
            return None;
        }
        let inner = Survey::of(self.git, root, (repository, self.until), Arc::clone(&self.all));
        Some(Survey { late: self.late, ..inner })
    }

    /// What changed in a submodule since the commit that was compared to names it.
    pub(super) fn in_submodule(
        &self,
        submodule: &Submodule,
        entry: Option<&Entry<'_>>,
    ) -> Result<Vec<(String, Tracked)>, Unclear> {
        let then = match entry {
            Some(entry) if entry.is_submodule() => Some(entry.before.as_ref()),
            Some(_) => None,
            None => Some(submodule.id.as_slice()),
        };
        let then = then.map(|id| String::from_utf8_lossy(id).into_owned());
        self.in_repository(&submodule.path, then.as_deref())
    }

    /// What changed in a repository inside since a commit of it. Where nobody can tell, because it is no repository any
    /// more or not the one that it was, all that lies there counts, and so does the directory.
    pub(super) fn in_repository(&self, below: &[u8], then: Option<&str>) -> Result<Vec<(String, Tracked)>, Unclear> {
        let how = |added: bool| Tracked { added, staged: false };
        let name = shown(below);
        let inner = self.enter(below);
        match inner.map(|inner| inner.since(then)) {
            Some(Err(Unclear::Git(GitFault::Failed(_)))) | None => {
                let all = self.all_in(below)?;
                let itself = (!all.is_empty()).then(|| (name, how(false)));
                Ok(all.into_iter().map(|path| (path, how(true))).chain(itself).collect())
            }
            Some(told) => {
                let told = told?;
                Ok(told.iter().map(|file| (format!("{name}/{}", file.path), how(file.created))).collect())
            }
        }
    }
}
