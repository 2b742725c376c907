//! Finds the definition of a workspace by walking up from where the host is at home.

use std::path::{Path, PathBuf};

/// The definition's file name.
pub const DEFINITION_FILE: &str = "jackline.yaml";

/// Directories walked up before giving up; no real tree is deeper.
pub(super) const LEVELS_MAX: usize = 128;

/// The nearest definition in `start` or above it.
#[must_use]
pub fn discover(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .take(LEVELS_MAX)
        .map(|dir| dir.join(DEFINITION_FILE))
        .find(|file| file.exists() || file.is_symlink())
}
