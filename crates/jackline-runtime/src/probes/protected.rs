//! Patterns of what is protected, read once to be held against many paths; and what came of looking for one of them.

use std::io;

use jackline_core::glob::{self, Glob};
use jackline_core::overlap;
use jackline_core::path;
use jackline_core::probe::{Fact, Told};

use super::through::{ENTRIES_MAX, Gone, below};

/// What came of looking.
pub(super) enum Search {
    Found(String),
    Nothing,
    TooMuch,
}

impl Search {
    /// What came of going through a directory, with what was found on the way.
    pub(super) fn of(gone: &Gone, found: Option<String>) -> Self {
        match (found, gone) {
            (Some(path), _) => Self::Found(path),
            (None, Gone::TooMuch) => Self::TooMuch,
            (None, Gone::Through | Gone::Stopped) => Self::Nothing,
        }
    }
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

    /// Whether a directory below `inside` is looked through: not what tools make anew and what git keeps for itself, unless
    /// something there is protected by its place.
    pub(super) fn looks_through(&self, inside: &str, path: &str) -> bool {
        !is_made_anew(path) || self.is_placed_below(&below(inside, path))
    }

    /// Whether one of them names a place in this directory.
    pub(super) fn is_placed_below(&self, dir: &str) -> bool {
        let below = format!("{dir}/**");
        let placed = self.patterns.iter().filter(|pattern| glob::is_placed(&pattern.text));
        placed.into_iter().any(|pattern| overlap::overlaps_from_root(&pattern.text, &below))
    }
}

/// Whether tools make this directory anew, or git keeps it for itself.
pub(super) fn is_made_anew(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let of_git = path.strip_suffix(name).is_some_and(|above| above.ends_with(".git/")) && name != "hooks";
    of_git || path::is_generated(name)
}
