//! What lies below a directory that git does not look into, without git: every file, bounded.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// All files below a directory, from there, save what git keeps for itself; `None` when there are more than so many.
pub(crate) fn files(dir: &Path, files_max: usize) -> Option<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    // What a link leads to lies elsewhere.
    let mut left: Vec<PathBuf> = is_directory(dir).then(PathBuf::new).into_iter().collect();
    let mut entries = 0;
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(dir.join(&at)).into_iter().flatten().flatten() {
            entries += 1;
            if entries > files_max {
                return None;
            }
            let name = at.join(entry.file_name());
            match entry.file_type() {
                _ if entry.file_name() == ".git" => {}
                Ok(kind) if kind.is_dir() => left.push(name),
                _ => found.push(name.as_os_str().as_bytes().to_owned()),
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
        let mut found = files(&dir.path().join("a"), 10).unwrap();
        found.sort();
        assert_eq!(found, [&b"b/c"[..], b"link"]);
        assert_eq!(files(&dir.path().join("a/link"), 10), Some(Vec::new()));
        assert_eq!(files(&dir.path().join("a"), 2), None, "more than are looked at");
    }
}
