//! The proxy: stands between any MCP client and any MCP server, and judges every `tools/call`.
//!
//! Few threads beside the one that waits: one reads the client (`upward`), one the server (`downward`), one the clock, one
//! finds out what calls are judged by (`held`), others see whether the server is alive and reads (`pipe`). A call is
//! judged and on record before the server sees it, and its result before the client does. Whatever is not judged passes
//! byte for byte and in order. A server that dies, hangs, floods or babbles leads to errors, never to a stuck client.

mod batch;
mod child;
mod connections;
mod continued;
mod downward;
mod greeting;
mod headers;
mod held;
mod judge;
mod listing;
mod order;
mod outlet;
mod pending;
mod pipe;
mod remote;
mod roots;
mod server;
mod sse;
mod upward;

use std::fmt;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jackline_runtime::Runtime;
use jackline_runtime::lines::{self, Line};

use held::Queue;
use judge::Judge;
use listing::Listings;
use outlet::Outlet;
use pending::Pending;
use remote::{Address, Heard};
use roots::Roots;
pub use server::Ending;
use server::Server;

use crate::join::Joiner;
use crate::message::Id;
use crate::reply;

/// How long a call may take unless something else is asked for: longer than tools that people wait for.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);
/// Milliseconds between the gentle and the rough way to end a server; clients give us about as long.
const GRACE_MS: u64 = 1_500;
/// Milliseconds in which what a server said before it ended is read, where someone else keeps its output open; and in which
/// a client reads what we say last.
const DRAIN_MS: u64 = 500;
/// Milliseconds between two looks whether it has.
const LAST_LOOK_MS: u64 = 2;
/// Milliseconds for all that: what is being recorded gets on record.
const LAST_MS_MAX: u64 = 5_000;
/// Milliseconds between two looks whether anybody still waits for a server that does not read.
const DEAF_LOOK_MS: u64 = 250;
/// Milliseconds that a client which says nothing more may still wait for answers.
const LINGER_MS_MAX: u64 = 60_000;
/// Milliseconds between two looks whether it still does.
const LINGER_LOOK_MS: u64 = 20;
/// Milliseconds for such a client to take a message: it says nothing, and who does not read either is gone.
const LINGER_TAKE_MS_MAX: u64 = 5_000;
/// Notes about one server; one that babbles must not fill a log.
const NOTES_MAX: u64 = 200;
/// Bytes of a thread's stack: messages are read with bounded depth.
const STACK_BYTES: usize = 2 << 20;

/// Which server, and how its calls are judged.
#[derive(Debug)]
pub struct Options {
    /// The server's name in tools' names; without it what the server calls itself.
    pub name: Option<String>,
    /// The session that calls belong to, where the owner names one.
    pub session: Option<String>,
    /// The state directory, where there is one.
    pub state: Option<PathBuf>,
    /// How long a call may take.
    pub timeout: Duration,
    /// From where the server may see a relative path: where it is started, and directories that it is told of.
    pub dirs: Vec<String>,
    pub server: Target,
    /// Lets go of the memory that only starting, and a first call, needed.
    pub unload: fn(),
    /// Is called by each of the two threads that read, once, when it begins: they last, and do the same again and again.
    pub settle_in: fn(),
}

/// Where the server is.
#[derive(Debug)]
pub enum Target {
    /// A program and its arguments.
    Program(Vec<String>),
    /// An address, with the headers of every request to it.
    Address { url: String, headers: Vec<(String, String)> },
}

