//! The queue on disk: one small file for each firing, written whole or not at all, readable by its owner alone.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jackline_core::files::queue::{Entry, HASH_DIGITS, Passed, SettledBy, Status, Write};
use jackline_core::redact::Redactor;
use jackline_core::sha::Digest;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::folder::Folder;
use crate::private;
use crate::probes::fingerprint::{Opened, all, open, small};

/// Bytes of one entry: its lists of files are bounded, and so is what its command printed.
const ENTRY_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Entries that are listed; more are older than anyone looks at.
pub const ENTRIES_MAX: usize = 10_000;
/// Outstanding entries that are read before anybody knows which are needed.
const OUTSTANDING_MAX: usize = 512;
/// The summary for people.
const SUMMARY: &str = "policy_state.json";

/// The queue of a folder of policies.
#[derive(Debug, Clone)]
pub struct Queue<'a> {
    folder: &'a Folder,
}

/// What becomes of an entry that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damaged {
    Removed,
    Left,
}

/// What was found under a hash.
#[derive(Debug, PartialEq)]
pub enum Found<Name = String> {
    Nothing,
    Entry(Box<Entry<Name>>),
    /// It cannot be read; it was taken away.
    Corrupt(String),
}

/// Outstanding entries that were read, without the names of their files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outstanding {
    /// By hash.
    pub(crate) entries: BTreeMap<String, Entry<Passed>>,
    /// The hashes of those that cannot be read.
    pub(crate) damaged: Vec<String>,
}

/// How an entry stands, and for which content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing(Status, Digest);

impl Standing {
    pub(crate) const fn of<Name>(entry: &Entry<Name>) -> Self {
        Self(entry.status, entry.content_digest)
    }
}

impl<'a> Queue<'a> {
    #[must_use]
    pub const fn of(folder: &'a Folder) -> Self {
        Self { folder }
    }

    fn dir(&self) -> PathBuf {
        self.folder.state().join("queue")
    }

    fn file(&self, hash: &str, status: Status) -> PathBuf {
        self.dir().join(format!("{hash}.{}.json", status.name()))
    }

    /// The entry under a trigger hash. One that is damaged is taken away, so that its policy fires anew.
    #[must_use]
    pub fn get(&self, hash: &str) -> Found {
        self.read(hash, Damaged::Removed)
    }

    /// The same without the names of its files.
    pub(crate) fn glance(&self, hash: &str) -> Found<Passed> {
        self.read(hash, Damaged::Removed)
    }

    fn read<Name: DeserializeOwned>(&self, hash: &str, damaged: Damaged) -> Found<Name> {
        for status in Status::ALL {
            let file = self.file(hash, status);
            let (bytes, is_dir) = match open(&file) {
                Ok(Opened::Nothing) => continue,
                Ok(Opened::Directory) => (None, true),
                Ok(Opened::File(file, _)) => (all(&file, ENTRY_BYTES_MAX), false),
                Err(_) if fs::symlink_metadata(&file).is_err() => continue,
                Err(_) => (None, false),
            };
            match bytes.and_then(|bytes| decoded(&bytes, hash, status)) {
                Some(entry) => return Found::Entry(Box::new(entry)),
                // Whatever else stands there is not ours, and would keep the entry from being written.
                None => {
                    if damaged == Damaged::Removed && unlinked(self.folder, &self.dir()).is_ok() {
                        drop(if is_dir { fs::remove_dir_all(&file) } else { fs::remove_file(&file) });
                    }
                    return Found::Corrupt(format!("{hash}.{}.json", status.name()));
                }
            }
        }
        Found::Nothing
    }

    /// How outstanding entries stand, for who will glance at most of them soon: read while others look at what changed. None
    /// where there are many; and one that is damaged is only named.
    pub(crate) fn outstanding(&self) -> Outstanding {
        let names = fs::read_dir(self.dir()).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let known = names.take(ENTRIES_MAX).filter_map(|name| outstanding(&name));
        let mut known: Vec<(String, Status)> = known.take(OUTSTANDING_MAX + 1).collect();
        if known.len() > OUTSTANDING_MAX {
            return Outstanding::default();
        }
        // Of two with one hash the first counts, as for who looks for a single one.
        known.sort_unstable();
        let mut read = Outstanding::default();
        for (hash, status) in known {
            let bytes = small(&self.file(&hash, status), ENTRY_BYTES_MAX);
            match bytes.and_then(|bytes| decoded(&bytes, &hash, status)) {
                Some(entry) => drop(read.entries.entry(hash).or_insert(entry)),
                None => read.damaged.push(hash),
            }
        }
        read
    }

