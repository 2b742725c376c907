//! Cases that an owner writes for a definition of their own: what happens, and what must be decided.
//!
//! A case runs in a scratch workspace with its own files and the definition's, and nothing of it is kept.

mod read;
mod run;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::model::{Enforce, Guard, Model};
use jackline_core::definition::{Fault, render};

use crate::error::CommandError;
use crate::place;
pub(crate) use run::Ran;

/// Where case files are looked for, seen from the definition.
pub(crate) const DIRECTORY: &str = ".jackline/tests";
/// Case files that are run; more are no tests of one definition.
const FILES_MAX: usize = 256;

/// A case as it is written.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) note: String,
    /// Files there at the start.
    pub(crate) workspace: Vec<(PathBuf, String)>,
    pub(crate) steps: Vec<Step>,
}

/// One call, and what must be decided about it.
#[derive(Debug)]
pub(crate) struct Step {
    /// As it is shown when it fails.
    pub(crate) label: String,
    pub(crate) tool: String,
    pub(crate) args: serde_json::Value,
    pub(crate) host: String,
    pub(crate) agent: Option<String>,
    /// Milliseconds that pass before it.
    pub(crate) after_ms: i64,
    /// Whether it succeeds, if it may run.
    pub(crate) ok: bool,
    /// A verdict or a code.
    pub(crate) want: Option<String>,
    /// A text that the reason holds.
    pub(crate) says: Option<String>,
}

/// A file of cases.
#[derive(Debug)]
pub(crate) struct CaseFile {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// The case files that lie beside a definition, in the order of their names.
pub(crate) fn beside(definition: &Path) -> Vec<PathBuf> {
    let dir = definition.parent().unwrap_or(definition).join(DIRECTORY);
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml") && path.is_file();
    let mut files: Vec<PathBuf> = entries.filter(yaml).collect();
    files.sort();
    files
}

/// Reads case files; all faults of one that cannot be used.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<CaseFile>, CommandError> {
    if paths.len() > FILES_MAX {
        return Err(CommandError::input(format!("there are {} case files, more than {FILES_MAX}", paths.len())));
    }
    paths.iter().map(|path| load_one(path)).collect()
}

fn load_one(path: &Path) -> Result<CaseFile, CommandError> {
    let name = place::shown(path);
    let text =
        fs::read_to_string(path).map_err(|fault| CommandError::input(format!("`{name}` cannot be read: {fault}")))?;
    let cases = read::cases(&text).map_err(|faults: Vec<Fault>| {
        let told = render(&faults, &text, &name);
        CommandError::input(format!("`{name}` holds no cases that can be run\n\n{}", told.trim_end()))
    })?;
    Ok(CaseFile { name, cases })
}

/// Runs cases against a definition that lies in this directory.
pub(crate) fn run(definition: &Path, text: &str, files: &[CaseFile]) -> Result<Ran, CommandError> {
    run::all(definition, text, files)
}

/// The rules of a definition that no case made fire.
pub(crate) fn unexercised<'a>(model: &'a Model, fired: &BTreeSet<String>) -> Vec<&'a str> {
    let inside = model.sections.iter().flat_map(|section| &section.policies);
    let rules = model.policies.iter().chain(inside).filter(|policy| match &policy.guard {
        // One without a verdict finds nothing, so no case can tell whether it fired.
        Guard::Rule(rule) => policy.enforce != Enforce::Off && rule.verdict.is_some(),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => false,
    });
    rules.map(|policy| policy.name.as_str()).filter(|name| !fired.contains(*name)).collect()
}
