//! Disks that compare names without case (macOS, casefolded directories, FAT): whether one does, what a name really
//! is there, and which paths are then the same. Ordinary disks never get past the first question.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;

use super::walk::file_id;

/// Entries that workspaces and homes mostly have: one of them spares listing the directory.
const USUAL_ENTRIES: [&str; 3] = ["jackline.yaml", ".claude", ".config"];

/// Entries looked at to find one whose name has letters; real roots have such a name among their first few.
const SAMPLE_ENTRIES_MAX: usize = 32;

/// Entries read to find a real name; a directory beyond this keeps the name as it was written.
const LISTED_ENTRIES_MAX: usize = 65_536;

/// Whether names below `top` are compared without case: an entry answers to its swapped-case name too.
pub(crate) fn folds(top: &Path) -> bool {
    if cfg!(target_os = "macos") {
        return true;
    }
    let usual = USUAL_ENTRIES.iter().find_map(|name| answers_to_swapped(top, OsStr::new(name)));
    usual.unwrap_or_else(|| any_answers_to_swapped(top))
}

fn any_answers_to_swapped(top: &Path) -> bool {
    let Ok(entries) = fs::read_dir(top) else { return false };
    let names = entries.take(SAMPLE_ENTRIES_MAX).filter_map(Result::ok).map(|entry| entry.file_name());
    names.filter_map(|name| answers_to_swapped(top, &name)).next().unwrap_or(false)
}

/// Whether an entry is found by its swapped-case name too; `None` when this entry cannot tell.
fn answers_to_swapped(dir: &Path, name: &OsStr) -> Option<bool> {
    let swapped = swapped(name)?;
    let meta = fs::symlink_metadata(dir.join(name)).ok()?;
    // A hard link may have the swapped name on any disk.
    if !meta.is_dir() && meta.nlink() > 1 {
        return None;
    }
    match fs::symlink_metadata(dir.join(swapped)) {
        Ok(other) => Some(file_id(&other) == file_id(&meta)),
        Err(_) => Some(false),
    }
}

/// The name with the case of its ASCII letters swapped, if it has any.
fn swapped(name: &OsStr) -> Option<OsString> {
    let swap =
        |byte: &u8| if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
    let other: Vec<u8> = name.as_bytes().iter().map(swap).collect();
    (other != name.as_bytes()).then(|| OsStr::from_bytes(&other).to_owned())
}

/// The name under which the directory lists what `name` led to.
pub(super) fn real_name(dir: &Path, name: &OsStr, inode: u64) -> OsString {
    let Ok(entries) = fs::read_dir(dir) else { return name.to_owned() };
    let listed = entries.take(LISTED_ENTRIES_MAX).filter_map(Result::ok).map(|entry| (entry.file_name(), entry.ino()));
    choose(listed, name, inode)
}

/// The exact name, else one that differs in case only, else one of the same file (another Unicode form).
fn choose(listed: impl Iterator<Item = (OsString, u64)>, name: &OsStr, inode: u64) -> OsString {
    let wanted = folded(name);
    let (mut alike, mut same) = (None, None);
    for (entry, number) in listed {
        if entry == name {
            return entry;
        }
        if folded(&entry) == wanted {
            alike = Some(entry);
        } else if number == inode {
            same = Some(entry);
        }
    }
    alike.or(same).unwrap_or_else(|| name.to_owned())
}

/// The form under which two spellings of one name are equal.
fn folded(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

/// Whether `path` is `top` or lies below it.
pub(super) fn within(path: &Path, top: &Path, folds: bool) -> bool {
    if folds {
        return below(folded(path.as_os_str()).as_bytes(), folded(top.as_os_str()).as_bytes());
    }
    below(path.as_os_str().as_bytes(), top.as_os_str().as_bytes())
}

/// What follows `top` in a path below it, as written.
pub(super) fn rest<'a>(path: &'a Path, top: &Path) -> Option<&'a Path> {
    let rest = path.as_os_str().as_bytes().strip_prefix(top.as_os_str().as_bytes())?;
    rest.strip_prefix(b"/").map(|rest| Path::new(OsStr::from_bytes(rest)))
}

/// By bytes, because both are written canonically and every event compares dozens.
fn below(path: &[u8], top: &[u8]) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/") || top == b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listed: &[(&str, u64)], name: &str, inode: u64, want: &str) {
        let listed = listed.iter().map(|(name, inode)| (OsString::from(name), *inode));
        assert_eq!(choose(listed, OsStr::new(name), inode), want, "{name}");
    }

    #[test]
    fn the_listing_knows_the_real_name() {
        check(&[("readme", 1), ("README", 2)], "README", 2, "README");
        check(&[("other", 1), ("Jackline.yaml", 2)], "JACKLINE.YAML", 2, "Jackline.yaml");
        check(&[("other", 7), ("Ä", 2)], "ä", 7, "Ä");
        // A decomposed and a composed form share nothing but the file.
        check(&[("e\u{301}t\u{e9}", 9), ("x", 1)], "\u{e9}t\u{e9}", 9, "e\u{301}t\u{e9}");
        check(&[("x", 1)], "gone", 2, "gone");
    }

    #[test]
    fn swapping_needs_letters() {
        assert_eq!(swapped(OsStr::new("aB1")), Some("Ab1".into()));
        assert_eq!(swapped(OsStr::new("12")), None);
    }

    #[test]
    fn folded_paths_compare_by_whole_segments() {
        let within = |path: &str, top: &str, folds| within(Path::new(path), Path::new(top), folds);
        assert!(within("/W/S/a", "/w/s", true));
        assert!(!within("/W/S/a", "/w/s", false));
        assert!(!within("/W/S2", "/w/s", true));
        assert!(within("/w/s", "/w/s", false));
        assert!(!within("/w/s2", "/w/s", false));
        assert!(within("/w/s/a", "/w/s", false));
        assert!(within("/w", "/", false));
        assert!(!within("/w", "/w/s", false));
    }

    #[test]
    fn a_hard_link_with_the_swapped_name_is_no_folding() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "1").unwrap();
        if fs::symlink_metadata(dir.path().join("A")).is_ok() {
            assert!(folds(dir.path()));
            return;
        }
        fs::hard_link(dir.path().join("a"), dir.path().join("A")).unwrap();
        assert!(!folds(dir.path()));
    }
}
