//! What todos and facts are called by: UUIDs of version 7, made of an event's time and a digest.
//!
//! Nothing here draws lots: the same session in the same state gives the same id, so a replay meets the ids it kept.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sha::{self, Digest};
use crate::time::Timestamp;

/// Characters of a UUID with its hyphens.
const ID_CHARS: usize = 36;

/// An id that is never used again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// The id of the thing number `made` of this kind in a session.
    #[must_use]
    pub fn derive(kind: &str, session: &str, made: u64, at: Timestamp) -> Self {
        let made = made.to_le_bytes();
        let digest = Digest::of_parts([kind.as_bytes(), session.as_bytes(), &made, &at.0.to_le_bytes()]);
        let ms = at.0.max(0).cast_unsigned() & 0xffff_ffff_ffff;
        let [a0, a1, b0, b1, b2, b3, b4, b5, b6, b7, ..] = digest.0;
        let (a0, b0) = (0x70 | a0 & 0x0f, 0x80 | b0 & 0x3f);
        let tail = sha::hex(&[b2, b3, b4, b5, b6, b7]);
        Self(format!("{:08x}-{:04x}-{a0:02x}{a1:02x}-{b0:02x}{b1:02x}-{tail}", ms >> 16, ms & 0xffff))
    }

    /// Reads one as it is written here.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        };
        let whole = text.len() == ID_CHARS && text.bytes().enumerate().all(fits);
        whole.then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_of_version_7_that_a_replay_meets_again() {
        let at = Timestamp(0x0123_4567_89ab);
        let id = Id::derive("todo", "s1", 0, at);
        assert_eq!(id, Id::derive("todo", "s1", 0, at));
        assert!(id.as_str().starts_with("01234567-89ab-7"), "{id}");
        assert!(id.as_str().get(19..20).is_some_and(|variant| "89ab".contains(variant)), "{id}");
        assert_eq!(Id::parse(id.as_str()), Some(id.clone()));
        let others = [("fact", "s1", 0), ("todo", "s2", 0), ("todo", "s1", 1)];
        assert!(others.into_iter().all(|(kind, session, made)| Id::derive(kind, session, made, at) != id));
    }

    #[test]
    fn what_is_no_id_is_none() {
        for text in ["", "1", "01234567-89ab-7000-8000-00000000000", "01234567-89AB-7000-8000-000000000000"] {
            assert_eq!(Id::parse(text), None, "{text}");
        }
    }
}
