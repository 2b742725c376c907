//! What a file contains, as a digest, and the one way a file of the workspace is opened for reading: never a pipe or
//! a device, never through a link, never without an end.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use jackline_core::probe::Fact;
use jackline_core::sha::Digest;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use super::walk::file_id;

/// Bytes hashed in full. What agents edit is far smaller; hashing this much takes well under a second.
pub(super) const FINGERPRINT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Bytes of each end of a larger file that are hashed with its size, time of change and inode.
const END_BYTES: usize = 64 * 1024;

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Milliseconds for one file; a disk that needs longer would hold up the tool call.
const FINGERPRINT_MS_MAX: u64 = 2000;

/// What a path has to offer for reading.
pub(crate) enum Opened {
    /// A regular file, and what it was when opened.
    File(File, Metadata),
    Directory,
    Nothing,
}

pub(super) fn answer(path: &Path) -> Fact {
    match seen(path) {
        Ok(fact) => fact,
        Err(error) => Fact::Unknown(format!("the file cannot be read: {error}")),
    }
}

fn seen(path: &Path) -> io::Result<Fact> {
    match open(path)? {
        Opened::Nothing => Ok(Fact::Content(None)),
        Opened::Directory => Ok(Fact::Absent),
        Opened::File(file, meta) => digest(&file, &meta).map(|digest| Fact::Content(Some(digest))),
    }
}

/// The digest of a file's last byte: whether a newline ends it, without reading the rest.
pub(super) fn last_byte(path: &Path) -> Fact {
    let last = || match open(path)? {
        Opened::Directory => Ok(Fact::Absent),
        Opened::File(file, meta) if meta.len() > 0 => {
            let mut byte = [0];
            file.read_exact_at(&mut byte, meta.len() - 1)?;
            Ok(Fact::Content(Some(Digest::of(&byte))))
        }
        Opened::File(..) | Opened::Nothing => Ok(Fact::Content(None)),
    };
    last().unwrap_or_else(|error: io::Error| Fact::Unknown(format!("the file cannot be read: {error}")))
}

/// Opens a regular file. Looks first, because opening a device may already act on it; looks again at what was
/// opened, because it may have been swapped in between.
pub(crate) fn open(path: &Path) -> io::Result<Opened> {
    if !path.is_absolute() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the path is not absolute"));
    }
    let before = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => return Ok(Opened::Directory),
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return Err(io::Error::other("it is neither a file nor a directory")),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Opened::Nothing);
        }
        Err(error) => return Err(error),
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() || file_id(&meta) != file_id(&before) {
        return Err(io::Error::other("it was replaced while being looked at"));
    }
    Ok(Opened::File(file, meta))
}

/// The digest of a file's content; of a large one, of its size, time of change, inode and both ends.
pub(crate) fn digest(file: &File, meta: &Metadata) -> io::Result<Digest> {
    if meta.len() > FINGERPRINT_BYTES_MAX {
        return large(file, meta);
    }
    whole(file, usize::try_from(meta.len()).unwrap_or(CHUNK_BYTES))
}

fn whole(file: &File, size: usize) -> io::Result<Digest> {
    let end = Instant::now() + Duration::from_millis(FINGERPRINT_MS_MAX);
    let mut hasher = Sha256::new();
    // One byte more than there is tells its end in one go.
    let mut chunk = vec![0; size.saturating_add(1).min(CHUNK_BYTES)];
    // One byte more than allowed tells a file that grew since it was measured.
    let mut rest = file.take(FINGERPRINT_BYTES_MAX + 1);
    loop {
        let read = rest.read(&mut chunk)?;
        if rest.limit() == 0 || Instant::now() > end {
            return Err(io::Error::other("it grows or is read too slowly"));
        }
        match chunk.get(..read) {
            Some(bytes) if !bytes.is_empty() => hasher.update(bytes),
            Some(_) | None => return Ok(Digest(hasher.finalize().into())),
        }
    }
}

