//! Conditions of the owner's own: a matcher and what follows.

use crate::code::Code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::{Rule, RuleVerdict};
use crate::matcher::Subject;
use crate::probe::Probe;

pub(crate) fn needs(settings: &Rule, subject: &Subject<'_>) -> Vec<Probe> {
    subject.needs(&settings.matcher)
}

pub(crate) fn judge(settings: &Rule, name: &str, subject: &Subject<'_>) -> Vec<Finding> {
    if !subject.matches(&settings.matcher, subject.restricting()) {
        return Vec::new();
    }
    let verdict = match settings.verdict {
        // It only puts its override.
        None => return Vec::new(),
        Some(RuleVerdict::Ask) => Verdict::Ask,
        Some(RuleVerdict::Deny) => Verdict::Deny,
        Some(RuleVerdict::Halt) => Verdict::Halt,
    };
    let mut finding = Finding::deny("rule", Code::rule(name), settings.reason.clone()).verdict(verdict);
    finding.suggestions.clone_from(&settings.suggest);
    vec![finding]
}
