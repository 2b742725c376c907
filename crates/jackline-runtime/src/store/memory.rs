//! The store for `--store none`: the same promises within one process, nothing on disk, bounded memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use jackline_core::sha::Digest;

use super::{
    Checkpoint, Commit, Committed, Head, Lines, Loaded, SNAPSHOTS_MAX, STATE_BYTES_MAX, SessionEntry, Store,
    StoreFault, check_session, timestamp, within,
};

/// Bytes of record lines kept for one session. The oldest fall out: nobody asked to keep them.
const LINES_BYTES_MAX: usize = 64 << 20;
/// Sessions in one process: beyond it new ones are refused, because forgetting one would lift its limits.
const SESSIONS_MAX: usize = 1024;

/// Keeps sessions as long as the process lives.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: Mutex<BTreeMap<String, Session>>,
}

#[derive(Debug)]
struct Session {
    head: Head,
    state: Vec<u8>,
    lines: VecDeque<Vec<u8>>,
    lines_bytes: usize,
    snapshots: BTreeMap<Digest, Vec<u8>>,
    modified: SystemTime,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            head: Head::EMPTY,
            state: Vec::new(),
            lines: VecDeque::new(),
            lines_bytes: 0,
            snapshots: BTreeMap::new(),
            modified: SystemTime::UNIX_EPOCH,
        }
    }
}

impl Session {
    fn apply(&mut self, commit: &Commit<'_>, state: Vec<u8>) {
        self.head = commit.head;
        self.state = state;
        self.modified = SystemTime::now();
        for line in commit.each_line() {
            self.lines_bytes += line.len();
            self.lines.push_back(line.strip_suffix(b"\n").unwrap_or(line).to_vec());
        }
        while self.lines_bytes > LINES_BYTES_MAX {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.lines_bytes -= oldest.len() + 1;
        }
    }
}

impl Session {
    fn lines_from(&self, from: u64) -> Vec<Vec<u8>> {
        let mut at = self.head.offset - self.lines_bytes as u64;
        let mut found = Vec::new();
        for line in &self.lines {
            if at >= from {
                found.push(line.clone());
            }
            at += line.len() as u64 + 1;
        }
        found
    }
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        // Each change is made of steps that cannot panic, so what a dead thread left is whole.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session, new if there is room for one more.
fn entry<'a>(kept: &'a mut BTreeMap<String, Session>, session: &str) -> Result<&'a mut Session, StoreFault> {
    if !kept.contains_key(session) && kept.len() >= SESSIONS_MAX {
        return Err(StoreFault::TooMany { what: "sessions", max: SESSIONS_MAX });
    }
    Ok(kept.entry(session.to_owned()).or_default())
}

impl Store for MemoryStore {
    fn load(&self, session: &str) -> Result<Loaded, StoreFault> {
        check_session(session)?;
        let kept = self.kept();
        let Some(found) = kept.get(session).filter(|found| found.head != Head::EMPTY) else {
            return Ok(Loaded::empty());
        };
        let checkpoint = Some(Checkpoint { head: found.head, state: found.state.clone() });
        Ok(Loaded { head: found.head, checkpoint, ..Loaded::empty() })
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreFault> {
        commit.check()?;
        check_session(session)?;
        let mut kept = self.kept();
        let head = kept.get(session).map_or(Head::EMPTY, |found| found.head);
        if head != commit.expected {
            return Ok(Committed::Moved);
        }
        let state = commit.state_bytes()?.into_owned();
        entry(&mut kept, session)?.apply(commit, state);
        Ok(Committed::Done)
    }

    fn sessions(&self) -> Result<Vec<SessionEntry>, StoreFault> {
        let kept = self.kept();
        let recorded = kept.iter().filter(|(_, found)| found.head != Head::EMPTY);
        let entry = |(id, found): (&String, &Session)| SessionEntry {
            id: id.clone(),
            bytes: found.head.offset,
            modified: timestamp(found.modified),
        };
        Ok(recorded.map(entry).collect())
    }

    fn lines(&self, session: &str, from: u64) -> Result<Lines, StoreFault> {
        check_session(session)?;
        let lines = self.kept().get(session).map(|found| found.lines_from(from)).unwrap_or_default();
        Ok(Box::new(lines.into_iter().map(Ok)))
    }

    fn snapshot_put(&self, session: &str, state: &[u8]) -> Result<Digest, StoreFault> {
        within("state", state.len(), STATE_BYTES_MAX)?;
        check_session(session)?;
        let digest = Digest::of(state);
        let mut kept = self.kept();
        let found = entry(&mut kept, session)?;
        if !found.snapshots.contains_key(&digest) && found.snapshots.len() >= SNAPSHOTS_MAX {
            return Err(StoreFault::TooMany { what: "snapshots", max: SNAPSHOTS_MAX });
        }
        found.snapshots.insert(digest, state.to_vec());
        Ok(digest)
    }

    fn snapshot_get(&self, session: &str, digest: &Digest) -> Result<Option<Vec<u8>>, StoreFault> {
        check_session(session)?;
        Ok(self.kept().get(session).and_then(|found| found.snapshots.get(digest).cloned()))
    }

    fn snapshot_drop(&self, session: &str, digest: &Digest) -> Result<(), StoreFault> {
        check_session(session)?;
        if let Some(found) = self.kept().get_mut(session) {
            found.snapshots.remove(digest);
        }
        Ok(())
    }

    fn snapshots(&self, session: &str) -> Result<Vec<Digest>, StoreFault> {
        check_session(session)?;
        Ok(self.kept().get(session).map(|found| found.snapshots.keys().copied().collect()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::suite::{self, Step};

    #[test]
    fn does_what_every_store_does() {
        suite::run(|| Arc::new(MemoryStore::new()));
    }

    #[test]
    fn the_oldest_lines_fall_out() {
        let mut session = Session::default();
        let step = Step::new("s", Head::EMPTY, 1, &"x".repeat(1 << 20));
        (0..70).for_each(|_| session.apply(&step.commit(), step.state.clone()));
        let bytes: usize = session.lines.iter().map(|line| line.len() + 1).sum();
        assert!(bytes <= LINES_BYTES_MAX && bytes > LINES_BYTES_MAX - (2 << 20), "{bytes}");
        assert_eq!(session.lines_bytes, bytes);
    }

    #[test]
    fn a_full_store_refuses_new_sessions_and_keeps_the_old() {
        let store = MemoryStore::new();
        suite::grow(&store, "s", 1, "x");
        for number in 1..SESSIONS_MAX {
            suite::grow(&store, &number.to_string(), 1, "x");
        }
        let step = Step::new("more", Head::EMPTY, 1, "x");
        assert!(matches!(store.commit("more", &step.commit()), Err(StoreFault::TooMany { .. })));
        suite::grow(&store, "s", 1, "still works");
    }
}
