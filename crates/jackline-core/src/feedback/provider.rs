//! What a provider of the embedding program looks like: asked, bounded and recorded like a declared one.

use std::fmt;
use std::sync::Arc;

use super::{Clock, Feedback, Recent, Trigger, Turn};
use crate::event::Event;
use crate::guards::budget;
use crate::probe::{Facts, Probe};
use crate::session::{Key, Session};
use crate::stack::Stack;
use crate::time::Timestamp;

/// Someone of the embedding program who gives advice.
///
/// It must be pure: all it may look at is its [`FeedbackContext`]. It may be asked more than once about the same
/// event. What goes wrong in it, a panic included, is recorded and silences nobody else.
pub trait FeedbackProvider: Send + Sync + fmt::Debug {
    /// The name that its advice is signed with, and that it is remembered by; unique among those of the program.
    fn name(&self) -> &str;

    /// Facts it wants before it is asked: at most sixteen. It is told of none yet, so none can lead to another.
    fn needs(&self, _context: &FeedbackContext<'_>) -> Vec<Probe> {
        Vec::new()
    }

    /// Whether it wants its turn now that its trigger is met. Declining does not use the turn up.
    fn should_run(&self, _context: &FeedbackContext<'_>) -> bool {
        true
    }

    /// Its advice; `None` when it has nothing to say.
    ///
    /// # Errors
    /// Why it could not tell; recorded, and its turn is used up.
    fn provide(&self, context: &FeedbackContext<'_>) -> Result<Option<Feedback>, String>;
}

/// A provider of the embedding program, and when it is asked.
#[derive(Debug, Clone)]
pub struct Own {
    /// Its name, as it was when it was added.
    pub name: String,
    pub provider: Arc<dyn FeedbackProvider>,
    pub trigger: Trigger,
}

/// All a provider may look at. The call that is counted now is part of it.
#[derive(Debug, Clone, Copy)]
pub struct FeedbackContext<'a> {
    pub event: &'a Event,
    /// The session as it was before this event.
    pub session: &'a Session,
    pub facts: &'a Facts,
    pub(crate) stack: &'a Stack,
    pub(crate) scope: Key,
    pub(crate) recent: &'a Recent,
}

impl FeedbackContext<'_> {
    /// The time of the decision; there is no other clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.session.now(self.event.at)
    }

    /// The nearest deadline in force.
    #[must_use]
    pub fn deadline(&self) -> Option<Clock> {
        budget::clock(self.stack, self.session, self.now())
    }

    /// The calls counted under this definition, the present one included.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.session.memory.pace(self.scope).map_or(0, |pace| pace.calls) + 1
    }

    /// When feedback was last given, by whomever.
    #[must_use]
    pub fn last_feedback(&self) -> Option<Turn> {
        let pace = self.session.memory.pace(self.scope)?;
        pace.cadences.iter().filter_map(|cadence| cadence.given).max()
    }

    /// When a provider of this name last gave feedback.
    #[must_use]
    pub fn last_feedback_of(&self, provider: &str) -> Option<Turn> {
        let pace = self.session.memory.pace(self.scope)?;
        let named = crate::decide::keys_of(self.stack, self.scope, provider);
        named.iter().filter_map(|key| pace.cadence(key)?.given).max()
    }

    /// The calls counted since feedback was last given, by whomever; all of them when none was.
    #[must_use]
    pub fn calls_since_feedback(&self) -> u64 {
        self.since(self.last_feedback())
    }

    /// The calls counted since a provider of this name last gave feedback; all of them when it gave none.
    #[must_use]
    pub fn calls_since_feedback_of(&self, provider: &str) -> u64 {
        self.since(self.last_feedback_of(provider))
    }

    /// The latest calls, at most so many of those that are remembered; the present one is the last.
    #[must_use]
    pub fn recent_calls(&self, max: usize) -> Vec<Recent> {
        let all = self.session.memory.recent.iter().chain([self.recent]);
        let skipped = (self.session.memory.recent.len() + 1).saturating_sub(max);
        all.skip(skipped).cloned().collect()
    }

    fn since(&self, last: Option<Turn>) -> u64 {
        self.calls().saturating_sub(last.map_or(0, |turn| turn.call))
    }
}
