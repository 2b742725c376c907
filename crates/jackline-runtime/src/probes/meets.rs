//! Which file a pattern of the shell's meets below a directory, of those that are protected; and which files it stands for.
//! Only names are looked at, and not for ever.

use std::fs;
use std::io;
use std::path::Path;

use jackline_core::glob;
use jackline_core::overlap::{Expanded, overlaps_from_root};
use jackline_core::own_files;
use jackline_core::probe::{Fact, Told};

use super::protected::{Protected, Search, is_made_anew, told};
use super::through::{self, Below, Gone, Then, below};

/// Files that a pattern may stand for; who means more at once is told to mean less.
const FILES_MAX: usize = 256;

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

/// The files that a pattern stands for below a directory.
pub(super) fn files(dir: &Path, pattern: &str, dots: bool) -> Fact {
    let mut files = Vec::new();
    let depth_max = depth_max(pattern);
    let gone = through::go(dir, |Below { entry, path, depth }| {
        let matches = overlaps_from_root(path, Expanded { pattern, dots });
        if matches && let Some(file) = file(entry)? {
            files.push(file);
        }
        let enters = *depth < depth_max && !is_made_anew(path) && entry.file_type()?.is_dir();
        Ok(if files.len() > FILES_MAX { Then::Stop } else { enter(enters) })
    });
    let more = match gone {
        Ok(Gone::Through) => false,
        Ok(Gone::Stopped) => true,
        Ok(Gone::TooMuch) if files.is_empty() => return told(Ok(Search::TooMuch)),
        Ok(Gone::TooMuch) => true,
        Err(fault) => return told(Err(fault)),
    };
    files.truncate(FILES_MAX);
    files.sort_unstable();
    files.dedup();
    Fact::Told(Told::Files { files, more })
}

/// The file that an entry is or leads to, by its canonical path.
fn file(entry: &fs::DirEntry) -> io::Result<Option<String>> {
    let path = match entry.file_type()? {
        kind if kind.is_file() => entry.path(),
        kind if kind.is_symlink() => match fs::canonicalize(entry.path()) {
            Ok(path) if path.is_file() => path,
            Ok(_) => return Ok(None),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(fault) => return Err(fault),
        },
        _ => return Ok(None),
    };
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// How deep a pattern leads.
fn depth_max(pattern: &str) -> usize {
    if pattern.contains("**") { usize::MAX } else { pattern.split('/').count() }
}

const fn enter(enters: bool) -> Then {
    if enters { Then::Enter } else { Then::Pass }
}

impl Expansion<'_> {
    fn search(&self, protected: &Protected) -> io::Result<Search> {
        let (head, tail) = self.ends();
        let depth_max = depth_max(head);
        let mut found = None;
        let gone = through::go(self.dir, |Below { entry, path, depth }| {
            let met = below(&below(self.inside, path), tail);
            let expanded = Expanded { pattern: head, dots: self.dots };
            if overlaps_from_root(path, expanded) && protected.has(&met, !self.makes) {
                found = Some(met);
                return Ok(Then::Stop);
            }
            let is_open = *depth < depth_max && protected.looks_through(self.inside, path);
            Ok(enter(is_open && entry.file_type()?.is_dir()))
        })?;
        Ok(Search::of(&gone, found))
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
}

#[cfg(test)]
mod tests {
    use super::super::through::{DEPTH_MAX, ENTRIES_MAX};
    use super::*;

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

    #[test]
    fn what_is_too_much_to_look_at_is_not_told() {
        let top = tempfile::tempdir().unwrap();
        let expansion = Expansion { dir: top.path(), inside: "", pattern: "*", dots: true, makes: false };
        let stands_for = |pattern: &str| files(top.path(), pattern, true);
        for number in 1..=ENTRIES_MAX {
            fs::File::create(top.path().join(number.to_string())).unwrap();
        }
        assert!(matches!(answer(&expansion, None), Fact::Told(Told::Holds { holds: false, .. })));
        assert_eq!(stands_for("x*"), Fact::Told(Told::Files { files: Vec::new(), more: false }));
        fs::File::create(top.path().join("one more")).unwrap();
        assert!(matches!(answer(&expansion, None), Fact::Unknown(_)));
        assert!(matches!(stands_for("x*"), Fact::Unknown(_)));
        match stands_for("*") {
            Fact::Told(Told::Files { files, more: true }) => assert_eq!(files.len(), FILES_MAX),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_not_told() {
        let top = tempfile::tempdir().unwrap();
        let circle = top.path().join("circle");
        std::os::unix::fs::symlink(&circle, &circle).unwrap();
        let met = |dir: &Path| answer(&Expansion { dir, inside: "", pattern: "**", dots: true, makes: false }, None);
        assert!(matches!(met(&circle), Fact::Unknown(_)));
        assert!(matches!(files(&circle, "*", true), Fact::Unknown(_)));
        // Below one that can: its path is longer than any that can be opened.
        let name = "d".repeat(250);
        let mut at = fs::File::open(top.path()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&at, &name, rustix::fs::Mode::RWXU).unwrap();
            let opened = rustix::fs::openat(&at, &name, rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty());
            at = opened.unwrap().into();
        }
        assert!(matches!(met(top.path()), Fact::Unknown(_)));
        assert!(matches!(files(top.path(), "**", true), Fact::Unknown(_)));
    }

    #[test]
    fn a_pattern_stands_for_files_alone() {
        let top = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(top.path()).unwrap();
        for file in ["a.rs", ".b.rs", "deep/c.rs", "node_modules/d.rs", "e.rs/x"] {
            fs::create_dir_all(dir.join(file).parent().unwrap()).unwrap();
            fs::write(dir.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("deep/c.rs", dir.join("link.rs")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.join("gone.rs")).unwrap();
        let check = |pattern: &str, dots: bool, want: &[&str]| {
            let want: Vec<String> = want.iter().map(|file| dir.join(file).to_str().unwrap().to_owned()).collect();
            assert_eq!(files(&dir, pattern, dots), Fact::Told(Told::Files { files: want, more: false }), "{pattern}");
        };
        check("*.rs", false, &["a.rs", "deep/c.rs"]);
        check("*.rs", true, &[".b.rs", "a.rs", "deep/c.rs"]);
        check("d*/*.rs", false, &["deep/c.rs"]);
        check("**/*.rs", true, &[".b.rs", "a.rs", "deep/c.rs"]);
        assert_eq!(
            files(&dir.join("node_modules"), "*", false),
            Fact::Told(Told::Files {
                files: vec![dir.join("node_modules/d.rs").to_str().unwrap().to_owned()],
                more: false
            })
        );
    }
}