/// What the proxy speaks on.
pub struct Streams {
    /// The client's messages.
    pub input: Box<dyn Read + Send>,
    /// Ours.
    pub output: Box<dyn Write + Send>,
    /// Where people are told.
    pub note: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether anybody can still read what we say.
    pub is_heard: fn() -> bool,
    /// A byte for each signal that asks us to end: its number.
    pub signals: Option<Box<dyn Read + Send>>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// Why the proxy ends.
#[derive(Debug)]
enum End {
    /// The client says nothing more.
    ClientClosed,
    /// The client does not listen any more.
    ClientGone,
    ServerClosed,
    Signal(Ending),
}

/// What all threads share.
struct Proxy {
    judge: Judge,
    listings: Listings,
    pending: Pending,
    held: Queue,
    roots: Arc<Roots>,
    /// Held while what is known of the server's tools is told, so that nothing older is told last.
    learning: Mutex<()>,
    server: Box<dyn Server>,
    client: Outlet,
    note: Box<dyn Fn(&str) + Send + Sync>,
    is_heard: fn() -> bool,
    timeout: Duration,
    unload: fn(),
    /// Lists and calls that were answered.
    answered: AtomicU64,
    own_ids: AtomicU64,
    notes: AtomicU64,
}

/// Where the server's lines come from.
enum Source {
    Pipe(ChildStdout),
    Channel(Receiver<Heard>),
}

/// Carries messages until either side is done; the exit code.
///
/// # Errors
/// Why the server cannot be started.
pub fn run(runtime: Runtime, options: Options, streams: Streams) -> Result<u8, String> {
    let (server, source): (Box<dyn Server>, Source) = match options.server {
        Target::Program(words) => {
            let (program, output) = child::Program::start(&words)?;
            (Box::new(program), Source::Pipe(output))
        }
        Target::Address { url, headers } => {
            let (address, heard) = Address::new(url, headers)?;
            (Box::new(address), Source::Channel(heard))
        }
    };
    let (end, ended) = channel();
    let joiner = Joiner::new(options.session, options.state);
    let roots = Arc::new(Roots::default());
    let settle_in = options.settle_in;
    let proxy = Arc::new(Proxy {
        judge: Judge::new(runtime, joiner, options.name.as_deref(), (options.dirs, Arc::clone(&roots))),
        listings: Listings::default(),
        pending: Pending::default(),
        held: Queue::default(),
        roots,
        learning: Mutex::default(),
        server,
        client: Outlet::new(streams.output, end.clone()),
        note: streams.note,
        is_heard: streams.is_heard,
        timeout: options.timeout,
        unload: options.unload,
        answered: AtomicU64::new(0),
        own_ids: AtomicU64::new(0),
        notes: AtomicU64::new(0),
    });
    if proxy.judge.is_idle() {
        proxy.note("no definition is in force here, so nothing is judged; write one with `jackline init`");
    }
    start(&proxy, (streams.input, source, streams.signals), &end, settle_in)?;
    drop(end);
    let code = proxy.attend(&ended);
    proxy.judge.end();
    Ok(code)
}

type Inputs = (Box<dyn Read + Send>, Source, Option<Box<dyn Read + Send>>);

fn start(
    proxy: &Arc<Proxy>,
    (input, source, signals): Inputs,
    end: &Sender<End>,
    settle_in: fn(),
) -> Result<(), String> {
    let (client, last) = (Arc::clone(proxy), Last(end.clone(), || End::ClientClosed));
    spawn("client", move || {
        let _last = last;
        settle_in();
        client.read_client(input);
    })?;
    let (server, last) = (Arc::clone(proxy), Last(end.clone(), || End::ServerClosed));
    spawn("server", move || {
        let _last = last;
        settle_in();
        match source {
            Source::Pipe(output) => server.read_pipe(output),
            Source::Channel(heard) => server.read_channel(&heard),
        }
    })?;
    let (clock, last) = (Arc::clone(proxy), Last(end.clone(), || End::ClientGone));
    spawn("clock", move || {
        let _last = last;
        while let Some(expired) = clock.pending.expired() {
            expired.into_iter().for_each(|(id, waiting)| clock.late(&id, waiting));
        }
    })?;
    let (held, last) = (Arc::clone(proxy), Last(end.clone(), || End::ClientGone));
    spawn("held", move || {
        let _last = last;
        held.release();
    })?;
    let (watched, ended) = (Arc::clone(proxy), end.clone());
    spawn("watch", move || {
        if watched.server.wait() {
            // What it said last is on its way.
            thread::sleep(Duration::from_millis(DRAIN_MS));
            drop(ended.send(End::ServerClosed));
        }
    })?;
    let (listened, ended) = (Arc::clone(proxy), end.clone());
    spawn("deaf", move || {
        if listened.hears_nothing() {
            drop(ended.send(End::ServerClosed));
        }
    })?;
    let Some(mut signals) = signals else { return Ok(()) };
    let ended = end.clone();
    spawn("signals", move || {
        let mut number = [0];
        while signals.read_exact(&mut number).is_ok() {
            let [number] = number;
            Ending::of(number).into_iter().for_each(|signal| drop(ended.send(End::Signal(signal))));
        }
    })
}

/// Says that a thread is done, also when a defect of ours ends it: without it the client would wait for ever.
struct Last(Sender<End>, fn() -> End);

impl Drop for Last {
    fn drop(&mut self) {
        drop(self.0.send((self.1)()));
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work);
    thread.map(drop).map_err(|fault| format!("no thread could be started: {fault}"))
}

impl Proxy {
    fn read_client(&self, input: Box<dyn Read + Send>) {
        let (mut input, mut line) = (BufReader::new(input), Vec::new());
        while let Ok(Some(read)) = lines::next(&mut input, &mut line) {
            match read {
                Line::Whole => self.client_said(&line),
                Line::TooLong { head, tail, .. } => self.client_said_too_much(&head, &tail),
            }
            self.catch_up();
        }
    }

