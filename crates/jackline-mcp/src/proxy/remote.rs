//! A server that is reached by its address, over streamable HTTP: each message is posted, answers come as JSON or as a
//! stream, and one more stream brings what the server says by itself.

use std::io::{BufReader, Read as _};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::Response;
use ureq::{Agent, Body, BodyReader, RequestBuilder, SendBody};

use super::connections::{Connection, Connections};
use super::headers::encoded;
use super::order::{Order, Place, Written};
use super::server::{Ending, Sent, Server};
use super::sse::{Said, Stream};
use crate::message::{self, Id};
use crate::scan;
use jackline_runtime::lines::LINE_BYTES_MAX;

/// Milliseconds for a connection to be made.
pub(super) const CONNECT_MS_MAX: u64 = 10_000;
/// Milliseconds for a notice to be taken; those behind it wait.
const NOTICE_MS_MAX: u64 = 30_000;
/// Notices that wait to be posted; they are posted in order.
const NOTICES_MAX: usize = 256;
/// Lines that wait to be passed on; a server that is quicker waits.
const LINES_MAX: usize = 64;
/// Times in a row that a stream is taken up again without a word from the server.
const RESUMES_MAX: u32 = 5;
/// Milliseconds before a stream is taken up again, where the server says nothing of it.
const RESUME_MS: u64 = 1_000;
/// Milliseconds before that in any case: a server that ends every stream at once must not keep us busy.
const RESUME_MS_MIN: u64 = 10;
/// Milliseconds that a server may ask for before that.
const RESUME_MS_MAX: u64 = 60_000;
/// Characters of an address that are shown.
const LOCATION_CHARS_MAX: usize = 200;
/// The header that names a session.
pub(super) const SESSION: &str = "Mcp-Session-Id";
/// What a client says once it has greeted a server.
pub(super) const INITIALIZED: &str = "notifications/initialized";
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
    /// Something that people should know.
    Note(String),
    /// It had forgotten the session, and was greeted anew: nothing that is known of it is sure.
    Anew,
}

/// The server, as far as it is known.
#[derive(Debug)]
pub(super) struct Remote {
    /// For what the server says by itself.
    agent: Agent,
    /// For notices.
    notifier: Agent,
    /// For requests.
    connections: Connections,
    /// Where it is; it may say that it is elsewhere.
    url: Mutex<String>,
    headers: Vec<(String, String)>,
    agreed: Mutex<Agreed>,
    /// How the client greeted it.
    pub(super) greeting: Mutex<Option<Posted>>,
    heard: SyncSender<Heard>,
    listening: AtomicBool,
    order: Arc<Order>,
}

/// The session that the server gave us, and the protocol that was agreed on.
pub(super) type Agreed = (Option<String>, Option<String>);

/// The way to it.
#[derive(Debug)]
pub(super) struct Address {
    remote: Arc<Remote>,
    /// Held while a place is taken for one, so that they wait here in the order of their places.
    notices: Mutex<SyncSender<(Posted, Place)>>,
}

/// How a message goes there.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) agent: &'a Agent,
    /// Its place among all that goes there.
    place: Option<&'a Place>,
}

impl<'a> Way<'a> {
    const fn of(agent: &'a Agent, place: &'a Place) -> Self {
        Self { agent, place: Some(place) }
    }

    /// The way of what is said before the one whose turn it is goes on.
    pub(super) const fn ahead(agent: &'a Agent) -> Self {
        Self { agent, place: None }
    }
}

/// A message that is to be posted.
#[derive(Debug, Clone, Default)]
pub(super) struct Posted {
    pub(super) text: Vec<u8>,
    pub(super) id: Option<Id>,
    pub(super) method: Option<String>,
    pub(super) name: Option<String>,
    pub(super) params: Vec<(String, String)>,
    pub(super) version: Option<String>,
}

