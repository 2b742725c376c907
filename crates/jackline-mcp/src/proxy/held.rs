//! Calls that wait, in their order, until it is known what the server is called and what it offers.
//!
//! Finding that out may take a while, so it is done on a thread of its own: pings, cancellations and answers pass by.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Proxy;
use super::judge::{Asked, Judged, PROTOCOL_VERSION};
use super::listing::{Asker, LIST_MS_MAX, PAGES_MAX, next_cursor};
use super::pending::{Waiting, What};
use super::server::Sent;
use super::upward::with_arguments;
use crate::message::{Id, Message};
use crate::reply::{self, INVALID_REQUEST};
use std::sync::mpsc::sync_channel;

/// Times that a list is asked for anew because the server says that it changed meanwhile.
const LIST_TRIES_MAX: usize = 3;
/// Milliseconds between two looks whether the server has answered the client's greeting.
const GREETING_LOOK_MS: u64 = 5;

/// A call that waits.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: Id,
    pub(super) value: Value,
    pub(super) text: Vec<u8>,
    pub(super) deadline: Instant,
    /// The list is to be asked for before it.
    pub(super) wants_list: bool,
}

impl Held {
    /// By what it is told from others; an id may be used again.
    const fn call(&self) -> (&Id, Instant) {
        (&self.id, self.deadline)
    }
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Held>,
    /// One of them has its turn.
    busy: bool,
}

/// All of them. How many there are is bounded by the requests that may be in flight.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    more: Condvar,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any call waits: then others wait behind it.
    pub(super) fn is_busy(&self) -> bool {
        let state = self.state();
        state.busy || !state.waiting.is_empty()
    }

    pub(super) fn push(&self, held: Held) {
        self.state().waiting.push_back(held);
        self.more.notify_one();
    }

    /// Waits for the next one.
    fn next(&self) -> Held {
        let mut state = self.state();
        state.busy = false;
        loop {
            if let Some(held) = state.waiting.pop_front() {
                state.busy = true;
                return held;
            }
            state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Proxy {
    /// Lets calls go on, one after the other, once what they wait for is known or known to be unknown.
    pub(super) fn release(&self) -> ! {
        loop {
            let held = self.held.next();
            if let Ok(message) = Message::of(&held.value)
                && let Ok(asked) = Asked::of(&message)
            {
                self.get_to_know(&held, &message, &asked);
                // It may have been answered meanwhile: cancelled, too late, or the server is gone.
                if self.pending.holds(held.call()) {
                    self.released(&held, &message, &asked);
                }
            }
            self.catch_up();
        }
    }

    fn released(&self, held: &Held, message: &Message<'_>, asked: &Asked<'_>) {
        if !self.judge.is_named() {
            let why = "the server has not said its name: greet it with `initialize`, or name it with `--name`";
            return self.answer_held(held, reply::error(Some(&held.id), INVALID_REQUEST, why));
        }
        match self.judged(asked) {
            Judged::Denied(result) => self.answer_held(held, reply::result(&held.id, &result)),
            Judged::Pass(called, edited) => match self.pending.sent(held.call(), called) {
                Ok(()) => {
                    let params = self.params(message, asked, edited.as_ref());
                    let edited = edited.map(|args| with_arguments(message, args));
                    let text = edited.as_deref().map_or(held.text.as_slice(), str::as_bytes);
                    self.send(&Sent { text, params, ..Sent::of(message) });
                }
                // Whoever answered it did not know of the call.
                Err(called) => drop(self.judge.finished(&called, false, &json!({ "error": "nobody waits for it" }))),
            },
        }
    }

    /// Answers a call that is held, unless somebody has.
    fn answer_held(&self, held: &Held, text: String) {
        if let Some(waiting) = self.pending.take_held(held.call()) {
            self.answer(waiting.batch.as_ref(), text);
        }
    }

    fn get_to_know(&self, held: &Held, message: &Message<'_>, asked: &Asked<'_>) {
        let until = held.deadline.min(Instant::now() + Duration::from_millis(LIST_MS_MAX));
        if !self.judge.is_named() {
            self.learn_name(message, until);
        }
        if held.wants_list || self.listings.is_wanted(asked.tool) {
            self.fetch_list(message, until);
        }
        self.learn();
    }

    /// What the server is called: from its answer to the client's greeting, else to a question of ours.
    fn learn_name(&self, message: &Message<'_>, until: Instant) {
        while self.pending.awaits_introduction() && Instant::now() < until {
            thread::sleep(Duration::from_millis(GREETING_LOOK_MS));
        }
        if !self.judge.is_named()
            && let Ok(result) = self.ask("server/discover", (message, Map::new()), until)
        {
            self.introduced(&result);
        }
    }

    /// Asks for the list of tools, page by page, as the client would.
    fn fetch_list(&self, message: &Message<'_>, until: Instant) {
        let mut fetched = Ok(());
        for _ in 0..LIST_TRIES_MAX {
            let since = self.listings.changes();
            fetched = self.fetch_pages((message, since), until);
            // It said that they changed while they were listed.
            if fetched.is_ok() || self.listings.changes() == since {
                break;
            }
        }
        if let Err(why) = fetched {
            self.listings.missed(&why);
            self.note(&format!("the server's tools could not be listed: {why}"));
        }
    }

    fn fetch_pages(&self, (message, since): (&Message<'_>, u64), until: Instant) -> Result<(), String> {
        let mut params = Map::new();
        for page in 0..PAGES_MAX {
            let result = self.ask("tools/list", (message, params.clone()), until)?;
            if !self.listings.page(Asker::Us(since), page == 0, &result)? {
                return Ok(());
            }
            params.extend(next_cursor(&result)?.map(|cursor| ("cursor".to_owned(), cursor.clone())));
        }
        Err(format!("the list has more than {PAGES_MAX} pages"))
    }

    /// Asks the server something in our own name, in the protocol that a message of the client's speaks.
    fn ask(
        &self,
        method: &'static str,
        (message, mut params): (&Message<'_>, Map<String, Value>),
        until: Instant,
    ) -> Result<Value, String> {
        let (done, wait) = sync_channel(1);
        let id = self.own_id();
        let waiting = Waiting::new(What::Own(done), None, Some(until));
        self.pending.add(&id, waiting).map_err(|refused| refused.told())?;
        params.extend(protocol(message).map(|meta| ("_meta".to_owned(), meta)));
        let text = reply::request(&id, method, &Value::Object(params));
        let version = message.meta(PROTOCOL_VERSION).and_then(Value::as_str);
        self.send(&Sent { text: text.as_bytes(), id: Some(id), method: Some(method), version, ..Sent::default() });
        wait.recv().unwrap_or_else(|_| Err("nobody answers".to_owned()))
    }
}

/// What a request says about the protocol it speaks; a request of ours says the same.
fn protocol(message: &Message<'_>) -> Option<Value> {
    const OWN: &str = "io.modelcontextprotocol/";
    let meta = message.param("_meta")?.as_object()?;
    let said: Map<String, Value> =
        meta.iter().filter(|(key, _)| key.starts_with(OWN)).map(|(key, value)| (key.clone(), value.clone())).collect();
    (!said.is_empty()).then_some(Value::Object(said))
}
