//! How a host is told to ask us: what stands in its settings, and what of it would leave a session unguarded.
//!
//! Pure: texts in, texts and values out. Which files there are, and writing them, is the command line's.

pub mod claude;
pub mod codex;
pub mod comments;
pub mod copilot;
pub mod cursor;
mod edit;
mod fault;
pub mod gemini;
pub mod hooks;
mod line;
pub mod opencode;
pub mod qwen;
pub mod servers;
mod shield;
mod spans;
mod timeouts;
pub mod vscode;

pub use fault::SettingsFault;
pub use hooks::{Entry, Flaw, HOOK_S_MAX, Survey};
pub use line::CommandLine;
pub use shield::Shield;
pub use timeouts::{STOP_TIMEOUT_S, TIMEOUT_S, Timeouts, needed_s};

/// Bytes of a settings file, or of a list of servers. Real ones have a few kilobytes; a larger one is not read at all.
pub const SETTINGS_BYTES_MAX: usize = 1 << 20;

/// Bytes of a file that holds a list of servers: Claude Code keeps the history of every project beside it, which grows to
/// many megabytes. Only the list itself is read, so this bounds no more than what is held in memory to be written back.
pub const SERVERS_BYTES_MAX: usize = 256 << 20;

/// Whose settings hold the wiring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The person's own for one project, not tracked.
    Local,
    /// The person's own for all projects.
    User,
    /// The project's, tracked and shared.
    Project,
}

impl Scope {
    /// Every scope, the usual one first.
    pub const ALL: [Self; 3] = [Self::Local, Self::User, Self::Project];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// What taking our entries out of a settings text leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removed {
    /// Nothing of ours was there.
    Nothing,
    /// The text without our entries, otherwise as it was.
    Rest(String),
    /// The file held nothing else and was made for our entries: it may go.
    All,
}

/// How one host is told to ask us.
pub trait Wiring: Sync {
    /// The settings with our entries in them, and everything else as it was; a missing or empty file becomes a new one.
    ///
    /// Entries of ours that look different are replaced. Adding twice changes nothing.
    ///
    /// # Errors
    /// When the text is not of the form that the host reads.
    fn add(&self, text: Option<&str>, line: &CommandLine, timeouts: Timeouts) -> Result<String, SettingsFault>;

    /// The settings without our entries. Containers that were made for them go too.
    ///
    /// # Errors
    /// When the text is not of the form that the host reads.
    fn remove(&self, text: &str) -> Result<Removed, SettingsFault>;

    /// What is started for a gate, where that is more than our hook by itself.
    fn shielded(&self, _line: &CommandLine) -> Option<CommandLine> {
        None
    }

    /// What a settings text says about us; an empty one says nothing.
    ///
    /// # Errors
    /// When it cannot be read as the host reads it.
    fn survey(&self, text: &[u8]) -> Result<Survey, SettingsFault>;
}

/// A settings file that holds our hooks, for a host that runs only those that a person trusted.
#[derive(Debug, Clone, Copy)]
pub struct TrustedFile<'a> {
    /// Its absolute path.
    pub file: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// A change of such a file.
#[derive(Debug, Clone, Copy)]
pub struct Rewired<'a> {
    /// Its absolute path.
    pub file: &'a str,
    /// What it held, where it was there.
    pub before: Option<&'a str>,
    /// What it holds now, where it is there.
    pub after: Option<&'a str>,
}

/// How a host keeps a person's trust in hooks.
pub trait Trust: Sync {
    /// The settings that keep it, after a change of the hooks: ours are trusted as they are now, and what a person
    /// trusted stays trusted, wherever it stands now. `None` where nothing is left and the file was made for us.
    ///
    /// # Errors
    /// When either text is not of the form that the host reads, or the settings cannot be changed safely.
    fn follow(&self, text: Option<&str>, wired: Rewired<'_>) -> Result<Option<String>, SettingsFault>;

    /// The setting that switches hooks off in settings of this kind.
    ///
    /// # Errors
    /// When the text is not of the form that the host reads.
    fn off(&self, text: &str) -> Result<Option<&'static str>, SettingsFault>;

    /// Why the host would not trust our hooks, if it would not.
    ///
    /// # Errors
    /// When the file of hooks is not of the form that the host reads.
    fn lacks(&self, text: Option<&str>, wired: TrustedFile<'_>) -> Result<Option<String>, SettingsFault>;
}