impl Posted {
    fn of(sent: &Sent<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            text: sent.text.to_vec(),
            id: sent.id.clone(),
            method: owned(sent.method),
            name: owned(sent.name),
            params: sent.params.clone(),
            version: owned(sent.version),
        }
    }

    fn greets(&self) -> bool {
        self.method.as_deref() == Some("initialize")
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Address {
    /// Gets ready to talk to a server; nothing is sent yet.
    pub(super) fn new(
        url: String,
        headers: Vec<(String, String)>,
    ) -> Result<(Self, std::sync::mpsc::Receiver<Heard>), String> {
        let config = || {
            let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
            let config = config.timeout_connect(Some(Duration::from_millis(CONNECT_MS_MAX)));
            // What is not encrypted, and what is on this machine, goes straight: its headers are for nobody between.
            if goes_straight(&url) { config.proxy(None) } else { config }
        };
        let (heard, hear) = sync_channel(LINES_MAX);
        let remote = Arc::new(Remote {
            agent: config().build().into(),
            notifier: config().timeout_global(Some(Duration::from_millis(NOTICE_MS_MAX))).build().into(),
            connections: Connections::new(config().build()),
            url: Mutex::new(url),
            headers,
            agreed: Mutex::default(),
            greeting: Mutex::default(),
            heard,
            listening: AtomicBool::new(false),
            order: Arc::default(),
        });
        let (notices, posted) = sync_channel::<(Posted, Place)>(NOTICES_MAX);
        let carrier = Arc::clone(&remote);
        spawn("notices", move || {
            for (notice, place) in posted {
                place.wait();
                carrier.notice(&notice, &place);
            }
        })?;
        Ok((Self { remote, notices: Mutex::new(notices) }, hear))
    }
}

impl Server for Address {
    fn send(&self, message: &Sent<'_>) -> Result<(), String> {
        let posted = Posted::of(message);
        let Some(id) = message.id.clone() else {
            let told = |fault| match fault {
                TrySendError::Full(_) => "the server does not take notices any more".to_owned(),
                TrySendError::Disconnected(_) => "the server is being left".to_owned(),
            };
            let notices = lock(&self.notices);
            return notices.try_send((posted, self.remote.order.take())).map_err(told);
        };
        let connections = &self.remote.connections;
        let connection = connections.take(&id).ok_or("too many requests are in flight")?;
        let (remote, unused, of) = (Arc::clone(&self.remote), connection.clone(), id.clone());
        let place = remote.order.take();
        let spawned = spawn("request", move || {
            place.wait();
            remote.request(&posted, &id, (connection, place));
        });
        if spawned.is_err() {
            connections.give_back(&of, unused);
        }
        spawned
    }

    fn leave(&self, id: &Id) {
        self.remote.connections.cut(id);
    }

    fn close(&self) {}

    fn signal(&self, _: Ending) {}

    /// Gives the session back; the server may keep it until it forgets it.
    fn end(&self, _: Duration) -> (String, Option<u8>) {
        let ((session, version), url) = (self.remote.agreed(), self.remote.url());
        if session.is_some() {
            let request = self.remote.agent.delete(&url);
            let limit = request.config().timeout_global(Some(Duration::from_secs(2))).build();
            drop(self.remote.dress(limit, version.as_deref(), session.as_deref()).call());
        }
        (format!("the server at `{}` was left", origin(&url)), Some(0))
    }
}

impl Remote {
    pub(super) fn agreed(&self) -> Agreed {
        lock(&self.agreed).clone()
    }

    pub(super) fn agree(&self, agreed: Agreed) {
        *lock(&self.agreed) = agreed;
    }

    fn url(&self) -> String {
        lock(&self.url).clone()
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
            request = request.header(SESSION, session);
        }
        request
    }

    /// Posts a message; again where the server has forgotten the session in which it is said.
    fn post(self: &Arc<Self>, way: Way<'_>, posted: &Posted) -> Result<Response<Body>, String> {
        let agreed = self.agreed();
        let response = self.post_as(way, posted, &agreed)?;
        let forgotten = agreed.0.filter(|_| response.status().as_u16() == 404 && !posted.greets());
        match forgotten {
            Some(session) if self.greet_anew(way.agent, &session) => self.post_as(way, posted, &self.agreed()),
            _ => Ok(response),
        }
    }

    /// Posts a message by what was agreed on; again where the server says that it is elsewhere in the same place.
    pub(super) fn post_as(&self, way: Way<'_>, posted: &Posted, agreed: &Agreed) -> Result<Response<Body>, String> {
        let url = self.url();
        let response = self.post_to(way, &url, (posted, agreed))?;
        let Some(moved) = moved(&url, &response) else { return Ok(response) };
        let response = self.post_to(way, &moved, (posted, agreed))?;
        *lock(&self.url) = moved;
        Ok(response)
    }

    fn post_to(
        &self,
        way: Way<'_>,
        url: &str,
        (posted, (session, agreed)): (&Posted, &Agreed),
    ) -> Result<Response<Body>, String> {
        let version = posted.version.as_deref().or(agreed.as_deref());
        let mut request = self.dress(way.agent.post(url), version, session.as_deref());
        if posted.version.is_some() {
            // From 2026-07-28 on a request says in its headers what it is about.
            request = posted.method.iter().fold(request, |request, method| request.header("Mcp-Method", method));
            request = posted.name.iter().fold(request, |request, name| request.header("Mcp-Name", encoded(name)));
            request = posted.params.iter().fold(request, |request, (name, value)| request.header(name, value));
        }
        request =
            request.header("Content-Type", "application/json").header("Accept", "application/json, text/event-stream");
        request = request.header("Content-Length", posted.text.len());
        // A greeting keeps its turn until it is answered.
        let place = way.place.filter(|_| !posted.greets() && posted.id.is_some());
        let mut written = Written { text: &posted.text, place };
        let sent = request.send(SendBody::from_reader(&mut written));
        sent.map_err(|fault| unreached(&fault))
    }

    /// Posts what wants no answer.
    fn notice(self: &Arc<Self>, posted: &Posted, place: &Place) {
        let answered = self.post(Way::of(&self.notifier, place), posted).map(|response| {
            let refused = (!response.status().is_success()).then(|| refused(&response));
            refused.map_or(Ok(()), Err)
        });
        let accepted = answered.and_then(|taken| taken);
        if let Err(why) = &accepted {
            let what = posted.method.as_deref().unwrap_or("an answer");
            self.tell(Heard::Note(format!("`{what}` was not taken: {why}")));
        }
        if accepted.is_ok() && posted.method.as_deref() == Some(INITIALIZED) {
            self.begin_listening();
        }
    }

    pub(super) fn begin_listening(self: &Arc<Self>) {
        if !self.listening.swap(true, Ordering::Relaxed) {
            let remote = Arc::clone(self);
            // Without it only what the server says by itself is missing.
            drop(spawn("listen", move || {
                remote.listen();
                remote.listening.store(false, Ordering::Relaxed);
            }));
        }
    }

    /// Tells the proxy something that is no message.
    pub(super) fn tell(&self, heard: Heard) {
        drop(self.heard.send(heard));
    }

    /// Posts a request and passes on what comes back until its answer has come.
    fn request(self: &Arc<Self>, posted: &Posted, id: &Id, (connection, place): (Connection, Place)) {
        if posted.greets() {
            *lock(&self.greeting) = Some(posted.clone());
            // Whatever follows must name the session and the version that the answer does.
            place.keep();
        }
        let agent = &connection.agent;
        let response = self.post(Way::of(agent, &place), posted);
        place.heard();
        // The server has it, so the next may go.
        let _greeting = posted.greets().then_some(place);
        let answered = response.and_then(|response| self.answered(agent, (posted, id), response));
        let awaited = self.connections.give_back(id, connection);
        if let (Err(why), true) = (answered, awaited) {
            drop(self.heard.send(Heard::Failed(id.clone(), why)));
        }
    }

    fn answered(&self, agent: &Agent, (posted, id): (&Posted, &Id), response: Response<Body>) -> Result<(), String> {
        if posted.greets() {
            lock(&self.agreed).0 = header(&response, SESSION);
        }
        if is_stream(&response) {
            return self.streamed(agent, (posted, id), response);
        }
        let refused = (!response.status().is_success()).then(|| refused(&response));
        let body = body(response)?;
        if answers(&body).as_ref() != Some(id) {
            return Err(refused.unwrap_or_else(|| unlike(&body)));
        }
        self.learn(posted, &body);
        drop(self.heard.send(Heard::Line(body)));
        Ok(())
    }

    /// Reads a stream until the answer has come; one that ends before is taken up again where it ended.
    fn streamed(&self, agent: &Agent, (posted, id): (&Posted, &Id), response: Response<Body>) -> Result<(), String> {
        let mut stream = Stream::new(reader(response), None);
        let mut silent = 0;
        while silent <= RESUMES_MAX {
            let begun = stream.last_id.clone();
            silent += 1;
            while let Ok(Some(said)) = stream.next() {
                silent = 0;
                match said {
                    Said::Message(message) => {
                        self.learn(posted, &message);
                        if self.hear(message, Some(id)) {
                            return Ok(());
                        }
                    }
                    Said::TooLong { head, tail } => self.tell(Heard::TooLong { head, tail }),
                }
            }
            let Some(last_id) = stream.last_id.clone() else { break };
            // A server may end a stream and have us come back, as often as it takes.
            if stream.last_id != begun {
                silent = 0;
            }
            thread::sleep(pause(stream.retry_ms));
            let response = self.resume(agent, Some(&last_id))?;
            stream = Stream::new(reader(response), Some(last_id));
        }
        Err("the server ended its stream without an answer".to_owned())
    }

    /// The protocol that was agreed on stands in the answer to the first request.
    fn learn(&self, posted: &Posted, message: &[u8]) {
        if let Some(version) = Some(message).filter(|_| posted.greets()).and_then(version) {
            lock(&self.agreed).1 = Some(version);
        }
    }

    /// Listens to what the server says by itself; one that says nothing so answers with a refusal, and that is that. One
    /// that only ends its streams, as what stands between does with those that are quiet, is asked again and again.
    fn listen(&self) {
        let (mut last_id, mut rest_ms) = (None, RESUME_MS);
        loop {
            let (begun, mut asked_ms) = (Instant::now(), None);
            if let Ok(response) = self.stream(&self.agent, last_id.as_deref()) {
                if !is_stream(&response) {
                    return;
                }
                let mut stream = Stream::new(reader(response), last_id.take());
                while let Ok(Some(said)) = stream.next() {
                    match said {
                        Said::Message(message) => _ = self.hear(message, None),
                        Said::TooLong { head, tail } => self.tell(Heard::TooLong { head, tail }),
                    }
                }
                (last_id, asked_ms) = (stream.last_id, stream.retry_ms);
            }
            // Where it cannot be heard at all, it is asked less and less often.
            let heard = begun.elapsed() >= Duration::from_millis(rest_ms);
            rest_ms = if heard { RESUME_MS } else { (2 * rest_ms).min(RESUME_MS_MAX) };
            thread::sleep(pause(asked_ms.or(Some(rest_ms))));
        }
    }

    /// Passes on a message that came on the stream of a request, or on nobody's; whether it is the answer to that request.
    fn hear(&self, message: Vec<u8>, of: Option<&Id>) -> bool {
        let answered = answers(&message);
        let own = answered.is_some() && answered.as_ref() == of;
        // Whoever waits elsewhere for what came here would wait for ever.
        answered.iter().filter(|_| !own).for_each(|id| self.connections.cut(id));
        drop(self.heard.send(Heard::Line(message)));
        own
    }

    fn resume(&self, agent: &Agent, last_id: Option<&str>) -> Result<Response<Body>, String> {
        let response = self.stream(agent, last_id)?;
        if is_stream(&response) { Ok(response) } else { Err(refused(&response)) }
    }

    /// Asks for a stream.
    fn stream(&self, agent: &Agent, last_id: Option<&str>) -> Result<Response<Body>, String> {
        let (session, version) = self.agreed();
        let mut request = self.dress(agent.get(self.url()), version.as_deref(), session.as_deref());
        request = last_id.into_iter().fold(request, |request, id| request.header("Last-Event-ID", id));
        let response = request.header("Accept", "text/event-stream").call();
        response.map_err(|fault| unreached(&fault))
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work);
    thread.map(drop).map_err(|fault| format!("no thread could be started: {fault}"))
}

