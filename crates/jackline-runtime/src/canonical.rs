//! A path without links, `.` and `..`: as the standard library gives it, but cheaper for one that is so already, as
//! nearly all are. There it takes memory of the C library's, which costs a hook more than all the looking.

use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// The canonical, absolute form of a path.
///
/// # Errors
/// When the path leads nowhere.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    plain(path).map_or_else(|| fs::canonicalize(path), Ok)
}

/// The path, if it is written canonically and no part of it is a link.
fn plain(path: &Path) -> Option<PathBuf> {
    let bytes = path.as_os_str().as_bytes();
    let names = bytes.strip_prefix(b"/")?;
    let mut walked = Vec::with_capacity(bytes.len());
    for name in names.split(|byte| *byte == b'/') {
        if matches!(name, b"" | b"." | b"..") {
            return None;
        }
        walked.push(b'/');
        walked.extend_from_slice(name);
        // The one error that says: here it is, and it is no link.
        let look = fs::read_link(Path::new(std::ffi::OsStr::from_bytes(&walked)));
        look.err().filter(|fault| fault.kind() == io::ErrorKind::InvalidInput)?;
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(walked)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn it_is_what_the_standard_library_says() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/file"), "").unwrap();
        symlink("a", top.join("link")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        for written in
            ["", "a/b", "a/b/", "a//b", "a/./b", "a/../a/b/file", "link/b", "link", "loop", "none", "a/b/file/x"]
        {
            let path = PathBuf::from(format!("{}/{written}", top.display()));
            let (ours, theirs) = (canonical(&path), fs::canonicalize(&path));
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{written}");
            assert_eq!(ours.map_err(|fault| fault.kind()), theirs.map_err(|fault| fault.kind()), "{written}");
        }
        assert_eq!(plain(&top.join("a/b")), Some(top.join("a/b")));
        for written in [Path::new("/"), Path::new("."), Path::new("a"), &top.join("link/b")] {
            assert_eq!(plain(written), None, "{}", written.display());
        }
    }
}
