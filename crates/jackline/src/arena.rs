//! The allocator: the first memory that a process asks for comes from one block, in the order it is asked for; all
//! further memory comes from the system's allocator.
//!
//! A hook lives for less than a millisecond and never outgrows the block, so it pays for no free lists and gives
//! nothing back; what runs longer passes the block once and is served by the system from then on. So no more than the
//! block can ever be lost. Measured in docs/internals/speed.md.

#![expect(
    unsafe_code,
    reason = "a global allocator has no safe form; what is unsafe here hands out disjoint parts of one static block"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the block: several times what a hook asks for, and only the pages that are used cost anything.
const BLOCK_BYTES: usize = 1 << 20;

/// Memory to be handed out; aligned like a page, so that offsets are aligned as their addresses are.
#[repr(C, align(4096))]
struct Block(UnsafeCell<[u8; BLOCK_BYTES]>);

/// Hands out a block from its beginning, then asks the system.
pub(crate) struct Arena {
    block: Block,
    /// Bytes of the block that are handed out.
    taken: AtomicUsize,
}

// SAFETY: the block's bytes are reached only through parts that `take` hands out, no two of which overlap.
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self { block: Block(UnsafeCell::new([0; BLOCK_BYTES])), taken: AtomicUsize::new(0) }
    }

    /// The next part of the block that fits, if one does.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        // An offset is only as aligned as the block itself.
        let align = Some(layout.align()).filter(|align| *align <= align_of::<Block>())?;
        let next = |taken: usize| {
            let end = taken.next_multiple_of(align).checked_add(layout.size())?;
            (end <= BLOCK_BYTES).then_some(end)
        };
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(self.block.0.get().cast::<u8>().wrapping_add(taken.next_multiple_of(align)))
    }

    /// Where a part of the block begins; nothing for the system's memory.
    fn offset(&self, part: *mut u8) -> Option<usize> {
        let offset = part.addr().checked_sub(self.block.0.get().addr())?;
        (offset < BLOCK_BYTES).then_some(offset)
    }

    /// Moves the end of the part that was handed out last; whether it was that part, and the new end fits.
    fn resize_last(&self, offset: usize, old_size: usize, new_size: usize) -> bool {
        let (old_end, new_end) = (offset + old_size, offset.saturating_add(new_size));
        // INVARIANT: while the part is in use nothing before its end can be handed out, so an unchanged end means that
        // it is the last one.
        new_end <= BLOCK_BYTES
            && self.taken.compare_exchange(old_end, new_end, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: `take` gives disjoint, aligned parts of a block that lives as long as the program; everything else is the
// system allocator's, which is asked to free and to resize only what it gave.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is passed on.
        self.take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(part) = self.take(layout) else {
            // SAFETY: the caller's promise about the layout is passed on.
            return unsafe { System.alloc_zeroed(layout) };
        };
        // A part may have been used before, when it was the last and given back.
        // SAFETY: `take` gave a part of this size.
        unsafe { part.write_bytes(0, layout.size()) };
        part
    }

    unsafe fn dealloc(&self, part: *mut u8, layout: Layout) {
        match self.offset(part) {
            Some(offset) => drop(self.resize_last(offset, layout.size(), 0)),
            // SAFETY: what does not lie in the block came from the system, with this layout.
            None => unsafe { System.dealloc(part, layout) },
        }
    }

    unsafe fn realloc(&self, part: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(offset) = self.offset(part) else {
            // SAFETY: what does not lie in the block came from the system, with this layout.
            return unsafe { System.realloc(part, layout, new_size) };
        };
        if self.resize_last(offset, layout.size(), new_size) || new_size <= layout.size() {
            return part;
        }
        // SAFETY: the caller promises that the new size is valid for the alignment; both parts hold the smaller, old
        // size, and a fresh part overlaps no other.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(part, layout.size());
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ARENA: Arena = Arena::new();

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    /// One test, because all share the block.
    #[test]
    fn parts_are_disjoint_aligned_and_kept_when_they_move() {
        // SAFETY: every part is used within its size and freed once, with its layout.
        unsafe {
            let first = ARENA.alloc(layout(3, 1));
            first.copy_from_nonoverlapping(b"abc".as_ptr(), 3);
            let second = ARENA.alloc(layout(64, 64));
            assert!(second.addr() >= first.addr() + 3 && second.addr().is_multiple_of(64));
            // The last grows where it is, another moves with its content.
            assert_eq!(ARENA.realloc(second, layout(64, 64), 128), second);
            let moved = ARENA.realloc(first, layout(3, 1), 6);
            assert!(moved.addr() >= second.addr() + 128);
            assert_eq!(std::slice::from_raw_parts(moved, 3), b"abc");
            // What was given back last is handed out again, and clean where that was asked for.
            ARENA.dealloc(moved, layout(6, 1));
            let again = ARENA.alloc_zeroed(layout(6, 1));
            assert_eq!((again, std::slice::from_raw_parts(again, 6)), (moved, [0; 6].as_slice()));
            // More than the block is the system's, from the beginning or by growing.
            let large = ARENA.alloc(layout(BLOCK_BYTES, 8));
            assert_eq!(ARENA.offset(large), None);
            ARENA.dealloc(large, layout(BLOCK_BYTES, 8));
            let grown = ARENA.realloc(again, layout(6, 1), BLOCK_BYTES);
            assert_eq!((ARENA.offset(grown), std::slice::from_raw_parts(grown, 6)), (None, [0; 6].as_slice()));
            ARENA.dealloc(grown, layout(BLOCK_BYTES, 1));
            let aligned = ARENA.alloc(layout(8, 8192));
            assert!(ARENA.offset(aligned).is_none() && aligned.addr().is_multiple_of(8192));
            ARENA.dealloc(aligned, layout(8, 8192));
        }
        let threads: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..1000).map(|_| unsafe { ARENA.alloc(layout(24, 8)) }.addr()).collect()))
            .collect();
        let mut parts: Vec<usize> = threads.into_iter().flat_map(|thread| -> Vec<usize> { thread.join().unwrap() }).collect();
        parts.sort_unstable();
        assert!(parts.windows(2).all(|pair| pair[1] - pair[0] >= 24));
    }
}
