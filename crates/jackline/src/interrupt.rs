//! Notices that a person wants to break off, so that what was made for the moment is removed first.

#![expect(unsafe_code, reason = "signals have no safe interface; the handler below stores a flag, nothing else")]

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the usual signals to end only leave a note; whoever works looks at [`asked`] now and then.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler is async-signal-safe (see `note`), and its signature is the one `signal` asks for.
        unsafe {
            libc::signal(signal, note as *const () as libc::sighandler_t);
        }
    }
}

/// Whether somebody asked to end.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

extern "C" fn note(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}
