//! Streamable HTTP on this machine's own address, for whoever has the token.
//!
//! Every request stands for itself: there are no sessions of the transport's, so none can be left behind or taken over.
//! What is posted is read as strictly as over lines before the SDK sees it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use jackline_runtime::Runtime;
use jackline_runtime::lines::LINE_BYTES_MAX;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

use super::calling::Serving;
use super::handler::Handler;
use super::stdio::understood;
use super::token::Token;
use super::{END_MS_MAX, Options, async_runtime, attend};
use crate::join::Joiner;
use crate::message::{Id, unmarked};
use crate::reply::{self, INVALID_REQUEST};

/// Where the server is asked.
const PATH: &str = "/mcp";
/// Whose pages may ask: the protocol wants no fewer.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// Connections at once; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// Milliseconds for a request's head to come: who sends it byte by byte holds a connection from others.
const HEAD_MS_MAX: u64 = 10_000;
/// Milliseconds for a request's body to come, for the same reason.
const BODY_MS_MAX: u64 = 30_000;
/// Bytes of a body that are taken off the line, kept or not: a client that is answered while it still writes finds the
/// connection broken, and never sees why.
const BODY_BYTES_MAX: usize = 4 * LINE_BYTES_MAX;

/// How it listens.
pub struct Listening {
    /// An address of this machine's own.
    pub address: SocketAddr,
    pub token: Token,
    /// Told once where it listens.
    pub ready: Box<dyn FnOnce(&str)>,
    /// A byte for each signal that asks us to end: its number.
    pub signals: Option<Box<dyn Read + Send>>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("address", &self.address).finish_non_exhaustive()
    }
}

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<Handler, NeverSessionManager>;

/// Serves every client that has the token, until a signal comes; the exit code.
///
/// # Errors
/// Why it cannot listen.
pub fn http(runtime: Runtime, options: Options, listening: Listening) -> Result<u8, String> {
    let Listening { address, token, ready, signals } = listening;
    // Without encryption a token is for this machine only.
    if !address.ip().is_loopback() {
        return Err(format!("`{address}` is no address of this machine's own"));
    }
    let serving = Arc::new(Serving::new(runtime, Joiner::new(options.session, options.state)));
    let (ended, ending) = (Arc::new(AtomicU8::new(0)), Arc::new(Notify::new()));
    if let Some(signals) = signals {
        let (ended, ending) = (Arc::clone(&ended), Arc::clone(&ending));
        attend(signals, move |signal| {
            ended.store(signal.exit_code(), Ordering::Relaxed);
            ending.notify_one();
        })?;
    }
    let async_runtime = async_runtime()?;
    let service = service(Handler::new(Arc::clone(&serving)));
    let served = async_runtime.block_on(async move {
        let unheard = |fault| format!("`{address}` cannot be listened on: {fault}");
        let listener = TcpListener::bind(address).await.map_err(unheard)?;
        ready(&format!("http://{}{PATH}", listener.local_addr().map_err(unheard)?));
        tokio::select! {
            () = accept(&listener, &service, &token) => {}
            () = ending.notified() => {}
        }
        Ok(())
    });
    async_runtime.shutdown_timeout(Duration::from_millis(END_MS_MAX));
    serving.end();
    served.map(|()| ended.load(Ordering::Relaxed))
}

fn service(handler: Handler) -> Service {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // A page that a browser shows has an origin. One of this machine's own may ask, if it has the token.
        .with_allowed_origins(ORIGINS)
        .enforce_origin_validation()
        .with_max_request_body_bytes(LINE_BYTES_MAX);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// Connections that have not shown the token yet, the oldest first: who waits for a place gets theirs.
#[derive(Debug, Default, Clone)]
struct Strangers(Arc<Mutex<VecDeque<Arc<Notify>>>>);

impl Strangers {
    fn all(&self) -> MutexGuard<'_, VecDeque<Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more; it is told when it must leave.
    fn come(&self) -> Arc<Notify> {
        let leave = Arc::new(Notify::new());
        self.all().push_back(Arc::clone(&leave));
        leave
    }

    /// It is a stranger no more, or gone.
    fn known(&self, leave: &Arc<Notify>) {
        self.all().retain(|other| !Arc::ptr_eq(other, leave));
    }

    fn oldest_leaves(&self) {
        let oldest = self.all().pop_front();
        oldest.into_iter().for_each(|leave| leave.notify_one());
    }
}

async fn accept(listener: &TcpListener, service: &Service, token: &Token) {
    let (room, strangers) = (Arc::new(Semaphore::new(CONNECTIONS_MAX)), Strangers::default());
    loop {
        // One that went away before it was accepted, or no room for its descriptor: others may fare better.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if room.available_permits() == 0 {
            strangers.oldest_leaves();
        }
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let (service, token, strangers) = (service.clone(), token.clone(), strangers.clone());
        tokio::spawn(async move {
            let (_place, leave) = (place, strangers.come());
            tokio::select! {
                () = converse(stream, (&service, &token), || strangers.known(&leave)) => {}
                () = leave.notified() => {}
            }
            strangers.known(&leave);
        });
    }
}

