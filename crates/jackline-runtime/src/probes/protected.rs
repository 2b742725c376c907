//! Patterns of what is protected, read once to be held against many paths; and what came of looking for one of them.

use std::io;

use jackline_core::glob::{self, Glob};
use jackline_core::overlap;
use jackline_core::path;
use jackline_core::probe::{Fact, Told};

/// Entries that are looked at, all below a directory included: a moment's work. Who means more at once is told to mean
/// less.
pub(super) const ENTRIES_MAX: usize = 50_000;
/// Directories within directories: links that are followed may lead in circles.
pub(super) const DEPTH_MAX: usize = 64;

/// What came of looking.
pub(super) enum Search {
    Found(String),
    Nothing,
    TooMuch,
}

/// The same as a fact.
pub(super) fn told(search: io::Result<Search>) -> Fact {
    let told = |holds, seen: String| Fact::Told(Told::Holds { holds, seen });
    match search {
        Ok(Search::Found(path)) => told(true, path),
        Ok(Search::Nothing) => told(false, "nothing of it is protected".to_owned()),
        Ok(Search::TooMuch) => Fact::Unknown(format!("there are more than {ENTRIES_MAX} entries, or it is too deep")),
        Err(fault) => Fact::Unknown(format!("it cannot be looked through: {fault}")),
    }
}

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
