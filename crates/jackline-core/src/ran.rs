//! A command that is run for its answer: on whose word it runs, and what came of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sha::Digest;

/// Bytes of a stream that a fact keeps, its beginning and its end: what a record keeps of one text whole. The longer
/// text is kept by its digest.
pub const OUTPUT_BYTES_MAX: usize = crate::audit::STRING_BYTES_MAX;

/// Files of the workspace that a command runs, and what each contained when a person let it: paths from its root.
pub type Scripts = BTreeMap<String, String>;

/// On whose word a command runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A definition names it: it runs only if the owner trusted that content.
    Owner,
    /// The agent named it, the owner lets it name commands, and it was judged as a shell call.
    Agent,
    /// A person named it, when the files that it runs contained this.
    Human { scripts: Scripts },
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    pub exit: Exit,
    /// What it printed and what it complained about, without secrets: [`OUTPUT_BYTES_MAX`] each.
    pub stdout: String,
    pub stderr: String,
    /// The digests of the longer texts, where they are kept.
    pub stdout_kept: Option<Digest>,
    pub stderr_kept: Option<Digest>,
    pub elapsed_ms: u64,
    /// Why it was not confined, or less than was asked for.
    pub unconfined: Option<String>,
}

impl Ran {
    /// One that printed nothing.
    #[must_use]
    pub const fn silent(exit: Exit) -> Self {
        let (stdout_kept, stderr_kept, elapsed_ms, unconfined) = (None, None, 0, None);
        Self { exit, stdout: String::new(), stderr: String::new(), stdout_kept, stderr_kept, elapsed_ms, unconfined }
    }

    /// Whether it ended by itself, with 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}

/// How a command ended, or why it never began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// It was ended: its time was up.
    TimedOut,
    /// It was skipped: the owner has not trusted what would run, and this is why.
    Untrusted(String),
    /// It was skipped: a person's check runs something else now, and this is why.
    Altered(String),
    NotStarted(String),
    /// It could not be confined as required.
    NotConfined(String),
    /// It ran, and how it ended cannot be told.
    Unknown(String),
}

impl Exit {
    /// How it ended, for people and agents; what an untrusted command needs is named.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Code(code) => format!("it exited with {code}"),
            Self::Signal(signal) => format!("signal {signal} ended it"),
            Self::TimedOut => "it took longer than it may".to_owned(),
            Self::Untrusted(why) => format!("it was skipped: {why}; the owner runs `jackline trust`"),
            Self::Altered(why) => {
                format!("it was skipped: {why}; put it back as it was, or ask the person for a new todo")
            }
            Self::NotStarted(why) => format!("it did not start: {why}"),
            Self::NotConfined(why) => format!("it did not run, since it could not be confined: {why}"),
            Self::Unknown(why) => format!("how it ended cannot be told: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exit_with_zero_is_a_success() {
        assert!(Ran::silent(Exit::Code(0)).succeeded());
        let others = [Exit::Code(1), Exit::Signal(9), Exit::TimedOut, Exit::Untrusted("x".into())];
        let more = [
            Exit::Altered("x".into()),
            Exit::NotStarted("x".into()),
            Exit::NotConfined("x".into()),
            Exit::Unknown("x".into()),
        ];
        for exit in others.into_iter().chain(more) {
            assert!(!Ran::silent(exit.clone()).succeeded() && !exit.told().is_empty(), "{exit:?}");
        }
    }
}
