//! How the distribution build copies, fills and compares bytes. Its C library does so one by one, or by instructions that
//! take long to begin, and a hook does it thousands of times, a few bytes each. Measured in docs/internals/speed.md.

#![expect(
    unsafe_code,
    reason = "these are the C library's own functions, which the compiler calls and which have no safe form"
)]

use std::arch::global_asm;

global_asm!(include_str!("bytes.s"));

#[cfg(target_env = "musl")]
global_asm!(
    ".globl memcpy, memmove, memset, memcmp, bcmp",
    ".set memcpy, jackline_copy",
    ".set memmove, jackline_copy",
    ".set memset, jackline_fill",
    ".set memcmp, jackline_compare",
    ".set bcmp, jackline_compare",
);

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    /// More than the longest piece that has a way of its own, at all ends of it.
    const LENGTHS: std::ops::Range<usize> = 0..200;

    unsafe extern "C" {
        fn jackline_copy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8;
        fn jackline_fill(to: *mut u8, byte: c_int, bytes: usize) -> *mut u8;
        fn jackline_compare(one: *const u8, other: *const u8, bytes: usize) -> c_int;
    }

    /// Bytes no two neighbours of which are the same.
    fn sample(len: usize) -> Vec<u8> {
        (0..len).map(|at| u8::try_from(at * 7 % 251).unwrap_or_default()).collect()
    }

    #[test]
    fn pieces_that_overlap_are_copied_whole() {
        for len in LENGTHS.chain([1000, 4099]) {
            for (from, to) in [(0, 0), (0, 1), (1, 0), (0, 15), (15, 0), (3, 70), (70, 3), (0, 5000), (5000, 0)] {
                let mut bytes = sample(10_000);
                let mut want = bytes.clone();
                want.copy_within(from..from + len, to);
                // SAFETY: both pieces lie within the bytes.
                let end = unsafe {
                    let start = bytes.as_mut_ptr();
                    jackline_copy(start.add(to), start.add(from), len).offset_from(start)
                };
                assert_eq!((bytes, end), (want, isize::try_from(to).unwrap()), "{len} bytes from {from} to {to}");
            }
        }
    }

    #[test]
    fn pieces_are_filled_and_nothing_beside_them() {
        for len in LENGTHS {
            for (start, byte) in [(0, 0), (1, 255), (9, 0x142)] {
                let mut bytes = sample(300);
                let mut want = bytes.clone();
                want[start..start + len].fill(u8::try_from(byte & 0xff).unwrap());
                // SAFETY: the piece lies within the bytes.
                unsafe { jackline_fill(bytes.as_mut_ptr().add(start), byte, len) };
                assert_eq!(bytes, want, "{len} bytes at {start}");
            }
        }
    }

    #[test]
    fn the_first_byte_that_differs_decides() {
        for len in LENGTHS {
            let one = sample(len + 1);
            // SAFETY: both have one byte more, which must not count.
            let compare = |other: &[u8]| unsafe { jackline_compare(one.as_ptr(), other.as_ptr(), len) }.signum();
            let mut longer = one.clone();
            longer[len] ^= 0x80;
            assert_eq!(compare(&longer), 0, "{len} bytes are the same");
            for at in 0..len {
                for other in [one[at].wrapping_add(1), one[at] ^ 0x80] {
                    let mut differing = one.clone();
                    differing[at] = other;
                    differing[at + 1..].fill(0x7f);
                    let want = if one[at] < other { -1 } else { 1 };
                    assert_eq!(compare(&differing), want, "{len} bytes that differ at {at}");
                }
            }
        }
    }
}