    /// Takes damaged entries away, whether or not they fire: nobody would write them anew. Their names.
    pub(crate) fn remove_damaged(&self, hashes: &[String]) -> Vec<String> {
        let removed: Vec<String> = hashes
            .iter()
            .filter_map(|hash| match self.glance(hash) {
                Found::Corrupt(name) => Some(name),
                Found::Entry(_) | Found::Nothing => None,
            })
            .collect();
        if !removed.is_empty() && self.is_summed_up() {
            // It is a view, and made again as soon as anything is written.
            drop(self.sum_up());
        }
        removed
    }

    /// Every entry, by hash; what is damaged is named, and left for the next look, which records it where it is outstanding.
    #[must_use]
    pub fn all(&self) -> (Vec<Entry>, Vec<String>) {
        let mut hashes: Vec<String> = Vec::new();
        for entry in fs::read_dir(self.dir()).into_iter().flatten().flatten().take(ENTRIES_MAX) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let hash = name.split('.').next().unwrap_or_default();
            hashes.extend(is_hash(hash).then(|| hash.to_owned()));
        }
        hashes.sort_unstable();
        hashes.dedup();
        let (mut entries, mut corrupt) = (Vec::new(), Vec::new());
        for hash in hashes {
            match self.read(&hash, Damaged::Left) {
                Found::Entry(entry) => entries.push(*entry),
                Found::Corrupt(name) => corrupt.push(name),
                Found::Nothing => {}
            }
        }
        (entries, corrupt)
    }

    /// Writes what a decision led to.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, writes: &[Write], redactor: &Redactor) -> io::Result<()> {
        place(self.folder, "queue")?;
        // One that cannot be written keeps no other from being written.
        let written = writes.iter().map(|write| match write {
            Write::Entry(entry) => self.put(entry, redactor),
            Write::Restored(entry) => self.restore(entry, redactor),
            Write::Settle { hash, status, by, at, .. } => self.settle(hash, (*status, *by), &at.to_string(), redactor),
        });
        let faults: Vec<io::Error> = written.filter_map(Result::err).collect();
        self.sum_up()?;
        faults.into_iter().next().map_or(Ok(()), Err)
    }

    /// Whether a write would change nothing, where entries were seen to stand like this a moment ago.
    pub(crate) fn has(&self, write: &Write, seen: &BTreeMap<String, Standing>) -> bool {
        let Write::Restored(entry) = write else { return false };
        seen.get(&entry.trigger_hash) == Some(&Standing::of(entry))
    }

    /// Whether people find the summary of it.
    pub(crate) fn is_summed_up(&self) -> bool {
        self.folder.state().join(SUMMARY).is_file()
    }

    /// Puts an entry where it should be and is not, or where another one is.
    fn restore(&self, entry: &Entry, redactor: &Redactor) -> io::Result<()> {
        let same = |there: &Entry<Passed>| Standing::of(there) == Standing::of(entry);
        match self.glance(&entry.trigger_hash) {
            Found::Entry(there) if same(&there) => Ok(()),
            Found::Entry(_) | Found::Nothing | Found::Corrupt(_) => self.put(entry, redactor),
        }
    }

    fn settle(&self, hash: &str, (status, by): (Status, SettledBy), at: &str, redactor: &Redactor) -> io::Result<()> {
        let Found::Entry(entry) = self.get(hash) else { return Ok(()) };
        let settled = Entry { status, settled_by: Some(by), evaluated_at: Some(at.to_owned()), ..*entry };
        self.put(&settled, redactor)
    }

    fn put(&self, entry: &Entry, redactor: &Redactor) -> io::Result<()> {
        if !is_hash(&entry.trigger_hash) {
            return Err(io::Error::other("it is no trigger hash"));
        }
        let mut value = serde_json::to_value(entry)?;
        redactor.redact(&mut value);
        replace(&self.file(&entry.trigger_hash, entry.status), &serde_json::to_vec_pretty(&value)?)?;
        for other in Status::ALL.into_iter().filter(|status| *status != entry.status) {
            match fs::remove_file(self.file(&entry.trigger_hash, other)) {
                Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
                _ => {}
            }
        }
        Ok(())
    }

    /// What people look at first: how many stand how, and which are outstanding.
    fn sum_up(&self) -> io::Result<()> {
        let mut counts = [0_usize; Status::ALL.len()];
        let mut outstanding: Vec<String> = Vec::new();
        for entry in fs::read_dir(self.dir())?.flatten().take(ENTRIES_MAX) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let status = Status::ALL.iter().position(|status| name.ends_with(&format!(".{}.json", status.name())));
            if let Some(count) = status.and_then(|at| counts.get_mut(at)) {
                *count += 1;
            }
            let open = name.ends_with(".queued.json") || name.ends_with(".failed.json");
            outstanding.extend(open.then(|| name.split('.').next().unwrap_or_default().to_owned()));
        }
        outstanding.sort_unstable();
        let counted: serde_json::Map<String, serde_json::Value> =
            Status::ALL.iter().zip(counts).map(|(status, count)| (status.name().to_owned(), json!(count))).collect();
        let summary = json!({ "entries": counted, "outstanding": outstanding });
        replace(&self.folder.state().join(SUMMARY), &serde_json::to_vec_pretty(&summary)?)
    }

    /// Takes everything away; how many entries there were.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clear(&self) -> io::Result<usize> {
        unlinked(self.folder, &self.dir())?;
        let (entries, corrupt) = self.all();
        match fs::remove_dir_all(self.folder.state()) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(entries.len() + corrupt.len()),
        }
    }
}

