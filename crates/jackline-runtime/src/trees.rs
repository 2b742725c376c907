//! Other work trees of a project's repository: whether a directory lies in one, and what is where in both.

use std::path::{Path, PathBuf};

use crate::probes::git::Repository;

/// Two work trees of a repository, by their tops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The project's own.
    pub own: PathBuf,
    pub other: PathBuf,
}

impl Tree {
    /// Where a directory of the project's own work tree is in the other one; the top where it is not there.
    #[must_use]
    pub fn counterpart(&self, dir: &Path) -> Option<PathBuf> {
        let rest = dir.strip_prefix(&self.own).ok()?;
        let there = self.other.join(rest);
        let plain = rest.as_os_str().is_empty() || !there.is_dir();
        Some(if plain { self.other.clone() } else { there })
    }
}

/// The other work tree of a project's repository that a directory lies in, if it does. Both are canonical.
#[must_use]
pub fn other(project: &Path, dir: &Path) -> Option<Tree> {
    if project.starts_with(dir) {
        return None;
    }
    // What is nested and no work tree is judged with what is around it.
    let below = dir.starts_with(project);
    let there = dir.ancestors().take_while(|level| !below || *level != project).find_map(Repository::at)?;
    let own = Repository::around(project)?;
    let is_other = there.top != own.top && shares(&there, &own) && there.is_known();
    is_other.then_some(Tree { own: own.top, other: there.top })
}

/// The work tree in which a repository that has several keeps what they share, where this is another one of them.
#[must_use]
pub fn first_of(dir: &Path) -> Option<PathBuf> {
    let here = Repository::around(dir).filter(|here| here.linked)?;
    let common = crate::canonical(&here.common).ok().filter(|common| common.ends_with(".git"))?;
    let top = common.parent()?;
    (top != here.top && shares(&Repository::at(top)?, &here)).then(|| top.to_owned())
}

/// The top of the work tree that a directory lies in.
#[must_use]
pub fn top_of(dir: &Path) -> Option<PathBuf> {
    Repository::around(dir).map(|here| here.top)
}

/// The top of the first work tree of the repository that a directory lies in. A submodule has none that is told from its files.
#[must_use]
pub fn first_top(dir: &Path) -> Option<PathBuf> {
    let here = Repository::around(dir)?;
    if here.linked { first_of(dir) } else { Some(here.top) }
}

/// Whether both are work trees of one repository.
fn shares(one: &Repository, other: &Repository) -> bool {
    let [one, other] = [one, other].map(|repository| crate::canonical(&repository.common));
    one.is_ok_and(|one| other.is_ok_and(|other| one == other))
}
