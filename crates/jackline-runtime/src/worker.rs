//! Work of an engine that is not ours, on a thread of its own: bounded in time, and a panic there is a fault here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
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

/// What the work came to, if it did so in time.
pub(crate) fn within<T: Send + 'static>(
    ms_max: u64,
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let worker = Worker::hire().ok_or("too many engines are at work")?;
    let (done, wait) = mpsc::sync_channel(1);
    let job = move || {
        let result = work();
        drop(worker);
        drop(done.send(result));
    };
    let spawned = thread::Builder::new().name("engine".to_owned()).stack_size(STACK_BYTES).spawn(job);
    spawned.map_err(|fault| format!("no thread could be started: {fault}"))?;
    wait.recv_timeout(Duration::from_millis(ms_max)).map_err(|fault| match fault {
        mpsc::RecvTimeoutError::Timeout => format!("it took longer than {ms_max} ms"),
        mpsc::RecvTimeoutError::Disconnected => "the engine failed".to_owned(),
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_in_time_or_is_not_waited_for() {
        assert_eq!(within(5_000, || Ok(1)), Ok(1));
        assert_eq!(within::<()>(5_000, || Err("no".to_owned())), Err("no".to_owned()));
        let slow = within(10, || {
            thread::sleep(Duration::from_millis(500));
            Ok(())
        });
        assert_eq!(slow, Err("it took longer than 10 ms".to_owned()));
    }

    #[test]
    fn a_panic_is_a_fault() {
        assert_eq!(within::<()>(5_000, || panic!("on purpose")), Err("the engine failed".to_owned()));
    }
}
