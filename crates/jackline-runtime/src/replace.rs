//! Replaces a file as a whole or not at all: written beside its place, then renamed.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::private;

/// Writes a file. One that is there keeps its mode; a new one may be read by others, as far as the umask lets them.
///
/// # Errors
/// When it cannot be written; what was there is as it was.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let Ok(there) = fs::metadata(path) else {
        return create(path, text);
    };
    let beside = beside(path);
    let written = private::create_file(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(there.permissions())?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    renamed.inspect_err(|_| drop(fs::remove_file(&beside)))
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
