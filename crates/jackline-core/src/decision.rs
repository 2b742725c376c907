//! What one event leads to: verdict, findings, edits, feedback, and the changes to remember.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::files::queue;
use crate::guards;
use crate::probe::Probe;
use crate::schema::SchemaError;
use crate::session::Change;

/// What becomes of an event; the order is the strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    #[default]
    Allow,
    Ask,
    Deny,
    Halt,
}

impl Verdict {
    /// Whether the call may not run as things stand.
    #[must_use]
    pub const fn refuses(self) -> bool {
        matches!(self, Self::Deny | Self::Halt)
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Halt => "halt",
        }
    }
}

/// What one guard says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The policy's name, or the guard's where there is no policy.
    pub policy: String,
    pub guard: String,
    pub code: Code,
    /// What the guard demands; counts only when `enforced`.
    pub verdict: Verdict,
    /// What it says by itself.
    pub reason: String,
    #[serde(default)]
    pub suggestions: Vec<String>,
    /// False when the policy only warns, the definition only observes, or an exception lifted it.
    pub enforced: bool,
    /// How a value does not fit its schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<SchemaError>,
    /// The exception that lifted it, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// The path it is about, as the caller wrote it; for what follows from it, and not shown.
    #[serde(skip)]
    pub path: Option<String>,
    /// What the agent is shown in place of the reason, where one text tells it together with others.
    #[serde(skip)]
    pub together: Option<Arc<str>>,
}

impl Finding {
    /// A denying finding of a guard that is no policy.
    #[must_use]
    pub fn deny(guard: &str, code: Code, reason: impl Into<String>) -> Self {
        Self {
            policy: guard.to_owned(),
            guard: guard.to_owned(),
            code,
            verdict: Verdict::Deny,
            reason: reason.into(),
            suggestions: Vec::new(),
            enforced: true,
            errors: Vec::new(),
            exception: None,
            path: None,
            together: None,
        }
    }

    /// What the agent is shown.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.together.as_deref().unwrap_or(&self.reason)
    }

    /// A denial because *we* could not decide: looks different from a broken policy, and is.
    #[must_use]
    pub fn fault(guard: &str, code: Code, why: &str) -> Self {
        Self::deny(guard, code, format!("Jackline could not decide: {why}. Run `jackline doctor`."))
    }

    #[must_use]
    pub fn verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }

    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestions.push(suggestion.into());
        self
    }

    /// About this path, as the caller wrote it.
    #[must_use]
    pub fn about(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// What this finding contributes to the verdict.
    #[must_use]
    pub const fn weight(&self) -> Verdict {
        if self.enforced { self.verdict } else { Verdict::Allow }
    }
}

/// A rewrite of a call's arguments or of its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub target: EditTarget,
    pub value: Value,
    pub code: Code,
    pub meta: Value,
}

/// What an [`Edit`] rewrites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditTarget {
    Args,
    Output,
}

/// Why a run ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    pub reason: StopReason,
    pub diagnostics: Value,
}

/// The one reason a run ended for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StopReason {
    ObjectiveAchieved,
    BudgetExceeded,
    NoEvidence,
    HumanRequested,
    SystemError,
}

/// A record beside the event's own and the decision's: something that changed and deserves its own line.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub kind: &'static str,
    pub before: Value,
    pub after: Value,
    pub data: Value,
}

/// All that one event leads to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    pub verdict: Verdict,
    pub code: Option<Code>,
    pub reason: Option<String>,
    pub findings: Vec<Finding>,
    pub feedback: Option<String>,
    /// What an agent that begins is told about the guard.
    pub briefing: Option<String>,
    pub edits: Vec<Edit>,
    pub constraint: Option<Value>,
    pub emitted: Vec<Value>,
    pub stop: Option<Stop>,
    /// What an operation on todos, facts or calls answers.
    pub result: Option<Value>,
    /// The call was asked for before, somewhere else, and let through.
    pub again: bool,
    /// The event told nothing new: no record is kept of it.
    pub passing: bool,
    /// What the session remembers of it.
    pub changes: Vec<Change>,
    /// Records of their own.
    pub notes: Vec<Note>,
    /// What people find in the queue of file policies afterwards.
    pub queue: Vec<queue::Write>,
    /// The policies and guards that were asked, in order.
    pub consulted: Vec<String>,
    /// Further members of the decision record's `data`.
    pub data: Option<(&'static str, Value)>,
}

impl Decision {
    /// A decision from findings in the order of the guards: the strictest wins, the first among equals speaks.
    #[must_use]
    pub fn merge(findings: Vec<Finding>) -> Self {
        let findings = once_each(findings);
        let verdict = findings.iter().map(Finding::weight).max().unwrap_or_default();
        let speaker = findings.iter().find(|finding| finding.weight() == verdict && verdict > Verdict::Allow);
        Self {
            verdict,
            code: speaker.map(|finding| finding.code.clone()),
            reason: speaker.map(|finding| finding.shown().to_owned()),
            findings,
            ..Self::default()
        }
    }
}

impl Decision {
    /// The verdict by what is said of the call itself, whatever is said of how its agent goes on.
    #[must_use]
    pub fn verdict_on_the_call(&self) -> Verdict {
        let counting = self.findings.iter().filter(|finding| !guards::is_about_the_run(&finding.guard));
        counting.map(Finding::weight).max().unwrap_or_default()
    }

    /// Adds advice, one blank line after what was said before.
    pub fn advise(&mut self, advice: &str) {
        match &mut self.feedback {
            Some(said) => {
                said.push_str("\n\n");
                said.push_str(advice);
            }
            None => self.feedback = Some(advice.to_owned()),
        }
    }
}

/// Two definitions in force that say the very same say it once.
fn once_each(findings: Vec<Finding>) -> Vec<Finding> {
    let mut once: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !once.contains(&finding) {
            once.push(finding);
        }
    }
    once
}

/// The answer of one round of deciding.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// These must be answered first.
    Need(Vec<Probe>),
    Done(Box<Decision>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code;

    fn finding(verdict: Verdict, reason: &str) -> Finding {
        Finding::deny("test", code::SEQUENCE_MISSING, reason).verdict(verdict)
    }

    #[test]
    fn the_strictest_wins_and_the_first_among_equals_speaks() {
        let decision = Decision::merge(vec![
            finding(Verdict::Ask, "ask"),
            finding(Verdict::Deny, "first"),
            finding(Verdict::Deny, "second"),
        ]);
        assert_eq!((decision.verdict, decision.reason.as_deref()), (Verdict::Deny, Some("first")));
    }

    #[test]
    fn what_two_definitions_say_alike_is_said_once() {
        let decision = Decision::merge(vec![finding(Verdict::Deny, "a"), finding(Verdict::Deny, "a")]);
        assert_eq!(decision.findings.len(), 1);
    }

    #[test]
    fn a_finding_that_is_not_enforced_does_not_speak() {
        let mut warned = finding(Verdict::Halt, "warned");
        warned.enforced = false;
        let decision = Decision::merge(vec![warned]);
        assert_eq!((decision.verdict, decision.code, decision.reason), (Verdict::Allow, None, None));
        assert_eq!(decision.findings.len(), 1);
    }
}
