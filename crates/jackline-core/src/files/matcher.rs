//! Which changed files a pattern matches. Files stand in order, so a pattern's own beginning leads to the few that can.

use super::pattern::Pattern;

/// A file that changed since a baseline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// From the repository's root, with `/`.
    pub path: String,
    /// It was not there before.
    pub created: bool,
}

/// The changed files in the order of their paths, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes(Vec<Changed>);

impl Changes {
    /// Puts files in order; one that is named twice is one.
    #[must_use]
    pub fn new(mut files: Vec<Changed>) -> Self {
        files.sort_unstable();
        files.dedup_by(|next, kept| next.path == kept.path);
        Self(files)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Changed> {
        self.0.iter()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this very path changed.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        self.0.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok()
    }

    /// The files that begin as a pattern's matches do.
    pub(super) fn near<'f>(&'f self, pattern: &Pattern) -> impl Iterator<Item = &'f Changed> + use<'f> {
        let prefix = pattern.prefix();
        let from = self.0.partition_point(|file| file.path.as_str() < prefix);
        let near = self.0.get(from..).unwrap_or_default();
        let to = near.partition_point(|file| file.path.starts_with(prefix));
        near.iter().take(to)
    }

    /// The files that a pattern matches.
    pub(super) fn matching<'f>(&'f self, pattern: &'f Pattern) -> impl Iterator<Item = &'f Changed> {
        self.near(pattern).filter(|file| pattern.matches(&file.path))
    }

    /// The paths that any of the patterns matches, in order, each once.
    pub(super) fn matching_any(&self, patterns: &[Pattern], counts: impl Fn(&Changed) -> bool) -> Vec<String> {
        let all = patterns.iter().flat_map(|pattern| self.matching(pattern)).filter(|file| counts(file));
        let mut paths: Vec<String> = all.map(|file| file.path.clone()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
}
