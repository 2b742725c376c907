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

/// What a pattern expects for what `from` has captured, and which of the changed files that answer meets it. Where several
/// would do, the file that asks is none of them.
pub(super) fn expected(
    pattern: &Pattern,
    (from, captures): (&str, &Captures),
    changes: &Changes,
    answers: impl Fn(&str) -> bool,
) -> Expected {
    let filled = pattern.filled(captures);
    let met = match filled.exact() {
        Some(path) => (changes.holds(path) && answers(path)).then(|| path.to_owned()),
        None => {
            let mut others = changes.matching(&filled).filter(|file| file.path != from);
            others.find(|file| answers(&file.path)).map(|file| file.path.clone())
        }
    };
    Expected { shown: filled.text().to_owned(), met }
}
