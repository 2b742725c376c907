//! What a run left behind in its output directory. Links are not followed.

use std::fs;
use std::path::Path;

use super::Deliverable;

/// Files that are told of one run.
const FILES_MAX: usize = 1_000;
/// Directories inside one another that are looked into.
const DEPTH_MAX: usize = 16;

/// The files below a directory, by their paths in it, sorted. What cannot be read is not there.
#[must_use]
pub fn deliverables(directory: &Path) -> Vec<Deliverable> {
    let mut found = Vec::new();
    walk(directory, "", DEPTH_MAX, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn walk(directory: &Path, below: &str, depth: usize, found: &mut Vec<Deliverable>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if found.len() >= FILES_MAX {
            return;
        }
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        // Of the entry itself, wherever it leads.
        let Ok(there) = entry.metadata() else { continue };
        if there.is_dir() && depth > 0 {
            walk(&entry.path(), &format!("{path}/"), depth - 1, found);
        } else if there.is_file() {
            found.push(Deliverable { path, bytes: there.len() });
        }
    }
}
