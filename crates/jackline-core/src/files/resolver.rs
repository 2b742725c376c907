//! The files that correspond to a changed one: made of what its pattern captured.

use super::matcher::Changes;
use super::pattern::{Captures, Pattern};

/// What corresponds to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    /// The path, or the pattern where several would do.
    pub(super) shown: String,
    /// The changed file that meets it.
    pub(super) met: Option<String>,
}

/// What a pattern expects for what `from` has captured, and whether it changed. Where several would do, the file that asks
/// is none of them.
pub(super) fn expected(pattern: &Pattern, (from, captures): (&str, &Captures), changes: &Changes) -> Expected {
    let filled = pattern.filled(captures);
    let met = match filled.exact() {
        Some(path) => changes.holds(path).then(|| path.to_owned()),
        None => changes.matching(&filled).find(|file| file.path != from).map(|file| file.path.clone()),
    };
    Expected { shown: filled.text().to_owned(), met }
}
