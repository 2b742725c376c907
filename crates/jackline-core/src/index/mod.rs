//! Which rules can match a call at all, told without looking at them: the cues that a rule demands one of, and the
//! cues that a call carries.
//!
//! INVARIANT: a rule whose matcher holds for a call demands a cue that this call carries. The other way round nothing
//! is promised: a cue is a hash, and a rule that is looked at for nothing costs time, no more.

mod call;
mod rule;
mod summary;

pub(crate) use call::Carried;
pub(crate) use rule::demanded;
pub(crate) use summary::{Summary, bit, sum_up};

use serde::{Deserialize, Serialize};

use crate::definition::Kind;
use crate::path::Role;

/// Programs named by a pattern are found by so many bytes of its beginning: enough to tell `pip*` from `python*`.
const BEGINNING_BYTES: usize = 3;
/// A long option is found by so many bytes, or by all that it was cut to.
const OPTION_BYTES: usize = 5;

/// A segment with wildcards is found by so many bytes of its beginning: enough to tell `/dev/sda` from `/dev/null`.
const OPENING_BYTES: usize = 2;

/// Something that a rule asks for and that a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Cue(pub(crate) u32);

/// How a call names a path.
#[derive(Debug, Clone, Copy)]
enum Way {
    Read,
    Write,
    Delete,
    /// A redirection of a shell text, compared as it is written.
    Redirect,
}

impl From<Role> for Way {
    fn from(role: Role) -> Self {
        match role {
            Role::Read => Self::Read,
            Role::Write => Self::Write,
            Role::Delete => Self::Delete,
        }
    }
}

impl Cue {
    /// Every call carries it.
    const ANY: Self = Self(0);
    /// Stands with a program for whatever it is told.
    const ALONE: Self = Self(1);
    /// Stands among a command's words for a variable that is set in front of it.
    const SETS: Self = Self(2);
    /// What a shell text runs cannot be known.
    const OPAQUE: Self = Self(3);

    /// FNV-1a: short texts, no table, and nobody gains by a collision.
    fn of(sort: u8, text: &[u8]) -> Self {
        Self(0x811c_9dc5).and(&[sort]).and(text)
    }

    /// The cue of a longer text.
    fn and(self, text: &[u8]) -> Self {
        Self(text.iter().fold(self.0, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)))
    }

    fn kind(kind: Kind) -> Self {
        Self::of(b'@', kind.name().as_bytes())
    }

    fn tool(name: &str) -> Self {
        Self::of(b't', name.as_bytes())
    }

    /// A program by its whole name.
    fn program(name: &str) -> Self {
        Self::of(b'p', name.as_bytes())
    }

    /// A program by its beginning; one too short is any program's.
    fn beginning(name: &str) -> Self {
        Self::of(b'b', name.as_bytes().get(..BEGINNING_BYTES).unwrap_or_default())
    }

    /// Any program.
    fn anyone() -> Self {
        Self::of(b'b', &[])
    }

    fn word(text: &[u8]) -> Self {
        Self::of(b'w', text)
    }

    /// An option of a single letter.
    fn letter(letter: char) -> Self {
        Self::word(b"-").and(letter.encode_utf8(&mut [0; 4]).as_bytes())
    }

    /// An option as it may be cut short.
    fn option(name: &str) -> Self {
        let bytes = name.as_bytes();
        Self::word(if name.starts_with("--") { bytes.get(..OPTION_BYTES).unwrap_or(bytes) } else { bytes })
    }

    /// A program together with one of its words.
    const fn told(self, word: Self) -> Self {
        Self((self.0.rotate_left(5) ^ word.0).wrapping_mul(0x9e37_79b1))
    }

    /// A whole segment of a path.
    fn segment(way: Way, name: &str) -> Self {
        Self::of(way as u8, name.as_bytes())
    }

    /// What a path's last segment ends in, after its last dot.
    fn ending(way: Way, name: &str) -> Self {
        Self::of(way as u8 | 0x04, name.as_bytes())
    }

    /// What a path's last segment begins with; of a shorter one, all of it.
    fn opening(way: Way, name: &str) -> Self {
        let bytes = name.as_bytes();
        Self::of(way as u8 | 0x08, bytes.get(..OPENING_BYTES).unwrap_or(bytes))
    }

    /// Any path.
    fn path(way: Way) -> Self {
        Self::of(way as u8 | 0x0c, &[])
    }

    /// A path of which it is not known where it leads.
    fn lost(way: Way) -> Self {
        Self::of(way as u8 | 0x10, &[])
    }
}

#[cfg(test)]
mod tests;
