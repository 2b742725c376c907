//! A path without links, `.` and `..`: as the standard library gives it, but cheaper for one that is so already, as
//! nearly all are. There it takes memory of the C library's, which costs a hook more than all the looking.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
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
    let names = path.as_os_str().as_bytes().strip_prefix(b"/")?;
    let plainly = names.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."));
    (plainly && passes_no_link(path)).then(|| path.to_owned())
}

/// Whether the path leads somewhere, and over no link. A kernel that cannot be asked so says no.
#[cfg(target_os = "linux")]
fn passes_no_link(path: &Path) -> bool {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok()
}

/// The same, link by link.
#[cfg(not(target_os = "linux"))]
fn passes_no_link(path: &Path) -> bool {
    // The one error that says: here it is, and it is no link.
    let is_plain = |part: &Path| fs::read_link(part).is_err_and(|fault| fault.kind() == io::ErrorKind::InvalidInput);
    path.ancestors().filter(|part| part.parent().is_some()).all(is_plain)
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
