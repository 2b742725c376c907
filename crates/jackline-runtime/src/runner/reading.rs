//! Everything but some directories: the kernel knows only what may be read, so all that lies beside them is named.

use std::fs;
use std::path::{Path, PathBuf};

use super::confine::Rights;

/// Files and directories that are named: each is opened before every command, and a home has some hundreds.
const BESIDE_MAX: usize = 8_192;

/// All that may be read where these may not be; nothing, when that cannot be told.
pub(super) fn without(unreadable: &[&Path]) -> Option<Vec<PathBuf>> {
    // What is not there has nothing to read.
    let kept_back: Vec<PathBuf> = unreadable.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut beside = Vec::new();
    split(Path::new("/"), &kept_back, &mut beside).then_some(beside)
}

/// Whether what is kept back can be read because it lies where everything may be written, and so read.
pub(super) fn bared(rights: &Rights<'_>) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let writable: Vec<PathBuf> = rights.writable.iter().map(|path| real(path)).collect();
    rights.unreadable.iter().any(|path| writable.iter().any(|open| real(path).starts_with(open)))
}

/// Names what is in a directory and not kept back; goes no deeper than what is.
fn split(directory: &Path, kept_back: &[PathBuf], beside: &mut Vec<PathBuf>) -> bool {
    if kept_back.iter().any(|path| path == directory) {
        return true;
    }
    if !kept_back.iter().any(|path| path.starts_with(directory)) {
        beside.push(directory.to_owned());
        return beside.len() <= BESIDE_MAX;
    }
    let Ok(entries) = fs::read_dir(directory) else { return false };
    for entry in entries {
        let Ok(entry) = entry else { return false };
        // A link gives no right: where it leads decides. Followed here, it could lead to what is kept back.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) && !split(&entry.path(), kept_back, beside) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_lies_beside_is_named() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().canonicalize().unwrap().join(name);
        for name in ["state/runs/one", "state/keys", "other"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("state/file"), "x").unwrap();
        std::os::unix::fs::symlink(at("state/runs"), at("way")).unwrap();
        let named = without(&[&at("state/runs"), &at("gone")]).unwrap();
        for beside in ["state/keys", "state/file", "other"] {
            assert!(named.contains(&at(beside)), "{beside}");
        }
        assert!(named.iter().all(|path| !at("state/runs/one").starts_with(path)), "{named:?}");
        assert!(!named.contains(&at("way")));
        assert_eq!(without(&[]), Some(vec![PathBuf::from("/")]));
    }
}