/// The request that a message answers.
pub(super) fn answers(message: &[u8]) -> Option<Id> {
    scan::outline(message).filter(|outline| outline.method.is_none())?.id()
}

fn pause(asked: Option<u64>) -> Duration {
    Duration::from_millis(asked.unwrap_or(RESUME_MS).clamp(RESUME_MS_MIN, RESUME_MS_MAX))
}

pub(super) fn reader(response: Response<Body>) -> BufReader<BodyReader<'static>> {
    BufReader::new(response.into_body().into_with_config().limit(u64::MAX).reader())
}

pub(super) fn header(response: &Response<Body>, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

/// Whether an answer comes as a stream.
pub(super) fn is_stream(response: &Response<Body>) -> bool {
    let kind = header(response, "content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    response.status().is_success() && kind.eq_ignore_ascii_case("text/event-stream")
}

/// Where a server is that says so, if that is in the same place: what is meant for one goes to no other.
fn moved(url: &str, response: &Response<Body>) -> Option<String> {
    let location = header(response, "location").filter(|_| matches!(response.status().as_u16(), 307 | 308))?;
    let (scheme, rest) = url.split_once("://")?;
    let origin = format!("{scheme}://{}", rest.split(['/', '?', '#']).next()?);
    let path = location.strip_prefix(origin.as_str()).unwrap_or(&location);
    (path.starts_with('/') && !path.starts_with("//")).then(|| format!("{origin}{path}"))
}

fn unreached(fault: &ureq::Error) -> String {
    match fault {
        // It says the whole of it.
        ureq::Error::BadUri(_) => "the server's address is none".to_owned(),
        fault => format!("the server cannot be reached: {fault}"),
    }
}

/// What may be shown of an address: the rest of it may be a secret.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    format!("{scheme}://{}", host(rest))
}

/// The host of an address without its scheme, and the port, where it has one.
fn host(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

/// Whether no proxy of the environment's stands before this address.
fn goes_straight(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let host = host(rest);
    let name = host
        .strip_prefix('[')
        .and_then(|host| host.split(']').next())
        .unwrap_or_else(|| host.split(':').next().unwrap_or_default());
    let here = name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    here || !scheme.eq_ignore_ascii_case("https")
}

/// The protocol that the answer to a greeting agrees on.
pub(super) fn version(answer: &[u8]) -> Option<String> {
    message::read(answer).ok()?.pointer("/result/protocolVersion")?.as_str().map(str::to_owned)
}

/// A whole answer, on one line: between the parts of a JSON text a line end is only space.
pub(super) fn body(response: Response<Body>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = reader(response).take(LINE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|fault| format!("the server's answer broke off: {fault}"))?;
    if bytes.len() > LINE_BYTES_MAX {
        return Err(format!("the server sent a message longer than {LINE_BYTES_MAX} bytes"));
    }
    if message::unmarked(&bytes).len() < bytes.len() {
        bytes = message::unmarked(&bytes).to_vec();
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

fn refused(response: &Response<Body>) -> String {
    match response.status().as_u16() {
        status @ 300..=399 => {
            let location = header(response, "location").unwrap_or_default();
            let location = if location.contains("://") { origin(&location) } else { "the same host".to_owned() };
            let location: String = location.chars().take(LOCATION_CHARS_MAX).collect();
            format!(
                "the server answered with status {status}: it is elsewhere, on {location}; give that address with `--url`"
            )
        }
        status @ (401 | 403) => format!("the server refused us with status {status}; give it a token with `--header`"),
        404 => "the server does not know this address, or has forgotten the session (status 404)".to_owned(),
        status => format!("the server answered with status {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_address_only_the_host_is_shown() {
        assert_eq!(origin("https://joe:pw@x.example:8/secret/mcp?key=k#f"), "https://x.example:8");
        assert_eq!(origin("http://[::1]:8?key=a@b"), "http://[::1]:8");
    }

    #[test]
    fn what_is_plain_or_on_this_machine_goes_straight() {
        for straight in ["http://a.example/mcp", "https://localhost:1/", "https://127.0.0.2/mcp", "https://[::1]:8/x"] {
            assert!(goes_straight(straight), "{straight}");
        }
        for other in ["https://a.example/mcp", "https://10.0.0.1/", "https://localhost.example/"] {
            assert!(!goes_straight(other), "{other}");
        }
    }
}
