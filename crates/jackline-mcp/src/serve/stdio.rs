//! Messages as lines over standard input and output: read strictly and bounded, answered one line at a time.
//!
//! What is no message gets an error and the connection goes on. A client that says nothing more still gets its answers.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jackline_runtime::lines::{self, LINE_BYTES_MAX, Line, is_blank};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::message::{self, Id, Message};
use crate::reply::{self, INVALID_REQUEST, PARSE_ERROR};
use crate::scan;

/// Milliseconds that a client which says nothing more may still wait for answers.
const LINGER_MS_MAX: u64 = 60_000;
/// Milliseconds between two looks whether it still does.
const LINGER_LOOK_MS: u64 = 20;
/// Milliseconds for such a client to take a message: it says nothing, and who does not read either is gone.
const LINGER_TAKE_MS_MAX: u64 = 5_000;
/// Requests without an answer; further ones are not taken while there are as many, since each holds its arguments.
const PENDING_MAX: usize = 64;
/// Messages in one batch; clients that send any send a handful.
const BATCH_MAX: usize = 256;
/// Messages that were read and not yet taken; the client waits while there are more.
pub(super) const UNTAKEN_MAX: usize = 16;

/// Something for the server.
#[derive(Debug)]
pub(super) enum Heard {
    Message(Box<ClientJsonRpcMessage>, Option<Id>),
    /// Nobody waits for anything any more.
    End,
}

/// Where the client listens, and which of its requests are unanswered.
#[derive(Clone)]
pub(super) struct Outlet {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    pending: Arc<Mutex<BTreeSet<String>>>,
    /// When the client was begun to be told something, while it has not taken it.
    telling: Arc<Mutex<Option<Instant>>>,
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outlet {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output: Arc::new(Mutex::new(output)), pending: Arc::default(), telling: Arc::default() }
    }

    fn say(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut output = lock(&self.output);
        *lock(&self.telling) = Some(Instant::now());
        let said = output.write_all(&line).and_then(|()| output.flush());
        *lock(&self.telling) = None;
        said
    }

    /// Whether the client has not taken for so long what it is told.
    fn is_stuck(&self, at_least: Duration) -> bool {
        lock(&self.telling).is_some_and(|since| since.elapsed() >= at_least)
    }

    fn complain(&self, id: Option<&Id>, code: i64, why: &str) {
        // A client that is gone is noticed when its input ends.
        drop(self.say(reply::error(id, code, why).into_bytes()));
    }
}

/// Reads the client until it says nothing more; `taken` is how messages go on.
pub(super) fn read(input: Box<dyn Read + Send>, outlet: &Outlet, taken: &mpsc::Sender<Heard>) {
    let (mut input, mut line) = (BufReader::new(input), Vec::new());
    while let Ok(Some(read)) = lines::next(&mut input, &mut line) {
        let all = match read {
            Line::Whole if is_blank(&line) => continue,
            Line::Whole => heard(&line),
            Line::TooLong { head, tail, .. } => {
                let why = format!("the message is longer than {LINE_BYTES_MAX} bytes");
                vec![Err((scan::id_in_edges(&head, &tail), INVALID_REQUEST, why))]
            }
        };
        for heard in all {
            match heard {
                Ok(heard) => {
                    if taken.blocking_send(heard).is_err() {
                        return;
                    }
                }
                Err((id, code, why)) => outlet.complain(id.as_ref(), code, &why),
            }
        }
    }
}

/// The error that someone gets who said what is no message.
type Complaint = (Option<Id>, i64, String);

/// A line as messages; or the errors that it gets. Clients of 2025-03-26 may say several in one.
fn heard(line: &[u8]) -> Vec<Result<Heard, Complaint>> {
    let line = message::unmarked(line);
    match scan::elements(line) {
        Some(items) if (1..=BATCH_MAX).contains(&items.len()) => items.into_iter().map(understood).collect(),
        Some(_) => vec![Err((None, INVALID_REQUEST, format!("a batch holds between 1 and {BATCH_MAX} messages")))],
        None => vec![understood(line)],
    }
}

