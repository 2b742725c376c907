//! What is known of a rule without looking at it.

use serde::{Deserialize, Serialize};

use super::{Carried, Cue, demanded};
use crate::definition::Kind;
use crate::definition::model::{Guard, Model, Policy, Rule};
use crate::matcher::kinds_looked_up;
use crate::{stack, tilde};

/// What a rule asks of a call, and what else it is looked at for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// It matches only a call that carries one of these.
    pub(crate) cues: Vec<Cue>,
    /// The kinds of call, a bit for each, whose paths it wants to be looked up.
    pub(crate) kinds: u16,
    pub(crate) looks_inside: bool,
    pub(crate) mentions_home: bool,
    /// It puts an override.
    pub(crate) overrides: bool,
}

impl Summary {
    fn of(rule: &Rule, model: &Model) -> Self {
        let steps = model.steps.as_slice();
        Self {
            cues: demanded(&rule.matcher, steps),
            kinds: kinds_looked_up(&rule.matcher, steps).into_iter().fold(0, |bits, kind| bits | bit(kind)),
            looks_inside: stack::rule_looks_inside(model, rule),
            mentions_home: tilde::in_matcher(&rule.matcher),
            overrides: rule.overriding.is_some(),
        }
    }

    /// Whether the rule may match.
    pub(crate) fn concerns(&self, carried: &Carried) -> bool {
        self.cues.iter().any(|cue| carried.has(*cue))
    }

    /// Whether the rule wants to know where the paths of such a call lead.
    pub(crate) const fn looks_up(&self, kind: Kind) -> bool {
        self.kinds & bit(kind) != 0
    }
}

/// A kind's own bit.
pub(crate) const fn bit(kind: Kind) -> u16 {
    1 << kind as u16
}

/// Sums up every rule of a definition, whose steps and tools stay as they are from now on.
pub(crate) fn sum_up(model: &mut Model) {
    let of_sections = model.sections.iter().flat_map(|section| &section.policies);
    let of_rule = |policy: &Policy| match &policy.guard {
        Guard::Rule(rule) => Some(Summary::of(rule, model)),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => None,
    };
    let summaries: Vec<_> = model.policies.iter().chain(of_sections).map(of_rule).collect();
    let of_sections = model.sections.iter_mut().flat_map(|section| &mut section.policies);
    for (policy, summary) in model.policies.iter_mut().chain(of_sections).zip(summaries) {
        if let (Guard::Rule(rule), Some(summary)) = (&mut policy.guard, summary) {
            rule.sum_up(summary);
        }
    }
}
