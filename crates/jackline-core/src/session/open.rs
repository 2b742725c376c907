//! Calls that were requested and have not finished: which one is meant, by id and signature.

use super::{Key, Open, Session};
use crate::sha::Digest;

impl Session {
    /// The open call that an outcome belongs to: by id, else the first of that agent with that signature.
    #[must_use]
    pub fn open(&self, agent: &str, call: Option<Key>, signature: Key) -> Option<&Open> {
        self.open.get(self.open_index(agent, call, &signature)?)
    }

    /// The call of this id and signature that was let through and that no proxy has seen yet; or our own server has not.
    #[must_use]
    pub fn awaited(&self, call: Key, signature: Key, at_server: bool) -> Option<&Open> {
        let seen = |open: &Open| if at_server { open.served } else { open.sighted };
        let same = |open: &&Open| open.is_named(call) && open.signature == signature;
        let mut open = self.open.iter().filter(same);
        // Where one id stands for several calls, which one is meant cannot be told.
        open.next().filter(|first| !first.refused && !seen(first) && open.next().is_none())
    }

    /// The first call of this signature that a hook let through and that nobody else has seen, for one whose host's id did
    /// not come along.
    #[must_use]
    pub fn unnamed(&self, signature: Key) -> Option<&Open> {
        self.open.get(self.unnamed_index(signature)?)
    }

    pub(super) fn unnamed_index(&self, signature: Key) -> Option<usize> {
        let seen = |open: &Open| open.sighted || open.served || open.ended;
        self.open.iter().position(|open| open.signature == signature && !open.refused && !seen(open))
    }

    /// The step at which a call that has not finished was requested, by its id.
    #[must_use]
    pub fn step_of(&self, id: &str) -> Option<u64> {
        let call = Digest::of(id.as_bytes()).short();
        self.open.iter().rev().find(|open| open.is_named(call)).map(|open| open.step)
    }

    /// Where that call stands. A host may give one id to several calls: then the signature tells them apart, and
    /// where it does not, a refused one is meant, so that nothing refused is taken for done.
    pub(super) fn open_index(&self, agent: &str, call: Option<Key>, signature: &Key) -> Option<usize> {
        let find = |holds: &dyn Fn(&Open) -> bool| self.open.iter().position(holds);
        let Some(call) = call else {
            return find(&|open| open.call.is_none() && open.agent == agent && open.signature == *signature);
        };
        let same = |open: &Open| open.is_named(call);
        find(&|open| same(open) && open.signature == *signature && open.refused)
            .or_else(|| find(&|open| same(open) && open.signature == *signature))
            .or_else(|| find(&|open| same(open) && open.refused))
            .or_else(|| find(&same))
    }

    /// Whether a call of this id has finished before and was not requested again since.
    #[must_use]
    pub fn finished(&self, call: Option<Key>) -> bool {
        call.is_some_and(|id| self.finished.contains(&id) && !self.open.iter().any(|open| open.call == call))
    }
}
