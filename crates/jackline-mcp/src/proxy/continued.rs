//! Calls whose server wants to know something before it goes on with them, until the client comes back with it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jackline_core::json::canonical;
use jackline_core::sha::Digest;
use serde_json::{Value, json};

use super::judge::Called;

/// Calls that wait for a client's input; for one more, the oldest is given up.
const CONTINUED_MAX: usize = 64;
/// Times that a server may ask within one call. No person is asked so often, and a call that is counted once must not go on
/// without end.
pub(super) const ROUNDS_MAX: u32 = 16;
/// Bytes of what a server asks that are kept until the client comes back; forms have some hundreds.
const ASKED_BYTES_MAX: usize = 64 * 1024;

/// A call that waits, and what its server asked.
#[derive(Debug, PartialEq)]
pub(super) struct Paused {
    pub(super) called: Called,
    pub(super) asked: Value,
}

/// All of them, by what a request to go on must repeat.
#[derive(Debug, Default)]
pub(super) struct Continuations(Mutex<VecDeque<(Digest, Paused)>>);

impl Continuations {
    fn all(&self) -> MutexGuard<'_, VecDeque<(Digest, Paused)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server asks; gives the call that is given up for this one.
    pub(super) fn add(&self, called: &Called, result: &Value) -> Option<Paused> {
        let state = result.get("requestState").unwrap_or(&Value::Null);
        let key = key(&called.call.tool, &called.call.args, state);
        let asked = result.get("inputRequests").map(kept).unwrap_or_default();
        let mut all = self.all();
        let given_up = if all.len() >= CONTINUED_MAX { all.pop_front() } else { None };
        all.push_back((key, Paused { called: called.clone(), asked }));
        given_up.map(|(_, paused)| paused)
    }

    /// Takes the call that a client goes on with.
    pub(super) fn take(&self, tool: &str, args: &Value, state: &Value) -> Option<Paused> {
        let key = key(tool, args, state);
        let mut all = self.all();
        let at = all.iter().position(|(known, _)| *known == key)?;
        all.remove(at).map(|(_, paused)| paused)
    }

    /// Takes all: nobody comes back any more.
    pub(super) fn close(&self) -> Vec<Paused> {
        std::mem::take(&mut *self.all()).into_iter().map(|(_, paused)| paused).collect()
    }
}

/// What a request must repeat to go on with a call.
fn key(tool: &str, args: &Value, state: &Value) -> Digest {
    Digest::of_parts([tool.as_bytes(), &canonical(args), &canonical(state)])
}

/// What is kept of what a server asks.
fn kept(asked: &Value) -> Value {
    let text = canonical(asked);
    if text.len() <= ASKED_BYTES_MAX {
        return asked.clone();
    }
    json!({ "bytes": text.len(), "sha256": Digest::of(&text).hex() })
}
