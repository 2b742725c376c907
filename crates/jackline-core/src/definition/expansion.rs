//! How large a definition's matchers are once the steps they name are written out in their places.
//!
//! Steps may name steps, so a small file can mean a matcher of any size; every call would pay for it.

use std::collections::BTreeMap;

use super::model::{Guard, Matcher, Model, Policy};
use super::semantics::MATCHER_DEPTH_MAX;
use crate::matcher::STEP_DEPTH_MAX;

/// Matchers of a definition, steps written out: all of them are tried within a fraction of a millisecond.
pub(super) const MATCHERS_MAX: u64 = 10_000;

/// The number of matchers that a call is held against at most.
pub(super) fn matchers(model: &Model) -> u64 {
    let mut count = Count { steps: BTreeMap::new(), known: BTreeMap::new() };
    count.steps.extend(model.steps.iter().map(|step| (step.name.as_str(), &step.matcher)));
    let steps = sum(model.steps.iter().map(|step| count.named(&step.name, STEP_DEPTH_MAX)));
    let sections = sum(model.sections.iter().flat_map(|section| &section.tools).map(|name| count.whole(name)));
    let policies = model.sections.iter().flat_map(|section| &section.policies).chain(&model.policies);
    let policies = sum(policies.map(|policy| count.policy(policy)));
    steps.saturating_add(sections).saturating_add(policies)
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

struct Count<'a> {
    steps: BTreeMap<&'a str, &'a Matcher>,
    /// What a step counts when steps are followed so many times.
    known: BTreeMap<(&'a str, u32), u64>,
}

impl<'a> Count<'a> {
    fn policy(&mut self, policy: &'a Policy) -> u64 {
        let when = policy.when.as_ref().map_or(0, |when| self.matcher(when, STEP_DEPTH_MAX, MATCHER_DEPTH_MAX));
        let guard = match &policy.guard {
            Guard::Rule(rule) => {
                let tool = rule.overriding.as_ref().and_then(|given| given.demand.tool());
                let tool = tool.map_or(0, |tool| self.whole(tool));
                self.matcher(&rule.matcher, STEP_DEPTH_MAX, MATCHER_DEPTH_MAX).saturating_add(tool)
            }
            Guard::Sequence(sequence) => sum(sequence.requires.iter().map(|(name, _)| self.whole(name))),
            Guard::Rego(rego) => sum(rego.tool.iter().map(|name| self.whole(name))),
            Guard::Paths(_) | Guard::ReadBeforeWrite(_) => 0,
        };
        when.saturating_add(guard)
    }

    fn whole(&mut self, name: &'a str) -> u64 {
        self.named(name, STEP_DEPTH_MAX)
    }

    /// A name counts one; a step's name counts what the step is made of, too.
    fn named(&mut self, name: &'a str, depth: u32) -> u64 {
        let Some(matcher) = self.steps.get(name).copied().filter(|_| depth > 0) else { return 1 };
        if let Some(known) = self.known.get(&(name, depth)) {
            return *known;
        }
        let count = self.matcher(matcher, depth - 1, MATCHER_DEPTH_MAX).saturating_add(1);
        self.known.insert((name, depth), count);
        count
    }

    fn matcher(&mut self, matcher: &'a Matcher, depth: u32, nested: usize) -> u64 {
        let names = sum(matcher.tool.iter().map(|name| self.named(name, depth)));
        // A deeper one is a fault of its own.
        let Some(nested) = nested.checked_sub(1) else { return names };
        let parts = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
        let parts = sum(parts.map(|part| self.matcher(part, depth, nested)));
        names.saturating_add(parts).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use crate::definition;

    /// Levels of steps, each made of all `width` steps of the next.
    fn ladder(width: usize) -> String {
        let mut text = "jackline: 1\nsteps:\n".to_owned();
        for level in 0..8 {
            for step in 0..width {
                let below: Vec<String> = (0..width).map(|next| format!("s{}x{next}", level + 1)).collect();
                let tool = if level < 7 { below.join(", ") } else { "Bash".to_owned() };
                text.push_str(&format!("  s{level}x{step}: {{ tool: [{tool}] }}\n"));
            }
        }
        text + "policies: [ { rule: { tool: s0x0, reason: r } } ]\n"
    }

    #[track_caller]
    fn check(text: &str, fine: bool) {
        let faults = definition::parse(text, &["Bash"]).err().unwrap_or_default();
        let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
        let too_many = "the definition has more than 10000 matchers once its steps are written out";
        assert_eq!(messages, if fine { vec![] } else { vec![too_many] });
    }

    #[test]
    fn steps_of_steps_of_steps_are_bounded() {
        check(&ladder(1), true);
        check(&ladder(2), true);
        check(&ladder(4), false);
        check(&ladder(40), false);
    }
}
