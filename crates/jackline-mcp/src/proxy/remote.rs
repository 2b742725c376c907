//! A server that is reached by its address, over streamable HTTP: each message is posted, answers come as JSON or as a
//! stream, and one more stream brings what the server says by itself.

use std::io::{BufReader, Read as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body, BodyReader, RequestBuilder};

use super::server::{Ending, Sent, Server};
use super::sse::{Said, Stream};
use crate::message::{self, Id};
use crate::scan;
use jackline_runtime::lines::LINE_BYTES_MAX;

/// Milliseconds for a connection to be made.
const CONNECT_MS_MAX: u64 = 10_000;
/// Requests in flight: each has a thread of its own.
const REQUESTS_MAX: usize = 64;
/// Notices that wait to be posted; they are posted in order.
const NOTICES_MAX: usize = 256;
/// Lines that wait to be passed on; a server that is quicker waits.
const LINES_MAX: usize = 64;
/// Times in a row that a stream is taken up again without a word from the server.
const RESUMES_MAX: u32 = 5;
/// Milliseconds before a stream is taken up again, where the server says nothing of it.
const RESUME_MS: u64 = 1_000;
/// Milliseconds that a server may ask for before that.
const RESUME_MS_MAX: u64 = 60_000;
/// Bytes of a thread's stack: it only carries messages.
const STACK_BYTES: usize = 256 * 1024;

/// What comes from the server.
#[derive(Debug)]
pub(super) enum Heard {
    Line(Vec<u8>),
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
    /// A request got no answer, for this reason.
    Failed(Id, String),
}

/// The server, as far as it is known.
#[derive(Debug)]
struct Remote {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
    /// The session that the server gave us, and the protocol that was agreed on.
    agreed: Mutex<(Option<String>, Option<String>)>,
    heard: SyncSender<Heard>,
    requests: AtomicUsize,
    listening: AtomicBool,
}

/// The way to it.
#[derive(Debug)]
pub(super) struct Address {
    remote: Arc<Remote>,
    notices: SyncSender<Posted>,
}

/// A message that is to be posted.
#[derive(Debug)]
struct Posted {
    text: Vec<u8>,
    id: Option<Id>,
    method: Option<String>,
    name: Option<String>,
    version: Option<String>,
}

impl Posted {
    fn of(sent: &Sent<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            text: sent.text.to_vec(),
            id: sent.id.clone(),
            method: owned(sent.method),
            name: owned(sent.name),
            version: owned(sent.version),
        }
    }
}

impl Address {
    /// Gets ready to talk to a server; nothing is sent yet.
    pub(super) fn new(
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<(Self, std::sync::mpsc::Receiver<Heard>), String> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_millis(CONNECT_MS_MAX)));
        let (heard, hear) = sync_channel(LINES_MAX);
        let remote = Arc::new(Remote {
            agent: config.build().into(),
            url,
            headers,
            agreed: Mutex::default(),
            heard,
            requests: AtomicUsize::new(0),
            listening: AtomicBool::new(false),
        });
        let (notices, posted) = sync_channel::<Posted>(NOTICES_MAX);
        let carrier = Arc::clone(&remote);
        spawn("notices", move || posted.into_iter().for_each(|notice| carrier.notice(&notice)))?;
        Ok((Self { remote, notices }, hear))
    }
}

impl Server for Address {
    fn send(&self, message: &Sent<'_>) -> Result<(), String> {
        let posted = Posted::of(message);
        if posted.id.is_none() {
            return self.notices.try_send(posted).map_err(|fault| match fault {
                TrySendError::Full(_) => "the server does not take notices any more".to_owned(),
                TrySendError::Disconnected(_) => "the server is being left".to_owned(),
            });
        }
        let more = |requests| (requests < REQUESTS_MAX).then_some(requests + 1);
        let requests = &self.remote.requests;
        if requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err("too many requests are in flight".to_owned());
        }
        let remote = Arc::clone(&self.remote);
        let spawned = spawn("request", move || {
            remote.request(&posted);
            remote.requests.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            requests.fetch_sub(1, Ordering::Relaxed);
        }
        spawned
    }

