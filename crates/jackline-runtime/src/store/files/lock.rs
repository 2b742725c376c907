//! The lock on a log: between processes through the file, between threads through a mutex, with a bounded wait.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError as Busy};
use std::thread;
use std::time::{Duration, Instant};

use crate::store::StoreFault;

/// Milliseconds to wait for the lock: a hundred commits of others on a slow disk, well within a host's patience.
const LOCK_MS_MAX: u64 = 2_000;
/// Microseconds of the first pause: about half a commit.
const PAUSE_US_MIN: u64 = 50;
/// Microseconds of the longest pause: what a waiting call loses at most after the lock was let go.
const PAUSE_US_MAX: u64 = 2_000;

/// Who else may hold the lock at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    Shared,
    Exclusive,
}

/// The lock, held until dropped.
#[derive(Debug)]
pub(super) struct Held<'a> {
    log: &'a File,
    // The file's lock belongs to the open file, which threads share: without this they would all hold it.
    _turn: MutexGuard<'a, ()>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Closing the file would let go as well; nothing can be done about a failure here.
        let _ = self.log.unlock();
    }
}

/// What a fault names as the place of the log; mostly nobody asks.
type At<'p> = dyn Fn() -> PathBuf + 'p;

/// Waits for the lock.
pub(super) fn hold<'a>(log: &'a File, turn: &'a Mutex<()>, mode: Mode, at: &At<'_>) -> Result<Held<'a>, StoreFault> {
    if let Some(held) = attempt(log, turn, mode, at)? {
        return Ok(held);
    }
    let started = Instant::now();
    let mut pause = Duration::from_micros(PAUSE_US_MIN);
    while started.elapsed() < Duration::from_millis(LOCK_MS_MAX) {
        thread::sleep(pause);
        if let Some(held) = attempt(log, turn, mode, at)? {
            return Ok(held);
        }
        pause = (pause * 2).min(Duration::from_micros(PAUSE_US_MAX));
    }
    Err(StoreFault::Locked { what: at().display().to_string(), waited_ms: LOCK_MS_MAX })
}

fn attempt<'a>(log: &'a File, turn: &'a Mutex<()>, mode: Mode, at: &At<'_>) -> Result<Option<Held<'a>>, StoreFault> {
    let turn = match turn.try_lock() {
        Ok(turn) => turn,
        // It guards nothing but the order of things, so a thread that died with it left nothing half-done.
        Err(Busy::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(Busy::WouldBlock) => return Ok(None),
    };
    let locked = match mode {
        Mode::Shared => log.try_lock_shared(),
        Mode::Exclusive => log.try_lock(),
    };
    match locked {
        Ok(()) => Ok(Some(Held { log, _turn: turn })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(StoreFault::unwritable(&at(), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_waited_for_and_then_given_up() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = File::open(file.path()).unwrap();
        other.lock().unwrap();
        let turn = Mutex::new(());
        let started = Instant::now();
        let fault = hold(file.as_file(), &turn, Mode::Exclusive, &|| file.path().to_owned()).unwrap_err();
        assert!(matches!(fault, StoreFault::Locked { waited_ms: LOCK_MS_MAX, .. }), "{fault}");
        assert!(started.elapsed() >= Duration::from_millis(LOCK_MS_MAX));
        other.unlock().unwrap();
        drop(hold(file.as_file(), &turn, Mode::Exclusive, &|| file.path().to_owned()).unwrap());
        // Dropping let go of it.
        other.try_lock().unwrap();
    }

    #[test]
    fn threads_that_share_a_file_exclude_one_another() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let turn = Mutex::new(());
        let held = hold(file.as_file(), &turn, Mode::Exclusive, &|| file.path().to_owned()).unwrap();
        thread::scope(|scope| {
            let tried = scope
                .spawn(|| attempt(file.as_file(), &turn, Mode::Shared, &|| file.path().to_owned()).unwrap().is_some());
            assert!(!tried.join().unwrap());
        });
        drop(held);
    }
}
