//! The journal of a session: a second, short copy of the log's end, in blocks that the disk has given out long before.
//!
//! To have a longer file written, a file system must first write down that it became longer; to have bytes written over
//! others it need not, which takes half the time. So records are pressed to disk here, and the log, which has them in the
//! system's memory already, follows once the journal is full. Nothing but a loss of power makes the two differ; then what
//! the log lacks is taken from here, record by record, as far as each links to the one before.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{LazyLock, Mutex, PoisonError};

use jackline_core::sha::Digest;
use rustix::fs::OFlags;

use super::disk;
use super::place::{self, JOURNAL, JOURNAL_NEXT, Place};
use crate::checksum;
use crate::store::{Head, Restored, link};

/// Bytes of the log that a journal can hold: some forty events. Each time it is full the log is pressed to disk, so fewer
/// would cost time, and more would be room that every session takes.
const HELD_BYTES: u64 = 128 << 10;
/// Bytes of log before a session gets a journal: making one takes as long as several events, and many sessions are short.
const WORTH_BYTES: u64 = 16 << 10;
/// Names the format and its version.
const MAGIC: [u8; 8] = *b"JLJRNL\x02\0";
/// Where the copy begins: on a page of its own.
const HEADER_BYTES: usize = 4096;
/// Bytes of the whole file. One of another size was not made to its end.
const FILE_BYTES: u64 = HEADER_BYTES as u64 + HELD_BYTES;
/// magic 8, offset 8, seq 8, hash 32, boot 40, what was given back 16, checksum 8.
const LABEL_BYTES: usize = 120;
const CHECKED_BYTES: usize = LABEL_BYTES - 8;
/// Bytes of what tells one start of the machine from another: a UUID as text, and room.
const BOOT_BYTES: usize = 40;
/// Bytes before a record that are looked at to see whether they were journalled: the number of the record before is among
/// them, unless its session's id is very long.
const LOOK_BYTES: u64 = 1024;

/// Which start of the machine this is.
type Boot = [u8; BOOT_BYTES];

/// What a journal says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Label {
    /// Where in the log the copy begins. Up to there the log itself is durable.
    base: Head,
    /// The start of the machine in which it began.
    boot: Boot,
    /// What the log was given back before that, until a record says so.
    restored: Option<Restored>,
}

/// What a journal holds.
#[derive(Debug)]
pub(super) struct Copied {
    /// Where in the log it begins.
    pub(super) base: Head,
    pub(super) lines: Vec<u8>,
    /// Where the log ends once it has them.
    pub(super) end: Head,
}

/// Lines on their way to the disk.
#[derive(Debug)]
#[must_use]
pub(super) struct Pressing {
    /// Where in the log they end.
    end: u64,
}

/// Where lines belong in a journal.
#[derive(Debug)]
struct Room {
    /// What was left to the system's memory before: the outcomes of calls.
    gap: Vec<u8>,
    /// Where in the file the gap begins.
    at: u64,
    /// Where in the log the lines end.
    end: u64,
}

/// A session's journal, opened.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    /// Up to where this process knows the copy to be without a gap.
    known: Mutex<Option<u64>>,
}

impl Journal {
    /// The journal that is there; what cannot be used is none.
    pub(super) fn open(place: &Place, root: &OwnedFd) -> Option<Self> {
        let file = place.open(root, &[JOURNAL], place::READ_WRITE).ok()??;
        let is_whole = file.metadata().is_ok_and(|file| file.len() == FILE_BYTES);
        is_whole.then(|| Self { file, known: Mutex::default() })
    }

    /// Whether a log of so many bytes is worth one.
    pub(super) const fn is_worth(log_bytes: u64) -> bool {
        cfg!(target_os = "linux") && log_bytes >= WORTH_BYTES
    }

    /// Makes one for a log that is durable up to `base`. All of it is on the disk before it has its name.
    pub(super) fn create(own: &OwnedFd, base: Head) -> io::Result<Self> {
        let made = Self::make(own, base);
        if made.is_err() {
            // Nothing leads to it; what cannot be removed now is replaced later.
            let _ = disk::remove(own, JOURNAL_NEXT);
        }
        made
    }

