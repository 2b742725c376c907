//! The allocator: the first memory that a process asks for comes from one block, all further memory from the system.
//!
//! A hook lives for less than a millisecond and never outgrows the block. There, taking a part is a few instructions,
//! no call into the kernel, and small parts that were given back are used again first, because each fresh page costs
//! more than everything else an allocator does. What runs longer passes the block once and is served by the system
//! from then on, so no more than the block can ever be lost. Measured in docs/internals/speed.md.
//!
//! A thread that stays and does the same again and again may have a shelf: small parts of the system's that it gives back
//! are put there and taken again, which spares the system's search for room that fits and its joining of what is free.

#![expect(
    unsafe_code,
    reason = "a global allocator has no safe form; what is unsafe here hands out disjoint parts of one static block"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the block: several times what a hook asks for, and only the pages that are used cost anything.
const BLOCK_BYTES: usize = 1 << 20;
/// What sizes are rounded up to: room for a link between free parts, and the alignment that nearly everything has.
const GRAIN_BYTES: usize = 16;
/// Sizes, in grains, that have a list of free parts each.
const CLASSES: usize = 64;
/// Larger free parts that are remembered: a hook has a handful, for files it reads and lines it writes.
const LARGE_PARTS_MAX: usize = 8;

/// Sizes beyond those that a shelf has a list for each, doubling from one to the next: lines of the log, and lists that grow.
const WIDE_CLASSES: usize = 5;
/// Bytes of the largest part that has none of those.
const NARROW_BYTES: usize = CLASSES * GRAIN_BYTES;
/// Bytes that lie on a shelf at most: several times what one call to a proxy takes and gives back.
const SHELF_BYTES_MAX: usize = 256 << 10;

/// Memory to be handed out; aligned like a page, so that offsets are aligned as their addresses are.
#[repr(C, align(4096))]
struct Block(UnsafeCell<[u8; BLOCK_BYTES]>);

/// What is known about the block.
struct Books {
    /// Where the part that was never handed out, or was given back as the last one, begins.
    taken: usize,
    /// The furthest `taken` ever was: from there on the block is as the kernel gave it, all zeros.
    touched: usize,
    /// The first free part of each class, and each of them begins with the next: by offset plus one, so that nothing is
    /// zero, and books that nobody has written to need no room in the program's file.
    free: [usize; CLASSES],
    /// Larger free parts, or what is left of them, with their sizes; nothing where the size is zero.
    large: [(usize, usize); LARGE_PARTS_MAX],
    /// None of those is larger.
    largest: usize,
}

/// Hands out parts of a block, then asks the system.
pub(crate) struct Arena {
    block: Block,
    books: UnsafeCell<Books>,
    /// The mark of the thread whose block it is; zero until one asks.
    owner: AtomicUsize,
}

/// Small parts of the system's memory that a thread has given back: the first of each class, and each of them begins with
/// the next.
struct Shelf {
    free: [*mut u8; CLASSES + WIDE_CLASSES],
    bytes: usize,
}

thread_local! {
    /// The thread's shelf, where it has one.
    static SHELF: Cell<*mut Shelf> = const { Cell::new(std::ptr::null_mut()) };
    /// Tells threads apart: it lies elsewhere for each that lives.
    static MARK: Cell<u8> = const { Cell::new(0) };
}

// SAFETY: the books are reached by one thread only, the first that asked; and the block's bytes only through parts that
// are handed out to one owner at a time.
unsafe impl Sync for Arena {}

/// A part of the block, and whether its bytes are zeros already.
struct Part {
    offset: usize,
    clean: bool,
}

/// A size as it is handed out.
const fn rounded(size: usize) -> usize {
    // A size that is not rounded is larger than the block.
    match size.checked_next_multiple_of(GRAIN_BYTES) {
        Some(0) => GRAIN_BYTES,
        Some(rounded) => rounded,
        None => size,
    }
}

/// Gives the calling thread a shelf. It is for threads that last as long as the process: what lies there then stays.
pub(crate) fn take_shelf() {
    SHELF.with(|shelf| {
        if shelf.get().is_null() {
            shelf
                .set(Box::into_raw(Box::new(Shelf { free: [std::ptr::null_mut(); CLASSES + WIDE_CLASSES], bytes: 0 })));
        }
    });
}

