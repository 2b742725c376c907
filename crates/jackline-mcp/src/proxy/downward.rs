//! From the server to the client: results of calls are recorded and bounded, lists are learned, the rest passes as it is.

use std::sync::{Arc, PoisonError};

use jackline_runtime::lines::{LINE_BYTES_MAX, is_blank};
use serde_json::{Value, json};

use super::batch::Batch;
use super::judge::{Called, Failed};
use super::listing::Asker;
use super::pending::{Waiting, What};
use super::roots::ROOTS;
use super::server::Sent;
use super::{Proxy, spawn};
use crate::deep::Part;
use crate::message::{self, Id};
use crate::reply::{self, CONNECTION_CLOSED, REQUEST_TIMEOUT};
use crate::scan::{self, Outline};

/// Characters of a line that is no message, as a note shows them.
const SHOWN_CHARS_MAX: usize = 120;
/// What a server is called that does not say.
const NAMELESS: &str = "server";

impl Proxy {
    /// Takes one line of the server's.
    pub(super) fn server_said(&self, line: &[u8]) {
        let line = message::unmarked(line);
        if is_blank(line) {
            return;
        }
        match scan::elements(line) {
            Some(items) if items.iter().all(|item| scan::members(item).is_some()) => {
                items.into_iter().for_each(|item| self.server_said_one(item));
            }
            _ => self.server_said_one(line),
        }
    }

    fn server_said_one(&self, text: &[u8]) {
        match scan::outline(text) {
            Some(outline) => self.outlined(&outline, text),
            None if scan::has_answer(text) => self.unreadable(text),
            None => self.garbage(text),
        }
    }

    /// An answer that says a member twice, in whatever letters: each reader would take it for something else. Whoever waits
    /// for it is told, where that can be seen.
    fn unreadable(&self, text: &[u8]) {
        let why = "the server's answer cannot be read: it says a member twice, or in other letters";
        match scan::id_in(text).or_else(|| self.pending.only()).and_then(|id| self.taken(id)) {
            Some((waiting, id)) if matches!(waiting.what, What::Call(_)) => {
                self.give_up(&id, waiting, &format!("the call was made, and {why}"));
            }
            Some((waiting, id)) => self.give_up(&id, waiting, why),
            None => self.garbage(text),
        }
    }

    /// Takes a request that the server was sent.
    fn taken(&self, id: Id) -> Option<(Waiting, Id)> {
        Some((self.pending.take_if(&id, What::is_sent)?, id))
    }

    /// A line that was too long: whoever waits for it is told; everybody, if it cannot be seen who does.
    pub(super) fn server_said_too_much(&self, head: &[u8], tail: &[u8]) {
        let why = format!("the server sent a message longer than {} bytes", LINE_BYTES_MAX);
        self.note(&why);
        let seen = scan::id_in_edges(head, tail).and_then(|id| self.taken(id));
        match seen.or_else(|| self.pending.only().and_then(|id| self.taken(id))) {
            Some((waiting, id)) => self.give_up(&id, waiting, &why),
            None => self.pending.take_sent().into_iter().for_each(|(id, waiting)| self.give_up(&id, waiting, &why)),
        }
    }

    fn garbage(&self, line: &[u8]) {
        let shown: String =
            String::from_utf8_lossy(line).chars().take(SHOWN_CHARS_MAX).filter(|c| !c.is_control()).collect();
        self.note(&format!("the server printed a line that is no message: {shown}"));
    }

    fn outlined(&self, outline: &Outline<'_>, text: &[u8]) {
        if outline.method.is_some() && (outline.result.is_some() || outline.error.is_some()) {
            return self.ambiguous(outline, text);
        }
        if let Some(method) = &outline.method {
            if method == "notifications/tools/list_changed" {
                self.listings.changed();
            }
            if method == ROOTS {
                outline.id().into_iter().for_each(|id| self.roots.asked(id));
            }
            return self.client.say(text);
        }
        let Some(id) = outline.id() else { return self.client.say(text) };
        // Nobody waits any more: it was cancelled, or took too long, and that has been answered. Or it was not sent.
        let Some(waiting) = self.pending.take_if(&id, What::is_sent) else { return };
        let batch = waiting.batch;
        match waiting.what {
            What::Passed => self.relay(batch.as_ref(), text),
            What::Introduction => {
                if let Some(Ok(result)) = outline.result.map(Part::read) {
                    self.introduced(&result.value);
                }
                self.relay(batch.as_ref(), text);
            }
            What::List { first } => {
                match self.listed(first, outline) {
                    Ok(()) => self.relay(batch.as_ref(), text),
                    Err(why) => self.answer(batch.as_ref(), reply::error(Some(&id), CONNECTION_CLOSED, &why)),
                }
                self.lighten();
            }
            // It was not sent, so it is not taken for an answer.
            What::Held => {}
            What::Own(wanted) => drop(wanted.send(own_answer(outline))),
            What::Call(called) => {
                self.finished(&id, &called, outline, (text, batch.as_ref()));
                self.lighten();
            }
        }
    }

