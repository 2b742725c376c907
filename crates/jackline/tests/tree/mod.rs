//! The repository as tests look at it: where it is, and which text files are in it.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories that are not part of the sources.
const SKIPPED: &[&str] = &["target", ".git"];

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository is there")
}

/// Every file below the root whose name ends like this, as path from the root and text, sorted.
pub(crate) fn files(endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(&root(), endings, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no file ends with any of {endings:?}");
    found
}

fn walk(dir: &Path, endings: &[&str], found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !SKIPPED.contains(&name) {
            walk(&path, endings, found);
        } else if path.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
            let shown = path.strip_prefix(root()).expect("below the root").display().to_string();
            found.push((shown, fs::read_to_string(&path).expect("text")));
        }
    }
}

/// Fails with all complaints at once, so that one run shows everything there is to mend.
#[track_caller]
pub(crate) fn no_complaints(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} to mend:\n  {}", complaints.len(), complaints.join("\n  "));
}
