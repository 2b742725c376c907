//! The hook's own deadline: an answer comes before the host loses patience, whatever we wait for.
//!
//! A timer signal rather than a thread: a thread costs more than everything else the hook does at its start. What a
//! signal may do is little, so the answer at the deadline is prepared beforehand: a fixed text and an exit code.

#![expect(
    unsafe_code,
    reason = "signals have no safe interface; the handler below calls write and _exit, nothing else"
)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Instant;

use jackline_runtime::adapters::Late;
use jackline_runtime::wiring::STOP_TIMEOUT_S;

/// Seconds until a hook answers by itself. Hosts are told to wait twice as long.
pub(crate) const DEADLINE_SECONDS: u32 = 5;

/// Seconds after which a hook answers whatever it waits for: well before the host, which would let a stop pass.
const PATIENCE_SECONDS: u32 = STOP_TIMEOUT_S as u32 - 2 * DEADLINE_SECONDS;

/// When the deadline was set for the first time.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// How the process ends at the deadline: 2 blocks, anything else lets pass.
static EXIT: AtomicI32 = AtomicI32::new(BLOCKS);

/// The exit code that every host takes for a refusal.
const BLOCKS: i32 = 2;

/// What is said at the deadline of a gate.
static LATE: OnceLock<Late> = OnceLock::new();

/// Whether it may be a gate that waits; as long as nobody knows, it may.
static GATE: AtomicBool = AtomicBool::new(true);

/// At the deadline of a gate this is said.
pub(crate) fn say(late: Late) {
    // The first of them stands; there is one host per process.
    let _first = LATE.set(late);
}

/// It is no gate that waits: at the deadline the reason alone is said, since a gate's words mean something else there.
pub(crate) fn no_gate() {
    GATE.store(false, Ordering::Relaxed);
}

/// Answers with a refusal at the deadline, unless [`pass`] said otherwise.
pub(crate) fn arm() {
    BEGAN.get_or_init(Instant::now);
    // SAFETY: the handler is async-signal-safe (see `expired`), and its signature is the one `signal` asks for.
    unsafe {
        libc::signal(libc::SIGALRM, expired as *const () as libc::sighandler_t);
        libc::alarm(DEADLINE_SECONDS);
    }
}

/// A command is about to run that may take so many milliseconds: the deadline comes that much later.
pub(crate) fn wait(milliseconds: u64) {
    let seconds = granted(milliseconds, BEGAN.get().map_or(0, |began| began.elapsed().as_secs()));
    // SAFETY: only sets the timer that `arm` started anew.
    unsafe {
        libc::alarm(seconds);
    }
}

/// Seconds until the deadline of what may take so long; together with what is gone no more than the host waits.
fn granted(milliseconds: u64, gone_s: u64) -> u32 {
    let asked = u32::try_from(milliseconds.div_ceil(1000)).unwrap_or(u32::MAX).saturating_add(DEADLINE_SECONDS);
    let left = PATIENCE_SECONDS.saturating_sub(u32::try_from(gone_s).unwrap_or(u32::MAX));
    // Zero would switch the deadline off.
    asked.min(left).max(1)
}

/// At the deadline the host shall go on: what it asks about must not be held back by a fault of ours.
pub(crate) fn pass(exit: u8) {
    EXIT.store(i32::from(exit), Ordering::Relaxed);
}

extern "C" fn expired(_: libc::c_int) {
    let exit = EXIT.load(Ordering::Relaxed);
    // SAFETY: `write` and `_exit` may be called in a signal handler; the text lives as long as the program.
    unsafe {
        if exit == BLOCKS {
            // Reading what was set once neither waits nor allocates.
            let late = LATE.get().copied().filter(|_| GATE.load(Ordering::Relaxed)).unwrap_or(Late::PLAIN);
            libc::write(libc::STDOUT_FILENO, late.stdout.as_ptr().cast(), late.stdout.len());
            libc::write(libc::STDERR_FILENO, late.stderr.as_ptr().cast(), late.stderr.len());
        }
        libc::_exit(exit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_moves_with_commands_and_never_beyond_the_hosts_patience() {
        assert_eq!(granted(300_000, 0), 305);
        assert_eq!(granted(300_000, 3_400), 190);
        assert_eq!(granted(300_000, 3_590), 1);
        assert_eq!(granted(u64::MAX, 0), PATIENCE_SECONDS);
    }
}
