//! How an open session's records come to the disk: through its journal where it has one, else through its log; and back
//! into the log, should the power have failed in between.

use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::OpenSession;
use crate::store::files::journal::{Copied, Journal, Pressing};
use crate::store::files::lock::Mode;
use crate::store::files::place::JOURNAL;
use crate::store::files::{disk, log};
use crate::store::{Commit, Head, Restored, StoreFault, Sync, link};

impl OpenSession {
    /// The journal of a log of so many bytes, opened again when it was not there before, or is no longer there.
    fn journal(&self, log_bytes: u64) -> Option<Arc<Journal>> {
        if !self.writable || !Journal::is_worth(log_bytes) {
            return None;
        }
        let mut opened = self.opened_journal();
        if !opened.as_ref().is_some_and(|journal| journal.is_there()) {
            *opened = Journal::open(&self.place, &self.root).map(Arc::new);
        }
        opened.clone()
    }

    fn opened_journal(&self) -> MutexGuard<'_, Option<Arc<Journal>>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to press what was appended to disk, where that can go on beside other work.
    pub(super) fn start_pressing(&self, commit: &Commit<'_>) -> Option<(Arc<Journal>, Pressing)> {
        let journal = self.journal(commit.expected.offset).filter(|_| must_press(commit))?;
        let pressing = journal.start(&self.log, commit.expected, commit.lines)?;
        Some((journal, pressing))
    }

    /// Presses what was appended to disk, as hard as the commit asks for, unless what was begun does.
    pub(super) fn press(&self, commit: &Commit<'_>, begun: Option<(Arc<Journal>, Pressing)>) -> io::Result<()> {
        if !must_press(commit) || begun.is_some_and(|(journal, pressing)| journal.finish(pressing)) {
            return Ok(());
        }
        let journal = self.journal(commit.expected.offset);
        if journal.as_ref().is_some_and(|journal| journal.press(&self.log, commit.expected, commit.lines)) {
            return Ok(());
        }
        disk::sync(&self.log)?;
        // The records are durable whether there is a journal for the next ones or not.
        match journal {
            Some(journal) => {
                let untold = journal.restored().filter(|restored| commit.restored != Some(*restored));
                self.begin(&journal, commit.head, untold);
            }
            None if Journal::is_worth(commit.expected.offset) => self.make_journal(commit.head),
            None => {}
        }
        Ok(())
    }

    fn make_journal(&self, base: Head) {
        let own = self.place.own(&self.root).ok().flatten();
        *self.opened_journal() = own.and_then(|own| Journal::create(&own, base).ok()).map(Arc::new);
    }

    /// Has a journal begin anew; one that cannot is removed, since nobody knows any more what the disk has of it.
    fn begin(&self, journal: &Journal, base: Head, restored: Option<Restored>) {
        if journal.begin(base, restored).is_err() {
            let own = self.place.own(&self.root).ok().flatten();
            own.into_iter().for_each(|own| drop(disk::remove(&own, JOURNAL)));
            *self.opened_journal() = None;
        }
    }

    /// What a log that ends at `head` was given back, and no record tells of yet.
    pub(super) fn restored(&self, head: Head) -> Option<Restored> {
        self.journal(head.offset)?.restored()
    }

    /// Gives the log back what a loss of power took from it, if the machine was started anew since its journal began.
    pub(in crate::store::files) fn restore(&self) -> Result<(), StoreFault> {
        let Some(journal) = self.journal(self.log_bytes()?).filter(|journal| journal.is_of_an_earlier_start()) else {
            return Ok(());
        };
        let _held = self.hold(Mode::Exclusive)?;
        // Under the lock, so that nobody begins it anew meanwhile.
        let copied = journal.copy().filter(|_| journal.is_of_an_earlier_start());
        let Some(Copied { base, lines, end }) = copied else { return Ok(()) };
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
        let at = base.offset + at;
        disk::write_all_at(&self.log, missing, at)
            .and_then(|()| disk::sync(&self.log))
            .map_err(|error| StoreFault::unwritable(&self.place.path(super::LOG), error))?;
        let now = Restored { at, bytes: missing.len() as u64 };
        let before = journal.restored();
        let all = before.map_or(now, |before| Restored { at: before.at.min(at), bytes: before.bytes + now.bytes });
        self.begin(&journal, end, Some(all));
        Ok(())
    }

    fn log_bytes(&self) -> Result<u64, StoreFault> {
        self.log.metadata().map(|log| log.len()).map_err(|error| self.unreadable(error))
    }
}

/// Whether a commit must be on the disk before it is answered. What was given back counts as told only once the record that
/// tells it is.
fn must_press(commit: &Commit<'_>) -> bool {
    commit.sync == Sync::Full || commit.restored.is_some()
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
