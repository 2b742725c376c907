//! Counts what asking a model takes, while it is asked: whoever stops waiting knows what was used until then.

use std::sync::{Mutex, PoisonError};

use crate::ask::Usage;

/// What one question has taken so far.
#[derive(Debug, Default)]
pub struct Meter(Mutex<Usage>);

impl Meter {
    /// All of it, until now.
    #[must_use]
    pub fn read(&self) -> Usage {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self, more: Usage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += more;
    }
}
