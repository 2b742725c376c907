//! Retires: the beginning of a log, or a whole session, while others may write to it.
//!
//! What must stay is copied before the lock is taken, so that nobody waits for long. One rename, or one removal, is the moment
//! at which it happens: killed before it, nothing has changed; killed after it, nothing is missing that was to stay.
//!
//! INVARIANT: one process at a time retires, so names of files that are being written need not tell two apart.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{AtFlags, Dir, OFlags};
use rustix::io::Errno;

use super::{OpenSession, Seen, Settled};
use crate::store::files::lock::Mode;
use crate::store::files::place::{self, CARRIED, ID, JOURNAL, JOURNAL_NEXT, LOG, NEXT, SNAPSHOTS, STATE};
use crate::store::files::slots::{self, Label};
use crate::store::files::{Retirement, disk, log};
use crate::store::{CARRIED_BYTES_MAX, Head, StoreFault, link, within};

/// Bytes copied at once: few calls, little memory.
const COPY_BYTES: u64 = 1 << 20;
/// Names of a session's directory that are looked at: ours are a dozen, so more means that someone else uses it.
const NAMES_MAX: usize = 4096;

/// A new log while it is written.
struct Next {
    file: File,
    /// Up to where the present log was copied.
    copied: u64,
    /// Where the new log ends.
    end: u64,
}

impl OpenSession {
    /// Retires the records up to `retirement.last`; the head afterwards, or nothing when the log is not what the caller saw.
    pub(in crate::store::files) fn retire_records(
        &self,
        retirement: &Retirement<'_>,
    ) -> Result<Option<Head>, StoreFault> {
        within("what is carried over", retirement.carried.len(), CARRIED_BYTES_MAX)?;
        let last = log::end(&self.log, Head::EMPTY, retirement.last.offset).map_err(|trouble| self.trouble(trouble))?;
        let Some(own) =
            self.place.own(&self.root)?.filter(|_| last.head == retirement.last && last.head.seq > 0 && self.writable)
        else {
            return Ok(None);
        };
        let replaced = self.replace(&own, retirement);
        if !matches!(replaced, Ok(Some(_))) {
            // Nothing led to them; what cannot be removed now is swept up later.
            let _ = disk::remove(&own, NEXT);
            let _ = disk::remove(&own, &carried_name(retirement.last.seq));
        }
        replaced
    }

    fn replace(&self, own: &OwnedFd, retirement: &Retirement<'_>) -> Result<Option<Head>, StoreFault> {
        let unwritable = |error: io::Error| StoreFault::unwritable(&self.place.path(NEXT), error);
        let mut next = Next::create(own, retirement.last.offset).map_err(unwritable)?;
        next.copy(&self.log, self.look()?.end.head.offset).map_err(unwritable)?;
        self.carry(own, retirement)?;
        let _held = self.hold(Mode::Exclusive)?;
        let Some(seen) = self.still_there()? else { return Ok(None) };
        next.copy(&self.log, seen.end.head.offset).map_err(unwritable)?;
        let line = (retirement.word)(Head { offset: next.end, ..seen.end.head });
        let head = link::head(&line, next.end + line.len() as u64);
        let Some(head) = head.filter(|head| line.ends_with(b"\n") && head.seq == seen.end.head.seq + 1) else {
            return Err(StoreFault::Malformed { why: "the record that tells of the retired ones is none" });
        };
        next.append(&line).and_then(|()| disk::sync(&next.file)).map_err(unwritable)?;
        // Whoever opens it from now on waits until its state is there as well.
        next.file.try_lock().map_err(|error| unwritable(io::Error::from(error)))?;
        // Its offsets are those of the old log, which must be durable without it until the new one is in its place.
        disk::sync(&self.log).and_then(|()| disk::remove(own, JOURNAL)).map_err(unwritable)?;
        disk::replace(own, NEXT, LOG).map_err(unwritable)?;
        // Should the power fail before this is durable, the old log is there, and with it everything.
        let _ = sync(own);
        self.move_state(&seen, head, line.len());
        forget_carried(own, retirement.last.seq);
        Ok(Some(head))
    }

    /// Keeps what folding goes on from. Nothing leads to it before the log begins behind it.
    fn carry(&self, own: &OwnedFd, retirement: &Retirement<'_>) -> Result<(), StoreFault> {
        let name = carried_name(retirement.last.seq);
        let unwritable = |error: io::Error| StoreFault::unwritable(&self.place.path(&name), error);
        disk::remove(own, &name).map_err(unwritable)?;
        let file = File::from(place::open_at(own, &name, NEW).map_err(|error| unwritable(error.into()))?);
        disk::write_all_at(&file, retirement.carried, 0).and_then(|()| disk::sync(&file)).map_err(unwritable)?;
        sync(own).map_err(unwritable)
    }

    /// The state up to the old head is the one up to the new: the record between them changes nothing. Its failure costs the
    /// next load some lines to fold.
    fn move_state(&self, seen: &Seen, head: Head, line_bytes: usize) {
        let Some((Settled { which, generation, head: of, .. }, state)) = &seen.checkpoint else { return };
        if let (Ok(Some(file)), true) = (self.state(), *of == seen.end.head) {
            let label = Label { generation: generation.saturating_add(1), head, line_bytes };
            let _ = slots::write(file, which.other(), &label, state);
        }
    }