/// How the system is asked for memory of a layout: sizes that have a class are rounded up, so that a part serves all of it.
fn asked_for(layout: Layout) -> Layout {
    let rounded = class(layout).and_then(|class| Layout::from_size_align(class_bytes(class), GRAIN_BYTES).ok());
    rounded.unwrap_or(layout)
}

/// The class of a size that a shelf may hold.
fn class(layout: Layout) -> Option<usize> {
    if layout.align() > GRAIN_BYTES {
        return None;
    }
    let size = rounded(layout.size());
    if size <= NARROW_BYTES {
        return Some(size / GRAIN_BYTES - 1);
    }
    let doublings = size.div_ceil(NARROW_BYTES).checked_next_power_of_two()?.ilog2() as usize;
    (doublings <= WIDE_CLASSES).then_some(CLASSES + doublings - 1)
}

/// Bytes of the parts of a class.
const fn class_bytes(class: usize) -> usize {
    match class.checked_sub(CLASSES) {
        Some(wide) => NARROW_BYTES << (wide + 1),
        None => (class + 1) * GRAIN_BYTES,
    }
}

impl Shelf {
    /// Asks the thread's shelf, where it has one.
    fn ask<T>(question: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        // SAFETY: a shelf is reached by its own thread only, and no question allocates, so this is the only reference.
        question(unsafe { SHELF.with(Cell::get).as_mut() }?)
    }

    fn take(&mut self, class: usize) -> Option<*mut u8> {
        let first = self.free.get_mut(class).filter(|first| !first.is_null())?;
        let part = *first;
        // SAFETY: a part on the shelf is aligned and holds at least one grain, and begins with what `put` wrote.
        *first = unsafe { part.cast::<*mut u8>().read() };
        self.bytes -= class_bytes(class);
        Some(part)
    }

    /// Whether a part of the class lies there.
    fn has(&self, class: usize) -> bool {
        self.free.get(class).is_some_and(|first| !first.is_null())
    }

    /// Puts a part there, if it has room.
    fn put(&mut self, class: usize, part: *mut u8) -> Option<()> {
        let bytes = self.bytes + class_bytes(class);
        let first = self.free.get_mut(class).filter(|_| bytes <= SHELF_BYTES_MAX)?;
        // SAFETY: the part is aligned, holds at least one grain, and its owner has just given it up.
        unsafe { part.cast::<*mut u8>().write(*first) };
        (*first, self.bytes) = (part, bytes);
        Some(())
    }
}

impl Arena {
    pub(crate) const fn new() -> Self {
        let large = [(0, 0); LARGE_PARTS_MAX];
        let books = Books { taken: 0, touched: 0, free: [0; CLASSES], large, largest: 0 };
        Self {
            block: Block(UnsafeCell::new([0; BLOCK_BYTES])),
            books: UnsafeCell::new(books),
            owner: AtomicUsize::new(0),
        }
    }

