//! What git would call the content of a file: the id of its blob, computed here.

use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Instant;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::names::hex_of;
use crate::probes::fingerprint::{Opened, open};

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Bytes of a file that is read; a larger one that looks changed counts as changed.
const BLOB_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Hexadecimal digits of an id of the newer kind.
const LONG_DIGITS: usize = 64;
/// What git may take out of a line, where it is told to.
const IDENT: &[u8] = b"$Id";

/// The content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Blob {
    /// Hexadecimal.
    pub(super) id: Vec<u8>,
    /// It has line ends or marks that git keeps in another form, where it is told to.
    pub(super) convertible: bool,
    /// All of it, where it was read in one go.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Blob {
    /// What a file contains; nothing where it cannot be read in time, or changes meanwhile. Ids have so many digits.
    pub(super) fn of_file(path: &Path, digits: usize, until: Instant) -> Option<Self> {
        let Ok(Opened::File(mut file, meta)) = open(path) else { return None };
        if meta.len() > BLOB_BYTES_MAX {
            return None;
        }
        let mut hasher = Hasher::new(digits, meta.len());
        let mut convertible = false;
        let room = usize::try_from(meta.len()).unwrap_or(CHUNK_BYTES).saturating_add(1).min(CHUNK_BYTES);
        // What a chunk ends with may be the beginning of a mark.
        let mut chunk = vec![0; room + IDENT.len()];
        let (mut kept, mut total) = (0, 0_u64);
        loop {
            let read = file.read(chunk.get_mut(kept..)?).ok()?;
            if read == 0 {
                break;
            }
            total += read as u64;
            if total > meta.len() || Instant::now() > until {
                return None;
            }
            let seen = chunk.get(..kept + read)?;
            hasher.take(seen.get(kept..)?);
            convertible |= seen.contains(&b'\r') || seen.windows(IDENT.len()).any(|window| window == IDENT);
            if total == meta.len() && read as u64 == total {
                // It may grow while it is read.
                let ended = file.read(&mut [0]).ok()? == 0;
                chunk.truncate(read);
                return ended.then(|| Self { id: hasher.id(), convertible, bytes: Some(chunk) });
            }
            let from = seen.len().saturating_sub(IDENT.len() - 1);
            kept = seen.len() - from;
            chunk.copy_within(from..from + kept, 0);
        }
        (total == meta.len()).then(|| Self { id: hasher.id(), convertible, bytes: None })
    }

    /// Where a link leads, which is what it contains.
    pub(super) fn of_link(path: &Path, digits: usize) -> Option<Self> {
        let target = fs::read_link(path).ok()?;
        let mut hasher = Hasher::new(digits, target.as_os_str().len() as u64);
        hasher.take(target.as_os_str().as_bytes());
        Some(Self { id: hasher.id(), convertible: false, bytes: None })
    }
}

/// Either kind of id.
enum Hasher {
    Short(Sha1),
    Long(Sha256),
}

impl Hasher {
    fn new(digits: usize, bytes: u64) -> Self {
        let mut hasher = if digits == LONG_DIGITS { Self::Long(Sha256::new()) } else { Self::Short(Sha1::new()) };
        hasher.take(format!("blob {bytes}\0").as_bytes());
        hasher
    }

    fn take(&mut self, bytes: &[u8]) {
        match self {
            Self::Short(hasher) => hasher.update(bytes),
            Self::Long(hasher) => hasher.update(bytes),
        }
    }

    fn id(self) -> Vec<u8> {
        match self {
            Self::Short(hasher) => hex_of(&hasher.finalize()),
            Self::Long(hasher) => hex_of(&hasher.finalize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ids_are_those_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let check = |bytes: &[u8], digits: usize, want: &str, convertible: bool| {
            fs::write(&path, bytes).unwrap();
            let blob = Blob::of_file(&path, digits, Instant::now() + Duration::from_secs(9)).unwrap();
            assert_eq!((String::from_utf8(blob.id).unwrap().as_str(), blob.convertible), (want, convertible));
        };
        check(b"", 40, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", false);
        check(b"x\n", 40, "587be6b4c3f93f93c489c0111bba5596147a26cb", false);
        check(b"x\n", 64, "14f5162e2fe3d240d0d37aaab0f90e4af9a7cfa79639f3bab005b5bfb4174d9f", false);
        check(b"a\r\n", 40, "533790e525dfeb785a02edfceeb1c7d120972c0d", true);
    }

    #[test]
    fn a_mark_is_seen_wherever_it_stands() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        for before in [0, 1, CHUNK_BYTES - 2, CHUNK_BYTES, CHUNK_BYTES + 2, CHUNK_BYTES + 3, 3 * CHUNK_BYTES - 1] {
            fs::write(&path, [vec![b'x'; before], b"$Id$".to_vec(), vec![b'y'; 9]].concat()).unwrap();
            assert!(Blob::of_file(&path, 40, Instant::now() + Duration::from_secs(9)).unwrap().convertible, "{before}");
        }
        fs::write(&path, vec![b'$'; 2 * CHUNK_BYTES]).unwrap();
        assert!(!Blob::of_file(&path, 40, Instant::now() + Duration::from_secs(9)).unwrap().convertible);
    }
}
