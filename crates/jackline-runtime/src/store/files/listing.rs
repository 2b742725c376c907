//! Which sessions are kept. Anything that is not one of ours is passed over in silence.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use jackline_core::sha::Digest;
use rustix::fs::Dir;

use super::place::{self, ID, LOG};
use crate::store::{RECORD_BYTES_MAX, SESSION_BYTES_MAX, SessionEntry, StoreFault, link, timestamp};

/// Sessions that are listed: a year of a busy team. More are a sign of a flood and would not fit a screen anyway.
const SESSIONS_LISTED_MAX: usize = 1_000_000;
/// Bytes of the file with the id: JSON may need six bytes for one, and two quotes.
const ID_BYTES_MAX: u64 = SESSION_BYTES_MAX as u64 * 6 + 2;

pub(super) fn sessions(root: &Path) -> Result<Vec<SessionEntry>, StoreFault> {
    let Some(directory) = place::open_sessions(root)? else { return Ok(Vec::new()) };
    let unreadable = |error| StoreFault::unreadable(root, error);
    let mut sessions = Vec::new();
    for entry in Dir::read_from(&directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        sessions.extend(entry.file_name().to_str().ok().and_then(|name| session(&directory, name)));
        if sessions.len() > SESSIONS_LISTED_MAX {
            return Err(StoreFault::TooMany { what: "sessions", max: SESSIONS_LISTED_MAX });
        }
    }
    sessions.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    Ok(sessions)
}

fn session(directory: &OwnedFd, name: &str) -> Option<SessionEntry> {
    let digest = Digest::parse(name)?;
    let log = open(directory, name, LOG)?;
    let metadata = log.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() > 0)?;
    // Either place may have been tampered with or lost; a true id is the one that the directory is named after.
    let id = written_id(directory, name)
        .filter(|id| Digest::of(id.as_bytes()) == digest)
        .or_else(|| first_id(&log).filter(|id| Digest::of(id.as_bytes()) == digest))?;
    Some(SessionEntry { id, bytes: metadata.len(), modified: timestamp(metadata.modified().ok()?) })
}

fn written_id(directory: &OwnedFd, name: &str) -> Option<String> {
    let file = open(directory, name, ID)?;
    let mut bytes = Vec::new();
    read_plain(file, ID_BYTES_MAX, |reader| reader.read_to_end(&mut bytes)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn first_id(log: &File) -> Option<String> {
    let mut line = Vec::new();
    let log = log.try_clone().ok()?;
    read_plain(log, RECORD_BYTES_MAX as u64, |reader| reader.read_until(b'\n', &mut line)).ok()?;
    link::session(&line)
}

/// Reads a bounded part of a plain file; a planted pipe would otherwise be waited for.
fn read_plain(
    file: File,
    max: u64,
    read: impl FnOnce(&mut io::Take<BufReader<File>>) -> io::Result<usize>,
) -> io::Result<usize> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    read(&mut BufReader::new(file).take(max))
}

fn open(directory: &OwnedFd, name: &str, file: &str) -> Option<File> {
    place::open_below(directory, &[name, file], place::READ).ok().map(File::from)
}
