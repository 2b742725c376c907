//! Conditions of the owner's own: a matcher and what follows.

use crate::code::Code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::{KeptRule, Rule, RuleVerdict};
use crate::index::Carried;
use crate::matcher::Subject;
use crate::probe::Probe;

pub(crate) fn needs(settings: &KeptRule, subject: &Subject<'_>) -> Vec<Probe> {
    match settings.summary() {
        Some(summary) if summary.looks_up(subject.view.kind) => subject.paths_need(),
        Some(_) => Vec::new(),
        None => subject.needs(&settings.matcher),
    }
}

/// Whether the rule has to be looked at.
pub(crate) fn concerns(settings: &KeptRule, carried: &Carried) -> bool {
    settings.summary().is_none_or(|summary| summary.concerns(carried))
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
