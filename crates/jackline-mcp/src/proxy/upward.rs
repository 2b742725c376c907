//! From the client to the server: every message is read, calls are judged, and everything else goes on as it is.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use jackline_runtime::lines::{LINE_BYTES_MAX, is_blank};
use serde_json::{Map, Value, json};

use super::Proxy;
use super::batch::{BATCH_MAX, Batch};
use super::judge::{Asked, Judged, PROTOCOL_VERSION};
use super::listing::{PAGE_MS_MAX, PAGES_MAX, next_cursor};
use super::pending::{Refused, Waiting, What};
use super::server::Sent;
use crate::message::{self, Id, Kind, Message};
use crate::reply::{self, CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use crate::scan;

type Belongs<'a> = Option<&'a Arc<Batch>>;

impl Proxy {
    /// Takes one line of the client's.
    pub(super) fn client_said(&self, line: &[u8]) {
        if is_blank(line) {
            return;
        }
        match message::read(line) {
            Err(why) => {
                // Whoever asked is told, where it can be seen who did.
                let id = scan::outline(line).and_then(|outline| outline.id());
                let why = format!("no JSON message: {why}");
                self.client.say(reply::error(id.as_ref(), PARSE_ERROR, &why).as_bytes());
            }
            Ok(Value::Array(items)) => self.batch(&items),
            Ok(message) => self.message(&message, line, None),
        }
    }

    /// A line that was too long to be read.
    pub(super) fn client_said_too_much(&self, head: &[u8], tail: &[u8]) {
        let why = format!("the message is longer than {} bytes", LINE_BYTES_MAX);
        let id = scan::id_in_edges(head, tail);
        self.client.say(reply::error(id.as_ref(), INVALID_REQUEST, &why).as_bytes());
    }

    fn batch(&self, items: &[Value]) {
        if items.is_empty() || items.len() > BATCH_MAX {
            let why = format!("a batch holds between 1 and {BATCH_MAX} messages");
            return self.client.say(reply::error(None, INVALID_REQUEST, &why).as_bytes());
        }
        let answered = |item: &&Value| {
            !matches!(Message::of(item), Ok(Message { kind: Kind::Notification { .. } | Kind::Answer, .. }))
        };
        let batch = Arc::new(Batch::of(items.iter().filter(answered).count()));
        for item in items {
            self.message(item, item.to_string().as_bytes(), Some(&batch));
        }
    }

    fn message(&self, value: &Value, text: &[u8], batch: Belongs<'_>) {
        let message = match Message::of(value) {
            Ok(message) => message,
            Err((id, why)) => return self.answer(batch, reply::error(id.as_ref(), INVALID_REQUEST, why)),
        };
        match &message.kind {
            Kind::Request { id, method } => self.request(&message, (id, method), text, batch),
            Kind::Notification { method } => self.notification(&message, method, text),
            Kind::Answer => self.send(&Sent { text, ..Sent::default() }),
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
        self.forward(Waiting { what, batch: batch.cloned(), deadline: None }, id, &Sent { text, ..Sent::of(message) });
    }

    /// Judges a call, and sends it on or answers it.
    fn call(&self, message: &Message<'_>, id: &Id, text: &[u8], batch: Belongs<'_>) {
        let deadline = Some(Instant::now() + self.timeout);
        let sent = Sent { text, ..Sent::of(message) };
        if self.judge.is_idle() {
            return self.forward(Waiting { what: What::Passed, batch: batch.cloned(), deadline }, id, &sent);
        }
        let asked = match Asked::of(message) {
            Ok(asked) => asked,
            Err(why) => return self.answer(batch, reply::error(Some(id), INVALID_PARAMS, why)),
        };
        if self.listings.is_wanted(asked.tool) {
            self.fetch_list(message);
        }
        let (judged, notices) = self.judge.requested(&asked);
        notices.iter().for_each(|notice| self.note(notice));
        match judged {
            Judged::Denied(result) => self.answer(batch, reply::result(id, &result)),
            Judged::Pass(called, edited) => {
                let edited = edited.map(|args| with_arguments(message, args));
                let waiting = Waiting { what: What::Call(called), batch: batch.cloned(), deadline };
                self.forward(waiting, id, &Sent { text: edited.as_deref().map_or(text, str::as_bytes), ..sent });
            }
        }
    }

    /// Sends a request on, once it is known who waits for its answer.
    fn forward(&self, waiting: Waiting, id: &Id, sent: &Sent<'_>) {
        let batch = waiting.batch.clone();
        let called = if let What::Call(called) = &waiting.what { Some(called.clone()) } else { None };
        let Err(refused) = self.pending.add(id, waiting) else { return self.send(sent) };
        let (code, why) = match refused {
            Refused::Doubled => (INVALID_REQUEST, "a request with this id is in flight".to_owned()),
            Refused::TooMany => (CONNECTION_CLOSED, "too many requests are in flight".to_owned()),
            Refused::Closed(why) => (CONNECTION_CLOSED, why),
        };
        if let Some(called) = called {
            self.judge.finished(&called, false, &json!({ "error": why }));
        }
        self.answer(batch.as_ref(), reply::error(Some(id), code, &why));
    }

    /// Sends a message on; a request that cannot be sent is answered.
    fn send(&self, sent: &Sent<'_>) {
        if let Err(why) = self.server.send(sent) {
            match &sent.id {
                Some(id) => self.fail(id, CONNECTION_CLOSED, &why),
                None => self.note(&why),
            }
        }
    }

    /// Asks for the list of tools, page by page, as the client would.
    fn fetch_list(&self, message: &Message<'_>) {
        let mut cursor = Value::Null;
        for page in 0..PAGES_MAX {
            let Some(result) = self.fetch_page(message, &cursor) else { return };
            if self.take_page(page == 0, &result) {
                return;
            }
            let Some(next) = next_cursor(&result) else { return };
            cursor = next.clone();
        }
    }

    fn fetch_page(&self, message: &Message<'_>, cursor: &Value) -> Option<Value> {
        let (done, wait) = sync_channel(1);
        let id = self.own_id();
        let deadline = Some(Instant::now() + Duration::from_millis(PAGE_MS_MAX));
        self.pending.add(&id, Waiting { what: What::Own(done), batch: None, deadline }).ok()?;
        let mut params = Map::new();
        params.extend(
            Some(cursor).filter(|cursor| !cursor.is_null()).map(|cursor| ("cursor".to_owned(), cursor.clone())),
        );
        params.extend(protocol(message).map(|meta| ("_meta".to_owned(), meta)));
        let text = reply::request(&id, "tools/list", &Value::Object(params));
        let version = message.meta(PROTOCOL_VERSION).and_then(Value::as_str);
        self.send(&Sent { text: text.as_bytes(), id: Some(id), method: Some("tools/list"), name: None, version });
        let answer = wait.recv().ok()?;
        answer.inspect_err(|why| self.note(&format!("the server's tools could not be listed: {why}"))).ok()
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

/// The same call with other arguments.
fn with_arguments(message: &Message<'_>, args: Value) -> String {
    let mut fields = message.fields.clone();
    if let Some(Value::Object(params)) = fields.get_mut("params") {
        params.insert("arguments".to_owned(), args);
    }
    Value::Object(fields).to_string()
}