/// A text as a message; or the error that it gets.
pub(super) fn understood(text: &[u8]) -> Result<Heard, Complaint> {
    let value =
        message::read(text).map_err(|why| (scan::id_in(text), PARSE_ERROR, format!("no JSON message: {why}")))?;
    if !value.is_object() {
        return Err((None, INVALID_REQUEST, "the message is no JSON object".to_owned()));
    }
    let id = value.get("id").and_then(Id::of);
    let invalid = |why: &str| (id.clone(), INVALID_REQUEST, why.to_owned());
    if value.get("jsonrpc") != Some(&Value::from("2.0")) {
        return Err(invalid("`jsonrpc` is not `2.0`"));
    }
    Message::of(&value).map_err(|(id, why)| (id, INVALID_REQUEST, why.to_owned()))?;
    let parsed = serde_json::from_value(value).map_err(|_| invalid("the message has a form that is not known"))?;
    Ok(Heard::Message(Box::new(parsed), id))
}

/// Whether a request settles which version is spoken: a greeting does, or whatever else names one that is known. Whether
/// anybody is there, and what is spoken, can be asked before.
fn settles(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let whole = meta.missing_required_keys(&ProtocolVersion::LATEST).is_empty();
            whole && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

/// The way between the SDK and the streams.
pub(super) struct Lines {
    heard: mpsc::Receiver<Heard>,
    outlet: Outlet,
    /// A request has settled how is spoken; what but a request comes before it is nobody's, and the SDK would end at it.
    begun: bool,
    /// Until when answers are waited for, once the client says nothing more.
    until: Option<Instant>,
    /// Whether anybody can still read them.
    is_heard: fn() -> bool,
}

impl Lines {
    pub(super) const fn new(heard: mpsc::Receiver<Heard>, outlet: Outlet, is_heard: fn() -> bool) -> Self {
        Self { heard, outlet, begun: false, until: None, is_heard }
    }

    /// Whether a message goes on to the SDK.
    fn take(&mut self, message: &ClientJsonRpcMessage, id: Option<&Id>) -> bool {
        match (message, id) {
            (JsonRpcMessage::Request(request), Some(id)) => {
                self.begun |= settles(&request.request);
                let fresh = lock(&self.outlet.pending).insert(id.as_json().to_owned());
                if !fresh {
                    // Two requests of one id: whose answer is whose could not be told.
                    self.outlet.complain(Some(id), INVALID_REQUEST, "a request with this id is in flight");
                }
                fresh
            }
            (JsonRpcMessage::Notification(notice), _) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notice.notification
                    && let Some(id) = cancelled.params.request_id.as_ref().and_then(|id| serde_json::to_string(id).ok())
                {
                    lock(&self.outlet.pending).remove(&id);
                }
                self.begun
            }
            _ => self.begun,
        }
    }

    /// Waits until every request has its answer, or long enough.
    async fn linger(&mut self) {
        let until = *self.until.get_or_insert_with(|| Instant::now() + Duration::from_millis(LINGER_MS_MAX));
        let patience = Duration::from_millis(LINGER_TAKE_MS_MAX);
        let waits = |outlet: &Outlet| !lock(&outlet.pending).is_empty() && !outlet.is_stuck(patience);
        while waits(&self.outlet) && (self.is_heard)() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(LINGER_LOOK_MS)).await;
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outlet = self.outlet.clone();
        let answered = match &item {
            JsonRpcMessage::Response(response) => serde_json::to_string(&response.id).ok(),
            JsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| serde_json::to_string(id).ok()),
            _ => None,
        };
        async move {
            let line = serde_json::to_vec(&item)?;
            let said = outlet.clone();
            let sent =
                spawn_blocking(move || said.say(line)).await.unwrap_or_else(|_| Err(io::Error::other("not sent")));
            if let Some(id) = answered {
                lock(&outlet.pending).remove(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while lock(&self.outlet.pending).len() >= PENDING_MAX {
                tokio::time::sleep(Duration::from_millis(LINGER_LOOK_MS)).await;
            }
            match self.heard.recv().await {
                Some(Heard::Message(message, id)) => {
                    if self.take(&message, id.as_ref()) {
                        return Some(*message);
                    }
                }
                Some(Heard::End) => return None,
                None => {
                    self.linger().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
