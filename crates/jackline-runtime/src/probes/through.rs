//! Goes through what lies below a directory, level by level. Only names are looked at, and not for ever.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// Entries that are looked at, all below a directory included: a moment's work. Who means more at once is told to mean
/// less.
pub(super) const ENTRIES_MAX: usize = 50_000;
/// Directories within directories: links that are followed may lead in circles.
pub(super) const DEPTH_MAX: usize = 64;

/// What lies below the directory.
pub(super) struct Below<'a> {
    pub(super) entry: &'a DirEntry,
    /// Its path from the directory.
    pub(super) path: &'a str,
    /// 1 for what lies in the directory itself.
    pub(super) depth: usize,
}

/// What to do behind an entry.
pub(super) enum Then {
    /// Go on, and into it.
    Enter,
    /// Go on.
    Pass,
    Stop,
}

/// How it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gone {
    Through,
    Stopped,
    /// There is more than is looked at.
    TooMuch,
}

/// Shows everything below a directory until told to stop; nothing where no directory is.
pub(super) fn go(dir: &Path, mut visit: impl FnMut(&Below<'_>) -> io::Result<Then>) -> io::Result<Gone> {
    let mut waiting: VecDeque<(PathBuf, String, usize)> = [(dir.to_owned(), String::new(), 1)].into();
    let mut looked_at = 0;
    while let Some((dir, above, depth)) = waiting.pop_front() {
        for entry in entries(&dir)? {
            let entry = entry?;
            looked_at += 1;
            if looked_at > ENTRIES_MAX || depth > DEPTH_MAX {
                return Ok(Gone::TooMuch);
            }
            let path = below(&above, &entry.file_name().to_string_lossy());
            match visit(&Below { entry: &entry, path: &path, depth })? {
                Then::Enter => waiting.push_back((entry.path(), path, depth + 1)),
                Then::Pass => {}
                Then::Stop => return Ok(Gone::Stopped),
            }
        }
    }
    Ok(Gone::Through)
}

/// What lies in a directory; nothing where none is.
fn entries(dir: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<DirEntry>>>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(Box::new(entries)),
        Err(fault) if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(fault) => Err(fault),
    }
}

/// A name below a directory, of which either may be nothing.
pub(super) fn below(dir: &str, name: &str) -> String {
    match (dir, name) {
        ("", name) => name.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, name) => format!("{dir}/{name}"),
    }
}
