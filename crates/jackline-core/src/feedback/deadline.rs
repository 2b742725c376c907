//! Advice about time: how long the work took, and how much is left of it.

use super::Feedback;
use super::duration::told;
use crate::definition::model::Severity;

/// A deadline as it stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Milliseconds since the time began to count.
    pub elapsed_ms: i64,
    /// Milliseconds until the deadline; zero or less when it was reached.
    pub left_ms: i64,
}

/// The advice at this time; it warns when no more than the threshold is left.
pub(crate) fn advice(clock: Clock, warning_threshold_ms: i64) -> Feedback {
    let took = told(clock.elapsed_ms);
    if clock.left_ms <= 0 {
        let summary = format!("The work took {took}. You have reached the time deadline.");
        return Feedback::new(summary).severity(Severity::Warning).suggest("Wrap up immediately.");
    }
    let left = told(clock.left_ms);
    let advice = Feedback::new(format!("The work so far took {took}. You have {left} remaining to complete the task."));
    if clock.left_ms > warning_threshold_ms {
        return advice;
    }
    advice
        .severity(Severity::Warning)
        .suggest("Prioritize completing critical remaining work.")
        .suggest("Consider summarizing progress and remaining tasks.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left_s: i64, severity: Severity, suggestions: usize, summary: &str) {
        let clock = Clock { elapsed_ms: 300_000, left_ms: left_s * 1_000 };
        let given = advice(clock, 120_000);
        assert_eq!((given.severity, given.suggestions.len()), (severity, suggestions), "{left_s}");
        assert_eq!(given.summary, summary);
    }

    #[test]
    fn the_threshold_is_inclusive_and_zero_is_reached() {
        let so_far = "The work so far took 5 minutes. You have";
        check(600, Severity::Info, 0, &format!("{so_far} 10 minutes remaining to complete the task."));
        check(121, Severity::Info, 0, &format!("{so_far} 2 minutes remaining to complete the task."));
        check(120, Severity::Warning, 2, &format!("{so_far} 2 minutes remaining to complete the task."));
        check(1, Severity::Warning, 2, &format!("{so_far} 1 seconds remaining to complete the task."));
        check(0, Severity::Warning, 1, "The work took 5 minutes. You have reached the time deadline.");
        check(-9, Severity::Warning, 1, "The work took 5 minutes. You have reached the time deadline.");
    }
}
