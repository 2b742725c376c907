//! The log of one session: where it ends, how lines are appended, how they are read back. It holds no lock.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use super::disk;
use crate::store::{Head, RECORD_BYTES_MAX, StoreFault, Torn, link};

/// Bytes read at once while looking back for a line end: a few ordinary records.
const LOOK_BACK_BYTES: u64 = 16 << 10;
/// Bytes read at once while lines are streamed: few calls, little memory.
const STREAM_BYTES: usize = 64 << 10;

/// Where a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) head: Head,
    pub(super) torn: Option<Torn>,
}

/// What went wrong while looking into a log.
#[derive(Debug)]
pub(super) enum Trouble {
    Disk(io::Error),
    Damaged { at: u64, why: &'static str },
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// Whether the record before `head.offset` is `head`, and if so, whether anything follows it.
pub(super) fn follows(log: &File, head: &Head, line_bytes: usize) -> io::Result<Option<bool>> {
    let line_at = match head.offset.checked_sub(line_bytes as u64) {
        Some(at) if (1..=RECORD_BYTES_MAX).contains(&line_bytes) => at,
        _ => return Ok(None),
    };
    // One byte before: the end of the previous line. One byte after: whether there is more.
    let before = usize::from(line_at > 0);
    let mut bytes = vec![0; before + line_bytes + 1];
    let read = disk::read_at(log, &mut bytes, line_at - before as u64)?;
    let (Some(previous), Some(line)) = (bytes.get(..before), bytes.get(before..before + line_bytes)) else {
        return Ok(None);
    };
    let whole = read >= before + line_bytes && previous.iter().all(|byte| *byte == b'\n');
    let single = line.iter().position(|byte| *byte == b'\n') == Some(line_bytes - 1);
    let same = whole && single && link::head(line, head.offset).as_ref() == Some(head);
    Ok(same.then_some(read > before + line_bytes))
}

/// Finds the last whole record of a log of `len` bytes, knowing that a line ends at `start`.
pub(super) fn end(log: &File, start: Head, len: u64) -> Result<End, Trouble> {
    let last = line_start(log, start.offset, len)?;
    let torn = len.checked_sub(last).filter(|bytes| *bytes > 0).map(|bytes| Torn { at: last, bytes });
    if last == start.offset {
        return Ok(End { head: start, torn });
    }
    let at = line_start(log, start.offset, last - 1)?;
    let line = read_range(log, at, last)?;
    let head = link::head(&line, last).ok_or(Trouble::Damaged { at, why: "the last line is no record" })?;
    Ok(End { head, torn })
}

/// Where the line that reaches up to `to` starts: after the last line end in `from..to`, else at `from`.
pub(super) fn line_start(log: &File, from: u64, to: u64) -> Result<u64, Trouble> {
    let mut upper = to;
    while upper > from {
        if to - upper > RECORD_BYTES_MAX as u64 {
            return Err(Trouble::Damaged { at: upper, why: "a line is longer than any record" });
        }
        let lower = upper.saturating_sub(LOOK_BACK_BYTES).max(from);
        let bytes = read_range(log, lower, upper)?;
        if let Some(found) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(lower + found as u64 + 1);
        }
        upper = lower;
    }
    Ok(from)
}

fn read_range(log: &File, from: u64, to: u64) -> Result<Vec<u8>, Trouble> {
    let shrank = Trouble::Damaged { at: from, why: "the log became shorter while it was read" };
    let len = usize::try_from(to - from).map_err(|_| Trouble::Damaged { at: from, why: "a line does not fit" })?;
    disk::read_exact(log, from, len)?.ok_or(shrank)
}

/// The bytes after the last line end.
pub(super) fn after_last_line(log: &File) -> Result<Vec<u8>, Trouble> {
    let len = log.metadata()?.len();
    read_range(log, line_start(log, 0, len)?, len)
}

/// Appends whole lines at `offset` and has them made durable by `press`; on any fault the log ends at `offset` again.
pub(super) fn append(log: &File, offset: u64, lines: &[u8], press: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let appended = disk::write_all_at(log, lines, offset).and_then(|()| press());
    if appended.is_err() {
        // What was not answered must not look as if it were; if even this fails, the next load finds a torn tail
        // or records that nobody was told of, and both are harmless.
        let _ = disk::cut(log, offset);
    }
    appended
}

/// The lines between two line ends of a log, read as they are asked for.
#[derive(Debug)]
pub(super) struct LogLines {
    reader: BufReader<Section>,
    session: String,
    at: u64,
    done: bool,
}

impl LogLines {
    pub(super) fn new(log: Arc<File>, session: &str, from: u64, to: u64) -> Self {
        let room = usize::try_from(to.saturating_sub(from)).unwrap_or(STREAM_BYTES).min(STREAM_BYTES);
        let reader = BufReader::with_capacity(room, Section { log, at: from, end: to });
        Self { reader, session: session.to_owned(), at: from, done: false }
    }

    fn read(&mut self) -> Result<Option<Vec<u8>>, StoreFault> {
        let mut line = Vec::new();
        let bounded = (&mut self.reader).take(RECORD_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line);
        let read = bounded.map_err(|_| StoreFault::corrupt(&self.session, self.at, "the log cannot be read on"))?;
        if read == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') || read > RECORD_BYTES_MAX {
            return Err(StoreFault::corrupt(&self.session, self.at, "a line is incomplete or longer than any record"));
        }
        self.at += read as u64;
        Ok(Some(line))
    }
}

impl Iterator for LogLines {
    type Item = Result<Vec<u8>, StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.read().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// A part of a log, read by position so that the file may be shared.
#[derive(Debug)]
struct Section {
    log: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = bytes.len().min(left);
        let Some(bytes) = bytes.get_mut(..len).filter(|bytes| !bytes.is_empty()) else { return Ok(0) };
        let read = disk::read_at(&self.log, bytes, self.at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}