fn large(file: &File, meta: &Metadata) -> io::Result<Digest> {
    let (mut head, mut tail) = (vec![0; END_BYTES], vec![0; END_BYTES]);
    file.read_exact_at(&mut head, 0)?;
    file.read_exact_at(&mut tail, meta.len().saturating_sub(END_BYTES as u64))?;
    let numbers = [meta.len(), meta.mtime().cast_unsigned(), meta.mtime_nsec().cast_unsigned(), meta.ino()];
    let numbers = numbers.map(u64::to_le_bytes);
    // The name in front keeps it apart from the digest of any small file.
    let mut parts: Vec<&[u8]> = vec![b"large file", &head, &tail];
    parts.extend(numbers.iter().map(<[u8; 8]>::as_slice));
    Ok(Digest::of_parts(parts))
}

/// All bytes of a small file, for the few that lead to others; `None` when it is not such a file.
pub(crate) fn small(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let Ok(Opened::File(file, _)) = open(path) else { return None };
    all(&file, bytes_max)
}

/// All bytes of an open file; `None` when there are more, or it cannot be read.
pub(crate) fn all(file: &File, bytes_max: u64) -> Option<Vec<u8>> {
    // Room for one byte more than there is tells its end in one go.
    let there = file.metadata().ok()?.len().min(bytes_max).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(there).ok()?);
    file.take(bytes_max + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[track_caller]
    fn check(path: &Path, want: &Fact) {
        assert_eq!(&answer(path), want, "{}", path.display());
    }

    #[track_caller]
    fn check_unknown(path: &Path) {
        assert!(matches!(answer(path), Fact::Unknown(_)), "{}", path.display());
    }

    #[test]
    fn content_is_hashed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "abc").unwrap();
        check(&file, &Fact::Content(Some(Digest::of(b"abc"))));
        fs::write(&file, "").unwrap();
        check(&file, &Fact::Content(Some(Digest::of(b""))));
        let some = vec![7; 3 * CHUNK_BYTES + 5];
        fs::write(&file, &some).unwrap();
        check(&file, &Fact::Content(Some(Digest::of(&some))));
        check(&dir.path().join("gone"), &Fact::Content(None));
        check(&file.join("below"), &Fact::Content(None));
        check(dir.path(), &Fact::Absent);
    }

    #[test]
    fn pipes_devices_and_links_are_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        fs::write(dir.path().join("a"), "abc").unwrap();
        symlink("a", &link).unwrap();
        let start = Instant::now();
        check_unknown(&pipe);
        check_unknown(&link);
        check_unknown(Path::new("/dev/zero"));
        check_unknown(Path::new("relative"));
        check_unknown(Path::new("/a\0b"));
        assert!(start.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn a_large_file_is_known_by_its_ends_and_stamps() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        let file = File::create(&path).unwrap();
        file.set_len(FINGERPRINT_BYTES_MAX).unwrap();
        let at_bound = answer(&path);
        file.set_len(FINGERPRINT_BYTES_MAX + 1).unwrap();
        let start = Instant::now();
        let sparse = answer(&path);
        assert!(start.elapsed() < Duration::from_millis(500));
        assert!(matches!(sparse, Fact::Content(Some(_))));
        assert_ne!(at_bound, sparse);
        assert_eq!(answer(&path), sparse);
        let time = file.metadata().unwrap().modified().unwrap();
        file.write_at(b"x", FINGERPRINT_BYTES_MAX).unwrap();
        file.set_modified(time).unwrap();
        assert_ne!(answer(&path), sparse);
        file.write_at(b"\0", FINGERPRINT_BYTES_MAX).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(answer(&path), sparse);
        file.set_modified(time + Duration::from_nanos(1)).unwrap();
        assert_ne!(answer(&path), sparse);
    }

    #[test]
    fn small_files_are_small() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "abc").unwrap();
        assert_eq!(small(&path, 3), Some(b"abc".to_vec()));
        assert_eq!(small(&path, 2), None);
        assert_eq!(small(dir.path(), 2), None);
    }
}