/// An entry that stands under its hash and its status.
fn decoded<Name: DeserializeOwned>(bytes: &[u8], hash: &str, status: Status) -> Option<Entry<Name>> {
    let read: Option<Entry<Name>> = serde_json::from_slice(bytes).ok();
    read.filter(|entry| entry.trigger_hash == hash && entry.status == status)
}

/// The hash and the status of an outstanding entry, by its file's name.
fn outstanding(name: &OsStr) -> Option<(String, Status)> {
    let (hash, rest) = name.to_str()?.split_once('.')?;
    let open = [Status::Queued, Status::Failed];
    let status = open.into_iter().find(|status| rest.strip_suffix(".json") == Some(status.name()))?;
    is_hash(hash).then(|| (hash.to_owned(), status))
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A directory of ours beside the policies, made where it is missing; git is told to ignore what is in it, and nothing
/// that others keep around it.
pub(super) fn place(folder: &Folder, name: &str) -> io::Result<PathBuf> {
    let dir = folder.state().join(name);
    unlinked(folder, &dir)?;
    if !dir.is_dir() {
        private::create_dir(&dir)?;
        // Something else may have been put there in between.
        unlinked(folder, &dir)?;
    }
    let ignore = folder.state().join(".gitignore");
    if !ignore.exists() {
        replace(&ignore, b"*\n")?;
    }
    Ok(dir)
}

/// Refuses a way that leads through a link: it would have us write, or delete, elsewhere.
fn unlinked(folder: &Folder, dir: &Path) -> io::Result<()> {
    let ours = dir.ancestors().take_while(|place| *place != folder.root && place.starts_with(&folder.root));
    match ours.into_iter().find(|place| place.is_symlink()) {
        Some(link) => Err(io::Error::other(format!("`{}` is a link", link.display()))),
        None if dir.starts_with(&folder.root) => Ok(()),
        None => Err(io::Error::other(format!("`{}` is outside the workspace", dir.display()))),
    }
}

/// Writes a file whole or not at all.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = file.with_extension(format!("{}.new", std::process::id()));
    let mut new = private::create_file(&beside)?;
    let written = new.write_all(bytes).and_then(|()| fs::rename(&beside, file));
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
    written
}

#[cfg(test)]
mod tests;
