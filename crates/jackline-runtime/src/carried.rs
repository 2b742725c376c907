//! What is carried over the retired beginning of a log: the state up to its last record, in a form that outlives versions.

use std::collections::BTreeMap;

use jackline_core::session::{Memory, Session};
use jackline_core::sha::Digest;
use serde::{Deserialize, Serialize};

/// The kind of the record that says which records were retired; the verifier knows it too.
pub(crate) const RECORDS_RETIRED: &str = "records.retired";

/// The state up to a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// Number of the record.
    pub(crate) seq: u64,
    /// Its hash.
    pub(crate) hash: Digest,
    pub(crate) session: Session,
    /// What its named snapshots hold: the store forgets one whose name was taken again, while the log may go back to it.
    pub(crate) taken: BTreeMap<String, Memory>,
}

impl Carried {
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The snapshots as a fold keeps them.
    pub(crate) fn snapshots(&self) -> BTreeMap<Digest, Vec<u8>> {
        let known = |(digest, memory): (&String, &Memory)| Some((Digest::parse(digest)?, memory.encode()));
        self.taken.iter().filter_map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use jackline_core::session::{Agent, Key, Read};

    use super::*;

    fn rich() -> Session {
        let mut session = Session { steps: u64::MAX, writes: 3, ended: true, ..Session::default() };
        let read = Read { file: Key([7; 16]), content: Some(Key([9; 16])) };
        session.memory.agents.insert("main".to_owned(), Agent { reads: vec![read], ..Agent::default() });
        // Names of which no JSON object could make two.
        session.memory.kept.insert(("a/b".to_owned(), "\u{0}\"".to_owned()), "1".to_owned());
        session.memory.kept.insert(("a".to_owned(), "b/\u{0}\"".to_owned()), "2".to_owned());
        session
    }

    #[test]
    fn what_is_carried_over_reads_back_as_it_was() {
        let session = rich();
        let digest = Digest::of(&session.memory.encode());
        let taken = BTreeMap::from([(digest.hex(), session.memory.clone())]);
        let carried = Carried { seq: 40, hash: Digest::of(b"head"), session, taken };
        let read = Carried::decode(&carried.encode().unwrap()).unwrap();
        assert_eq!(read, carried);
        assert_eq!(read.snapshots(), BTreeMap::from([(digest, carried.session.memory.encode())]));
    }

    /// A later version knows more; what an earlier one carried over has none of it.
    #[test]
    fn what_an_earlier_version_did_not_know_has_its_default() {
        let hash = Digest::of(b"head").hex();
        let text = format!(
            r#"{{"seq":40,"hash":"{hash}","taken":{{}},"session":{{"steps":7,"budget":{{"warned":true}},
            "memory":{{"agents":{{"main":{{"blocks":2}}}}}},"files":{{}},"pin":{{"home":"/w"}},"later":[1]}}}}"#
        );
        let read = Carried::decode(text.as_bytes()).unwrap().session;
        assert_eq!((read.steps, read.budget.warned, read.pin.unwrap().home.as_str()), (7, true, "/w"));
        assert_eq!(read.memory.agents["main"].blocks, 2);
        assert_eq!(Carried::decode(b"{}"), None);
    }
}
