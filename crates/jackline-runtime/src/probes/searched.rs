//! Which protected file a search for a text comes upon. Where the search leaves out what git ignores, git is asked what there
//! is; otherwise one goes through the directory.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use jackline_core::glob;
use jackline_core::overlap::{Expanded, overlaps_from_root};
use jackline_core::probe::Fact;
use jackline_core::shell::{Among, Search};

use super::git::{At, GIT_MS_MAX, Git, Printed, Repository};
use super::protected::{self, Protected, told};
use super::through::{self, Below, Then, below};

/// Where a search begins.
pub(super) struct Place<'a> {
    pub(super) dir: &'a Path,
    /// The directory as seen from the workspace.
    pub(super) inside: &'a str,
    /// What it begins at below the directory, and all that lies there.
    pub(super) pattern: &'a str,
}

pub(super) fn answer<'g>(
    git: impl FnOnce() -> Option<&'g Git>,
    place: &Place<'_>,
    (search, patterns): (&Search, &[String]),
) -> Fact {
    let looking = Looking { place, search, protected: Protected::of(patterns) };
    match (search.among, Repository::around(place.dir)) {
        (Among::All, _) | (Among::Known, None) => told(looking.walked()),
        // Git searches nothing where it keeps nothing.
        (Among::Tracked, None) => told(Ok(protected::Search::Nothing)),
        (Among::Tracked | Among::Known, Some(repository)) => match git() {
            Some(git) => match listing(git, &repository, place.dir, search.among) {
                Ok(listing) => told(Ok(looking.listed(&listing))),
                Err(fault) => Fact::Unknown(fault.to_string()),
            },
            None => told(looking.walked()),
        },
    }
}

/// The files below a directory that git keeps, or does not ignore.
fn listing(git: &Git, repository: &Repository, dir: &Path, among: Among) -> Printed {
    let until = Instant::now() + Duration::from_millis(GIT_MS_MAX);
    let unignored: &[&str] = if among == Among::Known { &["--others", "--exclude-standard"] } else { &[] };
    let words = [&["ls-files", "-z", "--cached"], unignored].concat();
    git.run(&At { dir, top: &repository.top, until }, &words, Vec::new())
}

struct Looking<'a> {
    place: &'a Place<'a>,
    search: &'a Search,
    protected: Protected,
}

impl Looking<'_> {
    fn walked(&self) -> io::Result<protected::Search> {
        let mut found = None;
        let gone = through::go(self.place.dir, |Below { entry, path, .. }| {
            if self.comes_upon(path) {
                found = Some(below(self.place.inside, path));
                return Ok(Then::Stop);
            }
            let enters = self.enters(path) && self.protected.looks_through(self.place.inside, path);
            Ok(if enters && entry.file_type()?.is_dir() { Then::Enter } else { Then::Pass })
        })?;
        Ok(protected::Search::of(&gone, found))
    }

    fn listed(&self, listing: &[u8]) -> protected::Search {
        let paths = listing.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(String::from_utf8_lossy);
        let above =
            |path: &str| path.match_indices('/').all(|(at, _)| path.get(..at).is_some_and(|dir| self.enters(dir)));
        let found = paths.into_iter().find(|path| self.comes_upon(path) && above(path));
        found.map_or(protected::Search::Nothing, |path| protected::Search::Found(below(self.place.inside, &path)))
    }

    /// Whether a path is protected, and one of the files that are looked at.
    fn comes_upon(&self, path: &str) -> bool {
        let expanded = Expanded { pattern: self.place.pattern, dots: true };
        self.protected.has(&below(self.place.inside, path), true)
            && overlaps_from_root(path, expanded)
            && (self.search.hidden || self.search.named || !is_hidden(path))
            && (self.search.only.is_empty() || matches_any(&self.search.only, path))
            && !matches_any(&self.search.without, path)
    }

    /// Whether a directory is gone into.
    fn enters(&self, path: &str) -> bool {
        (self.search.hidden || !is_hidden(path)) && !matches_any(&self.search.without, path)
    }
}

/// Whether one of these names or paths is this, as programs that search read them.
fn matches_any(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| {
        let whole = pattern.trim_start_matches("./").trim_matches('/');
        // What lies in a directory goes with it.
        let dir = whole.strip_suffix("/**").or_else(|| whole.strip_suffix("/*"));
        // A name behind `/` is one where the search begins.
        let is_placed = |name: &str| !pattern.starts_with('/') || name.contains('/') || !path.contains('/');
        std::iter::once(whole).chain(dir).any(|name| glob::matches(name, path) && is_placed(name))
    })
}

fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}
