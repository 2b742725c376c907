//! Files that a firing on record is about, and that git was told to ignore since: hiding a file answers nothing.

use std::fs;

use jackline_core::files::detector::{Changed, Changes};
use jackline_core::files::seen::Held;

use super::changes::{Survey, Unclear};
use super::names;

/// Files that git is asked about in one call; its words have a bound.
const ASKED_MAX: usize = 500;

/// Of the files of these firings, those that are there, that nobody tells as changed, and that git ignores.
pub(super) fn files<'h>(
    survey: &Survey<'_>,
    held: impl Iterator<Item = &'h Held>,
    is_told: impl Fn(&str) -> bool,
) -> Result<Vec<String>, Unclear> {
    let is_there = |file: &&str| fs::symlink_metadata(survey.root().join(names::path(file))).is_ok();
    // A name that is no text cannot be asked for by one.
    let asked = held.flat_map(|held| &held.files).map(String::as_str).filter(|file| !file.contains('\\'));
    let mut asked: Vec<&str> = asked.filter(|file| !is_told(file)).filter(is_there).collect();
    asked.sort_unstable();
    asked.dedup();
    let mut found = Vec::new();
    for some in asked.chunks(ASKED_MAX) {
        let words = ["--literal-pathspecs", "ls-files", "-z", "-o", "-i", "--exclude-standard", "--"];
        let listed = survey.run(&[words.as_slice(), some].concat(), Vec::new())?;
        found.extend(listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(names::shown));
    }
    Ok(found)
}

/// What changed, and these files of a policy's firings beside it: git does not have them, so they are new.
pub(super) fn beside<'h>(changes: &Changes, held: impl Iterator<Item = &'h Held>, files: &[String]) -> Option<Changes> {
    let own: Vec<&Held> = held.collect();
    let own = files.iter().filter(|file| own.iter().any(|held| held.files.contains(file)));
    let own: Vec<Changed> = own.map(|file| Changed { path: file.clone(), created: true }).collect();
    (!own.is_empty()).then(|| Changes::new(changes.iter().cloned().chain(own).collect()))
}
