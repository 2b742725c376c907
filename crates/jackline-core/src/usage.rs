//! What a host's transcript says was used: how far it was read, and what was found on the way. Data and sums only.
//!
//! Counted are input, output and cache-creation tokens; what was read from a cache is not. A message that the host
//! writes in several lines counts once, at the most that any of them names.

use serde::{Deserialize, Serialize};

use crate::sha::{Digest, Key};

/// Transcripts of one session that are remembered: the main agent's and those of its latest sub-agents.
pub const TRANSCRIPTS_MAX: usize = 16;
/// Messages remembered as counted: the lines of one follow each other, but those of parallel agents mix.
pub const COUNTED_MAX: usize = 8;

/// How far a transcript was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mark {
    /// The file, by its path.
    pub file: Key,
    /// Bytes of whole lines that were read.
    pub offset: u64,
    /// Which file it was: another one in its place is read from its beginning.
    pub device: u64,
    pub inode: u64,
    /// The offset lies within a line that is too long to be read.
    pub skipping: bool,
    /// The latest messages counted, newest last.
    pub counted: Vec<Counted>,
}

/// A message and what was counted for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Counted {
    pub message: Key,
    pub tokens: u64,
    pub cost_micro_usd: u64,
}

/// What was found beyond a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metering {
    pub tokens: u64,
    pub cost_micro_usd: u64,
    /// How far it was read now.
    pub mark: Mark,
    /// Whether there is more, which the next event reads.
    pub more: bool,
}

/// The key that a transcript or a message is remembered by.
#[must_use]
pub fn key(text: &str) -> Key {
    Digest::of(text.as_bytes()).short()
}

impl Metering {
    /// Nothing found yet, from here on.
    #[must_use]
    pub const fn from(mark: Mark) -> Self {
        Self { tokens: 0, cost_micro_usd: 0, mark, more: false }
    }

    /// Counts a message's line: only what it names beyond what was counted for that message before.
    pub fn count(&mut self, line: Counted) {
        let counted = &mut self.mark.counted;
        let before = counted.iter().position(|known| known.message == line.message).map(|at| counted.remove(at));
        let (tokens, cost) = before.map_or((0, 0), |known| (known.tokens, known.cost_micro_usd));
        self.tokens = self.tokens.saturating_add(line.tokens.saturating_sub(tokens));
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(line.cost_micro_usd.saturating_sub(cost));
        counted.push(Counted {
            tokens: line.tokens.max(tokens),
            cost_micro_usd: line.cost_micro_usd.max(cost),
            ..line
        });
        if counted.len() > COUNTED_MAX {
            counted.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_once_at_its_most() {
        let mark = Mark { file: key("f"), offset: 0, device: 1, inode: 2, skipping: false, counted: Vec::new() };
        let mut metering = Metering::from(mark);
        let line = |id: &str, tokens| Counted { message: key(id), tokens, cost_micro_usd: 0 };
        for (id, tokens) in [("a", 5), ("a", 5), ("b", 1), ("a", 9), ("b", 1), ("a", 2)] {
            metering.count(line(id, tokens));
        }
        assert_eq!(metering.tokens, 10);
        (0..20).for_each(|n| metering.count(line(&n.to_string(), 1)));
        assert_eq!((metering.tokens, metering.mark.counted.len()), (30, COUNTED_MAX));
    }
}
