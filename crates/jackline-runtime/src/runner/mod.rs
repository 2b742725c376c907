//! Runs one command for its answer: a check, a feedback command, a policy's action.
//!
//! No shell reads the command; it is a list of words. It gets a filtered environment, the workspace as its directory,
//! nothing to read unless it is [talked to](converse), none of our open files, and a bounded time; what it prints is drained, bounded and redacted before
//! anyone sees it, and at its end everything it started is ended with it. Where the kernel can, it writes only the
//! workspace and the temporary directory. Whether a command may run at all (trust) is for the caller to know.
//!
//! ```
//! use jackline_runtime::core::redact::Redactor;
//! use jackline_runtime::runner::{self, Confine, Environment, Exit, Spec};
//!
//! let words = ["echo", "$HOME"].map(str::to_owned);
//! let spec = Spec {
//!     confine: Confine::Auto,
//!     ..Spec::new(words.to_vec(), std::env::temp_dir(), Environment::filtered(std::env::vars_os(), &[]))
//! };
//! let outcome = runner::run(&spec, &Redactor::new([]));
//! assert_eq!((outcome.exit, outcome.stdout.text.as_str()), (Exit::Code(0), "$HOME\n"));
//! ```

pub mod artifacts;
mod attend;
mod confine;
mod descriptors;
mod environment;
mod feed;
mod kept;
mod launch;
mod program;
mod reading;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jackline_core::redact::Redactor;

pub use environment::Environment;
pub use kept::{KEPT_BYTES_MAX, Kept, SHOWN_BYTES_MAX, short};

/// Words of a command: room for a policy's action on every file of a large change.
pub const WORDS_MAX: usize = 4096;
/// Bytes of all words together: far below what any kernel passes on, so that the environment fits beside them.
pub const WORDS_BYTES_MAX: usize = 256 * 1024;
/// Milliseconds a command may be given: no host waits longer for an answer.
pub const TIMEOUT_MS_MAX: u64 = 600_000;
/// Milliseconds a command may be given that is an agent of its own: a day, and whoever started it can end it.
pub const DIALOGUE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
/// Milliseconds a command is given when nobody says otherwise.
pub const TIMEOUT_MS: u64 = 60_000;
/// Directories that are declared writable: caches of a handful of tools.
pub const WRITABLE_MAX: usize = 32;

/// What is run, and how it is held.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The program and its arguments, passed as they are.
    pub argv: Vec<OsString>,
    /// Milliseconds until it is ended, up to [`TIMEOUT_MS_MAX`].
    pub timeout_ms: u64,
    /// Where it runs, and what it may write.
    pub workspace: PathBuf,
    /// Whether a confined command may only read the workspace.
    pub read_only: bool,
    /// Whether the kernel is asked to hold it.
    pub confine: Confine,
    /// Whether a confined command may use the network.
    pub network: bool,
    /// What a confined command may write besides the workspace and the temporary directory. What is not there is
    /// passed over: it could not be created either.
    pub writable: Vec<PathBuf>,
    /// What a confined command may not read, save what it may write; names of files can still be listed.
    pub unreadable: Vec<PathBuf>,
    /// The variables it gets.
    pub environment: Environment,
}

impl Spec {
    /// A command in a workspace: [`TIMEOUT_MS`], confined where the kernel can, without a network.
    #[must_use]
    pub fn new(argv: Vec<String>, workspace: PathBuf, environment: Environment) -> Self {
        let argv = argv.into_iter().map(OsString::from).collect();
        let (confine, network, writable, unreadable) = (Confine::Auto, false, Vec::new(), Vec::new());
        let (timeout_ms, read_only) = (TIMEOUT_MS, false);
        Self { argv, timeout_ms, workspace, read_only, confine, network, writable, unreadable, environment }
    }
}

/// Whether a command is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confine {
    /// As far as the kernel can; the outcome says how far.
    Auto,
    /// Not at all.
    Off,
    /// Fully, or it does not run.
    Require,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// What it printed.
    pub stdout: Kept,
    /// What it complained about.
    pub stderr: Kept,
    /// Milliseconds it took.
    pub elapsed_ms: u64,
    /// How far it was confined.
    pub confined: Confined,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// We ended it: its time was up.
    TimedOut,
    /// We ended it: whoever talked to it wanted no more of it.
    Stopped,
    /// It never ran.
    NotStarted(String),
    /// It never ran: it could not be confined as required.
    NotConfined(String),
    /// It ran, and how it ended cannot be told.
    Unknown(String),
}

