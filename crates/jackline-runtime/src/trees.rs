//! Where a directory lies, seen from a project: in it, in another work tree of its repository, or in neither.

use std::path::{Path, PathBuf};

use crate::probes::git::Repository;

/// What a directory is to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lies {
    /// In the project, around it, or beside it in the same work tree.
    Here,
    /// In another work tree of the repository.
    InTree(Tree),
    /// In neither.
    Elsewhere,
}

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

/// Where a directory lies. Both are canonical.
#[must_use]
pub fn seen_from(project: &Path, dir: &Path) -> Lies {
    if project.starts_with(dir) {
        return Lies::Here;
    }
    let below = dir.starts_with(project);
    let mut levels = dir.ancestors().take_while(|level| !below || *level != project);
    let there = levels.find_map(Repository::at);
    let Some((there, own)) = there.and_then(|there| Some((there, Repository::around(project)?))) else {
        return if below { Lies::Here } else { Lies::Elsewhere };
    };
    if there.top == own.top {
        return Lies::Here;
    }
    match shares(&there, &own) && there.is_known() {
        true => Lies::InTree(Tree { own: own.top, other: there.top }),
        // What is nested is judged with what is around it.
        false if below => Lies::Here,
        false => Lies::Elsewhere,
    }
}

/// The work tree in which a repository that has several keeps what they share, where this is another one of them.
#[must_use]
pub fn first_of(dir: &Path) -> Option<PathBuf> {
    let here = Repository::around(dir).filter(|here| here.linked)?;
    let common = crate::canonical(&here.common).ok().filter(|common| common.ends_with(".git"))?;
    let top = common.parent()?;
    (top != here.top && shares(&Repository::at(top)?, &here)).then(|| top.to_owned())
}

/// Whether both are work trees of one repository.
fn shares(one: &Repository, other: &Repository) -> bool {
    let [one, other] = [one, other].map(|repository| crate::canonical(&repository.common));
    one.is_ok_and(|one| other.is_ok_and(|other| one == other))
}
