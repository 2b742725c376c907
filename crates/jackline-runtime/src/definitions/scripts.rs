//! The files of the workspace that a command runs: trusted with the command by what they contain, and protected.
//!
//! A file that a command only reads is the agent's work and stays writable. What a program reads by itself (a Makefile,
//! a `package.json`) cannot be told from the command's words.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use jackline_core::sha::Digest;
use jackline_core::stack::Stack;

use super::file;
use crate::files::{self, actions::trusted};

/// Programs whose first word that is no option is a text they run.
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python2", "python3", "node", "deno", "bun", "ruby", "perl",
    "php", "lua", "Rscript", "awk",
];
/// Options after which such a program runs no file.
const NO_FILE: &[&str] = &["-c", "-m", "-e", "--eval", "-p", "-r"];
/// What stands between the paths of a shell's text or of an option.
const BETWEEN: &str = ";&|()<>{}\"'`$=,";
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
        of(root, argv).into_iter().find_map(|script| match known.get(&script) {
            None => Some(format!("`{script}` is not trusted")),
            Some(then) if Some(then) != content(root, &script).as_ref() => {
                Some(format!("`{script}` changed since it was trusted"))
            }
            Some(_) => None,
        })
    }
}

/// The scripts of all commands of a stack as they are now, as `jackline trust` remembers them; and the file policies
/// that have commands, with the scripts of those.
#[must_use]
pub fn present(stack: &Stack) -> BTreeMap<String, String> {
    let root = Path::new(&stack.root);
    let policies = policies(stack);
    let named = stack.layers.iter().flat_map(|layer| layer.model.commands()).flat_map(|argv| of(root, argv));
    let scripts = named.chain(policies.iter().flat_map(|(folder, _, _, words)| of(folder, words)));
    let mut all: BTreeMap<String, String> =
        scripts.filter_map(|script| content(root, &script).map(|content| (script, content))).collect();
    all.extend(policies.iter().map(|(_, file, content, _)| (file.clone(), content.clone())));
    all
}

/// A file policy's root, file, content and words, for each that has a command.
type Commanding = (PathBuf, String, String, Vec<String>);

fn policies(stack: &Stack) -> Vec<Commanding> {
    let commanding = |folder: files::Folder| {
        let root = folder.root.clone();
        trusted(&folder).into_iter().map(move |(file, content, words)| (root.clone(), file, content, words))
    };
    files::folders(stack).into_iter().flat_map(commanding).collect()
}

/// The scripts of all commands of a stack, to be protected: those that are there, and those that were trusted.
#[must_use]
pub fn files(stack: &Stack, scripts: &Scripts) -> Vec<PathBuf> {
    let root = Path::new(&stack.root);
    let named = stack.layers.iter().flat_map(|layer| layer.model.commands()).flat_map(|argv| of(root, argv));
    let mut files: Vec<PathBuf> = named.map(|script| root.join(script)).collect();
    if let Scripts::Trusted(known) = scripts {
        files.extend(known.keys().map(|script| root.join(script)));
    }
    // The folders of file policies that nobody names are protected by what they are called.
    let folders = jackline_core::files::settings::folders(stack);
    files.extend(folders.into_iter().filter_map(|folder| folder.dir).map(|dir| root.join(dir)));
    files.sort_unstable();
    files.dedup();
    files
}

/// The files below the root that a command runs, as paths from there.
fn of(root: &Path, argv: &[String]) -> Vec<String> {
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let mut found: Vec<String> = program.contains('/').then(|| below(root, program)).flatten().into_iter().collect();
    found.extend(interpreted(program, words).and_then(|word| below(root, word)));
    // A word may be a shell's text, or an option with its value: whatever in it could be a path is looked at.
    let parts = words.iter().flat_map(|word| word.split(|c: char| c.is_whitespace() || BETWEEN.contains(c)));
    let scripts = parts.filter(|part| !part.is_empty()).filter_map(|part| below(root, part));
    found.extend(scripts.filter(|script| is_program(&root.join(script))));
    found.sort_unstable();
    found.dedup();
    found
}