async fn converse(stream: TcpStream, (service, token): (&Service, &Token), known: impl Fn()) {
    let known = &known;
    let answer = service_fn(|request: Request<Incoming>| async move {
        Ok::<_, Infallible>(match refused(&request, token) {
            Some(answer) => answer,
            None => {
                known();
                answered(request, service).await
            }
        })
    });
    let mut connection = http1::Builder::new();
    connection.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(HEAD_MS_MAX));
    // A client that breaks off is its own affair.
    drop(connection.serve_connection(TokioIo::new(stream), answer).await);
}

/// Hands a request to the SDK, once what it says is known to be a message.
async fn answered(request: Request<Incoming>, service: &Service) -> Answer {
    if request.method() != Method::POST {
        return service.handle(request).await;
    }
    let (head, body) = request.into_parts();
    match whole(body).await {
        Err((status, why)) => complaint(status, None, INVALID_REQUEST, &why),
        Ok(bytes) => match understood(&bytes) {
            Err((id, code, why)) => complaint(StatusCode::BAD_REQUEST, id.as_ref(), code, &why),
            Ok(_) => {
                let plain = bytes.slice_ref(unmarked(&bytes));
                service.handle(Request::from_parts(head, Full::new(plain))).await
            }
        },
    }
}

/// The body of a request, bounded in length and in time.
async fn whole(body: Incoming) -> Result<Bytes, (StatusCode, String)> {
    match tokio::time::timeout(Duration::from_millis(BODY_MS_MAX), kept(body)).await {
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the message did not come in time".to_owned())),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the message broke off".to_owned())),
        Ok(Ok(None)) => {
            Err((StatusCode::PAYLOAD_TOO_LARGE, format!("the message is longer than {LINE_BYTES_MAX} bytes")))
        }
        Ok(Ok(Some(body))) => Ok(body),
    }
}

/// A body of a message's length; none if it is longer.
async fn kept(mut body: Incoming) -> hyper::Result<Option<Bytes>> {
    let (mut kept, mut seen) = (Vec::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        seen = seen.saturating_add(data.len());
        if seen <= LINE_BYTES_MAX {
            kept.extend_from_slice(&data);
        } else if seen <= BODY_BYTES_MAX {
            kept = Vec::new();
        } else {
            break;
        }
    }
    Ok((seen <= LINE_BYTES_MAX).then(|| Bytes::from(kept)))
}

/// What is no message gets an error that is one.
fn complaint(status: StatusCode, id: Option<&Id>, code: i64, why: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(reply::error(id, code, why))).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Why a request is not looked at, if it is not.
fn refused(request: &Request<Incoming>, token: &Token) -> Option<Answer> {
    let header = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
    if !token.is_in(header) {
        let mut answer = plain(StatusCode::UNAUTHORIZED, "a bearer token is wanted\n");
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Some(answer);
    }
    if is_ambiguous(request) {
        return Some(plain(StatusCode::BAD_REQUEST, "it must be said once whom this is for, and by a path alone\n"));
    }
    (request.uri().path() != PATH).then(|| plain(StatusCode::NOT_FOUND, "the server is at /mcp\n"))
}

/// Whether a request says more than once whom it is for or which page sends it: who stands between may read another one.
fn is_ambiguous(request: &Request<Incoming>) -> bool {
    let several = |name: HeaderName| request.headers().get_all(name).iter().nth(1).is_some();
    several(HOST) || several(ORIGIN) || request.uri().authority().is_some()
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
