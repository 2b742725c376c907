//! The state file: two slots written in turn, each with its own checksum, so that one is whole at any moment.
//!
//! A slot is a cache. It is believed only after the log was seen to hold the record that it names.

use std::fs::File;
use std::io;

use jackline_core::sha::Digest;

use super::disk;
use crate::checksum;
use crate::store::{Head, STATE_BYTES_MAX};

/// Names the format and its version; another version is another number, and old slots are then rebuilt.
const MAGIC: [u8; 8] = *b"JLSTATE\x0a";
/// magic 8, generation 8, seq 8, hash 32, offset 8, line bytes 4, state bytes 4, checksum 8.
const HEADER_BYTES: usize = 80;
/// Where the checksum is: at the end of the header, over all before it and the state.
const CHECKED_BYTES: usize = HEADER_BYTES - 8;
/// The second slot's offset: past the largest first one, on a page of its own. The file has a hole in between.
const STRIDE_BYTES: u64 = STATE_BYTES_MAX as u64 + 4096;

/// Which of the two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    A,
    B,
}

impl Which {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    const fn offset(self) -> u64 {
        match self {
            Self::A => 0,
            Self::B => STRIDE_BYTES,
        }
    }
}

/// What a slot says about its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// Grows with each write, so that the newer of two slots at one head can be told.
    pub(super) generation: u64,
    pub(super) head: Head,
    /// Bytes of the head's record line: the log is checked with one read.
    pub(super) line_bytes: usize,
}

/// A slot as first read: the checksum is not yet checked, and a long state not yet whole.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) which: Which,
    pub(super) label: Label,
    state_bytes: usize,
    checksum: u64,
    bytes: Vec<u8>,
}

/// Both slots as far as they look like slots, the newest first.
pub(super) fn drafts(file: &File) -> io::Result<Vec<Draft>> {
    let mut drafts = Vec::with_capacity(2);
    for which in [Which::A, Which::B] {
        drafts.extend(draft(file, which)?);
    }
    drafts.sort_by_key(|draft| std::cmp::Reverse((draft.label.head.offset, draft.label.generation)));
    Ok(drafts)
}

fn draft(file: &File, which: Which) -> io::Result<Option<Draft>> {
    // The state of one of them is read once it is known which; memory for both would cost more than that call.
    let mut bytes = vec![0; HEADER_BYTES];
    let read = disk::read_at(file, &mut bytes, which.offset())?;
    bytes.truncate(read);
    Ok(read_header(which, bytes))
}

