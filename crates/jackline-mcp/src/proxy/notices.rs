//! The order of what goes to a server by its address: a request is posted after the notices that were said before it. One
//! that came before `notifications/initialized` might be refused.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many notices there were, and how many the server has taken or refused.
#[derive(Debug, Default)]
struct Counts {
    queued: u64,
    taken: u64,
}

#[derive(Debug, Default)]
pub(super) struct Notices {
    counts: Mutex<Counts>,
    changed: Condvar,
}

impl Notices {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts one in line, and counts it.
    pub(super) fn queue<E>(&self, put: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut counts = self.counts();
        put()?;
        counts.queued += 1;
        Ok(())
    }

    /// How many were put in line so far.
    pub(super) fn queued(&self) -> u64 {
        self.counts().queued
    }

    /// One was posted.
    pub(super) fn taken(&self) {
        self.counts().taken += 1;
        self.changed.notify_all();
    }

    /// Waits until so many were posted, or long enough.
    pub(super) fn wait_for(&self, queued: u64, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut counts = self.counts();
        while counts.taken < queued {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            counts = self.changed.wait_timeout(counts, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_is_waited_for_and_nothing_else() {
        let notices = Notices::default();
        notices.wait_for(notices.queued(), Duration::from_secs(60));
        assert_eq!(notices.queue(|| Ok::<(), ()>(())), Ok(()));
        assert_eq!(notices.queue(|| Err("full")), Err("full"));
        assert_eq!(notices.queued(), 1);
        let begun = Instant::now();
        notices.wait_for(1, Duration::from_millis(30));
        assert!(begun.elapsed() >= Duration::from_millis(30), "it was not taken, and not waited for longer");
        notices.taken();
        notices.wait_for(1, Duration::from_secs(60));
    }
}
