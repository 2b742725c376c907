//! What a session remembers of feedback: the calls counted for it, and when each provider had its turn.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Key, Memory};
use crate::time::Timestamp;

/// Identities of definitions whose calls are counted apart: those of a machine, a user and a project, and former ones;
/// the one idle longest makes room and starts anew.
pub const PACES_MAX: usize = 6;
/// Providers remembered under one identity: as many as a definition of a machine, a user and a project have together.
pub const CADENCES_MAX: usize = 96;
/// Files that one provider's trigger was spent on; a definition names one, and may change it.
pub const FILES_MAX: usize = 2;
/// Calls remembered for providers of the embedding program, and only where there are any.
pub const RECENT_CALLS_MAX: usize = 16;

/// What is counted under one identity of a definition (`ns:key`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    pub scope: Key,
    pub calls: u64,
    /// By provider, the one whose turn was last at the end.
    pub cadences: Vec<Cadence>,
}

/// When one provider had its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cadence {
    pub provider: Key,
    /// Its last turn, whatever came of it.
    pub turn: Turn,
    /// Its last turn that gave feedback.
    pub given: Option<Turn>,
    /// Files that its trigger was spent on, oldest first.
    pub files: Vec<Key>,
}

/// A place in a session: at this call, by the count of the definition's identity, and at this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    pub call: u64,
    pub at: Timestamp,
}

/// A call that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    pub tool: String,
    /// Whether it succeeded; `None` when it was refused.
    pub ok: Option<bool>,
    pub at: Timestamp,
}

/// A turn as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    pub scope: Key,
    pub provider: Key,
    pub turn: Turn,
    /// Whether feedback came of it.
    pub given: bool,
    /// The file that was seen, where the trigger names one.
    pub file: Option<Key>,
}

impl Pace {
    /// What is remembered of a provider.
    #[must_use]
    pub fn cadence(&self, provider: &Key) -> Option<&Cadence> {
        self.cadences.iter().find(|cadence| cadence.provider == *provider)
    }

    fn take(&mut self, taken: &Taken) {
        let at = self.cadences.iter().position(|cadence| cadence.provider == taken.provider);
        let new = || Cadence { provider: taken.provider, turn: taken.turn, given: None, files: Vec::new() };
        let mut cadence = at.map_or_else(new, |at| self.cadences.remove(at));
        cadence.turn = taken.turn;
        if taken.given {
            cadence.given = Some(taken.turn);
        }
        cadence.files.extend(taken.file.filter(|file| !cadence.files.contains(file)));
        if cadence.files.len() > FILES_MAX {
            cadence.files.remove(0);
        }
        self.cadences.push(cadence);
        if self.cadences.len() > CADENCES_MAX {
            self.cadences.remove(0);
        }
    }
}

impl Memory {
    /// What is counted under an identity.
    #[must_use]
    pub fn pace(&self, scope: Key) -> Option<&Pace> {
        self.paces.iter().find(|pace| pace.scope == scope)
    }

    pub(super) fn count(&mut self, scopes: &[Key], recent: Option<&Recent>) {
        for scope in scopes {
            self.pace_mut(*scope, |pace| pace.calls += 1);
        }
        if let Some(recent) = recent {
            remember(&mut self.recent, recent.clone());
        }
    }

    pub(super) fn take(&mut self, taken: &Taken) {
        self.pace_mut(taken.scope, |pace| pace.take(taken));
    }

    fn pace_mut(&mut self, scope: Key, change: impl FnOnce(&mut Pace)) {
        let at = self.paces.iter().position(|pace| pace.scope == scope);
        let mut pace = at.map_or(Pace { scope, calls: 0, cadences: Vec::new() }, |at| self.paces.remove(at));
        change(&mut pace);
        self.paces.push(pace);
        if self.paces.len() > PACES_MAX {
            self.paces.remove(0);
        }
    }
}

fn remember(recent: &mut VecDeque<Recent>, call: Recent) {
    recent.push_back(call);
    if recent.len() > RECENT_CALLS_MAX {
        recent.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha::Digest;

    fn key(n: usize) -> Key {
        Digest::of(&n.to_le_bytes()).short()
    }

    fn taken(provider: usize, call: u64, given: bool) -> Taken {
        let turn = Turn { call, at: Timestamp(call as i64) };
        Taken { scope: key(0), provider: key(provider), turn, given, file: Some(key(call as usize)) }
    }

    #[test]
    fn a_turn_without_feedback_is_a_turn() {
        let mut memory = Memory::default();
        memory.take(&taken(1, 3, true));
        memory.take(&taken(1, 6, false));
        let cadence = memory.pace(key(0)).and_then(|pace| pace.cadence(&key(1))).expect("known");
        assert_eq!((cadence.turn.call, cadence.given.map(|turn| turn.call)), (6, Some(3)));
        assert_eq!(cadence.files, [key(3), key(6)]);
    }

    #[test]
    fn everything_is_bounded_and_the_oldest_goes() {
        let mut memory = Memory::default();
        (0..=CADENCES_MAX).for_each(|n| memory.take(&taken(n, 1, true)));
        (0..FILES_MAX as u64 * 2).for_each(|n| memory.take(&taken(CADENCES_MAX, n, true)));
        let pace = memory.pace(key(0)).expect("known");
        assert_eq!(pace.cadences.len(), CADENCES_MAX);
        assert!(pace.cadence(&key(0)).is_none() && pace.cadence(&key(1)).is_some());
        assert_eq!(pace.cadence(&key(CADENCES_MAX)).map(|cadence| cadence.files.len()), Some(FILES_MAX));
        let recent = Recent { tool: "x".into(), ok: None, at: Timestamp(0) };
        (0..100).for_each(|n| memory.count(&[key(n)], Some(&recent)));
        assert_eq!((memory.paces.len(), memory.recent.len()), (PACES_MAX, RECENT_CALLS_MAX));
        assert_eq!(memory.pace(key(99)).map(|pace| pace.calls), Some(1));
    }
}
