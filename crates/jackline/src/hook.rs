//! `jackline hook HOST`: one native message in, one native reply out. The path that every tool call takes.
//!
//! It touches neither the argument parser's machinery nor anything that starts up. Whatever goes wrong becomes the
//! host's blocking answer where a tool is about to run, and silence elsewhere.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::PathBuf;
use std::process::ExitCode;

use jackline_core::json::{self, JSON_BYTES_MAX};
use jackline_runtime::adapters::{self, Adapter, Moment, Reply};
use jackline_runtime::{Answer, RuntimeBuilder};

use crate::deadline;
use crate::place::{self, Baked, Hooked};

/// What a wired hook is told on its command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) host: String,
    pub(crate) baked: Baked,
    pub(crate) wired: Option<String>,
    /// The exit code of an answer that lets something pass; 0 otherwise.
    pub(crate) pass: u8,
}

impl Options {
    /// The options as `init` writes them; anything else is for the argument parser to explain.
    pub(crate) fn plain(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let host = arguments.next()?.into_string().ok().filter(|host| adapters::HOSTS.contains(&host.as_str()))?;
        let mut options = Self { host, ..Self::default() };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            match name.to_str()? {
                "--store" => options.baked.store = Some(value.into()),
                "--root" => options.baked.root = Some(value.into()),
                "--home" => options.baked.home = Some(value.into()),
                "--settings" => options.baked.settings = Some(value.into()),
                "--wired" => options.wired = Some(scope(&value)?.to_owned()),
                "--pass" => options.pass = value.to_str()?.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

fn scope(value: &OsStr) -> Option<&'static str> {
    ["user", "local", "project"].into_iter().find(|scope| value == *scope)
}

/// Answers one message.
pub(crate) fn run(options: &Options) -> ExitCode {
    match answer(options) {
        0 => ExitCode::from(options.pass),
        refused => ExitCode::from(refused),
    }
}

/// The same; 0 lets pass.
fn answer(options: &Options) -> u8 {
    deadline::arm();
    // Nothing but the reply may be printed, not even about a defect of ours.
    set_hook(Box::new(|_| {}));
    let Some(adapter) = adapters::named(&options.host, options.wired.as_deref()) else {
        return say(&Reply::blocked(format!("Jackline does not speak the language of `{}`.", options.host)));
    };
    deadline::say(adapter.late());
    let native = match message() {
        Ok(native) => native,
        Err(why) => return say(&Reply::blocked(format!("Jackline could not decide: {why}. Run `jackline doctor`."))),
    };
    let asked = adapter.glance(&native);
    if asked.moment != Moment::Gate {
        deadline::no_gate();
    }
    if !asked.moment.blocks_on_fault() {
        deadline::pass(options.pass);
    }
    let reply = catch_unwind(AssertUnwindSafe(|| reply(options, adapter.as_ref(), &native)));
    say(&reply.unwrap_or_else(|_| adapter.render(&asked, &[fault("an internal fault")])))
}

fn reply(options: &Options, adapter: &dyn Adapter, native: &[u8]) -> Reply {
    let hooked = place::hooked(&options.host, &options.baked, || cwd(native));
    let Hooked { state, definitions, settings, home, started_in } = match hooked {
        Ok(hooked) => hooked,
        Err(why) => return adapter.render(&adapter.glance(native), &[fault(&why)]),
    };
    let mut builder = RuntimeBuilder::default().state(state).definitions(definitions).idle_without_definition();
    builder = builder.host_settings(settings).environment(place::environment).patience(deadline::wait);
    builder = builder.web(crate::web::Client).started_in(started_in);
    if let Some(home) = home {
        builder = builder.home(home);
    }
    if let Some(line) = place::command_line() {
        builder = builder.started_by(line);
    }
    match builder.build() {
        // The process is about to end: the kernel takes memory and files back at once, quicker than piece by piece.
        Ok(runtime) => ManuallyDrop::new(runtime).handle(adapter, native),
        Err(why) => adapter.render(&adapter.glance(native), &[fault(&why.to_string())]),
    }
}

/// Where a message says that its host works.
fn cwd(native: &[u8]) -> Option<PathBuf> {
    json::decode(native).ok()?.get("cwd")?.as_str().map(PathBuf::from)
}

fn fault(why: &str) -> Answer {
    Answer::refusal(jackline_core::decision::Finding::fault("hook", jackline_core::code::FAULT_INTERNAL, why))
}

/// The whole message, or the beginning of one that is too long: the rest is read and dropped, so that the host is not
/// left writing into a closed pipe.
fn message() -> io::Result<Vec<u8>> {
    let mut input = Input;
    let mut native = Vec::with_capacity(4096);
    input.by_ref().take(JSON_BYTES_MAX as u64 + 1).read_to_end(&mut native)?;
    if native.len() > JSON_BYTES_MAX {
        io::copy(&mut input, &mut io::sink())?;
    }
    Ok(native)
}

/// Standard input without a buffer of its own, which would be filled once and copied.
struct Input;

impl Read for Input {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), bytes)?)
    }
}

/// Prints the reply. One that cannot be delivered must not read as consent.
fn say(reply: &Reply) -> u8 {
    let mut undelivered = false;
    if !reply.stdout.is_empty() {
        let mut output = io::stdout().lock();
        undelivered = writeln!(output, "{}", reply.stdout).and_then(|()| output.flush()).is_err();
    }
    if !reply.stderr.is_empty() {
        drop(writeln!(io::stderr().lock(), "{}", reply.stderr));
    }
    if undelivered {
        // Some hosts let pass what is refused without a word.
        if reply.stderr.is_empty() {
            drop(writeln!(io::stderr().lock(), "Jackline's answer could not be delivered. Run `jackline doctor`."));
        }
        return 2;
    }
    reply.exit
}