    /// A message that is both an answer and none: each reader would take it for something else.
    fn ambiguous(&self, outline: &Outline<'_>, text: &[u8]) {
        let why = "the server sent a message with both a method and an answer";
        match outline.id().and_then(|id| Some((self.pending.take_if(&id, What::is_clients)?, id))) {
            Some((waiting, id)) => self.fail_waiting(&id, waiting, CONNECTION_CLOSED, why),
            None => self.garbage(text),
        }
    }

    /// Learns what the server is called; one that does not say is called just that.
    pub(super) fn introduced(&self, result: &Value) {
        let named = ["/serverInfo/name", "/_meta/io.modelcontextprotocol~1serverInfo/name"];
        let name = named.iter().find_map(|place| result.pointer(place)?.as_str());
        self.judge.introduce(name.unwrap_or(NAMELESS));
        self.learn();
    }

    /// Takes a page of a list that the client asked for; one that we cannot read is not for the client either.
    fn listed(&self, first: bool, outline: &Outline<'_>) -> Result<(), String> {
        if self.judge.is_idle() {
            return Ok(());
        }
        let Some(result) = outline.result else { return Ok(()) };
        let taken = message::read_leniently(result)
            .inspect_err(|why| self.listings.unreadable(why))
            .and_then(|result| self.listings.page(Asker::Client, first, &result));
        self.learn();
        let told = taken.map_err(|why| format!("the server's list of tools cannot be read: {why}"));
        told.inspect_err(|why| self.note(why)).map(drop)
    }

    /// Calls are judged from now on by what is known of the server's tools, once it is known what it is called.
    pub(super) fn learn(&self) {
        let _learning = self.learning.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(server) = self.judge.name() else { return };
        if let Some((catalogue, listing)) = self.listings.news(&server) {
            self.judge.listed(catalogue, listing).iter().for_each(|notice| self.note(notice));
        }
    }

    /// A judged call is over: its end is on record before the client hears of it.
    fn finished(&self, id: &Id, called: &Called, outline: &Outline<'_>, (text, batch): (&[u8], Option<&Arc<Batch>>)) {
        let read = |part| Option::map(part, Part::read).transpose();
        let failed = |why: &str| {
            self.judge.finished(called, false, &json!({ "error": why }));
            self.answer(batch, reply::error(Some(id), CONNECTION_CLOSED, why));
        };
        let unread = |why: &str| failed(&format!("the call was made, and the server's answer cannot be read: {why}"));
        match (read(outline.result), read(outline.error)) {
            (Ok(Some(_)), Ok(Some(_))) => unread("it is both a result and an error"),
            (Ok(None), Ok(None)) => unread("it is neither a result nor an error"),
            (Ok(Some(result)), Ok(None)) if called.may_go_on(&result.value) => {
                match self.judge.wants_input(called, &result.value) {
                    Ok(()) => self.relay(batch, text),
                    Err(why) => failed(&why),
                }
            }
            (Ok(Some(result)), Ok(None)) => {
                let ok = result.value.get("isError") != Some(&Value::Bool(true));
                match self.judge.finished(called, ok, &result.value) {
                    Some(shown) => self.answer(batch, reply::result(id, &result.shown(&shown))),
                    None => self.relay(batch, text),
                }
            }
            (Ok(None), Ok(Some(error))) => match self.judge.failed(called, &error.value) {
                Some(Failed::Error(shown)) => self.answer(batch, reply::failure(id, &error.shown(&shown))),
                Some(Failed::Withheld(result)) => self.answer(batch, reply::result(id, &result)),
                None => self.relay(batch, text),
            },
            (Err(why), _) | (_, Err(why)) => unread(&why),
        }
    }

