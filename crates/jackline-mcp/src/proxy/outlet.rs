//! The way back to the client: whole lines, one after the other, whoever speaks.

use std::fmt;
use std::io::Write;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::End;
use crate::message::on_one_line;

/// Where the client listens.
pub(super) struct Outlet {
    output: Mutex<Box<dyn Write + Send>>,
    /// When the client was last begun to be told something, while it has not taken it.
    telling: Mutex<Option<Instant>>,
    end: Sender<End>,
}

impl fmt::Debug for Outlet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outlet").finish_non_exhaustive()
    }
}

impl Outlet {
    pub(super) fn new(output: Box<dyn Write + Send>, end: Sender<End>) -> Self {
        Self { output: Mutex::new(output), telling: Mutex::default(), end }
    }

    /// Ends the proxy for this reason.
    pub(super) fn end(&self, why: End) {
        drop(self.end.send(why));
    }

    /// Says one message. A client that is gone ends the proxy; until then what is said to it is lost.
    pub(super) fn say(&self, message: &[u8]) {
        let mut line = Vec::with_capacity(message.len() + 1);
        line.extend_from_slice(&on_one_line(message));
        line.push(b'\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        self.tells(Some(Instant::now()));
        let told = output.write_all(&line).and_then(|()| output.flush());
        self.tells(None);
        if told.is_err() {
            self.end(End::ClientGone);
        }
    }

    fn tells(&self, since: Option<Instant>) {
        *self.telling.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// Whether the client has not taken for so long what it is told.
    pub(super) fn is_stuck(&self, at_least: Duration) -> bool {
        let since = *self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() >= at_least)
    }
}
