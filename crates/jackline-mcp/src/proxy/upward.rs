//! From the client to the server: every message is read, calls are judged, and everything else goes on as it is.

use std::sync::Arc;
use std::time::Instant;

use jackline_runtime::lines::{LINE_BYTES_MAX, is_blank};
use serde_json::{Value, json};

use super::batch::{BATCH_MAX, Batch};
use super::headers;
use super::held::Held;
use super::judge::{Asked, Judged, PROTOCOL_VERSION};
use super::pending::{Refused, Waiting, What};
use super::server::Sent;
use super::{End, Proxy};
use crate::message::{self, Id, Kind, Message};
use crate::reply::{self, CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use crate::scan;

type Belongs<'a> = Option<&'a Arc<Batch>>;

/// Requests that last by their nature: until a task is done, or as long as a client listens.
const LASTING: [&str; 2] = ["tasks/result", "subscriptions/listen"];

impl Proxy {
    /// Takes one line of the client's.
    pub(super) fn client_said(&self, line: &[u8]) {
        let line = message::unmarked(line);
        if is_blank(line) {
            return;
        }
        match message::read(line) {
            Err(why) if scan::is_answer(line) => self.unreadable_answer(scan::id_in(line), &why),
            Err(why) => {
                // Whoever asked is told, where it can be seen who did.
                let id = scan::id_in(line);
                let why = format!("no JSON message: {why}");
                self.client.say(reply::error(id.as_ref(), PARSE_ERROR, &why).as_bytes());
            }
            Ok(Value::Array(items)) => self.batch(&items, line),
            Ok(message) => self.message(&message, &message::on_one_line(line), None),
        }
    }

    /// A line that was too long to be read.
    pub(super) fn client_said_too_much(&self, head: &[u8], tail: &[u8]) {
        let why = format!("the message is longer than {} bytes", LINE_BYTES_MAX);
        let id = scan::id_in_edges(head, tail);
        if scan::begins_as_answer(message::unmarked(head)) {
            return self.unreadable_answer(id, &why);
        }
        self.client.say(reply::error(id.as_ref(), INVALID_REQUEST, &why).as_bytes());
    }

    /// An answer of the client's that cannot be read: the server waits for it. The client asked for nothing here, and may have
    /// asked for something else by the same id.
    fn unreadable_answer(&self, id: Option<Id>, why: &str) {
        let why = format!("the client's answer cannot be read: {why}");
        self.note(&why);
        if let Some(id) = id {
            let text = reply::error(Some(&id), INTERNAL_ERROR, &why);
            self.send(&Sent { text: text.as_bytes(), ..Sent::default() });
        }
    }

    fn batch(&self, items: &[Value], line: &[u8]) {
        // As they are written: what is read of a large number is not all of it.
        let texts = scan::elements(line).filter(|texts| texts.len() == items.len()).unwrap_or_default();
        if texts.is_empty() || items.len() > BATCH_MAX {
            let why = format!("a batch holds between 1 and {BATCH_MAX} messages");
            return self.client.say(reply::error(None, INVALID_REQUEST, &why).as_bytes());
        }
        let answered = |(item, text): &(&Value, &&[u8])| match Message::of(item) {
            Ok(message) => matches!(message.kind, Kind::Request { .. }),
            Err(_) => !scan::is_answer(text),
        };
        let batch = Arc::new(Batch::of(items.iter().zip(&texts).filter(answered).count()));
        for (item, text) in items.iter().zip(texts) {
            self.message(item, &message::on_one_line(text), Some(&batch));
        }
    }

    fn message(&self, value: &Value, text: &[u8], batch: Belongs<'_>) {
        let message = match Message::of(value) {
            Ok(message) => message,
            Err((id, why)) if scan::is_answer(text) => return self.unreadable_answer(id, why),
            Err((id, why)) => return self.answer(batch, reply::error(id.as_ref(), INVALID_REQUEST, why)),
        };
        match &message.kind {
            Kind::Request { id, method } => self.request(&message, (id, method), text, batch),
            Kind::Notification { method } => self.notification(&message, method, text),
            Kind::Answer => {
                self.roots.answered(message.fields.get("id").and_then(Id::of).as_ref(), message.fields.get("result"));
                self.send(&Sent { text, ..Sent::default() });
            }
        }
    }

    fn notification(&self, message: &Message<'_>, method: &str, text: &[u8]) {
        // A call that wants no answer is none: no server should make it, and none gets to see it.
        if method == "tools/call" {
            return self.note("the client sent a call without an id; it was not passed on");
        }
        if method == "notifications/cancelled"
            && let Some(id) = message.param("requestId").and_then(Id::of)
        {
            if self.pending.is_ours(&id) {
                return self.note("the client cancelled what it did not ask for; it was not passed on");
            }
            self.cancelled(&id, message.param("reason").and_then(Value::as_str).unwrap_or_default());
        }
        self.send(&Sent { text, method: Some(method), ..Sent::of(message) });
    }

    fn request(&self, message: &Message<'_>, (id, method): (&Id, &str), text: &[u8], batch: Belongs<'_>) {
        let what = match method {
            "tools/call" => return self.call(message, id, text, batch),
            "initialize" | "server/discover" => What::Introduction,
            "tools/list" => What::List { first: message.param("cursor").is_none_or(Value::is_null) },
            _ => What::Passed,
        };
        let deadline = (!LASTING.contains(&method)).then(|| Instant::now() + self.timeout);
        self.forward(Waiting::new(what, batch.cloned(), deadline), id, &Sent { text, ..Sent::of(message) });
    }

    /// Judges a call, at once or when it is known what it may be judged by.
    fn call(&self, message: &Message<'_>, id: &Id, text: &[u8], batch: Belongs<'_>) {
        let deadline = Instant::now() + self.timeout;
        if self.judge.is_idle() {
            let waiting = Waiting::new(What::Passed, batch.cloned(), Some(deadline));
            return self.forward(waiting, id, &Sent { text, ..Sent::of(message) });
        }
        let asked = match Asked::of(message) {
            Ok(asked) => asked,
            Err(why) => return self.answer(batch, reply::error(Some(id), INVALID_PARAMS, why)),
        };
        let wants_list = self.listings.is_wanted(asked.tool);
        if !wants_list && self.judge.is_named() && !self.held.is_busy() {
            return self.judge_now(message, &asked, id, (text, batch, deadline));
        }
        let waiting = Waiting::new(What::Held, batch.cloned(), Some(deadline));
        if let Err(refused) = self.pending.add(id, waiting) {
            return self.refuse(batch, id, &refused);
        }
        let value = Value::Object(message.fields.clone());
        let (id, text) = (id.clone(), text.to_vec());
        self.held.push(Held { id, value, text, deadline, wants_list });
    }

    /// Judges a call by what is known of the server's tools.
    pub(super) fn judged(&self, asked: &Asked<'_>) -> Judged {
        self.learn();
        let (judged, notices) = self.judge.requested(asked, self.listings.lacks(asked.tool));
        notices.iter().for_each(|notice| self.note(notice));
        judged
    }

    /// Judges a call that waits for nothing, and sends it on or answers it.
    fn judge_now(
        &self,
        message: &Message<'_>,
        asked: &Asked<'_>,
        id: &Id,
        (text, batch, deadline): (&[u8], Belongs<'_>, Instant),
    ) {
        match self.judged(asked) {
            Judged::Denied(result) => self.answer(batch, reply::result(id, &result)),
            Judged::Pass(called, edited) => {
                let params = self.params(message, asked, edited.as_ref());
                let edited = edited.map(|args| with_arguments(message, args));
                let waiting = Waiting::new(What::Call(called), batch.cloned(), Some(deadline));
                let text = edited.as_deref().map_or(text, str::as_bytes);
                self.forward(waiting, id, &Sent { text, params, ..Sent::of(message) });
            }
        }
    }

    /// The arguments of a call that stand in headers too, where the protocol knows such.
    pub(super) fn params(
        &self,
        message: &Message<'_>,
        asked: &Asked<'_>,
        edited: Option<&Value>,
    ) -> Vec<(String, String)> {
        let schema = message.meta(PROTOCOL_VERSION).and_then(|_| self.listings.schema(asked.tool));
        schema.map(|schema| headers::params(&schema, edited.unwrap_or(&asked.args))).unwrap_or_default()
    }

    /// Sends a request on, once it is known who waits for its answer.
    fn forward(&self, waiting: Waiting, id: &Id, sent: &Sent<'_>) {
        let batch = waiting.batch.clone();
        let called = if let What::Call(called) = &waiting.what { Some(called.clone()) } else { None };
        let Err(refused) = self.pending.add(id, waiting) else { return self.send(sent) };
        if let Some(called) = called {
            self.judge.finished(&called, false, &json!({ "error": refused.told() }));
        }
        self.refuse(batch.as_ref(), id, &refused);
    }

    /// Answers a request that cannot wait for anything.
    fn refuse(&self, batch: Belongs<'_>, id: &Id, refused: &Refused) {
        let code = if *refused == Refused::Doubled { INVALID_REQUEST } else { CONNECTION_CLOSED };
        self.answer(batch, reply::error(Some(id), code, &refused.told()));
    }

    /// Sends a message on; a request that cannot be sent is answered.
    pub(super) fn send(&self, sent: &Sent<'_>) {
        if let Err(why) = self.server.send(sent) {
            match &sent.id {
                Some(id) => self.fail(id, CONNECTION_CLOSED, &why),
                None => self.note(&why),
            }
            if self.server.is_lost() {
                // Nobody can talk to it any more, so nobody should wait for it.
                self.client.end(End::ServerClosed);
            }
        }
    }
}

/// The same call with other arguments.
pub(super) fn with_arguments(message: &Message<'_>, args: Value) -> String {
    let mut fields = message.fields.clone();
    if let Some(Value::Object(params)) = fields.get_mut("params") {
        params.insert("arguments".to_owned(), args);
    }
    Value::Object(fields).to_string()
}