    /// The client no longer waits for a request: its answer, if one comes, is dropped.
    pub(super) fn cancelled(&self, id: &Id, reason: &str) {
        let Some(waiting) = self.pending.take(id) else { return };
        self.server.leave(id);
        if let What::Call(called) = &waiting.what {
            self.judge.finished(called, false, &json!({ "cancelled": reason }));
        }
        if let Some(whole) = waiting.batch.and_then(|batch| batch.add(None)) {
            self.client.say(whole.as_bytes());
        }
    }

    /// A request took too long: the client is answered, and the server told that nobody waits.
    pub(super) fn late(&self, id: &Id, waiting: Waiting) {
        // Nobody may take a greeting back, and what was not sent need not be.
        let told = waiting.what.is_clients() && !matches!(waiting.what, What::Introduction);
        let why = match waiting.what {
            What::Own(_) => "the server did not answer in time".to_owned(),
            _ => format!("the server did not answer within {} s", self.timeout.as_secs_f64()),
        };
        self.server.leave(id);
        let text = reply::cancelled(id, "timed out");
        let cancelled = Sent { text: text.as_bytes(), method: Some("notifications/cancelled"), ..Sent::default() };
        // Before the client is told: what it says next comes behind.
        if told && let Err(why) = self.server.send(&cancelled) {
            self.note(&why);
        }
        self.fail_waiting(id, waiting, REQUEST_TIMEOUT, &why);
    }

    /// Answers a request that nobody else will answer.
    pub(super) fn fail(&self, id: &Id, code: i64, why: &str) {
        if let Some(waiting) = self.pending.take(id) {
            self.fail_waiting(id, waiting, code, why);
        }
    }

    /// Answers a request whose answer has come, and is none.
    fn give_up(&self, id: &Id, waiting: Waiting, why: &str) {
        self.server.leave(id);
        self.fail_waiting(id, waiting, CONNECTION_CLOSED, why);
    }

    /// Answers all that wait when the server is gone. All of it is on record before anything is said, and it is said by a
    /// thread of its own: a client that does not read must not keep us.
    pub(super) fn fail_all(self: &Arc<Self>, waiting: Vec<(Id, Waiting)>, why: &str) {
        waiting.iter().for_each(|(_, waiting)| self.failed(&waiting.what, why));
        let (proxy, why) = (Arc::clone(self), why.to_owned());
        let said = spawn("last", move || {
            waiting.into_iter().for_each(|(id, waiting)| proxy.say_failed(&id, &waiting, CONNECTION_CLOSED, &why));
        });
        said.unwrap_or_else(|why| self.note(&why));
    }

    fn fail_waiting(&self, id: &Id, waiting: Waiting, code: i64, why: &str) {
        self.failed(&waiting.what, why);
        self.say_failed(id, &waiting, code, why);
    }

    /// Keeps that a request failed.
    fn failed(&self, what: &What, why: &str) {
        match what {
            What::Own(wanted) => drop(wanted.send(Err(why.to_owned()))),
            What::Call(called) => drop(self.judge.finished(called, false, &json!({ "error": why }))),
            What::Passed | What::Introduction | What::List { .. } | What::Held => {}
        }
    }

    fn say_failed(&self, id: &Id, waiting: &Waiting, code: i64, why: &str) {
        if !matches!(waiting.what, What::Own(_)) {
            self.answer(waiting.batch.as_ref(), reply::error(Some(id), code, why));
        }
    }

    /// Passes an answer on as it is, alone or with those of its batch.
    fn relay(&self, batch: Option<&Arc<Batch>>, text: &[u8]) {
        match batch {
            None => self.client.say(text),
            Some(_) => self.answer(batch, String::from_utf8_lossy(text).into_owned()),
        }
    }

    /// Says an answer of ours, alone or with those of its batch.
    pub(super) fn answer(&self, batch: Option<&Arc<Batch>>, text: String) {
        match batch {
            None => self.client.say(text.as_bytes()),
            Some(batch) => batch.add(Some(text)).into_iter().for_each(|whole| self.client.say(whole.as_bytes())),
        }
    }
}

fn own_answer(outline: &Outline<'_>) -> Result<Value, String> {
    match (outline.result, outline.error) {
        (Some(result), _) => message::read_leniently(result),
        (None, Some(error)) => Err(String::from_utf8_lossy(error).chars().take(SHOWN_CHARS_MAX).collect()),
        (None, None) => Err("the answer is empty".to_owned()),
    }
}
