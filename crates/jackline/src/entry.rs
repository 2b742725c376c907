//! Where the program begins, instead of where the standard library lets programs begin: that looks for the end of the
//! stack and prepares to report its overflow, which takes longer than a decision. What a program needs is done here.

#![expect(unsafe_code, reason = "the C library calls `main` with pointers, and has no safe form of what is done first")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt as _;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::OnceLock;

static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The command line, the program's name included. The standard library's own list is empty in a static program that
/// does not begin with it.
pub(crate) fn words() -> &'static [OsString] {
    WORDS.get().map(Vec::as_slice).unwrap_or_default()
}

/// How a process ends that panicked, as the standard library has it.
const PANICKED: c_int = 101;

#[cfg_attr(not(test), unsafe(no_mangle))]
#[cfg_attr(test, expect(dead_code, reason = "a test has a `main` of its own"))]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    occupy_standard_files();
    // A reader that went away, or a file that may not grow, is then an error of the write, which is answered.
    for signal in [libc::SIGPIPE, libc::SIGXFSZ] {
        // SAFETY: to ignore a signal is always allowed.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let words = (0..usize::try_from(count).unwrap_or_default()).map(|at| word(words, at));
    let words = WORDS.get_or_init(|| words.collect());
    let code = catch_unwind(|| number(super::serve(words)));
    finish(code.unwrap_or(PANICKED))
}

/// Makes sure that input, output and errors are open: else the next file would be one of them, and what is printed
/// would end up in it. What is written to an output that nobody gave us fails, where there is a file for that: an answer
/// that nobody can read must not seem to be given.
fn occupy_standard_files() {
    for file in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        let first = if file == libc::STDOUT_FILENO { c"/dev/full" } else { c"/dev/null" };
        // SAFETY: to ask about any number is allowed, and the paths are C strings; the lowest free number is taken.
        unsafe {
            let is_open = || libc::fcntl(file, libc::F_GETFD) != -1;
            let opens = |path: &CStr| libc::open(path.as_ptr(), libc::O_RDWR) != -1;
            if !(is_open() || opens(first) || opens(c"/dev/null")) {
                libc::abort();
            }
        }
    }
}

fn word(words: *const *const c_char, at: usize) -> OsString {
    // SAFETY: `main` is given as many C strings as it is told, and they live as long as the program.
    let word = unsafe { CStr::from_ptr(*words.add(at)) };
    OsStr::from_bytes(word.to_bytes()).to_owned()
}

/// The number of an exit code, which it does not tell by itself.
fn number(code: ExitCode) -> c_int {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).map_or(PANICKED, c_int::from)
}

/// Ends the process by way of the standard library, which writes out what is still held back.
#[expect(clippy::exit, reason = "this is the end of `main`")]
fn finish(code: c_int) -> ! {
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_has_its_number() {
        for code in [0, 1, 2, 255] {
            assert_eq!(number(ExitCode::from(code)), c_int::from(code));
        }
    }
}
