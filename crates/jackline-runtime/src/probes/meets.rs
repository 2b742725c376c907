//! Which file a pattern of the shell's meets below a directory, of those that are protected. Only names are looked at, and
//! not for ever.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jackline_core::glob;
use jackline_core::overlap::{Expanded, overlaps_from_root};
use jackline_core::own_files;
use jackline_core::path;
use jackline_core::probe::Fact;

use super::protected::{DEPTH_MAX, ENTRIES_MAX, Protected, Search, told};

/// A pattern and where it is expanded.
pub(super) struct Expansion<'a> {
    pub(super) dir: &'a Path,
    /// The directory as seen from the workspace.
    pub(super) inside: &'a str,
    pub(super) pattern: &'a str,
    /// Whether wildcards stand for hidden names, too.
    pub(super) dots: bool,
    /// Whether the names behind the last wildcard are made.
    pub(super) makes: bool,
}

/// Looks for what has one of these patterns; without any, for what guards the session.
pub(super) fn answer(expansion: &Expansion<'_>, patterns: Option<&[String]>) -> Fact {
    let protected = patterns.map_or_else(|| Protected::of(&own_files::anywhere()), Protected::of);
    told(expansion.search(&protected))
}

impl Expansion<'_> {
    fn search(&self, protected: &Protected) -> io::Result<Search> {
        let (head, tail) = self.ends();
        let depth_max = if head.contains("**") { usize::MAX } else { head.split('/').count() };
        let mut waiting: VecDeque<(PathBuf, String, usize)> = [(self.dir.to_owned(), String::new(), 1)].into();
        let mut looked_at = 0;
        while let Some((dir, above, depth)) = waiting.pop_front() {
            for entry in entries(&dir)? {
                let entry = entry?;
                looked_at += 1;
                if looked_at > ENTRIES_MAX || depth > DEPTH_MAX {
                    return Ok(Search::TooMuch);
                }
                let path = below(&above, &entry.file_name().to_string_lossy());
                let met = below(&below(self.inside, &path), tail);
                let expanded = Expanded { pattern: head, dots: self.dots };
                if overlaps_from_root(&path, expanded) && protected.has(&met, !self.makes) {
                    return Ok(Search::Found(met));
                }
                let is_open = depth < depth_max && self.is_looked_through(&path, protected);
                if is_open && entry.file_type()?.is_dir() {
                    waiting.push_back((entry.path(), path, depth + 1));
                }
            }
        }
        Ok(Search::Nothing)
    }

    /// The pattern up to its last wildcard, and what is behind it, where that need not be there.
    fn ends(&self) -> (&str, &str) {
        let segments = self.pattern.match_indices('/').map(|(at, _)| at);
        let last = |at: &usize| self.pattern.get(*at..).is_some_and(|tail| !glob::is_pattern(tail));
        match segments.into_iter().find(last).filter(|_| self.makes) {
            Some(at) => (self.pattern.get(..at).unwrap_or_default(), self.pattern.get(at + 1..).unwrap_or_default()),
            None => (self.pattern, ""),
        }
    }

    /// Not what tools make anew and what git keeps for itself, unless something there is protected by its place.
    fn is_looked_through(&self, path: &str, protected: &Protected) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        let of_git = path.strip_suffix(name).is_some_and(|above| above.ends_with(".git/")) && name != "hooks";
        !(of_git || path::is_generated(name)) || protected.is_placed_below(&below(self.inside, path))
    }
}

/// What lies in a directory; nothing where none is.
fn entries(dir: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<fs::DirEntry>>>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(Box::new(entries)),
        Err(fault) if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(fault) => Err(fault),
    }
}

fn below(dir: &str, name: &str) -> String {
    match (dir, name) {
        ("", name) => name.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, name) => format!("{dir}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::probe::Told;

    #[track_caller]
    fn check((pattern, dots, makes): (&str, bool, bool), patterns: &[&str], want: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        for file in
            ["a.ts", ".env", ".claude/x", "dist/a.pem", "src/deep/key.pem", "node_modules/m/k.pem", ".git/config"]
        {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let fact = answer(&Expansion { dir: dir.path(), inside: "w", pattern, dots, makes }, Some(&patterns));
        match (want, fact) {
            (Some(want), Fact::Told(Told::Holds { holds: true, seen })) => assert_eq!(seen, want),
            (None, Fact::Told(Told::Holds { holds: false, .. })) => {}
            (want, fact) => panic!("{fact:?}, not {want:?}"),
        }
    }

    #[test]
    fn a_pattern_meets_what_is_there() {
        check(("**/*.ts", true, true), &["**/.opencode/tool/*.ts"], None);
        check(("**/*.ts", true, true), &["*.ts"], Some("w/a.ts"));
        check(("*", false, false), &[".env"], None);
        check(("*", true, false), &[".env"], Some("w/.env"));
        check(("src/*/*.pem", false, false), &["*.pem"], Some("w/src/deep/key.pem"));
        check(("src/*", false, false), &["*.pem"], None);
        check((".git/*", false, false), &["**/.git/config"], Some("w/.git/config"));
    }

    #[test]
    fn what_tools_make_anew_counts_by_its_place() {
        check(("**", true, false), &["k.pem"], None);
        check(("**", true, false), &["w/node_modules/**/k.pem"], Some("w/node_modules/m/k.pem"));
        check(("dist/*", false, false), &["*.pem"], None);
        check(("dist/*", false, true), &["*.pem"], None);
        check(("di*/a.pem", false, true), &["*.pem"], Some("w/dist/a.pem"));
    }

    #[test]
    fn names_behind_the_last_wildcard_may_be_made() {
        check((".cl*/settings.json", false, true), &["**/.claude/settings.json"], Some("w/.claude/settings.json"));
        check((".cl*/settings.json", false, false), &["**/.claude/settings.json"], None);
    }

    #[test]
    fn where_nothing_is_nothing_is_met_and_what_is_too_deep_is_not_told() {
        let top = tempfile::tempdir().unwrap();
        let met = |dir: &Path| answer(&Expansion { dir, inside: "", pattern: "**", dots: true, makes: false }, None);
        assert!(matches!(met(&top.path().join("none")), Fact::Told(Told::Holds { holds: false, .. })));
        let deep = (0..DEPTH_MAX).fold(top.path().to_owned(), |dir, _| dir.join("d"));
        fs::create_dir_all(&deep).unwrap();
        assert!(matches!(met(top.path()), Fact::Told(Told::Holds { holds: false, .. })), "as deep as is looked at");
        fs::create_dir(deep.join("d")).unwrap();
        assert!(matches!(met(top.path()), Fact::Unknown(_)));
    }
}
