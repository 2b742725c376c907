//! When a run is over before its work is: a signal, the end of its time, nothing that happens, a failure that stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks while nothing else is waited for.
const LOOK: Duration = Duration::from_millis(5);

/// Why a run is over before its work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// Somebody asked for it, by the signal of this number.
    Signal(i32),
    Total,
    Idle,
    /// A failure that stops the run, or one of ours.
    Failure,
}

/// Watches over a run.
pub(super) struct Watch<'a> {
    until: Instant,
    idle: Option<Duration>,
    /// When something happened last.
    happened: Mutex<Instant>,
    /// Nothing happened for too long; what is ended for it is no news.
    idled: AtomicBool,
    failed: AtomicBool,
    signal: &'a (dyn Fn() -> Option<i32> + Sync),
}

impl<'a> Watch<'a> {
    /// From now on; `spent` was used before the run was taken up again.
    pub(super) fn new(
        (total, spent): (Duration, Duration),
        idle: Option<Duration>,
        signal: &'a (dyn Fn() -> Option<i32> + Sync),
    ) -> Self {
        let now = Instant::now();
        let until = now + total.saturating_sub(spent);
        Self {
            until,
            idle,
            happened: Mutex::new(now),
            idled: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            signal,
        }
    }

    /// Why the run is over, if it is.
    pub(super) fn cause(&self) -> Option<Cause> {
        if let Some(signal) = (self.signal)() {
            return Some(Cause::Signal(signal));
        }
        if self.failed.load(Ordering::Relaxed) {
            return Some(Cause::Failure);
        }
        let now = Instant::now();
        if now >= self.until {
            return Some(Cause::Total);
        }
        let happened = *self.happened.lock().unwrap_or_else(PoisonError::into_inner);
        if self.idle.is_some_and(|idle| now.duration_since(happened) >= idle) {
            self.idled.store(true, Ordering::Relaxed);
        }
        self.idled.load(Ordering::Relaxed).then_some(Cause::Idle)
    }

    /// Something happened.
    pub(super) fn stir(&self) {
        *self.happened.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Ends everything that runs.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Time that is left of the run.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits, unless the run is over or `stop` says so.
    pub(super) fn pause(&self, time: Duration, stop: &dyn Fn() -> bool) {
        let until = Instant::now() + time;
        while Instant::now() < until && self.cause().is_none() && !stop() {
            thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
    }
}