    fn close(&self) {}

    fn signal(&self, _: Ending) {}

    /// Gives the session back; the server may keep it until it forgets it.
    fn end(&self, _: Duration) -> (String, Option<u8>) {
        let (session, version) = self.remote.agreed();
        if session.is_some() {
            let request = self.remote.agent.delete(&self.remote.url);
            let limit = request.config().timeout_global(Some(Duration::from_secs(2))).build();
            drop(self.remote.dress(limit, version.as_deref(), session.as_deref()).call());
        }
        (format!("the server at `{}` was left", self.remote.url), Some(0))
    }
}

impl Remote {
    fn agreed(&self) -> (Option<String>, Option<String>) {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts the headers on that every request has.
    fn dress<B>(
        &self,
        mut request: RequestBuilder<B>,
        version: Option<&str>,
        session: Option<&str>,
    ) -> RequestBuilder<B> {
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(version) = version {
            request = request.header("MCP-Protocol-Version", version);
        }
        if let Some(session) = session {
            request = request.header("Mcp-Session-Id", session);
        }
        request
    }

    fn post(&self, posted: &Posted) -> Result<Response<Body>, String> {
        let (session, agreed) = self.agreed();
        let version = posted.version.clone().or(agreed);
        let mut request = self.dress(self.agent.post(&self.url), version.as_deref(), session.as_deref());
        if posted.version.is_some() {
            // From 2026-07-28 on a request says in its headers what it is about.
            request = posted.method.iter().fold(request, |request, method| request.header("Mcp-Method", method));
            request = posted.name.iter().fold(request, |request, name| request.header("Mcp-Name", encoded(name)));
        }
        request =
            request.header("Content-Type", "application/json").header("Accept", "application/json, text/event-stream");
        request.send(posted.text.as_slice()).map_err(|fault| format!("the server cannot be reached: {fault}"))
    }

    /// Posts what wants no answer.
    fn notice(self: &Arc<Self>, posted: &Posted) {
        let accepted = self.post(posted).is_ok_and(|response| response.status().is_success());
        let initialized = posted.method.as_deref() == Some("notifications/initialized");
        if accepted && initialized && !self.listening.swap(true, Ordering::Relaxed) {
            let remote = Arc::clone(self);
            // Without it only what the server says by itself is missing.
            drop(spawn("listen", move || remote.listen()));
        }
    }

    /// Posts a request and passes on what comes back until its answer has come.
    fn request(&self, posted: &Posted) {
        let Some(id) = &posted.id else { return };
        let answered = self.post(posted).and_then(|response| self.answered(posted, id, response));
        if let Err(why) = answered {
            drop(self.heard.send(Heard::Failed(id.clone(), why)));
        }
    }

    fn answered(&self, posted: &Posted, id: &Id, response: Response<Body>) -> Result<(), String> {
        let (status, kind) = (response.status(), content_type(&response));
        if posted.method.as_deref() == Some("initialize") {
            let session = response.headers().get("mcp-session-id").and_then(|value| value.to_str().ok());
            self.agreed.lock().unwrap_or_else(PoisonError::into_inner).0 = session.map(str::to_owned);
        }
        if kind == "text/event-stream" && status.is_success() {
            return self.streamed(posted, id, response);
        }
        let body = body(response)?;
        let told = scan::outline(&body).filter(|outline| outline.method.is_none() && outline.id().as_ref() == Some(id));
        if told.is_none() {
            return Err(if status.is_success() { unlike(&body) } else { refused(status.as_u16()) });
        }
        self.learn(posted, &body);
        drop(self.heard.send(Heard::Line(body)));
        Ok(())
    }

    /// Reads a stream until the answer has come; one that ends before is taken up again where it ended.
    fn streamed(&self, posted: &Posted, id: &Id, response: Response<Body>) -> Result<(), String> {
        let mut stream = Stream::new(reader(response), None);
        for _ in 0..=RESUMES_MAX {
            loop {
                match stream.next() {
                    Ok(Some(Said::Message(message))) => {
                        let last = scan::outline(&message)
                            .is_some_and(|outline| outline.method.is_none() && outline.id().as_ref() == Some(id));
                        self.learn(posted, &message);
                        drop(self.heard.send(Heard::Line(message)));
                        if last {
                            return Ok(());
                        }
                    }
                    Ok(Some(Said::TooLong { head, tail })) => drop(self.heard.send(Heard::TooLong { head, tail })),
                    Ok(None) | Err(_) => break,
                }
            }
            let Some(last_id) = stream.last_id.clone() else { break };
            thread::sleep(pause(stream.retry_ms));
            let response = self.resume(Some(&last_id))?;
            stream = Stream::new(reader(response), Some(last_id));
        }
        Err("the server ended its stream without an answer".to_owned())
    }

    /// The protocol that was agreed on stands in the answer to the first request.
    fn learn(&self, posted: &Posted, message: &[u8]) {
        if posted.method.as_deref() != Some("initialize") {
            return;
        }
        let version = message::read(message)
            .ok()
            .and_then(|message| message.pointer("/result/protocolVersion").and_then(Value::as_str).map(str::to_owned));
        if let Some(version) = version {
            self.agreed.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(version);
        }
    }

    /// Listens to what the server says by itself; one that says nothing so answers with a refusal, and that is that.
    fn listen(&self) {
        let (mut last_id, mut silent) = (None, 0);
        while silent < RESUMES_MAX {
            silent += 1;
            let Ok(response) = self.resume(last_id.as_deref()) else { return };
            let mut stream = Stream::new(reader(response), last_id.take());
            while let Ok(Some(said)) = stream.next() {
                silent = 0;
                let heard = match said {
                    Said::Message(message) => Heard::Line(message),
                    Said::TooLong { head, tail } => Heard::TooLong { head, tail },
                };
                if self.heard.send(heard).is_err() {
                    return;
                }
            }
            last_id = stream.last_id;
            thread::sleep(pause(stream.retry_ms));
        }
    }

    fn resume(&self, last_id: Option<&str>) -> Result<Response<Body>, String> {
        let (session, version) = self.agreed();
        let mut request = self.dress(self.agent.get(&self.url), version.as_deref(), session.as_deref());
        request = last_id.into_iter().fold(request, |request, id| request.header("Last-Event-ID", id));
        let response = request.header("Accept", "text/event-stream").call();
        let response = response.map_err(|fault| format!("the server cannot be reached: {fault}"))?;
        let streams = response.status().is_success() && content_type(&response) == "text/event-stream";
        if streams { Ok(response) } else { Err(refused(response.status().as_u16())) }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work);
    thread.map(drop).map_err(|fault| format!("no thread could be started: {fault}"))
}

fn pause(asked: Option<u64>) -> Duration {
    Duration::from_millis(asked.unwrap_or(RESUME_MS).min(RESUME_MS_MAX))
}

fn reader(response: Response<Body>) -> BufReader<BodyReader<'static>> {
    BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader())
}

fn content_type(response: &Response<Body>) -> String {
    let header = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A whole answer, on one line: between the parts of a JSON text a line end is only space.
fn body(response: Response<Body>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = reader(response).take(LINE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|fault| format!("the server's answer broke off: {fault}"))?;
    if bytes.len() > LINE_BYTES_MAX {
        return Err(format!("the server sent a message longer than {LINE_BYTES_MAX} bytes"));
    }
    bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    Ok(bytes)
}

/// What came instead of an answer.
fn unlike(body: &[u8]) -> String {
    match scan::outline(body) {
        _ if body.trim_ascii().is_empty() => "the server's answer is empty".to_owned(),
        Some(_) => "the server's answer belongs to another request".to_owned(),
        None => "the server's answer is no message".to_owned(),
    }
}

fn refused(status: u16) -> String {
    match status {
        401 | 403 => format!("the server refused us with status {status}; give it a token with `--header`"),
        404 => "the server does not know this address, or has forgotten the session (status 404)".to_owned(),
        status => format!("the server answered with status {status}"),
    }
}

/// A name as a header holds it: one that is no plain text is left out of what a server can check.
fn encoded(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
}
