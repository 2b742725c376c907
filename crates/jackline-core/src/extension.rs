//! More of a budget, as a person grants it to one session.

use serde::{Deserialize, Serialize};

use crate::exception::{REASON_BYTES_MAX, TEXT_BYTES_MAX};
use crate::time::Timestamp;

/// Grants of time remembered in one session; a further one is added to the latest.
pub const GRANTS_MAX: usize = 16;
/// The most of a count that one grant adds; keeps sums far from overflow.
pub const EXTENSION_COUNT_MAX: u64 = 1_000_000_000_000;
/// The most dollars that one grant adds.
pub const EXTENSION_USD_MAX: f64 = 1_000_000.0;
/// The longest that one grant adds; a run that needs a week more is another run.
pub const EXTENSION_MS_MAX: i64 = 7 * 24 * 60 * 60 * 1_000;

/// What is added, why, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    #[serde(default)]
    pub steps: u64,
    #[serde(default)]
    pub tokens: u64,
    #[serde(default)]
    pub cost_usd: f64,
    #[serde(default)]
    pub ms: i64,
    pub reason: String,
    pub by: String,
}

impl Extension {
    /// Whether it adds something, within bounds, and says why.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let adds = self.steps > 0 || self.tokens > 0 || self.cost_usd > 0.0 || self.ms > 0;
        let counts = self.steps <= EXTENSION_COUNT_MAX && self.tokens <= EXTENSION_COUNT_MAX;
        let rest = (0.0..=EXTENSION_USD_MAX).contains(&self.cost_usd) && (0..=EXTENSION_MS_MAX).contains(&self.ms);
        let reasoned = !self.reason.trim().is_empty() && self.reason.len() <= REASON_BYTES_MAX;
        adds && counts && rest && reasoned && self.by.len() <= TEXT_BYTES_MAX
    }
}

/// What was added so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extended {
    pub steps: u64,
    pub tokens: u64,
    pub cost_usd: f64,
    /// When time was granted, and how much.
    pub grants: Vec<(Timestamp, i64)>,
}

impl Extended {
    /// Adds a grant made at a time.
    pub fn add(&mut self, at: Timestamp, more: &Extension) {
        self.steps = self.steps.saturating_add(more.steps);
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.cost_usd += more.cost_usd;
        let full = self.grants.len() >= GRANTS_MAX;
        match self.grants.last_mut().filter(|_| full) {
            _ if more.ms == 0 => {}
            Some((_, ms)) => *ms = ms.saturating_add(more.ms),
            None => self.grants.push((at, more.ms)),
        }
    }

    /// A deadline with what was granted: each grant counts from the deadline, or from when it was made if that had
    /// passed by then.
    #[must_use]
    pub fn deadline(&self, deadline: Timestamp) -> Timestamp {
        self.grants.iter().fold(deadline, |end, (at, ms)| Timestamp(end.max(*at).0.saturating_add(*ms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_granted_from_the_deadline_or_from_now() {
        let grant = |ms| Extension { ms, ..Extension::default() };
        let mut extended = Extended::default();
        extended.add(Timestamp(50), &grant(10));
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(110), "it had not passed");
        extended.add(Timestamp(500), &grant(10));
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(510), "it had");
        (0..99).for_each(|_| extended.add(Timestamp(600), &grant(1)));
        assert_eq!(extended.grants.len(), GRANTS_MAX);
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(699), "none is lost");
    }

    #[test]
    fn bounds_hold() {
        let fine = Extension { steps: 1, reason: "r".into(), by: "dev".into(), ..Extension::default() };
        assert!(fine.is_bounded());
        assert!(!Extension { steps: 0, ..fine.clone() }.is_bounded());
        assert!(!Extension { reason: " ".into(), ..fine.clone() }.is_bounded());
        assert!(!Extension { cost_usd: f64::NAN, ..fine.clone() }.is_bounded());
        assert!(!Extension { cost_usd: -1.0, ..fine.clone() }.is_bounded());
        assert!(!Extension { ms: EXTENSION_MS_MAX + 1, ..fine }.is_bounded());
    }
}
