//! The files of the workspace that a command runs: trusted with the command by what they contain, and protected.
//!
//! What a command runs is read as a shell reads it, so that a directory it enters first, a variable, a pattern or a
//! module's name lead to the file. A file that says what a program does is named by an option (`make -f`, `--config`);
//! one that a command only reads is the agent's work and stays writable. What a program reads by itself (a Makefile, a
//! `package.json`) cannot be told from the command's words.

mod interpreters;
mod named;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;
use jackline_core::stack::Stack;

use super::file;
use crate::files::{self, Folder, Levels, actions::trusted};
pub use named::Runs;

/// Bytes of a script that is trusted by its content: far more than anyone reads through.
const SCRIPT_BYTES_MAX: usize = 16 << 20;

/// What is known of the scripts that trusted commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scripts {
    /// The definition was given as it is, and its scripts with it.
    Given,
    /// Those that a person trusted: paths below the workspace root, and what they contained.
    Trusted(BTreeMap<String, String>),
}

impl Default for Scripts {
    fn default() -> Self {
        Self::Trusted(BTreeMap::new())
    }
}

impl Scripts {
    /// Why a command's scripts are not trusted as they are now; `None` when they are, or when it runs none.
    pub(crate) fn objection(&self, root: &Path, argv: &[String]) -> Option<String> {
        let Self::Trusted(known) = self else { return None };
        objection(known, root, argv)
    }
}

/// Why a command may not run, if these are the scripts that it may run.
pub(crate) fn objection(known: &BTreeMap<String, String>, root: &Path, argv: &[String]) -> Option<String> {
    let runs = Runs::of(root, argv);
    let altered = |script: &String| match known.get(script) {
        None => Some(format!("`{script}` is not trusted")),
        Some(then) if Some(then) != content(root, script).as_ref() => {
            Some(format!("`{script}` changed since it was trusted"))
        }
        Some(_) => None,
    };
    let missing = |script: &String| match known.get(script) {
        None => format!("`{script}` is not there"),
        Some(_) => format!("`{script}` changed since it was trusted"),
    };
    runs.files.iter().find_map(altered).or_else(|| runs.missing.first().map(missing))
}

/// The scripts of a command as they are now, with what they contain.
///
/// # Errors
/// The one that is not there or cannot be read.
pub(crate) fn bound(root: &Path, argv: &[String]) -> Result<BTreeMap<String, String>, String> {
    let runs = Runs::of(root, argv);
    if let Some(missing) = runs.missing.into_iter().next() {
        return Err(missing);
    }
    runs.files.into_iter().map(|script| Ok((script.clone(), content(root, &script).ok_or(script)?))).collect()
}

/// The scripts of all commands of a stack as they are now, as `jackline trust` remembers them; and the file policies
/// that have commands, with the scripts of those.
#[must_use]
pub fn present(stack: &Stack) -> BTreeMap<String, String> {
    let root = Path::new(&stack.root);
    let policies = policies(stack);
    let named =
        stack.layers.iter().flat_map(|layer| layer.model.commands()).flat_map(|argv| Runs::of(root, argv).files);
    let of_policies = policies.iter().flat_map(|(folder, _, _, words)| {
        Runs::of(folder, words).files.into_iter().map(move |script| (folder.as_path(), script))
    });
    let scripts = named.map(|script| (root, script)).chain(of_policies);
    let mut all: BTreeMap<String, String> =
        scripts.filter_map(|(root, script)| content(root, &script).map(|content| (script, content))).collect();
    all.extend(policies.iter().map(|(_, file, content, _)| (file.clone(), content.clone())));
    all
}

/// A file policy's root, file, content and words, for each that has a command.
type Commanding = (PathBuf, String, String, Vec<String>);

fn policies(stack: &Stack) -> Vec<Commanding> {
    let commanding = |folder: Folder| {
        let root = folder.root.clone();
        trusted(&folder).into_iter().map(move |(file, content, words)| (root.clone(), file, content, words))
    };
    files::folders(stack).into_iter().flat_map(commanding).collect()
}

/// The scripts of all commands of a stack, to be protected: those that are there, those that would run if they were,
/// and those that were trusted; and the folders of file policies. In each of these work trees.
#[must_use]
pub fn files(stack: &Stack, scripts: &Scripts, trees: &[Levels]) -> Vec<PathBuf> {
    let root = Path::new(&stack.root);
    let named = stack.layers.iter().flat_map(|layer| layer.model.commands()).map(|argv| Runs::of(root, argv));
    let mut files: Vec<PathBuf> = named.flat_map(Runs::all).map(|script| root.join(script)).collect();
    for tree in trees {
        let found = files::folders_in(stack, tree);
        files.extend(folders(stack, tree, &found));
        if let Scripts::Trusted(known) = scripts
            && !known.is_empty()
        {
            // Those of file policies are told from the top of the repository.
            let roots: BTreeSet<&Path> = found.iter().map(|folder| &*folder.root).chain([&*tree.root]).collect();
            files.extend(roots.iter().flat_map(|root| known.keys().map(move |script| root.join(script))));
        }
    }
    files.sort_unstable();
    files.dedup();
    files
}

/// The folders of file policies, with what is kept beside them. Those that nobody names are protected by what they are
/// called, unless a link leads there from elsewhere; one that is not there must not be made.
fn folders(stack: &Stack, tree: &Levels, found: &[Folder]) -> Vec<PathBuf> {
    let named = jackline_core::files::settings::folders(stack).into_iter().filter_map(|folder| folder.dir);
    let mut all: Vec<PathBuf> = named.map(|dir| tree.root.join(dir)).chain(tree.wished()).collect();
    let by_name = |folder: &Folder| files::folder::DIRS.iter().any(|dir| folder.dir.ends_with(dir));
    let kept = found.iter().filter(|folder| !by_name(folder) || folder.dir.is_symlink());
    all.extend(kept.flat_map(|folder| [folder.state(), folder.dir.clone()]));
    all
}

/// What a script contains; `None` when it cannot be told.
fn content(root: &Path, script: &str) -> Option<String> {
    let bytes = file::read(&root.join(script), SCRIPT_BYTES_MAX + 1).ok().filter(|it| it.len() <= SCRIPT_BYTES_MAX)?;
    Some(format!("sha256:{}", Digest::of(&bytes)))
}

#[cfg(test)]
mod tests;