    fn make(own: &OwnedFd, base: Head) -> io::Result<Self> {
        disk::remove(own, JOURNAL_NEXT)?;
        let file = File::from(place::open_at(own, JOURNAL_NEXT, place::CREATE.union(OFlags::EXCL))?);
        let journal = Self { file, known: Mutex::default() };
        // A piece at a time: a process that stays would go on holding the memory.
        for start in (0..FILE_BYTES).step_by(HEADER_BYTES) {
            disk::write_all_at(&journal.file, &[0; HEADER_BYTES], start)?;
        }
        disk::sync(&journal.file)?;
        journal.begin(base, None)?;
        disk::replace(own, JOURNAL_NEXT, JOURNAL)?;
        File::from(own.try_clone()?).sync_all()?;
        Ok(journal)
    }

    /// Begins anew, for a log that is durable up to `base`. Where that fails, the journal is not to be used any more: what
    /// the system's memory says of it need not be what the disk has.
    pub(super) fn begin(&self, base: Head, restored: Option<Restored>) -> io::Result<()> {
        self.set_known(None);
        let boot = (*BOOT).ok_or(io::ErrorKind::Unsupported)?;
        disk::write_through(&self.file, &[&Label { base, boot, restored }.bytes()], 0)?;
        self.set_known(Some(base.offset));
        Ok(())
    }

    /// Begins to make lines durable that the log has from `from` on; nothing where that is not for the journal to do.
    pub(super) fn start(&self, log: &File, from: Head, lines: &[u8]) -> Option<Pressing> {
        let Room { gap, at, end } = self.room(log, from, lines.len())?;
        // Until it is durable, nobody may build on it.
        self.set_known(None);
        disk::write_behind(&self.file, &[&gap, lines], at).ok()?;
        Some(Pressing { end })
    }

    /// Waits until what was begun is durable; false where it cannot be made so.
    pub(super) fn finish(&self, Pressing { end }: Pressing) -> bool {
        let pressed = disk::sync(&self.file).is_ok();
        self.set_known(pressed.then_some(end));
        pressed
    }

    /// Makes lines durable that the log has from `from` on; false where that is not for the journal to do.
    pub(super) fn press(&self, log: &File, from: Head, lines: &[u8]) -> bool {
        let Some(Room { gap, at, end }) = self.room(log, from, lines.len()) else { return false };
        let pressed = disk::write_through(&self.file, &[&gap, lines], at).is_ok();
        self.set_known(pressed.then_some(end));
        pressed
    }

    /// Where lines that the log has from `from` on belong, and what they must follow.
    fn room(&self, log: &File, from: Head, bytes: usize) -> Option<Room> {
        let usable = |label: &Label| label.is_of_this_start() && label.restored.is_none() && self.is_there();
        let Label { base: Head { offset: base, .. }, .. } = self.label().filter(usable)?;
        let start = self.contiguous(log, base, from)?;
        let end = from.offset + bytes as u64;
        if end - base > HELD_BYTES {
            return None;
        }
        let gap = disk::read_exact(log, start, usize::try_from(from.offset - start).ok()?).ok()??;
        Some(Room { gap, at: at(base, start), end })
    }

    /// From where on the log must be copied so that the copy has no gap before `from`.
    fn contiguous(&self, log: &File, base: u64, from: Head) -> Option<u64> {
        let known = *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.filter(|known| (base..=from.offset).contains(known)) {
            return Some(known);
        }
        self.holds_until(log, base, from).then_some(from.offset)
    }

    /// Whether the copy has the record before `from` where it should. Whoever put it there made sure of the one before it.
    fn holds_until(&self, log: &File, base: u64, from: Head) -> bool {
        let Some(before) = from.offset.checked_sub(base).filter(|bytes| *bytes <= HELD_BYTES) else { return false };
        if before == 0 {
            return true;
        }
        let len = before.min(LOOK_BYTES);
        let start = from.offset - len;
        let bytes = usize::try_from(len).unwrap_or_default();
        let (Ok(Some(kept)), Ok(Some(copied))) =
            (disk::read_exact(log, start, bytes), disk::read_exact(&self.file, at(base, start), bytes))
        else {
            return false;
        };
        // Little stands behind a record's number, so it is looked for from the end.
        let number = format!("\"seq\":{},", from.seq);
        kept == copied && kept.windows(number.len()).rev().any(|window| window == number.as_bytes())
    }

