//! Reads a small file whole, in as few calls as that takes: every event reads four of them.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// For a file that may have been planted: opening must neither wait for a pipe's writer nor take a terminal.
const OPEN: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The content of a regular file, links followed; at most `max` bytes of it.
pub(super) fn read(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    content(File::from(rustix::fs::open(path, OPEN, Mode::empty())?), max)
}

/// The same, of a file of ours: a link in its place is none.
pub(super) fn read_ours(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    content(File::from(rustix::fs::open(path, OPEN.union(OFlags::NOFOLLOW), Mode::empty())?), max)
}

fn content(mut file: File, max: usize) -> io::Result<Vec<u8>> {
    let there = file.metadata()?;
    if !there.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    // One byte more than there is: a read that does not fill it has met the end.
    let mut bytes = vec![0; usize::try_from(there.len()).unwrap_or(max).min(max) + 1];
    let read = file.read(&mut bytes)?;
    let ended = read < bytes.len();
    bytes.truncate(read);
    if !ended {
        file.take((max - max.min(read)) as u64).read_to_end(&mut bytes)?;
        bytes.truncate(max);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_read_whole_up_to_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for (content, max, want) in [("", 5, ""), ("abc", 5, "abc"), ("abcde", 5, "abcde"), ("abcdef", 5, "abcde")] {
            fs::write(&path, content).unwrap();
            assert_eq!(read(&path, max).unwrap(), want.as_bytes(), "{content}");
        }
        symlink(&path, dir.path().join("link")).unwrap();
        assert!(read(&dir.path().join("link"), 5).is_ok() && read_ours(&path, 5).is_ok());
        assert!(read_ours(&dir.path().join("link"), 5).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), dir.path()] {
            assert_eq!(read(path, 5).unwrap_err().to_string(), "it is no regular file");
        }
        assert_eq!(read(&dir.path().join("none"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
