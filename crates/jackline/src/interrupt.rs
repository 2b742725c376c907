//! Notices that someone wants us to end, so that what was made or started for the moment goes first.

#![expect(
    unsafe_code,
    reason = "signals have no safe interface; the handlers below store a flag or write one byte, nothing else"
)]

use std::io::{self, PipeReader};
use std::os::fd::IntoRawFd as _;
use std::sync::atomic::{AtomicI32, Ordering};

/// The number of the signal by which somebody asked; none until somebody does.
static ASKED: AtomicI32 = AtomicI32::new(0);
/// Where the numbers of signals are written to; none until someone reads them.
static TOLD: AtomicI32 = AtomicI32::new(-1);

/// The usual signals to end.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// From now on the usual signals to end only leave a note; whoever works looks at [`asked`] now and then.
pub(crate) fn listen() {
    for signal in ENDING {
        // SAFETY: the handler is async-signal-safe (see `note`), and its signature is the one `signal` asks for.
        unsafe {
            libc::signal(signal, note as *const () as libc::sighandler_t);
        }
    }
}

/// Whether somebody asked to end.
pub(crate) fn asked() -> bool {
    signal().is_some()
}

/// The signal by which somebody asked to end.
pub(crate) fn signal() -> Option<i32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

extern "C" fn note(signal: libc::c_int) {
    ASKED.store(signal, Ordering::Relaxed);
}

/// From now on the usual signals to end can be read, a byte for each: its number.
pub(crate) fn stream() -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    TOLD.store(writer.into_raw_fd(), Ordering::Relaxed);
    for signal in ENDING {
        // SAFETY: the handler is async-signal-safe (see `tell`), and its signature is the one `signal` asks for.
        unsafe {
            libc::signal(signal, tell as *const () as libc::sighandler_t);
        }
    }
    Ok(reader)
}

extern "C" fn tell(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or_default();
    // SAFETY: `write` is async-signal-safe, the byte lives through the call, and the pipe is never closed.
    unsafe {
        libc::write(TOLD.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
    }
}
