//! The order of what goes to a server by its address. Each message is posted by itself, on a connection of its own, so one
//! could overtake another: each waits until the one before it has arrived, as far as that can be told.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::remote::CONNECT_MS_MAX;

/// Milliseconds that others wait for one whose turn it is, unless it says otherwise; then they go all the same. It may have to
/// connect first, and who goes before it is connected overtakes it.
const TURN_MS_MAX: u64 = CONNECT_MS_MAX + 2_000;
/// Milliseconds for a request to arrive, once it is written. Most servers say at once that they have it; one that answers
/// with a plain body says nothing until it is done, and nobody may wait for that: it may wait for one of them.
const ARRIVAL_MS_MAX: u64 = 50;

#[derive(Debug, Default)]
struct State {
    /// How many places were taken.
    taken: u64,
    /// The place whose turn it is; the next one to be taken where nobody is in line.
    turn: u64,
    /// Places behind it that were left.
    left: BTreeSet<u64>,
    /// Until when others wait for it; for as long as it takes where there is none.
    until: Option<Instant>,
}

impl State {
    /// The next one has its turn.
    fn advance(&mut self) {
        self.turn += 1;
        while self.left.remove(&self.turn) {
            self.turn += 1;
        }
        self.until = Some(after(TURN_MS_MAX));
    }
}

/// The line.
#[derive(Debug, Default)]
pub(super) struct Order {
    state: Mutex<State>,
    changed: Condvar,
}

/// A place in the line, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    order: Arc<Order>,
    number: u64,
}

fn after(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}

impl Order {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place behind all that were taken before.
    pub(super) fn take(self: &Arc<Self>) -> Place {
        let mut state = self.state();
        let number = state.taken;
        state.taken += 1;
        if state.turn == number {
            state.until = Some(after(TURN_MS_MAX));
        }
        Place { order: Arc::clone(self), number }
    }
}

impl Place {
    /// Waits for its turn.
    pub(super) fn wait(&self) {
        let mut state = self.order.state();
        while state.turn < self.number {
            let left = state.until.map(|until| until.saturating_duration_since(Instant::now()));
            state = match left {
                Some(Duration::ZERO) => {
                    state.advance();
                    self.order.changed.notify_all();
                    state
                }
                Some(left) => self.order.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.order.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Says until when others wait, if it is its turn.
    fn hold(&self, until: Option<Instant>) {
        let mut state = self.order.state();
        if state.turn == self.number {
            state.until = until;
            self.order.changed.notify_all();
        }
    }

    /// Nobody goes before it is over: what follows makes no sense without it.
    pub(super) fn keep(&self) {
        self.hold(None);
    }

    /// It is heard, or being written; what is left of it takes a moment.
    pub(super) fn heard(&self) {
        self.hold(Some(after(TURN_MS_MAX)));
    }

    /// It is written.
    fn written(&self) {
        self.hold(Some(after(ARRIVAL_MS_MAX)));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.order.state();
        if state.turn == self.number {
            state.advance();
            self.order.changed.notify_all();
        } else if state.turn < self.number {
            state.left.insert(self.number);
        }
    }
}

/// A message that is being written.
pub(super) struct Written<'a> {
    pub(super) text: &'a [u8],
    /// Whose turn is nearly over once it is.
    pub(super) place: Option<&'a Place>,
}

impl Read for Written<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let read = self.text.read(room)?;
        if self.text.is_empty() {
            self.place.take().into_iter().for_each(Place::written);
        }
        // A long one may take a while, and nobody goes while it does.
        self.place.into_iter().for_each(Place::heard);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;

    /// Who goes, in order, while the first place does something.
    fn gone(places: Vec<Place>) -> std::sync::mpsc::Receiver<u64> {
        let (sender, receiver) = channel();
        for place in places {
            let sender = sender.clone();
            thread::spawn(move || {
                place.wait();
                sender.send(place.number).unwrap();
            });
        }
        receiver
    }

    const SOON: Duration = Duration::from_millis(20);

    #[test]
    fn each_goes_when_the_one_before_it_is_over() {
        let order = Arc::new(Order::default());
        let first = order.take();
        first.wait();
        let mut others: Vec<Place> = (0..8).map(|_| order.take()).collect();
        others.reverse();
        let gone = gone(others);
        assert!(gone.recv_timeout(SOON).is_err(), "nobody overtakes");
        drop(first);
        assert_eq!(gone.iter().collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        order.take().wait();
    }

    #[test]
    fn who_leaves_holds_nobody_up() {
        let order = Arc::new(Order::default());
        let (first, second, third) = (order.take(), order.take(), order.take());
        drop(second);
        drop(first);
        third.wait();
        assert!(order.state().left.is_empty());
    }

    #[test]
    fn what_is_being_written_is_waited_for() {
        let order = Arc::new(Order::default());
        let (first, _second) = (order.take(), order.take());
        first.hold(Some(after(0)));
        let mut written = Written { text: b"long", place: Some(&first) };
        assert_eq!(written.read(&mut [0; 2]).unwrap(), 2);
        let left = |order: &Order| order.state().until.unwrap().saturating_duration_since(Instant::now());
        assert!(left(&order) > Duration::from_millis(CONNECT_MS_MAX), "longer than it may take to connect");
        assert_eq!(written.read(&mut [0; 2]).unwrap(), 2);
        assert!(left(&order) <= Duration::from_millis(ARRIVAL_MS_MAX));
    }

    #[test]
    fn what_is_written_is_waited_for_only_for_a_moment_unless_it_must_be_over() {
        let order = Arc::new(Order::default());
        let (first, second) = (order.take(), order.take());
        let mut text = Vec::new();
        Written { text: b"x", place: Some(&first) }.read_to_end(&mut text).unwrap();
        second.wait();
        assert_eq!(text, b"x");
        let third = order.take();
        second.keep();
        let gone = gone(vec![third]);
        assert!(gone.recv_timeout(Duration::from_millis(4 * ARRIVAL_MS_MAX)).is_err());
        drop(second);
        assert_eq!(gone.recv(), Ok(2));
    }
}
