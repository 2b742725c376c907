//! What lies below a directory that git does not look into, without git: every file, bounded.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What lies below a directory, from there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Below {
    pub(crate) files: Vec<Vec<u8>>,
    /// Directories that cannot be listed.
    pub(crate) closed: Vec<Vec<u8>>,
}

/// All files below a directory, save what git keeps for itself; `None` when there are more than so many.
pub(crate) fn files(dir: &Path, files_max: usize) -> Option<Below> {
    let mut found = Below::default();
    // What a link leads to lies elsewhere.
    let mut left: Vec<PathBuf> = is_directory(dir).then(PathBuf::new).into_iter().collect();
    let mut entries = 0;
    while let Some(at) = left.pop() {
        let Ok(entries_here) = fs::read_dir(dir.join(&at)) else {
            found.closed.push(at.as_os_str().as_bytes().to_owned());
            continue;
        };
        for entry in entries_here.flatten() {
            entries += 1;
            if entries > files_max {
                return None;
            }
            let name = at.join(entry.file_name());
            match entry.file_type() {
                _ if entry.file_name() == ".git" => {}
                Ok(kind) if kind.is_dir() => left.push(name),
                _ => found.files.push(name.as_os_str().as_bytes().to_owned()),
            }
        }
    }
    Some(found)
}

/// Whether a directory lies here, and no link to one.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/.git")).unwrap();
        fs::create_dir_all(dir.path().join("other")).unwrap();
        for file in ["a/b/c", "a/b/.git/HEAD", "a/.git", "other/x"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(dir.path().join("other"), dir.path().join("a/link")).unwrap();
        let mut found = files(&dir.path().join("a"), 10).unwrap().files;
        found.sort();
        assert_eq!(found, [&b"b/c"[..], b"link"]);
        assert_eq!(files(&dir.path().join("a/link"), 10), Some(Below::default()));
        assert_eq!(files(&dir.path().join("a"), 2), None, "more than are looked at");
    }
}