/// The word that an interpreter runs as a file.
fn interpreted<'a>(program: &str, words: &'a [String]) -> Option<&'a String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let interprets = INTERPRETERS.contains(&name) || name.starts_with("python3.");
    let first = words.iter().position(|word| !word.starts_with('-'))?;
    let inline = words.iter().take(first).any(|word| NO_FILE.contains(&word.as_str()));
    words.get(first).filter(|_| interprets && !inline)
}

/// A word as a path from the root, when it leads below it.
fn below(root: &Path, word: &str) -> Option<String> {
    let path = Path::new(word);
    let path = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => parts.pop().map(drop)?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Whether a file may be run: it says so by its mode, or by how it begins.
fn is_program(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return false };
    there.is_file() && (there.permissions().mode() & 0o111 != 0 || begins_as_script(path))
}

fn begins_as_script(path: &Path) -> bool {
    let mut beginning = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == *b"#!"
}

/// What a script contains; `None` when it cannot be told.
fn content(root: &Path, script: &str) -> Option<String> {
    let bytes = file::read(&root.join(script), SCRIPT_BYTES_MAX + 1).ok().filter(|it| it.len() <= SCRIPT_BYTES_MAX)?;
    Some(format!("sha256:{}", Digest::of(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(root: &Path, argv: &[&str], want: &[&str]) {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(of(root, &argv), want, "{argv:?}");
    }

    #[test]
    fn what_a_command_runs_is_told_from_what_it_reads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir(root.join("scripts")).unwrap();
        for (name, text) in [("scripts/check.sh", "#!/bin/sh\n"), ("check.py", "pass\n"), ("report.md", "ok\n")] {
            fs::write(root.join(name), text).unwrap();
        }
        let whole = root.join("scripts/check.sh").display().to_string();
        for argv in [
            vec!["scripts/check.sh"],
            vec!["./scripts/check.sh", "report.md"],
            vec![whole.as_str()],
            vec!["bash", "-eu", "scripts/check.sh"],
            vec!["timeout", "5", "scripts/../scripts/check.sh"],
            vec!["scripts/gone/../check.sh"],
        ] {
            check(root, &argv, &["scripts/check.sh"]);
        }
        check(root, &["python3", "check.py", "report.md"], &["check.py"]);
        check(root, &["/usr/bin/python3.11", "./check.py"], &["check.py"]);
        check(root, &["sh", "scripts/not-there.sh"], &["scripts/not-there.sh"]);
        check(root, &["grep", "-q", "ok", "report.md"], &[]);
        check(root, &["python3", "-m", "pytest", "check.py"], &[]);
        check(root, &["sh", "-c", "cd . && ./scripts/check.sh; true"], &["scripts/check.sh"]);
        check(root, &["wrapper", "--with=scripts/check.sh"], &["scripts/check.sh"]);
        check(root, &["sh", "-c", "cat report.md"], &[]);
        check(root, &["../outside.sh"], &[]);
        check(root, &["cargo", "test"], &[]);
    }

    #[test]
    fn a_script_is_trusted_by_what_it_contains() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let argv = ["sh".to_owned(), "check.sh".to_owned()];
        fs::write(root.join("check.sh"), "true\n").unwrap();
        assert_eq!(Scripts::Given.objection(root, &argv), None);
        assert_eq!(Scripts::default().objection(root, &argv).as_deref(), Some("`check.sh` is not trusted"));
        let trusted = Scripts::Trusted([("check.sh".to_owned(), content(root, "check.sh").unwrap())].into());
        assert_eq!(trusted.objection(root, &argv), None);
        let changed = Some("`check.sh` changed since it was trusted");
        fs::write(root.join("check.sh"), "true # more\n").unwrap();
        assert_eq!(trusted.objection(root, &argv).as_deref(), changed);
        fs::remove_file(root.join("check.sh")).unwrap();
        assert_eq!(trusted.objection(root, &argv).as_deref(), changed);
    }
}
