//! Our own server: todos, facts, the honest exit and guarded workspace files, for any agent that speaks MCP.
//!
//! `handler` speaks to MCP's SDK, over lines (`stdio`) or over HTTP (`http`, for whoever has the `token`). Each call is
//! joined to its session and carried by `calling`; `offer` and `schemas` say what there is, `said` what comes back,
//! `workspace` does what is done to files. Async is only what the SDK asks for: every call runs on a thread that may wait.

mod calling;
mod handler;
mod http;
mod offer;
mod said;
mod schemas;
mod stdio;
mod token;
mod workspace;

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use jackline_runtime::Runtime;
use rmcp::ServiceExt as _;
use tokio::sync::{Notify, mpsc};

use crate::join::Joiner;
use crate::proxy::{Ending, Streams};
use calling::Serving;
use handler::{CALLS_MAX, Handler};
pub use http::{Listening, http};
use stdio::{Heard, Lines, Outlet};
pub use token::Token;

/// Milliseconds for what still runs once nobody waits for it; then it goes with the process.
const END_MS_MAX: u64 = 1_000;

/// Milliseconds for answers once we are asked to end; hosts end us roughly after some two seconds.
const ANSWER_MS_MAX: u64 = 300;

/// Whose calls are served.
#[derive(Debug, Default)]
pub struct Options {
    /// The session that calls belong to, where the owner names one.
    pub session: Option<String>,
    /// The state directory, where there is one.
    pub state: Option<PathBuf>,
}

/// Serves one client over streams until it leaves; the exit code.
///
/// # Errors
/// Why it cannot be served.
pub fn stdio(runtime: Runtime, options: Options, streams: Streams) -> Result<u8, String> {
    let serving = Arc::new(Serving::new(runtime, Joiner::new(options.session, options.state)));
    let (sender, heard) = mpsc::channel(stdio::UNTAKEN_MAX);
    let outlet = Outlet::new(streams.output);
    let (ended, asked) = (Arc::new(AtomicU8::new(0)), Arc::new(Notify::new()));
    if let Some(signals) = streams.signals {
        let (ended, sender) = (Arc::clone(&ended), sender.clone().downgrade());
        let asked = Arc::clone(&asked);
        attend(signals, move |ending| {
            ended.store(ending.exit_code(), Ordering::Relaxed);
            asked.notify_one();
            sender.upgrade().into_iter().for_each(|sender| drop(sender.blocking_send(Heard::End)));
        })?;
    }
    let (client, input) = (outlet.clone(), streams.input);
    spawn("client", move || stdio::read(input, &client, &sender))?;
    let lines = Lines::new(heard, outlet, streams.is_heard);
    let handler = Handler::new(Arc::clone(&serving));
    let async_runtime = async_runtime()?;
    let served = async_runtime.block_on(async move {
        // A client that leaves without a word did nothing wrong.
        let Ok(running) = handler.serve(lines).await else { return Ok(()) };
        tokio::select! {
            ended = running.waiting() => ended.map(drop).map_err(|fault| fault.to_string()),
            // The SDK would give answers more time than whoever asks us to end.
            () = long_after(&asked) => Ok(()),
        }
    });
    async_runtime.shutdown_timeout(Duration::from_millis(END_MS_MAX));
    serving.end();
    served.map(|()| ended.load(Ordering::Relaxed))
}

/// Some time after we were asked to end.
async fn long_after(asked: &Notify) {
    asked.notified().await;
    tokio::time::sleep(Duration::from_millis(ANSWER_MS_MAX)).await;
}

/// One thread drives all; calls run on threads of their own.
fn async_runtime() -> Result<tokio::runtime::Runtime, String> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    // Each call may have a line to send beside it.
    builder.enable_all().max_blocking_threads(2 * CALLS_MAX);
    builder.build().map_err(|fault| format!("it cannot be started: {fault}"))
}

/// Tells of each signal that asks us to end.
fn attend(mut signals: Box<dyn Read + Send>, mut ending: impl FnMut(Ending) + Send + 'static) -> Result<(), String> {
    spawn("signals", move || {
        let mut number = [0];
        while signals.read_exact(&mut number).is_ok() {
            let [number] = number;
            Ending::of(number).into_iter().for_each(&mut ending);
        }
    })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|fault| format!("no thread could be started: {fault}"))
}
