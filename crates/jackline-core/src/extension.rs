//! More of a budget, as a person grants it to one session.

use serde::{Deserialize, Serialize};

use crate::exception::{REASON_BYTES_MAX, TEXT_BYTES_MAX};
use crate::session::{Used, nano_usd};
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
#[serde(default)]
pub struct Extended {
    pub grants: Vec<Grant>,
}

/// What was added at once, and what had been used by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub at: Timestamp,
    pub ms: i64,
    /// How much more.
    pub more: Used,
    pub used: Used,
}

impl Extended {
    /// Adds a grant made at a time, when so much was used.
    pub fn add(&mut self, at: Timestamp, used: Used, more: &Extension) {
        let full = self.grants.len() >= GRANTS_MAX;
        let cost_nano_usd = nano_usd(more.cost_usd);
        match self.grants.last_mut().filter(|_| full) {
            Some(last) => {
                last.ms = last.ms.saturating_add(more.ms);
                last.more.steps = last.more.steps.saturating_add(more.steps);
                last.more.tokens = last.more.tokens.saturating_add(more.tokens);
                last.more.cost_nano_usd = last.more.cost_nano_usd.saturating_add(cost_nano_usd);
            }
            None => {
                let more_of = Used { steps: more.steps, tokens: more.tokens, cost_nano_usd };
                self.grants.push(Grant { at, ms: more.ms, more: more_of, used });
            }
        }
    }

    /// A deadline with what was granted: each grant counts from the deadline, or from when it was made if that had
    /// passed by then.
    #[must_use]
    pub fn deadline(&self, deadline: Timestamp) -> Timestamp {
        let grants = self.grants.iter().filter(|grant| grant.ms > 0);
        grants.fold(deadline, |end, grant| Timestamp(end.max(grant.at).0.saturating_add(grant.ms)))
    }

    /// A limit on a count with what was granted: each grant counts from the limit, or from what was used when it was
    /// made if that was more, so that it always gives as much as it says.
    #[must_use]
    pub fn limit(&self, limit: u64, count: impl Fn(&Used) -> u64) -> u64 {
        let grants = self.grants.iter().filter(|grant| count(&grant.more) > 0);
        grants.fold(limit, |end, grant| end.max(count(&grant.used)).saturating_add(count(&grant.more)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_granted_from_the_deadline_or_from_now() {
        let grant = |ms| Extension { ms, ..Extension::default() };
        let mut extended = Extended::default();
        extended.add(Timestamp(50), Used::default(), &grant(10));
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(110), "it had not passed");
        extended.add(Timestamp(500), Used::default(), &grant(10));
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(510), "it had");
        (0..99).for_each(|_| extended.add(Timestamp(600), Used::default(), &grant(1)));
        assert_eq!(extended.grants.len(), GRANTS_MAX);
        assert_eq!(extended.deadline(Timestamp(100)), Timestamp(699), "none is lost");
    }

    #[test]
    fn a_count_is_granted_from_the_limit_or_from_what_was_used() {
        let grant = |steps| Extension { steps, ..Extension::default() };
        let used = |steps| Used { steps, ..Used::default() };
        let mut extended = Extended::default();
        extended.add(Timestamp(1), used(1), &grant(3));
        assert_eq!(extended.limit(2, |used| used.steps), 5, "it was not used up");
        extended.add(Timestamp(2), used(8), &grant(3));
        assert_eq!(extended.limit(2, |used| used.steps), 11, "refused calls count too");
        assert_eq!(extended.limit(2, |used| used.tokens), 2);
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