fn read_header(which: Which, bytes: Vec<u8>) -> Option<Draft> {
    let mut rest = bytes.as_slice();
    let magic: [u8; 8] = take(&mut rest)?;
    let generation = u64::from_le_bytes(take(&mut rest)?);
    let seq = u64::from_le_bytes(take(&mut rest)?);
    let hash = Digest(take(&mut rest)?);
    let offset = u64::from_le_bytes(take(&mut rest)?);
    let line_bytes = u32::from_le_bytes(take(&mut rest)?) as usize;
    let state_bytes = u32::from_le_bytes(take(&mut rest)?) as usize;
    let checksum = u64::from_le_bytes(take(&mut rest)?);
    let label = Label { generation, head: Head { seq, hash, offset }, line_bytes };
    let plausible = magic == MAGIC && state_bytes <= STATE_BYTES_MAX;
    plausible.then_some(Draft { which, label, state_bytes, checksum, bytes })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

impl Draft {
    /// Reads what is missing and returns the state if the checksum is right.
    pub(super) fn state(mut self, file: &File) -> Option<Vec<u8>> {
        let want = HEADER_BYTES + self.state_bytes;
        let known = self.bytes.len();
        self.bytes.resize(want, 0);
        if let Some(missing) = self.bytes.get_mut(known..).filter(|missing| !missing.is_empty()) {
            let read = disk::read_at(file, missing, self.which.offset() + known as u64).ok()?;
            (read == missing.len()).then_some(())?;
        }
        let (header, state) = self.bytes.split_at_checked(HEADER_BYTES)?;
        let right = checksum::of(&[header.get(..CHECKED_BYTES)?, state]) == self.checksum;
        // In place: a copy would cost fresh memory.
        self.bytes.drain(..HEADER_BYTES);
        right.then_some(self.bytes)
    }
}

/// Writes a slot; the other one stays as it is.
pub(super) fn write(file: &File, which: Which, label: &Label, state: &[u8]) -> io::Result<()> {
    let header = header(label, state).ok_or(io::ErrorKind::InvalidInput)?;
    // Side by side only on the disk: a copy of the state would cost fresh memory.
    disk::write_both_at(file, &header, state, which.offset())
}

fn header(label: &Label, state: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    bytes.extend(MAGIC);
    bytes.extend(label.generation.to_le_bytes());
    bytes.extend(label.head.seq.to_le_bytes());
    bytes.extend(label.head.hash.0);
    bytes.extend(label.head.offset.to_le_bytes());
    bytes.extend(u32::try_from(label.line_bytes).ok()?.to_le_bytes());
    bytes.extend(u32::try_from(state.len()).ok()?.to_le_bytes());
    bytes.extend(checksum::of(&[&bytes, state]).to_le_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn label(generation: u64, offset: u64) -> Label {
        let head = Head { seq: generation, hash: Digest::of(b"record"), offset };
        Label { generation, head, line_bytes: 300 }
    }

    /// What is read back, newest first: the slot, its generation and its state if whole.
    #[track_caller]
    fn check(file: &File, want: &[(Which, u64, Option<&[u8]>)]) {
        let found: Vec<_> = drafts(file).unwrap();
        let found: Vec<_> =
            found.into_iter().map(|draft| (draft.which, draft.label.generation, draft.state(file))).collect();
        let want: Vec<_> = want.iter().map(|(w, g, state)| (*w, *g, state.map(<[u8]>::to_vec))).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn slots_read_back_newest_first() {
        let file = tempfile::tempfile().unwrap();
        check(&file, &[]);
        write(&file, Which::A, &label(1, 300), b"one").unwrap();
        check(&file, &[(Which::A, 1, Some(b"one"))]);
        write(&file, Which::B, &label(2, 600), b"two").unwrap();
        check(&file, &[(Which::B, 2, Some(b"two")), (Which::A, 1, Some(b"one"))]);
        write(&file, Which::A, &label(3, 600), b"").unwrap();
        check(&file, &[(Which::A, 3, Some(b"")), (Which::B, 2, Some(b"two"))]);
    }

    #[test]
    fn states_of_every_size_fit_without_touching_the_other_slot() {
        let file = tempfile::tempfile().unwrap();
        for size in [0, 1, 4096, STATE_BYTES_MAX] {
            let state = vec![7; size];
            write(&file, Which::A, &label(1, 300), &state).unwrap();
            write(&file, Which::B, &label(2, 600), &state).unwrap();
            check(&file, &[(Which::B, 2, Some(&state)), (Which::A, 1, Some(&state))]);
        }
    }

    #[test]
    fn a_disk_that_takes_only_a_part_gets_the_rest() {
        for taken in 0..HEADER_BYTES + 12 {
            let file = tempfile::tempfile().unwrap();
            disk::faults::plan(&[disk::faults::Fault::Short(taken)]);
            write(&file, Which::A, &label(1, 300), b"some state").unwrap();
            check(&file, &[(Which::A, 1, Some(b"some state"))]);
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let file = tempfile::tempfile().unwrap();
        let whole = [header(&label(1, 300), b"some state").unwrap().as_slice(), b"some state"].concat();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            file.write_all_at(&bytes, 0).unwrap();
            let state = drafts(&file).unwrap().into_iter().next().and_then(|draft| draft.state(&file));
            assert_eq!(state, None, "byte {at}");
        }
        for len in 0..whole.len() {
            file.set_len(0).unwrap();
            file.write_all_at(&whole[..len], 0).unwrap();
            let state = drafts(&file).unwrap().into_iter().next().and_then(|draft| draft.state(&file));
            assert_eq!(state, None, "cut to {len}");
        }
    }
}