/// How far a command was confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confined {
    /// It wrote what it may write, and had no TCP unless it was to have it.
    Yes,
    /// Less than was asked for, and why.
    Partly(String),
    /// Not, and why.
    No(String),
}

/// How far commands can be confined here, tried on a thread that ends right after.
#[must_use]
pub fn confinement(network: bool) -> Confined {
    let tried = std::thread::Builder::new()
        .name("confine".to_owned())
        .spawn(move || confine::hold(&confine::Rights { network, ..Default::default() }));
    let failed = || Confined::No("the thread that tries it failed".to_owned());
    tried.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(failed)
}

/// What a command is told while it runs.
#[expect(missing_debug_implementations, reason = "a question has no text")]
#[derive(Clone, Copy)]
pub struct Dialogue<'a> {
    /// All that it can read.
    pub input: &'a [u8],
    /// Whether it is to end now; asked again and again.
    pub stop: &'a dyn Fn() -> bool,
}

/// What came of a command that was told something.
#[derive(Debug)]
pub struct Spoken {
    pub outcome: Outcome,
    /// All it printed, as it printed it, with its secrets; none when that is more than [`KEPT_BYTES_MAX`].
    pub answer: Option<Vec<u8>>,
}

/// Runs a command to its end, or to the end of its time.
///
/// Takes no longer than `timeout_ms` and about two seconds: what does not end is ended, what cannot be ended is left.
#[must_use]
pub fn run(spec: &Spec, redactor: &Redactor) -> Outcome {
    let nothing = Dialogue { input: &[], stop: &|| false };
    spoken(spec, TIMEOUT_MS_MAX, nothing, redactor).outcome
}

/// Runs a command that is told something and whose answer counts to the letter; up to [`DIALOGUE_MS_MAX`].
///
/// The answer is for whoever asked: what is kept, logged or shown is in the outcome, without secrets.
#[must_use]
pub fn converse(spec: &Spec, dialogue: Dialogue<'_>, redactor: &Redactor) -> Spoken {
    spoken(spec, DIALOGUE_MS_MAX, dialogue, redactor)
}

fn spoken(spec: &Spec, ms_max: u64, dialogue: Dialogue<'_>, redactor: &Redactor) -> Spoken {
    let began = Instant::now();
    let until = began + Duration::from_millis(spec.timeout_ms.min(ms_max));
    let launched = check(spec, ms_max).and_then(|()| launch::launch(spec, !dialogue.input.is_empty()));
    let (exit, confined, [stdout, stderr]) = match launched {
        Ok(launched) => {
            let feed = feed::Feed::new(launched.input, dialogue.input);
            let (exit, printed) = attend::attend(launched.child, launched.pipes, feed, (until, dialogue.stop));
            (exit, launched.confined, printed)
        }
        Err(exit) => (exit, Confined::No("it did not run".to_owned()), Default::default()),
    };
    let answer = stdout.all();
    let outcome = Outcome {
        exit,
        stdout: stdout.keep(redactor),
        stderr: stderr.keep(redactor),
        elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        confined,
    };
    Spoken { outcome, answer }
}

/// Holds a specification to its bounds.
fn check(spec: &Spec, ms_max: u64) -> Result<(), Exit> {
    let refuse = |why: String| Err(Exit::NotStarted(why));
    if !(1..=ms_max).contains(&spec.timeout_ms) {
        return refuse(format!("a time of `{}` ms is not between 1 and {ms_max}", spec.timeout_ms));
    }
    if spec.argv.len() > WORDS_MAX || spec.argv.iter().map(|word| word.len()).sum::<usize>() > WORDS_BYTES_MAX {
        return refuse(format!("the command has more than {WORDS_MAX} words or {WORDS_BYTES_MAX} bytes"));
    }
    if spec.writable.len() > WRITABLE_MAX {
        return refuse(format!("more than {WRITABLE_MAX} directories are declared writable"));
    }
    Ok(())
}
