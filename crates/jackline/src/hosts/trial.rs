//! How a hook is tried out: messages as the host would send them, and what it would take for a refusal.

use std::path::Path;

use serde_json::Value;

use crate::bounded::Answered;

/// What a trial needs to know of a host.
pub(crate) struct Trial {
    /// A gate's message about a shell's command, which the trial's definition refuses.
    pub(crate) shell: fn(&Path) -> Value,
    /// A gate's message about something harmless, which it lets pass.
    pub(crate) harmless: fn(&Path) -> Value,
    /// Whether the host would take this answer for a refusal, with a reason that it shows to the model.
    pub(crate) denies: fn(&Answered) -> bool,
    /// A variable that the host sets to the project's directory.
    pub(crate) project: Option<&'static str>,
    /// Whether it starts hooks above the project, where that is a part of a repository.
    pub(crate) above: bool,
}

/// The form that several hosts agree on: a decision on standard output, the reason on standard error, and exit code 2.
pub(crate) fn told_to_deny(answered: &Answered) -> bool {
    answered.code == Some(2) && !answered.stderr.trim().is_empty()
}
