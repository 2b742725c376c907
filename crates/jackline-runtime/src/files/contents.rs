//! What files contain, as digests; many at once, on a few threads.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::{fs, thread};

use jackline_core::sha::Digest;

use super::names;
use crate::probes::fingerprint::{Opened, digest, open};

/// Threads that read: disks and caches serve a few at once.
const READERS_MAX: usize = 4;
/// Files from which on more than one thread reads; starting one costs as much as reading dozens.
const FILES_PER_READER_MIN: usize = 64;

/// By path; `None` for one that is not there.
pub(super) type Contents = BTreeMap<String, Option<Digest>>;

/// What each of these files below the root contains.
pub(super) fn of(root: &Path, paths: &[&str]) -> Contents {
    // What a reader that failed would have told is not there: every file of its share counts as gone.
    each(paths, |path| one(root, path)).into_iter().map(|(path, digest)| ((*path).to_owned(), digest)).collect()
}

/// Looks at each, on a few threads where there are many; in order, without the share of one that failed.
pub(super) fn each<'a, T: Sync, R: Send>(all: &'a [T], look: impl Fn(&'a T) -> R + Sync) -> Vec<(&'a T, R)> {
    let readers = all.len().div_ceil(FILES_PER_READER_MIN).clamp(1, READERS_MAX);
    let some = |share: &'a [T]| -> Vec<(&'a T, R)> { share.iter().map(|one| (one, look(one))).collect() };
    if readers == 1 {
        return some(all);
    }
    let some = &some;
    thread::scope(|scope| {
        let readers: Vec<_> =
            all.chunks(all.len().div_ceil(readers)).map(|share| scope.spawn(move || some(share))).collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).flatten().collect()
    })
}

/// What one file contains: its bytes, where a link leads, or that it is a directory or cannot be read.
fn one(root: &Path, name: &str) -> Option<Digest> {
    let path = root.join(names::path(name));
    match open(&path) {
        Ok(Opened::Nothing) => None,
        Ok(Opened::Directory) => Some(closed(&path).unwrap_or_else(directory)),
        Ok(Opened::File(file, meta)) => Some(digest(&file, &meta).unwrap_or_else(|_| unreadable())),
        // It may be a link, which contains where it leads.
        Err(_) => match fs::read_link(&path) {
            Ok(target) => Some(Digest::of_parts([b"link".as_slice(), target.as_os_str().as_bytes()])),
            Err(_) => Some(unreadable()),
        },
    }
}

/// What stands for a directory.
pub(super) fn directory() -> Digest {
    Digest::of_parts([b"directory".as_slice()])
}

/// What stands for a directory that cannot be listed: when something in it was made or taken away last.
fn closed(path: &Path) -> Option<Digest> {
    fs::read_dir(path).err()?;
    let meta = fs::symlink_metadata(path).ok()?;
    let (seconds, rest) = (meta.ctime().to_le_bytes(), meta.ctime_nsec().to_le_bytes());
    Some(Digest::of_parts([b"closed".as_slice(), &seconds, &rest]))
}

fn unreadable() -> Digest {
    Digest::of_parts([b"unreadable".as_slice()])
}
