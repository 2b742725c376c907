//! Translates hosts' native messages into events and answers back. Pure: no files, no store, no clock.

pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
mod ended;
pub mod gemini;
mod glimpse;
mod halves;
mod language;
pub mod lines;
mod native;
pub mod opencode;
pub mod qwen;
mod said;
mod served;
mod unread;
pub mod vscode;

use jackline_core::decision::Finding;
use jackline_core::event::Event;
use jackline_core::time::Timestamp;
use serde_json::Value;

use crate::answer::Answer;
pub use language::Language;

/// An event together with the JSON it was read from, which is what the log keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub event: Event,
    pub raw: Value,
    /// Whether a person's own command sends it; no host's message is that.
    pub by_person: bool,
    /// Whether the call succeeded, the host says only in its transcript; until it is found there, it did not.
    pub unproven: bool,
    /// Whether it holds only a part of what was sent, so that nobody can judge by it again.
    pub partial: bool,
}

impl Message {
    /// An event and its JSON, as a host sends it.
    #[must_use]
    pub fn new(event: Event, raw: Value) -> Self {
        Self { event, raw, by_person: false, unproven: false, partial: false }
    }
}

/// When a native message comes: what a host does with the reply, and so what a fault of ours becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A tool is about to run; whatever goes wrong, it must not.
    Gate,
    /// Calls are over.
    Outcome,
    /// A person spoke. Their words are never swallowed.
    Prompt,
    /// An agent, main or not, begins.
    Start,
    /// The agent wants to stop; `again` when the host says that it was held before.
    Stop { again: bool },
    /// The host's settings changed.
    Settings,
    /// Something to record.
    Passing,
}

impl Moment {
    /// Whether a fault of ours holds the host back: a gate always, a stop once. Everything else passes.
    #[must_use]
    pub const fn blocks_on_fault(self) -> bool {
        match self {
            Self::Gate | Self::Stop { again: false } => true,
            Self::Stop { again: true }
            | Self::Outcome
            | Self::Prompt
            | Self::Start
            | Self::Settings
            | Self::Passing => false,
        }
    }
}

/// What a host wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    pub moment: Moment,
    /// The host's own name for it.
    pub name: String,
    /// Whether nobody is asked about calls as it is, so that approving one takes nothing from a person.
    pub unasked: bool,
}

impl Inquiry {
    /// Something of which a person may be asked.
    #[must_use]
    pub fn new(moment: Moment, name: impl Into<String>) -> Self {
        Self { moment, name: name.into(), unasked: false }
    }
}

/// A native message, understood as far as it could be.
#[derive(Debug)]
pub struct Heard {
    pub asked: Inquiry,
    /// The events it holds; or a refusal that says why it could not be read.
    pub messages: Result<Vec<Message>, Box<Finding>>,
}

/// The native reply: what is printed, and how the process ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

impl Reply {
    /// A reply on standard output.
    #[must_use]
    pub fn said(stdout: impl Into<String>) -> Self {
        Self { stdout: stdout.into(), ..Self::default() }
    }

    /// The blocking answer that needs no understanding of the message.
    #[must_use]
    pub fn blocked(why: impl Into<String>) -> Self {
        Self { stderr: why.into(), exit: 2, ..Self::default() }
    }
}

/// The hosts whose language we speak, by their names on the command line and in records.
pub const HOSTS: &[&str] =
    &[claude::HOST, codex::HOST, opencode::HOST, gemini::HOST, copilot::HOST, qwen::HOST, cursor::HOST, vscode::HOST];

/// The languages of the hosts that need to know nothing of how they are wired.
const LANGUAGES: [Language; 7] = [
    codex::LANGUAGE,
    opencode::LANGUAGE,
    gemini::LANGUAGE,
    copilot::LANGUAGE,
    qwen::LANGUAGE,
    cursor::LANGUAGE,
    vscode::LANGUAGE,
];

/// The adapter of a host; `wired` is whose settings hold the hook that asks: `user`, `local` or `project`.
#[must_use]
pub fn named(host: &str, wired: Option<&str>) -> Option<Box<dyn Adapter>> {
    if host == claude::HOST {
        return Some(Box::new(claude::Claude::wired_by(wired)));
    }
    let language = LANGUAGES.into_iter().find(|language| language.host == host)?;
    Some(Box::new(language))
}

/// One host's language.
pub trait Adapter: Send + Sync {
    /// The host's name in events and records.
    fn host(&self) -> Option<&str>;

    /// What a native message holds; `now` stands in where it names no time.
    fn read(&self, native: &[u8], now: Timestamp) -> Heard;

    /// What a message is about, told without reading it: for faults that come before or instead of reading.
    fn glance(&self, native: &[u8]) -> Inquiry;

    /// What can be told of a message that cannot be read: an event that says so, where it says whose it is.
    fn unread(&self, _asked: &Inquiry, _native: &[u8], _now: Timestamp) -> Option<Message> {
        None
    }

    /// The native reply to all events of a message.
    fn render(&self, asked: &Inquiry, answers: &[Answer]) -> Reply;

    /// What is said when a gate's deadline is over, before the process ends with 2.
    fn late(&self) -> Late {
        Late::PLAIN
    }
}

/// What is said when a deadline is over: prepared, because nothing can be put together then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Late {
    /// For hosts that deny by the exit code and show the model nothing of standard error.
    pub stdout: &'static str,
    pub stderr: &'static str,
}

impl Late {
    /// The reason alone.
    pub const PLAIN: Self = Self {
        stdout: "",
        stderr: "Jackline could not decide: it took longer than its deadline. Run `jackline doctor`.\n",
    };
}
