//! Work of an engine that is not ours, on a thread of its own: bounded in time, and a panic there is a fault here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::thread;
use std::time::Duration;

/// Threads at work at once. One that does not end is left behind, and this many of them mean that something is wrong.
const WORKERS_MAX: usize = 32;
/// Bytes of a thread's stack; engines recurse over what they are given. Only what is used is ever there.
const STACK_BYTES: usize = 64 << 20;

/// How many threads are at work.
static WORKERS: AtomicUsize = AtomicUsize::new(0);

/// One of them; gone when its work is.
struct Worker;

impl Worker {
    fn hire() -> Option<Self> {
        let more = |workers| (workers < WORKERS_MAX).then_some(workers + 1);
        WORKERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        WORKERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Work of one kind that was not waited for and may still go on. While it does, more of the kind is not begun: it would go
/// on as well.
#[derive(Debug, Clone, Default)]
pub(crate) struct Left(Arc<Mutex<Weak<()>>>);

impl Left {
    pub(crate) fn goes_on(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).strong_count() > 0
    }

    fn is(&self, at_work: Weak<()>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at_work;
    }
}

/// What the work came to, if it did so in time; work that did not is left behind.
pub(crate) fn within<T: Send + 'static>(
    ms_max: u64,
    left: &Left,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let late = || format!("it took longer than {ms_max} ms");
    if left.goes_on() {
        return Err(late());
    }
    let worker = Worker::hire().ok_or("too many engines are at work")?;
    let (done, wait) = mpsc::sync_channel(1);
    let at_work = Arc::new(());
    let seen = Arc::downgrade(&at_work);
    let job = move || {
        let result = work();
        drop((worker, at_work));
        drop(done.send(result));
    };
    let spawned = thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(job);
    spawned.map_err(|fault| format!("no thread could be started: {fault}"))?;
    wait.recv_timeout(Duration::from_millis(ms_max)).map_err(|fault| match fault {
        mpsc::RecvTimeoutError::Timeout => {
            left.is(seen);
            late()
        }
        mpsc::RecvTimeoutError::Disconnected => "the engine failed".to_owned(),
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_in_time_or_is_not_waited_for() {
        let left = Left::default();
        assert_eq!(within(5_000, &left, || Ok(1)), Ok(1));
        assert_eq!(within::<()>(5_000, &left, || Err("no".to_owned())), Err("no".to_owned()));
        assert!(!left.goes_on());
    }

    #[test]
    fn work_that_goes_on_is_not_begun_again() {
        let left = Left::default();
        let (go, wait) = mpsc::channel::<()>();
        let late: Result<bool, String> = Err("it took longer than 10 ms".to_owned());
        assert_eq!(within(10, &left, move || Ok(wait.recv().is_ok())), late.clone());
        assert!(left.goes_on());
        let begun = Arc::new(Mutex::new(false));
        let begins = Arc::clone(&begun);
        let begin = move || Ok(std::mem::replace(&mut *begins.lock().unwrap(), true));
        assert_eq!(within(10, &left, begin), late);
        assert!(!*begun.lock().unwrap(), "nothing was begun");
        drop(go);
        while left.goes_on() {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(within(5_000, &left, || Ok(2)), Ok(2), "once it has ended, it may be tried again");
    }

    #[test]
    fn a_panic_is_a_fault() {
        assert_eq!(within::<()>(5_000, &Left::default(), || panic!("on purpose")), Err("the engine failed".to_owned()));
    }
}