    /// Asks the books, which the first thread alone may: nobody has to wait for anybody, and the system has memory too.
    fn ask<T>(&self, question: impl FnOnce(&Self, &mut Books) -> T) -> Option<T> {
        let mark = MARK.with(|mark| mark.as_ptr().addr());
        let owner = self.owner.load(Ordering::Relaxed);
        // One that begins with the mark of a thread that has ended goes on with its block.
        let is_first = || self.owner.compare_exchange(0, mark, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if owner != mark && (owner != 0 || !is_first()) {
            return None;
        }
        // SAFETY: only this thread comes here, and no question allocates, so this is the only reference.
        Some(question(self, unsafe { &mut *self.books.get() }))
    }

    fn address(&self, offset: usize) -> *mut u8 {
        self.block.0.get().cast::<u8>().wrapping_add(offset)
    }

    /// Where a part of the block begins; nothing for the system's memory.
    fn offset(&self, part: *mut u8) -> Option<usize> {
        let offset = part.addr().checked_sub(self.block.0.get().addr())?;
        (offset < BLOCK_BYTES).then_some(offset)
    }

    fn take(&self, books: &mut Books, layout: Layout) -> Option<Part> {
        let (size, align) = (rounded(layout.size()), layout.align().max(GRAIN_BYTES));
        if align == GRAIN_BYTES
            && let Some(offset) = self.take_again(books, size)
        {
            return Some(Part { offset, clean: false });
        }
        // Alignments are powers of two, and an offset is only as aligned as the block itself.
        let offset = (books.taken + align - 1) & !(align - 1);
        let end = offset.checked_add(size).filter(|end| *end <= BLOCK_BYTES && align <= align_of::<Block>())?;
        let clean = offset >= books.touched;
        books.taken = end;
        books.touched = books.touched.max(end);
        Some(Part { offset, clean })
    }

    /// A free part of this size, or the beginning of a large one that holds it.
    fn take_again(&self, books: &mut Books, size: usize) -> Option<usize> {
        if let Some(first) = books.free.get_mut(size / GRAIN_BYTES - 1)
            && let Some(offset) = first.checked_sub(1)
        {
            // SAFETY: a free part is aligned and holds at least one grain, and begins with what `give` wrote.
            *first = unsafe { self.address(offset).cast::<usize>().read() };
            return Some(offset);
        }
        if size > books.largest {
            return None;
        }
        let Some((offset, room)) = books.large.iter_mut().filter(|(_, room)| *room >= size).min_by_key(|part| part.1)
        else {
            books.largest = size - GRAIN_BYTES;
            return None;
        };
        // Sizes are whole grains, so what is left is as aligned as the part was.
        let taken = *offset;
        (*offset, *room) = (taken + size, *room - size);
        Some(taken)
    }

    fn give(&self, books: &mut Books, offset: usize, size: usize) {
        let size = rounded(size);
        // INVARIANT: every part that is free or in use ends at `taken` or before it.
        if offset + size == books.taken {
            books.taken = offset;
        } else if let Some(first) = books.free.get_mut(size / GRAIN_BYTES - 1) {
            // SAFETY: the part is aligned, holds at least one grain, and its owner has just given it up.
            unsafe { self.address(offset).cast::<usize>().write(*first) };
            *first = offset + 1;
        } else if let Some(least) = books.large.iter_mut().min_by_key(|part| part.1).filter(|least| least.1 < size) {
            *least = (offset, size);
            books.largest = books.largest.max(size);
        }
    }

    /// Moves a part's content into another part, and gives it back.
    ///
    /// SAFETY: as for `realloc`: the part was handed out with this layout, and `new` is not of size zero.
    unsafe fn moved(&self, part: *mut u8, layout: Layout, new: Layout) -> *mut u8 {
        // SAFETY: the parts do not overlap, and both hold the smaller of the two sizes.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(part, layout.size().min(new.size()));
                self.dealloc(part, layout);
            }
            moved
        }
    }

    /// Makes a part larger or smaller where it is, if that is possible.
    fn resize(books: &mut Books, offset: usize, (old, new): (usize, usize)) -> bool {
        let (old, new) = (rounded(old), rounded(new));
        let Some(end) = offset.checked_add(new).filter(|end| *end <= BLOCK_BYTES) else { return false };
        let is_last = offset + old == books.taken;
        if is_last {
            books.taken = end;
            books.touched = books.touched.max(end);
        }
        is_last || new <= old
    }
}

