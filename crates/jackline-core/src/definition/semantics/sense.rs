//! Says which steps no call can be, and which policies never fire: fine in form, and surely not what was meant.

use super::super::futile;
use super::super::model::{Enforce, Model, Policy, Section};
use super::super::place::At;
use super::{Check, clip};

impl Check<'_> {
    /// Says which steps no call can be and which policies never fire.
    pub(super) fn futile(&mut self, model: &Model) {
        let root = At::Root;
        let steps = root.key("steps");
        for step in &model.steps {
            if let Some(why) = futile::never(model, &[&step.matcher]) {
                let message = format!("step {:?}: no call can ever be one: {why}", clip(&step.name));
                self.warn(
                    message,
                    Some("change its conditions, or take the step out".to_owned()),
                    &steps.name(&step.name),
                );
            }
        }
        let mut before: Vec<(Option<&Section>, &Policy)> = Vec::new();
        let sections = root.key("sections");
        for (index, section) in model.sections.iter().enumerate() {
            let at = sections.item(index);
            self.futile_policies(model, (Some(section), &section.policies), &at.key("policies"), &mut before);
        }
        self.futile_policies(model, (None, &model.policies), &root.key("policies"), &mut before);
    }

    fn futile_policies<'m>(
        &mut self,
        model: &Model,
        (section, policies): (Option<&'m Section>, &'m [Policy]),
        at: &At<'_>,
        before: &mut Vec<(Option<&'m Section>, &'m Policy)>,
    ) {
        for (index, policy) in policies.iter().enumerate().filter(|(_, policy)| policy.enforce != Enforce::Off) {
            let item = at.item(index);
            self.owner = format!("policy {:?}: ", clip(&policy.name));
            if let Some(why) = futile::policy(model, section, policy) {
                let help = "change its conditions, or take the policy out".to_owned();
                self.warn(format!("it can never fire: {why}"), Some(help), &item.key(policy.guard.name()));
            } else if let Some(halt) = futile::halted_before(before, policy) {
                let message = format!("it never has a say: policy {:?} before it halts every such call", clip(halt));
                self.warn(message, Some("put it first, or take it out".to_owned()), &item.key(policy.guard.name()));
            }
            self.twin(model, (section, policy), before, &item);
            before.push((section, policy));
        }
        self.owner.clear();
    }

    /// A policy that says what another one said, or is called like one of a pack.
    fn twin(
        &mut self,
        model: &Model,
        (section, policy): (Option<&Section>, &Policy),
        before: &[(Option<&Section>, &Policy)],
        at: &At<'_>,
    ) {
        let same = |(of, other): &&(Option<&Section>, &Policy)| {
            of.map(|of| &of.tools) == section.map(|section| &section.tools)
                && (&other.guard, &other.when, other.enforce) == (&policy.guard, &policy.when, policy.enforce)
        };
        if let Some((_, other)) = before.iter().find(same) {
            let message = format!("it says what policy {:?} says", clip(&other.name));
            self.warn(message, Some("take one of them out".to_owned()), at);
        }
        let used = |pack: &&str| model.packs.iter().any(|used| used.pack == *pack);
        let pack = policy.name.split_once('/').map(|(pack, _)| pack).filter(used);
        if let Some(pack) = pack {
            let message = format!("it is called like a policy of the pack `{pack}`");
            self.warn(message, Some("rename it: exceptions go by name".to_owned()), &at.key("name"));
        }
    }
}