    fn read_pipe(&self, output: ChildStdout) {
        let (mut output, mut line) = (BufReader::new(output), Vec::new());
        while let Ok(Some(read)) = lines::next(&mut output, &mut line) {
            match read {
                Line::Whole => self.server_said(&line),
                Line::TooLong { head, tail, .. } => self.server_said_too_much(&head, &tail),
            }
            self.judge.catch_up();
        }
    }

    fn read_channel(&self, heard: &Receiver<Heard>) {
        for heard in heard {
            match heard {
                Heard::Line(line) => self.server_said(&line),
                Heard::TooLong { head, tail } => self.server_said_too_much(&head, &tail),
                Heard::Failed(id, why) => self.fail(&id, reply::CONNECTION_CLOSED, &why),
                Heard::Note(text) => self.note(&text),
                Heard::Anew => {
                    self.note("the server had forgotten the session, and was greeted anew");
                    self.listings.changed();
                }
            }
            self.judge.catch_up();
        }
    }

    /// Does what no answer was to wait for, where none is on its way: the one that comes is followed by it.
    fn catch_up(&self) {
        if self.pending.is_settled() {
            self.judge.catch_up();
        }
    }

    /// A list or a call was answered: what the first ones needed goes, ever more rarely, since what is needed again has to
    /// come back.
    fn lighten(&self) {
        if (self.answered.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two() {
            (self.unload)();
        }
    }

    /// Waits for the end, and brings it about on the other side.
    fn attend(self: &Arc<Self>, ended: &Receiver<End>) -> u8 {
        let grace = Duration::from_millis(GRACE_MS);
        match ended.recv().unwrap_or(End::ServerClosed) {
            End::ClientClosed => {
                let next = self.linger(ended);
                self.closed(next.unwrap_or(End::ClientGone), grace)
            }
            end => self.closed(end, grace),
        }
    }

    fn closed(self: &Arc<Self>, end: End, grace: Duration) -> u8 {
        let by_signal = if let End::Signal(signal) = end { Some(signal) } else { None };
        by_signal.into_iter().for_each(|signal| self.server.signal(signal));
        let by_itself = matches!(end, End::ServerClosed);
        let (how, code) = self.server.end(grace);
        self.fail_all(self.pending.close(&how), &how);
        self.say_the_last();
        match (by_signal, by_itself) {
            (Some(signal), _) => signal.exit_code(),
            (None, true) => {
                self.note(&how);
                code.unwrap_or(1)
            }
            (None, false) => 0,
        }
    }

    /// Waits until the server can be told nothing any more. One that works on calls is given the time that they have.
    fn hears_nothing(&self) -> bool {
        while self.server.wait_deaf() {
            if self.server.is_lost() || self.pending.is_settled() {
                self.note("the server does not read what it is sent");
                return true;
            }
            thread::sleep(Duration::from_millis(DEAF_LOOK_MS));
        }
        false
    }

    /// Waits until what is being answered is on record and said; but not for a client that does not read.
    fn say_the_last(&self) {
        let (until, patience) = (Instant::now() + Duration::from_millis(LAST_MS_MAX), Duration::from_millis(DRAIN_MS));
        while !self.pending.is_quiet() && !self.client.is_stuck(patience) && Instant::now() < until {
            thread::sleep(Duration::from_millis(LAST_LOOK_MS));
        }
    }

    /// A client that says nothing more still gets its answers; nothing once it has them all.
    fn linger(&self, ended: &Receiver<End>) -> Option<End> {
        let until = Instant::now() + Duration::from_millis(LINGER_MS_MAX);
        let patience = Duration::from_millis(LINGER_TAKE_MS_MAX);
        let reads = || (self.is_heard)() && !self.client.is_stuck(patience);
        while !self.pending.is_settled() && reads() && Instant::now() < until {
            match ended.recv_timeout(Duration::from_millis(LINGER_LOOK_MS)) {
                Ok(End::ClientClosed) | Err(RecvTimeoutError::Timeout) => {}
                Ok(end) => return Some(end),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Tells people something.
    fn note(&self, text: &str) {
        let before = self.notes.fetch_add(1, Ordering::Relaxed);
        if before < NOTES_MAX {
            (self.note)(&format!("jackline mcp ({}): {text}", self.judge.server()));
        } else if before == NOTES_MAX {
            (self.note)(&format!("jackline mcp ({}): further notes are left out", self.judge.server()));
        }
    }

    /// An id for a request of ours.
    fn own_id(&self) -> Id {
        Id::own(&format!("jackline:{}", self.own_ids.fetch_add(1, Ordering::Relaxed)))
    }
}
