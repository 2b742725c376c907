//! What one part of a loop's work uses: every try, every repair, and everybody who looks at answers.

use std::sync::Mutex;

use super::answer::Usage;
use super::running::lock;

/// Counts what is used, against what may be.
#[derive(Debug)]
pub(super) struct Tab {
    used: Mutex<Usage>,
    tokens_max: u64,
    calls_max: u64,
}

impl Default for Tab {
    /// Without a limit of its own.
    fn default() -> Self {
        Self::new(u64::MAX, u64::MAX)
    }
}

impl Tab {
    pub(super) fn new(tokens_max: u64, calls_max: u64) -> Self {
        Self { used: Mutex::default(), tokens_max, calls_max }
    }

    pub(super) fn charge(&self, usage: &Usage) {
        lock(&self.used).add(usage);
    }

    /// All that was used.
    pub(super) fn used(&self) -> Usage {
        *lock(&self.used)
    }

    /// What is used up, if anything is.
    pub(super) fn exhausted(&self) -> Option<&'static str> {
        let used = self.used();
        if used.tokens() >= self.tokens_max {
            return Some("max_total_tokens");
        }
        (used.tool_calls >= self.calls_max).then_some("max_tool_calls")
    }
}
