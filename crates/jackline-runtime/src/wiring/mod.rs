//! How a host is told to ask us: what stands in its settings, and what of it would leave a session unguarded.
//!
//! Pure: texts in, texts and values out. Which files there are, and writing them, is the command line's.

pub mod claude;
mod edit;
mod fault;
pub mod servers;
mod spans;

pub use fault::SettingsFault;

/// Bytes of a settings file. Real ones have a few kilobytes; a larger one is not read at all.
pub const SETTINGS_BYTES_MAX: usize = 1 << 20;

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

/// What a host starts, without a shell between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    pub program: String,
    pub arguments: Vec<String>,
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
