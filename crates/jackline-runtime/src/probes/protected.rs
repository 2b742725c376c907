//! Patterns of what is protected, read once to be held against many paths.

use jackline_core::glob::{self, Glob};
use jackline_core::overlap;
use jackline_core::path;

pub(super) struct Protected {
    patterns: Vec<Pattern>,
}

struct Pattern {
    text: String,
    glob: Glob,
    /// A segment that every path has which it matches, where it is known: cheaper to look for than to match.
    segment: Option<String>,
}

impl Protected {
    pub(super) fn of(patterns: &[String]) -> Self {
        let read = |text: &String| {
            let first = text.strip_prefix("**/").unwrap_or(text).split('/').next().unwrap_or_default();
            let segment = Some(first.to_owned()).filter(|first| !first.is_empty() && !glob::is_pattern(first));
            Some(Pattern { text: text.clone(), glob: Glob::parse(text).ok()?, segment })
        };
        Self { patterns: patterns.iter().filter_map(read).collect() }
    }

    /// Whether a path is one of them. A name that counts everywhere may be left out where a build makes things anew.
    pub(super) fn has(&self, path: &str, is_spared: bool) -> bool {
        let counts = |pattern: &Pattern| !is_spared || glob::is_placed(&pattern.text) || !path::is_generated(path);
        let may_match = |pattern: &Pattern| match &pattern.segment {
            Some(segment) => path.split('/').any(|part| part == segment),
            None => true,
        };
        self.patterns.iter().any(|pattern| may_match(pattern) && pattern.glob.matches(path) && counts(pattern))
    }

    /// Whether one of them names a place in this directory.
    pub(super) fn is_placed_below(&self, dir: &str) -> bool {
        let below = format!("{dir}/**");
        let placed = self.patterns.iter().filter(|pattern| glob::is_placed(&pattern.text));
        placed.into_iter().any(|pattern| overlap::overlaps_from_root(&pattern.text, &below))
    }
}
