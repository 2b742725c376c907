//! Does many things, some at once, and gives what came of them in their own order.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Builder, Scope};

/// What came of each item, at most `width` of them at work at once.
pub(super) fn each<T: Sync, R: Send>(items: &[T], width: usize, work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    each_on(&Builder::new, items, width, work)
}

/// The same, on threads that are built so.
fn each_on<T: Sync, R: Send>(
    builder: &dyn Fn() -> Builder,
    items: &[T],
    width: usize,
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let one = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(at, item)));
        }
    };
    let mut done = thread::scope(|scope| {
        // Where no more threads can be had, those that are there do it all.
        let spawned = (1..width.min(items.len())).map_while(|_| builder().spawn_scoped(scope, one).ok());
        let others: Vec<_> = spawned.collect();
        let mut done = one();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does something on a thread of its own; where no more threads can be had, right here.
pub(super) fn start<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    start_on(Builder::new(), scope, work);
}

fn start_on<'scope>(builder: Builder, scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let theirs = Arc::clone(&work);
    let spawned = builder.spawn_scoped(scope, move || {
        if let Some(work) = take(&theirs) {
            work();
        }
    });
    if let Some(work) = spawned.err().and_then(|_| take(&work)) {
        work();
    }
}

/// Places for agents at work: no more of them than there are places.
#[derive(Debug)]
pub(super) struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken; free again when it is dropped.
#[must_use]
pub(super) struct Taken<'a>(&'a Places);

impl Places {
    pub(super) const fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a place.
    pub(super) fn take(&self) -> Taken<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Taken(self)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_no_more_are_at_work_than_may() {
        let items: Vec<usize> = (0..50).collect();
        let places = Places::new(3);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results = each(&items, 8, |at, item| {
            let _taken = places.take();
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_micros(200));
            now.fetch_sub(1, Ordering::SeqCst);
            at + item
        });
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert!(each(&[] as &[u8], 4, |_, _| ()).is_empty());
    }

    /// A stack of more bytes than there are addresses: no thread can have it.
    fn impossible() -> Builder {
        Builder::new().stack_size(1 << 47)
    }

    #[test]
    fn where_no_thread_can_be_had_all_is_done_here() {
        assert!(impossible().spawn(|| ()).is_err());
        let items: Vec<usize> = (0..20).collect();
        let here = thread::current().id();
        let done = each_on(&impossible, &items, 8, |at, item| (at + item, thread::current().id() == here));
        assert_eq!(done, items.iter().map(|item| (item * 2, true)).collect::<Vec<_>>());
        // Some can be had, and then none.
        let left = AtomicUsize::new(2);
        let few = || if left.fetch_sub(1, Ordering::Relaxed) > 0 { Builder::new() } else { impossible() };
        assert_eq!(each_on(&few, &items, 8, |at, _| at), items);
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            let count = || {
                done.fetch_add(1, Ordering::Relaxed);
            };
            start_on(impossible(), scope, count);
            assert_eq!(done.load(Ordering::Relaxed), 1);
            start(scope, count);
        });
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }
}