    /// Whether the machine was started anew since it began, so that the log may lack what the copy has. Till then a log that
    /// became shorter was made so by somebody, which is not to be hidden.
    pub(super) fn is_of_an_earlier_start(&self) -> bool {
        self.label().is_some_and(|label| !label.is_of_this_start())
    }

    /// What the log was given back, and no record tells of yet.
    pub(super) fn restored(&self) -> Option<Restored> {
        self.label()?.restored
    }

    /// What the log should have from a head on, as far as each record links to the one before.
    pub(super) fn copy(&self) -> Option<Copied> {
        let base = self.label()?.base;
        let held = usize::try_from(HELD_BYTES).ok()?;
        let bytes = disk::read_exact(&self.file, at(base.offset, base.offset), held).ok()??;
        let (mut len, mut end) = (0, base);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(next) = link::after(end, line) else { break };
            (len, end) = (len + line.len(), next);
        }
        Some(Copied { base, lines: bytes.get(..len)?.to_owned(), end })
    }

    /// Whether whoever opens the session finds it: one that somebody removed keeps nothing.
    pub(super) fn is_there(&self) -> bool {
        rustix::fs::fstat(&self.file).is_ok_and(|file| file.st_nlink > 0)
    }

    fn label(&self) -> Option<Label> {
        let mut bytes = [0; LABEL_BYTES];
        let read = disk::read_at(&self.file, &mut bytes, 0).ok()?;
        (read == LABEL_BYTES).then(|| Label::parse(&bytes)).flatten()
    }

    fn set_known(&self, known: Option<u64>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

/// Where a byte of the log is in the copy.
const fn at(base: u64, offset: u64) -> u64 {
    HEADER_BYTES as u64 + (offset - base)
}

impl Label {
    /// Whether it began in this start of the machine; where the system does not tell, nobody knows.
    fn is_of_this_start(&self) -> bool {
        *BOOT == Some(self.boot)
    }

    fn bytes(&self) -> Vec<u8> {
        let Head { seq, hash, offset } = self.base;
        let Restored { at, bytes: given } = self.restored.unwrap_or(Restored { at: 0, bytes: 0 });
        let mut bytes = Vec::with_capacity(LABEL_BYTES);
        for part in [&MAGIC[..], &offset.to_le_bytes(), &seq.to_le_bytes(), &hash.0, &self.boot] {
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&at.to_le_bytes());
        bytes.extend_from_slice(&given.to_le_bytes());
        let sum = checksum::of(&[&bytes]);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (checked, sum) = bytes.split_at_checked(CHECKED_BYTES)?;
        if checksum::of(&[checked]).to_le_bytes() != *sum {
            return None;
        }
        let (magic, rest) = checked.split_first_chunk::<8>()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let (seq, rest) = rest.split_first_chunk::<8>()?;
        let (hash, rest) = rest.split_first_chunk::<32>()?;
        let (boot, rest) = rest.split_first_chunk::<BOOT_BYTES>()?;
        let (at, given) = rest.split_first_chunk::<8>()?;
        let base = Head { seq: u64::from_le_bytes(*seq), hash: Digest(*hash), offset: u64::from_le_bytes(*offset) };
        let restored = Restored { at: u64::from_le_bytes(*at), bytes: u64::from_le_bytes(given.try_into().ok()?) };
        let restored = Some(restored).filter(|restored| restored.bytes > 0);
        (*magic == MAGIC).then_some(Self { base, boot: *boot, restored })
    }
}

/// Which start of the machine this is; nothing where the system does not tell, and then there is no journal.
static BOOT: LazyLock<Option<Boot>> = LazyLock::new(|| {
    // One read: it is asked at every event, and the whole of it comes at once.
    let (mut bytes, mut boot) = ([0; BOOT_BYTES], [0; BOOT_BYTES]);
    let read = disk::read_at(&File::open("/proc/sys/kernel/random/boot_id").ok()?, &mut bytes, 0).ok()?;
    let text = bytes.get(..read)?.trim_ascii();
    if text.is_empty() {
        return None;
    }
    boot.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    Some(boot)
});
