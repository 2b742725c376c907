//! How an open session's records come to the disk: through its journal where it has one, else through its log; and back
//! into the log, should the power have failed in between.

use std::io;

use super::OpenSession;
use crate::store::files::journal::{Copied, Journal};
use crate::store::files::lock::Mode;
use crate::store::files::{disk, log};
use crate::store::{Commit, Head, StoreFault, Sync, link};

impl OpenSession {
    /// The journal, opened again when it was not there before.
    fn journal(&self, log_bytes: u64) -> Option<&Journal> {
        if let Some(journal) = self.journal.get() {
            return Some(journal);
        }
        if !self.writable || !Journal::is_worth(log_bytes) {
            return None;
        }
        Journal::open(&self.place, &self.root).map(|opened| self.journal.get_or_init(|| opened))
    }

    /// Presses what was appended to disk, as hard as the commit asks for.
    pub(super) fn press(&self, commit: &Commit<'_>) -> io::Result<()> {
        if commit.sync == Sync::Os {
            return Ok(());
        }
        let journal = self.journal(commit.expected.offset);
        if journal.is_some_and(|journal| journal.press(&self.log, commit.expected, commit.lines)) {
            return Ok(());
        }
        disk::sync(&self.log)?;
        // The records are durable whether there is a journal for the next ones or not.
        match journal {
            Some(journal) => drop(journal.begin(commit.head)),
            None if Journal::is_worth(commit.expected.offset) => drop(self.make_journal(commit.head)),
            None => {}
        }
        Ok(())
    }

    fn make_journal(&self, base: Head) -> Result<(), StoreFault> {
        let own = self.place.own(&self.root)?;
        let made = own.and_then(|own| Journal::create(&own, base).ok());
        made.into_iter().for_each(|made| drop(self.journal.set(made)));
        Ok(())
    }

    /// Whether the power failed before the log had what its journal has.
    pub(super) fn lacks(&self, head: Head) -> bool {
        let journal = self.journal(head.offset).filter(|journal| journal.seems_ahead(head));
        journal.and_then(Journal::copy).is_some_and(|copied| copied.end.offset > head.offset)
    }

    /// Gives the log back what it lacks.
    pub(in crate::store::files) fn restore(&self) -> Result<(), StoreFault> {
        let Some(journal) = self.journal(self.log_bytes()?) else { return Ok(()) };
        if journal.copy().is_none() {
            return Ok(());
        }
        let _held = self.hold(Mode::Exclusive)?;
        // Under the lock, so that nobody begins it anew meanwhile.
        let Some(Copied { base, lines, .. }) = journal.copy() else { return Ok(()) };
        // The journal of another log: one whose beginning was retired has other offsets.
        if !matches!(log::end(&self.log, Head::EMPTY, base.offset), Ok(end) if end.head == base && end.torn.is_none()) {
            return Ok(());
        }
        let Some(kept) = self.log_bytes()?.checked_sub(base.offset) else { return Ok(()) };
        let kept = usize::try_from(kept).unwrap_or(usize::MAX).min(lines.len());
        let there = disk::read_exact(&self.log, base.offset, kept).map_err(|error| self.unreadable(error))?;
        let Some((at, missing)) = there.as_deref().and_then(|there| missing(base, there, &lines)) else {
            return Ok(());
        };
        disk::write_all_at(&self.log, missing, base.offset + at)
            .and_then(|()| disk::sync(&self.log))
            .map_err(|error| StoreFault::unwritable(&self.place.path(super::LOG), error))
    }

    fn log_bytes(&self) -> Result<u64, StoreFault> {
        self.log.metadata().map(|log| log.len()).map_err(|error| self.unreadable(error))
    }
}

/// What a log lacks of a copy of its end, and from where on: what follows its last record that links, if nothing does but the
/// rest of a write. A whole record that does not fit is somebody's doing, and stays for who verifies the log.
fn missing<'c>(base: Head, there: &[u8], copy: &'c [u8]) -> Option<(u64, &'c [u8])> {
    let (mut head, mut at) = (base, 0);
    for line in there.split_inclusive(|byte| *byte == b'\n') {
        match link::after(head, line) {
            Some(next) => (head, at) = (next, at + line.len()),
            None if line.ends_with(b"\n") && link::head(line, 0).is_some() => return None,
            None => break,
        }
    }
    let missing = copy.get(at..)?;
    // The log may have gone on in another way.
    let next = missing.split_inclusive(|byte| *byte == b'\n').next()?;
    link::after(head, next).map(|_| (at as u64, missing))
}