    /// Removes all that is kept of the session, if `expected` is still its head; `said` is called before anything goes.
    pub(in crate::store::files) fn retire(
        &self,
        expected: Head,
        said: &mut dyn FnMut() -> Result<(), StoreFault>,
    ) -> Result<bool, StoreFault> {
        let unwritable = |error: io::Error| StoreFault::unwritable(&self.place.directory, error);
        let Some(own) = self.place.own(&self.root)?.filter(|_| self.writable) else { return Ok(false) };
        let held = self.hold(Mode::Exclusive)?;
        if self.still_there()?.is_none_or(|seen| seen.end.head != expected) {
            return Ok(false);
        }
        // Named now: what is made under these names later belongs to a session that begins anew.
        let rest = Rest::of(&own).map_err(|error| unwritable(error.into()))?;
        said()?;
        // A cache, and a name that the log has too: without them it is still the whole session.
        for name in [STATE, ID, JOURNAL] {
            disk::remove(&own, name).map_err(unwritable)?;
        }
        disk::remove(&own, LOG).map_err(unwritable)?;
        let _ = sync(&own);
        drop(held);
        rest.remove(&own);
        self.remove_directory();
        Ok(true)
    }

    fn remove_directory(&self) {
        // One that is not empty belongs to a session that began anew in it.
        if let Ok(sessions) = place::open_below(&self.root, &[place::SESSIONS], place::DIRECTORY) {
            let _ = rustix::fs::unlinkat(&sessions, self.place.directory_name(), AtFlags::REMOVEDIR);
        }
    }

    /// What the files hold, under the lock; nothing when the log was replaced, or what a crash left of a write follows it.
    fn still_there(&self) -> Result<Option<Seen>, StoreFault> {
        let metadata = self.log.metadata().map_err(|error| self.unreadable(error))?;
        if metadata.nlink() == 0 {
            return Ok(None);
        }
        Ok(Some(self.look()?).filter(|seen| seen.end.torn.is_none()))
    }

    /// Removes what a killed process left of its retiring.
    pub(in crate::store::files) fn sweep(&self) -> Result<(), StoreFault> {
        let Some(own) = self.place.own(&self.root)?.filter(|_| self.writable) else { return Ok(()) };
        let rest = Rest::of(&own).map_err(|error| StoreFault::unreadable(&self.place.directory, error))?;
        if rest.own.is_empty() {
            return Ok(());
        }
        let _held = self.hold(Mode::Exclusive)?;
        if self.still_there()?.is_some() {
            for name in [NEXT, JOURNAL_NEXT] {
                let _ = disk::remove(&own, name);
            }
            let first = self.first_line().as_deref().and_then(link::before);
            forget_carried(&own, first.map_or(0, |(seq, _)| seq.saturating_sub(1)));
        }
        Ok(())
    }

    fn first_line(&self) -> Option<Vec<u8>> {
        let end = self.log.metadata().ok()?.len();
        log::LogLines::new(std::sync::Arc::clone(&self.log), &self.place.session, 0, end).next()?.ok()
    }
}

/// A new file of ours, never one that is there already.
const NEW: OFlags = place::CREATE.union(OFlags::EXCL);

impl Next {
    fn create(own: &OwnedFd, from: u64) -> io::Result<Self> {
        disk::remove(own, NEXT)?;
        let file = File::from(place::open_at(own, NEXT, NEW)?);
        Ok(Self { file, copied: from, end: 0 })
    }

    fn copy(&mut self, log: &File, to: u64) -> io::Result<()> {
        while self.copied < to {
            let len = usize::try_from((to - self.copied).min(COPY_BYTES)).unwrap_or_default();
            let bytes = disk::read_exact(log, self.copied, len)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            self.append(&bytes)?;
            self.copied += len as u64;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        disk::write_all_at(&self.file, bytes, self.end)?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// What else is in a session's directory.
pub(in crate::store::files) struct Rest {
    own: Vec<String>,
    snapshots: Vec<String>,
}

impl Rest {
    pub(in crate::store::files) fn of(own: &OwnedFd) -> Result<Self, Errno> {
        let mine = |name: &String| [NEXT, JOURNAL_NEXT].contains(&name.as_str()) || name.starts_with(CARRIED);
        let snapshots = match place::open_at(own, SNAPSHOTS, place::DIRECTORY) {
            Ok(directory) => names(&directory)?,
            Err(Errno::NOENT) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { own: names(own)?.into_iter().filter(mine).collect(), snapshots })
    }

    /// Best effort: nothing leads to any of it any more.
    pub(in crate::store::files) fn remove(&self, own: &OwnedFd) {
        for name in &self.own {
            let _ = disk::remove(own, name);
        }
        if let Ok(directory) = place::open_at(own, SNAPSHOTS, place::DIRECTORY) {
            for name in &self.snapshots {
                let _ = disk::remove(&directory, name);
            }
            let _ = rustix::fs::unlinkat(own, SNAPSHOTS, AtFlags::REMOVEDIR);
        }
    }
}

fn names(directory: &impl AsFd) -> Result<Vec<String>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)?.take(NAMES_MAX) {
        names.extend(entry?.file_name().to_str().ok().filter(|name| !matches!(*name, "." | "..")).map(str::to_owned));
    }
    Ok(names)
}

/// Where what was carried over is kept when the records up to `seq` are retired.
pub(in crate::store::files) fn carried_name(seq: u64) -> String {
    format!("{CARRIED}{seq}")
}

/// Removes what was carried over by earlier retirements than the one up to `seq`.
fn forget_carried(own: &OwnedFd, seq: u64) {
    let kept = carried_name(seq);
    for name in names(own).unwrap_or_default().iter().filter(|name| name.starts_with(CARRIED) && **name != kept) {
        let _ = disk::remove(own, name);
    }
}

fn sync(directory: &OwnedFd) -> io::Result<()> {
    File::from(directory.try_clone()?).sync_all()
}
