//! Advice for an agent: what it is, how it reads, and what a provider of the embedding program looks like.
//!
//! Feedback never alters a verdict. Who has a turn, and when, is decided in `decide::advised`; the session remembers
//! the turns (`session::cadence`).

pub(crate) mod command;
pub(crate) mod deadline;
mod duration;
mod provider;
mod text;

pub use crate::definition::model::{Severity, Trigger};
pub use crate::session::{Recent, Turn};
pub use deadline::Clock;
pub use provider::{FeedbackContext, FeedbackProvider, Own};

/// Bytes of a summary: a model reads a few paragraphs beside a result.
pub const SUMMARY_BYTES_MAX: usize = 4 * 1024;
/// Observations of one piece of advice: more are skimmed.
pub const OBSERVATIONS_MAX: usize = 8;
/// Suggestions of one piece of advice: an agent takes up the first few.
pub const SUGGESTIONS_MAX: usize = 8;
/// Bytes of an observation, its category included: a sentence or two.
pub const OBSERVATION_BYTES_MAX: usize = 256;
/// Bytes of a suggestion: a sentence or two.
pub const SUGGESTION_BYTES_MAX: usize = 256;
/// Bytes of all blocks of one event, and so of any single one. Hosts put longer texts aside and show their beginning.
pub const FEEDBACK_BYTES_MAX: usize = 9 * 1024;

/// One piece of advice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feedback {
    pub summary: String,
    pub severity: Severity,
    pub observations: Vec<Observation>,
    /// What the agent may do.
    pub suggestions: Vec<String>,
}

/// Something that was noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// May be empty.
    pub category: String,
    pub description: String,
}

impl Feedback {
    /// Advice that only informs.
    #[must_use]
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// The same, as urgent as this.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// The same with one more observation.
    #[must_use]
    pub fn observe(mut self, category: impl Into<String>, description: impl Into<String>) -> Self {
        self.observations.push(Observation { category: category.into(), description: description.into() });
        self
    }

    /// The same with one more suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestions.push(suggestion.into());
        self
    }

    /// Whether it says nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summary.trim().is_empty() && self.observations.is_empty() && self.suggestions.is_empty()
    }
}
