//! How often an agent is tried again, how long before, and what its failure leads to in the end.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::execution::seconds;
use crate::run::worker::FailureKind;

/// Tries of one agent whatever is said: what failed so often fails again.
const ATTEMPTS_MAX: u32 = 100;
/// Seconds before the first new try when nobody says otherwise: the protocol's own.
const DELAY_SECONDS: f64 = 2.0;
/// Seconds between two tries at most, when nobody says otherwise: the protocol's own.
const DELAY_SECONDS_MAX: f64 = 60.0;

/// What the last failure of an agent leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The run ends.
    Stop,
    /// The run goes on without it and those that wait for it.
    Continue,
    /// It counts as skipped: those that wait for it run without its answer.
    Skip,
}

impl OnFailure {
    /// By its word in a manifest.
    pub(super) fn named(word: &str, otherwise: Self) -> Self {
        match word {
            "stop" | "abort" => Self::Stop,
            "continue" => Self::Continue,
            "skip" => Self::Skip,
            // After the last try of `retry`, what holds elsewhere holds.
            _ => otherwise,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Continue => "continue",
            Self::Skip => "skip",
        }
    }
}

/// How the time between tries grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backoff {
    None,
    Linear,
    /// A power of the base.
    Exponential,
    /// Twice as long each time.
    Doubling,
}

/// How often an agent is tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Retry {
    attempts: u32,
    backoff: Backoff,
    base: f64,
    max: f64,
    /// Kinds of failures that are tried again; all, when nobody says so.
    only: Option<Vec<String>>,
    never: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    max_attempts: Option<u32>,
    max_retries: Option<u32>,
    backoff: Option<String>,
    backoff_base: Option<f64>,
    backoff_max: Option<f64>,
    delay: Option<f64>,
    retryable_errors: Option<Vec<String>>,
    non_retryable_errors: Vec<String>,
}

impl Retry {
    /// By a number of tries after the first, each later than the one before.
    pub(super) fn counted(retries: Option<u32>, delay: Option<f64>) -> Self {
        Self {
            attempts: retries.unwrap_or(0).saturating_add(1).min(ATTEMPTS_MAX),
            backoff: Backoff::Doubling,
            base: delay.unwrap_or(DELAY_SECONDS),
            max: DELAY_SECONDS_MAX,
            only: None,
            never: Vec::new(),
        }
    }

    /// As a node writes it: a number or an object; without it, as `execution` has it.
    pub(super) fn read(written: Option<&Value>, otherwise: &Self) -> Result<Self, String> {
        let Some(value) = written else { return Ok(otherwise.clone()) };
        if let Some(retries) = value.as_u64() {
            let retries = u32::try_from(retries).unwrap_or(u32::MAX);
            return Ok(Self { attempts: retries.saturating_add(1).min(ATTEMPTS_MAX), ..otherwise.clone() });
        }
        let written: Written = serde_json::from_value(value.clone()).map_err(|why| why.to_string())?;
        let attempts = written.max_attempts.or(written.max_retries.map(|retries| retries.saturating_add(1)));
        let backoff = match written.backoff.as_deref() {
            None | Some("exponential") => Backoff::Exponential,
            Some("linear") => Backoff::Linear,
            Some("none") => Backoff::None,
            Some(other) => return Err(format!("`backoff` is `none`, `linear` or `exponential`, not `{other}`")),
        };
        Ok(Self {
            attempts: attempts.unwrap_or(otherwise.attempts).clamp(1, ATTEMPTS_MAX),
            backoff,
            base: written.backoff_base.or(written.delay).unwrap_or(DELAY_SECONDS),
            max: written.backoff_max.unwrap_or(DELAY_SECONDS_MAX),
            only: written.retryable_errors,
            never: written.non_retryable_errors,
        })
    }

    /// The same, with so many tries at least.
    pub(super) fn at_least(self, attempts: u32) -> Self {
        Self { attempts: self.attempts.max(attempts), ..self }
    }

    /// Whether a failure of the try of this number is tried again.
    pub(crate) fn again(&self, attempt: u32, kind: FailureKind) -> bool {
        let named = |list: &[String]| list.iter().any(|word| word == kind.word());
        attempt < self.attempts && kind.may_pass() && !named(&self.never) && self.only.as_deref().is_none_or(named)
    }

    /// How long to wait after the try of this number.
    pub(crate) fn delay(&self, attempt: u32) -> Duration {
        let power = i32::try_from(attempt).unwrap_or(i32::MAX);
        let wait = match self.backoff {
            Backoff::None => return Duration::ZERO,
            Backoff::Linear => self.base * f64::from(attempt),
            Backoff::Exponential => self.base.powi(power),
            Backoff::Doubling => self.base * 2_f64.powi(power.saturating_sub(1)),
        };
        if wait <= 0.0 { Duration::ZERO } else { seconds(wait.min(self.max)) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn delays(retry: &Retry) -> Vec<f64> {
        (1..=4).map(|attempt| retry.delay(attempt).as_secs_f64()).collect()
    }

    #[test]
    fn tries_come_later_and_later() {
        let plain = Retry::counted(None, None);
        assert!(!plain.again(1, FailureKind::Failed));
        let read = |value: Value| Retry::read(Some(&value), &plain).unwrap();
        assert_eq!(delays(&read(json!(3))), [2.0, 4.0, 8.0, 16.0]);
        let written = json!({"max_attempts": 3, "backoff": "linear", "backoff_base": 0.5});
        assert_eq!(delays(&read(written)), [0.5, 1.0, 1.5, 2.0]);
        let written = json!({"max_attempts": 9, "backoff_base": 3.0, "backoff_max": 20.0});
        assert_eq!(delays(&read(written)), [3.0, 9.0, 20.0, 20.0]);
        assert_eq!(delays(&read(json!({"backoff": "none"}))), [0.0; 4]);
        assert!(Retry::read(Some(&json!({"backoff": "never"})), &plain).is_err());
    }

    #[test]
    fn some_failures_are_not_tried_again() {
        let plain = Retry::counted(Some(1), None);
        assert!(plain.again(1, FailureKind::Timeout) && !plain.again(2, FailureKind::Timeout));
        assert!(!plain.again(1, FailureKind::Refused));
        let written = json!({"max_attempts": 5, "retryable_errors": ["timeout"]});
        let retry = Retry::read(Some(&written), &plain).unwrap();
        assert!(retry.again(4, FailureKind::Timeout) && !retry.again(1, FailureKind::Failed));
        let written = json!({"max_attempts": 5, "non_retryable_errors": ["timeout"]});
        let retry = Retry::read(Some(&written), &plain).unwrap();
        assert!(!retry.again(1, FailureKind::Timeout) && retry.again(1, FailureKind::Failed));
    }
}