// SAFETY: `take` gives aligned parts of a block that lives as long as the program, none of which overlaps another in
// use; everything else is the system allocator's, which is asked to free and to resize only what it gave. A part that lies on
// a shelf is in nobody's use, and holds all that its class may be asked for.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.ask(|arena, books| arena.take(books, layout)).flatten() {
            Some(part) => self.address(part.offset),
            None => class(layout).and_then(|class| Shelf::ask(|shelf| shelf.take(class))).unwrap_or_else(|| {
                // SAFETY: the caller's promise about the layout is passed on: a size that is rounded up is no smaller.
                unsafe { System.alloc(asked_for(layout)) }
            }),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(part) = self.ask(|arena, books| arena.take(books, layout)).flatten() else {
            let Some(part) = class(layout).and_then(|class| Shelf::ask(|shelf| shelf.take(class))) else {
                // SAFETY: the caller's promise about the layout is passed on: a size that is rounded up is no smaller.
                return unsafe { System.alloc_zeroed(asked_for(layout)) };
            };
            // SAFETY: the part has at least this size and is the caller's alone.
            unsafe { part.write_bytes(0, layout.size()) };
            return part;
        };
        let address = self.address(part.offset);
        if !part.clean {
            // SAFETY: the part has this size and is the caller's alone.
            unsafe { address.write_bytes(0, layout.size()) };
        }
        address
    }

    unsafe fn dealloc(&self, part: *mut u8, layout: Layout) {
        let Some(offset) = self.offset(part) else {
            let shelved = class(layout).and_then(|class| Shelf::ask(|shelf| shelf.put(class, part)));
            return shelved.unwrap_or_else(|| {
                // SAFETY: what does not lie in the block came from the system, asked for in this way.
                unsafe { System.dealloc(part, asked_for(layout)) };
            });
        };
        // A part that another thread gives back is lost; the block is all that can be.
        self.ask(|arena, books| arena.give(books, offset, layout.size()));
    }

    unsafe fn realloc(&self, part: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(offset) = self.offset(part) else {
            let Ok(new) = Layout::from_size_align(new_size, layout.align()) else { return std::ptr::null_mut() };
            if class(layout).is_some() && class(layout) == class(new) {
                return part;
            }
            let (old, asked) = (asked_for(layout), asked_for(new));
            let is_ready = class(new).is_some_and(|class| Shelf::ask(|shelf| shelf.has(class).then_some(())).is_some());
            // Only a part that is aligned as its class wants may become one of that class, or stop being one.
            if old.align() == asked.align() && !is_ready {
                // SAFETY: what does not lie in the block came from the system, asked for in this way; and so is what it becomes.
                return unsafe { System.realloc(part, old, asked.size()) };
            }
            // SAFETY: the new size was found valid.
            return unsafe { self.moved(part, layout, new) };
        };
        if self.ask(|_, books| Self::resize(books, offset, (layout.size(), new_size))).is_some_and(|resized| resized) {
            return part;
        }
        // SAFETY: the caller promises that the new size is valid for the alignment.
        unsafe { self.moved(part, layout, Layout::from_size_align_unchecked(new_size, layout.align())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    fn bytes(part: *mut u8, size: usize) -> &'static [u8] {
        // SAFETY: tests ask for no more than they took.
        unsafe { std::slice::from_raw_parts(part, size) }
    }

    #[test]
    fn parts_are_disjoint_and_aligned_and_keep_their_content() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: every part is used within its size and freed once, with its layout.
        unsafe {
            let first = arena.alloc(layout(3, 1));
            first.copy_from_nonoverlapping(b"abc".as_ptr(), 3);
            let second = arena.alloc(layout(64, 64));
            assert!(second.addr() >= first.addr() + 3 && second.addr().is_multiple_of(64));
            // The last grows where it is; another moves with its content.
            assert_eq!(arena.realloc(second, layout(64, 64), 128), second);
            let moved = arena.realloc(first, layout(3, 1), 60);
            assert!(moved.addr() >= second.addr() + 128);
            assert_eq!(bytes(moved, 3), b"abc");
            assert_eq!(arena.realloc(moved, layout(60, 1), 2), moved);
            assert_eq!(bytes(moved, 2), b"ab");
        }
    }

    #[test]
    fn what_is_given_back_is_used_again_and_clean_where_that_is_asked_for() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: as above.
        unsafe {
            let parts = [40, 40, 40].map(|size| arena.alloc(layout(size, 8)));
            parts.iter().for_each(|part| part.write_bytes(7, 40));
            arena.dealloc(parts[0], layout(40, 8));
            arena.dealloc(parts[1], layout(40, 8));
            let again = [48, 33].map(|size| arena.alloc_zeroed(layout(size, 16)));
            assert_eq!(again, [parts[1], parts[0]]);
            assert!(bytes(again[0], 48).iter().chain(bytes(again[1], 33)).all(|byte| *byte == 0));
            // The last one of all becomes fresh room, which is not clean either.
            arena.dealloc(parts[2], layout(40, 8));
            let fresh = arena.alloc_zeroed(layout(4096, 8));
            assert_eq!(fresh, parts[2]);
            assert!(bytes(fresh, 4096).iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn large_parts_are_used_again_too() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: as above.
        unsafe {
            let parts = [5000, 3000, 16].map(|size| arena.alloc(layout(size, 8)));
            arena.dealloc(parts[0], layout(5000, 8));
            arena.dealloc(parts[1], layout(3000, 8));
            assert_eq!(arena.alloc(layout(4000, 8)), parts[0]);
            assert_eq!(arena.alloc(layout(2000, 8)), parts[1]);
            assert!(arena.alloc(layout(2000, 8)).addr() > parts[2].addr());
        }
    }

    #[test]
    fn what_is_left_of_a_large_part_is_used_too() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: as above.
        unsafe {
            let parts = [8000, 16].map(|size| arena.alloc(layout(size, 8)));
            parts[0].write_bytes(7, 8000);
            arena.dealloc(parts[0], layout(8000, 8));
            let small: Vec<*mut u8> = (0..10).map(|_| arena.alloc_zeroed(layout(30, 8))).collect();
            assert!(small.iter().enumerate().all(|(at, part)| part.addr() == parts[0].addr() + 32 * at));
            assert!(small.iter().all(|part| bytes(*part, 30).iter().all(|byte| *byte == 0)));
            let rest = arena.alloc(layout(8000 - 320, 8));
            assert_eq!(rest.addr(), parts[0].addr() + 320);
            assert!(arena.alloc(layout(16, 8)).addr() > parts[1].addr(), "nothing is left");
            // Of more parts than are remembered the largest are.
            let parts: Vec<*mut u8> = (0..20).map(|at| arena.alloc(layout(2000 + 16 * at, 8))).collect();
            let last = arena.alloc(layout(16, 8));
            for (at, part) in parts.iter().enumerate() {
                arena.dealloc(*part, layout(2000 + 16 * at, 8));
            }
            assert_eq!(arena.alloc(layout(2000 + 16 * 19, 8)), parts[19]);
            assert_eq!(arena.alloc(layout(2000 + 16 * 18, 8)), parts[18]);
            assert!(arena.alloc(layout(4000, 8)).addr() > last.addr());
        }
    }

    #[test]
    fn what_the_block_cannot_hold_is_the_systems() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: as above.
        unsafe {
            let small = arena.alloc_zeroed(layout(6, 1));
            let large = arena.alloc(layout(BLOCK_BYTES, 8));
            assert!(arena.offset(small).is_some() && arena.offset(large).is_none());
            arena.dealloc(large, layout(BLOCK_BYTES, 8));
            let grown = arena.realloc(small, layout(6, 1), 2 * BLOCK_BYTES);
            assert_eq!((arena.offset(grown), bytes(grown, 6)), (None, [0; 6].as_slice()));
            arena.dealloc(grown, layout(2 * BLOCK_BYTES, 1));
            let aligned = arena.alloc(layout(8, 8192));
            assert!(arena.offset(aligned).is_none() && aligned.addr().is_multiple_of(8192));
            arena.dealloc(aligned, layout(8, 8192));
            // Once the block is full, everything is, however little.
            while arena.offset(arena.alloc(layout(1 << 16, 8))).is_some() {}
            while arena.offset(arena.alloc(layout(24, 8))).is_some() {}
            assert_eq!(arena.offset(arena.alloc(layout(1, 1))), None);
        }
    }

    #[test]
    fn a_thread_with_a_shelf_takes_again_what_it_gave_back() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // The first thread has the block.
        // SAFETY: as above.
        unsafe { arena.alloc(layout(1, 1)) };
        let shelved = std::thread::spawn(move || {
            take_shelf();
            // SAFETY: as above.
            unsafe {
                let parts = [40, 41, 200].map(|size| arena.alloc(layout(size, 8)));
                assert!(parts.iter().all(|part| arena.offset(*part).is_none() && part.addr().is_multiple_of(16)));
                parts.iter().for_each(|part| part.write_bytes(7, 40));
                arena.dealloc(parts[0], layout(40, 8));
                arena.dealloc(parts[1], layout(41, 8));
                // All of one class, whatever its size; clean where that is asked for.
                let again = arena.alloc_zeroed(layout(48, 16));
                assert_eq!((again, bytes(again, 48)), (parts[1], [0; 48].as_slice()));
                assert_eq!(arena.alloc(layout(33, 1)), parts[0]);
                assert_eq!(arena.realloc(parts[0], layout(33, 1), 48), parts[0]);
                assert_eq!(
                    [1024, 1025, 2049, 32_768, 32_769].map(|size| class(layout(size, 8))),
                    [Some(63), Some(64), Some(65), Some(68), None]
                );
                assert_eq!([63, 64, 65, 68].map(class_bytes), [1024, 2048, 4096, 32_768]);
                parts[2].write_bytes(9, 200);
                let larger = arena.realloc(parts[2], layout(200, 8), 5000);
                assert_eq!(bytes(larger, 200), [9; 200]);
                assert_eq!(arena.realloc(larger, layout(5000, 8), 8000), larger, "of one class");
                let smaller = arena.realloc(larger, layout(8000, 8), 100);
                assert_eq!(bytes(smaller, 100), [9; 100]);
                // One that lies there is taken, and what was in it before is moved.
                arena.dealloc(arena.alloc(layout(8000, 8)), layout(8000, 8));
                let grown = arena.realloc(smaller, layout(100, 8), 7000);
                assert_eq!((bytes(grown, 100), class(layout(7000, 8))), ([9; 100].as_slice(), Some(66)));
                let smaller = arena.realloc(grown, layout(7000, 8), 100);
                arena.dealloc(smaller, layout(100, 8));
                // What is aligned more than a grain is the system's.
                let aligned = arena.alloc(layout(64, 64));
                arena.dealloc(aligned, layout(64, 64));
                Shelf::ask(|shelf| Some(shelf.bytes))
            }
        });
        assert_eq!(shelved.join().unwrap(), Some(8192 + 112), "what moved left its part, and what was given back");
        assert_eq!(Shelf::ask(|shelf| Some(shelf.bytes)), None, "another thread has none");
    }

    #[test]
    fn a_shelf_holds_only_so_much() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        // SAFETY: as above.
        unsafe { arena.alloc(layout(1, 1)) };
        let filled = std::thread::spawn(move || {
            take_shelf();
            // SAFETY: as above.
            unsafe {
                let parts: Vec<*mut u8> = (0..1000).map(|_| arena.alloc(layout(1000, 8))).collect();
                parts.into_iter().for_each(|part| arena.dealloc(part, layout(1000, 8)));
            }
            Shelf::ask(|shelf| Some(shelf.bytes))
        });
        let bytes = filled.join().unwrap().unwrap();
        assert!(bytes <= SHELF_BYTES_MAX && bytes > SHELF_BYTES_MAX - 2048, "{bytes}");
    }

    #[test]
    fn threads_never_share_a_part() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let churn = move |mark: u8| {
            if mark.is_multiple_of(2) {
                take_shelf();
            }
            let mut kept: Vec<(*mut u8, usize)> = Vec::new();
            for round in 0..3_000_usize {
                let size = 1 + round * 7 % 200;
                // SAFETY: every part is used within its size and freed once, with its layout.
                unsafe {
                    let part = arena.alloc(layout(size, 8));
                    part.write_bytes(mark, size);
                    kept.push((part, size));
                    if round % 3 > 0 {
                        let (part, size) = kept.swap_remove(round % kept.len());
                        assert!(bytes(part, size).iter().all(|byte| *byte == mark));
                        arena.dealloc(part, layout(size, 8));
                    }
                }
            }
            assert!(kept.iter().all(|(part, size)| bytes(*part, *size).iter().all(|byte| *byte == mark)));
        };
        let threads: Vec<_> = (1..=4).map(|mark| std::thread::spawn(move || churn(mark))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
