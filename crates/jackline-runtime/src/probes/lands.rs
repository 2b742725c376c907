//! Which file of a directory would be a protected one if it lay elsewhere. Only names are looked at, and not for ever.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use jackline_core::glob;
use jackline_core::probe::Fact;

use super::protected::{Protected, Search, told};
use super::through::{self, Below, Then, below};

/// Where something comes from and would go to.
pub(super) struct Copy<'a> {
    pub(super) from: &'a Path,
    /// Which names go along at first.
    pub(super) named: Option<&'a str>,
    /// Whether links are followed.
    pub(super) follows: bool,
    pub(super) into: &'a str,
}

pub(super) fn answer(copy: &Copy<'_>, patterns: &[String]) -> Fact {
    told(search(copy, &Protected::of(patterns)))
}

fn search(copy: &Copy<'_>, protected: &Protected) -> io::Result<Search> {
    let mut found = None;
    // A source that is gone, or is no directory, is not told.
    fs::read_dir(copy.from)?;
    let gone = through::go(copy.from, |Below { entry, path, depth }| {
        if *depth == 1 && !copy.named.is_none_or(|named| goes_along(named, path)) {
            return Ok(Then::Pass);
        }
        let landed = below(copy.into, path);
        if protected.has(&landed, true) {
            found = Some(landed);
            return Ok(Then::Stop);
        }
        Ok(if copy.opens(entry)? { Then::Enter } else { Then::Pass })
    })?;
    Ok(Search::of(&gone, found))
}

/// Whether a shell's pattern stands for a name; without a dot of its own it stands for none that begins with one.
fn goes_along(pattern: &str, name: &str) -> bool {
    (pattern.starts_with('.') || !name.starts_with('.')) && glob::text_matches(pattern, name)
}

impl Copy<'_> {
    /// Whether what lies in an entry goes along. Links in a circle have no end that could be looked at.
    fn opens(&self, entry: &DirEntry) -> io::Result<bool> {
        let there = if self.follows { fs::metadata(entry.path()) } else { entry.metadata() };
        match there {
            Ok(there) => Ok(there.is_dir()),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::probe::Told;

    #[track_caller]
    fn check(named: Option<&str>, into: &str, patterns: &[&str], want: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        for file in ["a.txt", ".env", "config/prod.yaml", "node_modules/x/.env", "deep/er/key.pem"] {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink("..", dir.path().join("deep/up")).unwrap();
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let fact = answer(&Copy { from: dir.path(), named, follows: false, into }, &patterns);
        match (want, fact) {
            (Some(want), Fact::Told(Told::Holds { holds: true, seen })) => assert_eq!(seen, want),
            (None, Fact::Told(Told::Holds { holds: false, .. })) => {}
            (want, fact) => panic!("{fact:?}, not {want:?}"),
        }
    }

    #[test]
    fn names_are_held_against_patterns_where_they_land() {
        check(None, "", &[".env*"], Some(".env"));
        check(Some("*"), "", &[".env*"], None);
        check(None, "", &["config/prod.yaml"], Some("config/prod.yaml"));
        check(None, "other", &["config/prod.yaml"], None);
        check(None, "infra", &["infra/config/**"], Some("infra/config"));
        check(Some("d*"), "", &["*.pem"], Some("deep/er/key.pem"));
        check(None, "", &["node_modules/**/.env"], Some("node_modules/x/.env"));
        check(None, "", &["deep/up/a.txt"], None);
    }

    #[test]
    fn links_are_followed_where_the_copy_follows_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::write(dir.path().join("real/key"), "").unwrap();
        fs::create_dir(dir.path().join("from")).unwrap();
        std::os::unix::fs::symlink("../real", dir.path().join("from/vault")).unwrap();
        let from = dir.path().join("from");
        let seen = |follows| answer(&Copy { from: &from, named: None, follows, into: "" }, &["vault/key".to_owned()]);
        assert!(matches!(seen(true), Fact::Told(Told::Holds { holds: true, .. })));
        assert!(matches!(seen(false), Fact::Told(Told::Holds { holds: false, .. })));
        std::os::unix::fs::symlink(".", from.join("circle")).unwrap();
        fs::remove_file(from.join("vault")).unwrap();
        assert!(matches!(seen(true), Fact::Unknown(_)), "a circle has no end");
        fs::remove_dir_all(&from).unwrap();
        assert!(matches!(seen(false), Fact::Unknown(_)));
    }
}
