//! What a definition says about feedback: who gives advice, and when.

use serde::{Deserialize, Serialize};

use crate::sha::{Digest, Key};

/// Someone who gives advice, as the definition declares it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// What the advice is signed with; without it the kind's own name.
    pub name: Option<String>,
    pub advice: Advice,
    pub trigger: Trigger,
    pub severity: Severity,
    /// What the agent may do.
    pub suggestions: Vec<String>,
    /// What a session remembers it by: its name, else its place and all it says.
    pub key: Key,
}

impl Provider {
    /// A provider without name, severity and suggestions. Its key is worked out once its place is known.
    #[must_use]
    pub const fn new(advice: Advice, trigger: Trigger) -> Self {
        let (severity, key) = (Severity::Info, Key([0; 16]));
        Self { name: None, advice, trigger, severity, suggestions: Vec::new(), key }
    }

    /// The same under a name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The same, as urgent as this.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// The same with one more thing that the agent may do.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestions.push(suggestion.into());
        self
    }

    /// What its advice is signed with.
    #[must_use]
    pub fn signature(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.advice.name())
    }

    /// The same, remembered as the one at this place.
    #[must_use]
    pub(in crate::definition) fn at(self, place: usize) -> Self {
        let bare = Self { key: Key([0; 16]), ..self };
        // Postcard fails on plain data only when out of memory; the empty text is then as good a key as any.
        let content = || postcard::to_stdvec(&(place, &bare)).unwrap_or_default();
        let key = match &bare.name {
            Some(name) => Digest::of_parts([b"name".as_slice(), name.as_bytes()]),
            None => Digest::of_parts([b"place".as_slice(), &content()]),
        };
        Self { key: key.short(), ..bare }
    }
}

/// Where advice comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// How much time is left; from so many milliseconds on it warns.
    Deadline { warning_threshold_ms: i64 },
    /// The key `static`: a fixed text.
    Fixed(String),
    /// A command, program first, whose output it is.
    Command(Vec<String>),
}

/// Seconds before a deadline from which on it warns, unless the definition says otherwise.
pub(in crate::definition) const WARNING_THRESHOLD_MS: i64 = 120_000;

impl Advice {
    /// The name under which advice of this kind is shown when its owner gave none.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Deadline { .. } => "Deadline",
            Self::Fixed(_) => "Static",
            Self::Command(_) => "Command",
        }
    }

    /// The command, if it is one.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        match self {
            Self::Command(argv) => Some(argv),
            Self::Deadline { .. } | Self::Fixed(_) => None,
        }
    }
}

/// When a provider is asked: any of what is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// After so many calls since its last turn.
    pub every_n_calls: Option<u64>,
    /// After so many milliseconds since its last turn; at once when it had none.
    pub every_n_ms: Option<i64>,
    /// Once, when this file is there.
    pub on_file_created: Option<String>,
}

impl Trigger {
    /// After so many calls.
    #[must_use]
    pub fn every_n_calls(calls: u64) -> Self {
        Self { every_n_calls: Some(calls), ..Self::default() }
    }

    /// After so many seconds.
    #[must_use]
    pub fn every_n_seconds(seconds: f64) -> Self {
        Self { every_n_ms: Some(milliseconds(seconds)), ..Self::default() }
    }

    /// Once, when this file is there.
    #[must_use]
    pub fn on_file_created(file: impl Into<String>) -> Self {
        Self { on_file_created: Some(file.into()), ..Self::default() }
    }
}

/// Seconds as the definition writes them; what is above zero is at least a millisecond.
pub(in crate::definition) fn milliseconds(seconds: f64) -> i64 {
    let ms = (seconds * 1_000.0).round() as i64;
    if seconds > 0.0 { ms.max(1) } else { ms }
}

/// How urgent advice is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    #[default]
    Info,
    Caution,
    Warning,
}

spelled!(Severity { Info = "info", Caution = "caution", Warning = "warning" });
