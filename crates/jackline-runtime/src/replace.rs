//! Replaces a file as a whole or not at all: written beside its place, then renamed.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid, fchown};

use crate::private;

/// The bit of a mode without which a file's owner may not write it.
const OWNER_WRITES: u32 = 0o200;

/// Why a file that could be replaced is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Spared {
    #[error("its owner made it read-only")]
    ReadOnly,
    #[error("it belongs to another user, and what takes its place cannot be given to them")]
    Foreign,
}

impl Spared {
    /// What a person can do about it.
    #[must_use]
    pub const fn help(self) -> &'static str {
        match self {
            Self::ReadOnly => "make it writable (`chmod u+w`), or change it where it comes from; it is as it was",
            Self::Foreign => "run it as the user whose file it is; it is as it was",
        }
    }

    /// Whether this is why something failed.
    #[must_use]
    pub fn of(fault: &io::Error) -> Option<Self> {
        fault.get_ref().and_then(|inner| inner.downcast_ref()).copied()
    }
}

/// Looks whether a file is meant to be written: taking its place would pass over that its owner made it read-only.
///
/// # Errors
/// When it is not.
pub fn meant(path: &Path) -> io::Result<()> {
    fs::metadata(path).map_or(Ok(()), |there| is_meant(&there))
}

fn is_meant(there: &Metadata) -> io::Result<()> {
    if there.permissions().mode() & OWNER_WRITES == 0 { Err(io::Error::other(Spared::ReadOnly)) } else { Ok(()) }
}

/// Writes a file. One that is there keeps its mode and its owner; a new one may be read by others, as far as the umask lets
/// them.
///
/// # Errors
/// When it cannot be written, or its owner made it read-only; what was there is as it was.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let Ok(there) = fs::metadata(path) else {
        return create(path, text);
    };
    is_meant(&there)?;
    let beside = beside(path);
    let written = private::create_file(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        hand_over(&file, &there)?;
        file.set_permissions(there.permissions())?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    renamed.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Gives a new file the owner and the group of the one whose place it takes: whoever reads that shall read this.
fn hand_over(new: &File, there: &Metadata) -> io::Result<()> {
    let own = new.metadata()?;
    if (own.uid(), own.gid()) == (there.uid(), there.gid()) {
        return Ok(());
    }
    let given = fchown(new, Some(Uid::from_raw(there.uid())), Some(Gid::from_raw(there.gid())));
    // A group that its owner is not in cannot be kept, and is no reason to leave the file alone.
    if given.is_err() && own.uid() != there.uid() { Err(io::Error::other(Spared::Foreign)) } else { Ok(()) }
}

/// A new file; one that appeared meanwhile is not overwritten.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.inspect_err(|_| drop(fs::remove_file(path)))
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

/// Whether files can be made in a directory, or could be in one that is not there yet. Leaves nothing behind.
///
/// # Errors
/// When they cannot.
pub fn writable(dir: &Path) -> io::Result<()> {
    let there = dir.ancestors().find(|dir| fs::symlink_metadata(dir).is_ok()).unwrap_or(dir);
    let trial = there.join(format!(".jackline-{}.trial", std::process::id()));
    drop(private::create_file(&trial)?);
    fs::remove_file(&trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::chown;
    use rustix::process::geteuid;

    /// No user's number, so that nothing else has it.
    const STRANGER: u32 = 4_242;

    fn there(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    fn alone(dir: &Path) -> bool {
        fs::read_dir(dir).unwrap().count() == 1
    }

    #[test]
    fn a_file_keeps_its_mode_its_owner_and_its_group() {
        let (dir, path) = there("before", 0o640);
        if geteuid().is_root() {
            chown(&path, Some(Uid::from_raw(STRANGER)), Some(Gid::from_raw(STRANGER))).unwrap();
        }
        let before = fs::metadata(&path).unwrap();
        write(&path, "after").unwrap();
        let after = fs::metadata(&path).unwrap();
        let kept = |meta: &Metadata| (meta.uid(), meta.gid(), meta.mode());
        assert_eq!((kept(&after), fs::read_to_string(&path).unwrap().as_str()), (kept(&before), "after"));
        assert!(alone(dir.path()));
    }

    #[test]
    fn what_its_owner_made_read_only_is_left_alone() {
        let (dir, path) = there("before", 0o444);
        let fault = write(&path, "after").unwrap_err();
        assert_eq!(Spared::of(&fault), Some(Spared::ReadOnly));
        assert_eq!(meant(&path).map_err(|fault| Spared::of(&fault)), Err(Some(Spared::ReadOnly)));
        assert!(fs::read_to_string(&path).unwrap() == "before" && alone(dir.path()));
        meant(&dir.path().join("none")).unwrap();
    }
}
