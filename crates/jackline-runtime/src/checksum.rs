//! A checksum against damage: half a write, a disk's decay. It is no defence: whoever may write a file may compute it.
//!
//! Every event computes it twice over what a session remembers, in a process that has run nothing before. So it takes eight
//! bytes at a step and needs no table.

/// An odd number without a pattern: the golden ratio's fraction.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The checksum of several parts, and of where each of them ends.
pub(crate) fn of(parts: &[&[u8]]) -> u64 {
    parts.iter().fold(FACTOR, |sum, part| taken(sum, part))
}

fn taken(sum: u64, part: &[u8]) -> u64 {
    let (words, rest) = part.as_chunks::<8>();
    let sum = words.iter().fold(sum, |sum, word| step(sum, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    step(step(sum, u64::from_le_bytes(last)), part.len() as u64)
}

/// INVARIANT: no two words lead from one sum to the same, and no two sums by one word. So what differs in a single word
/// never has the same checksum; anything else has it once in 2⁶⁴ times.
const fn step(sum: u64, word: u64) -> u64 {
    let mixed = (sum ^ word).wrapping_mul(FACTOR);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn whatever_is_changed_moved_or_cut_is_noticed() {
        let text: Vec<u8> = (1..=100_u8).map(|at| at.wrapping_mul(37)).collect();
        let mut seen = BTreeSet::from([of(&[&text])]);
        for bit in 0..text.len() * 8 {
            let mut changed = text.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(of(&[&changed])), "bit {bit}");
        }
        for len in 0..text.len() {
            assert!(seen.insert(of(&[&text[..len]])), "cut to {len}");
            assert!(seen.insert(of(&[&text[..len], &text[len..]])), "in two at {len}");
        }
        for zeros in 1..40 {
            assert!(seen.insert(of(&[&vec![0; zeros]])), "{zeros} zeros");
            assert!(seen.insert(of(&[&[&text[..], &vec![0; zeros]].concat()])), "{zeros} zeros behind it");
        }
        for at in 0..text.len() - 16 {
            let mut swapped = text.clone();
            swapped[at..at + 16].rotate_left(8);
            assert!(seen.insert(of(&[&swapped])), "swapped at {at}");
        }
    }
}
