//! Which sessions are kept. Anything that does not look like one of ours is passed over in silence.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;
use rustix::fs::Dir;
use rustix::io::Errno;

use super::place::{self, ID, LOG};
use crate::store::{RECORD_BYTES_MAX, SESSION_BYTES_MAX, SessionEntry, StoreFault, link, timestamp};

/// Sessions that are listed: a year of a busy team. More are a sign of a flood and would not fit a screen anyway.
const SESSIONS_LISTED_MAX: usize = 1_000_000;
/// Bytes of the file with the id: JSON may need six bytes for one, and two quotes.
const ID_BYTES_MAX: u64 = SESSION_BYTES_MAX as u64 * 6 + 2;

/// A place of a session's whose log is there and tells nobody's story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddSession {
    pub directory: PathBuf,
    pub why: &'static str,
}

pub(super) fn sessions(root: &Path) -> Result<Vec<SessionEntry>, StoreFault> {
    let mut sessions: Vec<SessionEntry> = all(root)?.into_iter().filter_map(Result::ok).collect();
    sessions.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    Ok(sessions)
}

pub(super) fn odd_sessions(root: &Path) -> Result<Vec<OddSession>, StoreFault> {
    let mut odd: Vec<OddSession> = all(root)?.into_iter().filter_map(Result::err).collect();
    odd.sort_unstable_by(|one, other| one.directory.cmp(&other.directory));
    Ok(odd)
}

fn all(root: &Path) -> Result<Vec<Result<SessionEntry, OddSession>>, StoreFault> {
    let Some(directory) = place::open_sessions(root)? else { return Ok(Vec::new()) };
    let unreadable = |error| StoreFault::unreadable(root, error);
    let mut sessions = Vec::new();
    for entry in Dir::read_from(&directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let odd = |why| OddSession { directory: root.join(place::SESSIONS).join(name), why };
        sessions.extend(session(&directory, name).map_err(odd).transpose());
        if sessions.len() > SESSIONS_LISTED_MAX {
            return Err(StoreFault::TooMany { what: "sessions", max: SESSIONS_LISTED_MAX });
        }
    }
    Ok(sessions)
}

fn session(directory: &OwnedFd, name: &str) -> Result<Option<SessionEntry>, &'static str> {
    const NOT_PLAIN: &str = "its log is no plain file";
    let Some(digest) = Digest::parse(name) else { return Ok(None) };
    let log = match place::open_below(directory, &[name, LOG], place::READ) {
        Ok(log) => File::from(log),
        // One that is just being made, or something else that is called so.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(NOT_PLAIN),
        Err(_) => return Err("its log cannot be opened"),
    };
    let metadata = log.metadata().map_err(|_| "its log cannot be looked at")?;
    if !metadata.is_file() {
        return Err(NOT_PLAIN);
    }
    if metadata.len() == 0 {
        return Ok(None);
    }
    // Either place may have been tampered with or lost; a true id is the one that the directory is named after.
    let id = written_id(directory, name)
        .filter(|id| Digest::of(id.as_bytes()) == digest)
        .or_else(|| first_id(&log).filter(|id| Digest::of(id.as_bytes()) == digest))
        .ok_or("neither its log nor its `id` tells whose it is")?;
    let modified = metadata.modified().map_err(|_| "its log cannot be looked at")?;
    Ok(Some(SessionEntry { id, bytes: metadata.len(), modified: timestamp(modified) }))
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
