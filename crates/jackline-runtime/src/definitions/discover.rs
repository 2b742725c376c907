//! Finds the definition of a workspace by walking up from where the host is at home.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The definition's file name.
pub const DEFINITION_FILE: &str = "jackline.yaml";

/// Directories walked up before giving up; no real tree is deeper.
pub(super) const LEVELS_MAX: usize = 128;

/// The nearest definition in `start` or above it.
#[must_use]
pub fn discover(start: &Path) -> Option<PathBuf> {
    start.ancestors().take(LEVELS_MAX).map(|dir| dir.join(DEFINITION_FILE)).find(|file| !is_missing(file))
}

/// Whether nothing is there. What cannot be looked at is not missing: it must not fall silent by a change of mode.
pub(super) fn is_missing(path: &Path) -> bool {
    let missing = |kind| matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(|fault| missing(fault.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_looked_at_is_there() {
        let top = tempfile::tempdir().unwrap();
        let circle = top.path().join("circle");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        assert_eq!(discover(&circle), Some(circle.join(DEFINITION_FILE)));
        let long = top.path().join("x".repeat(300));
        assert_eq!(discover(&long), Some(long.join(DEFINITION_FILE)));
    }

    #[test]
    fn what_is_not_there_is_missing() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(is_missing(&top.path().join("none")) && is_missing(&file.join("below")) && !is_missing(&file));
    }
}
