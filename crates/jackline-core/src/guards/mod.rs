//! The guards: each a file with the same pair of functions, `needs` (which facts?) and `judge` (what is found?).
//!
//! A guard is a pure function of what it is given; it neither remembers nor looks. All of them speak, none cuts
//! another short, in the order of [`judge`].

pub(crate) mod budget;
pub(crate) mod halted;
pub(crate) mod native_todo;
pub(crate) mod overriding;
pub(crate) mod own_policy;
pub(crate) mod paths;
pub(crate) mod read_before_write;
pub(crate) mod rego;
pub(crate) mod repeat;
pub(crate) mod rule;
pub(crate) mod schema;
pub(crate) mod self_protection;
pub(crate) mod sequence;
pub(crate) mod served;
pub(crate) mod shell_text;
pub(crate) mod unknown_tool;

use std::cell::LazyCell;

use crate::call::{Signature, View};
use crate::decision::{Finding, Verdict};
use crate::definition::model::{Enforce, Guard, OnFault, Policy, Section};
use crate::event::Event;
use crate::index::Carried;
use crate::matcher::Subject;
use crate::probe::{Facts, Probe};
use crate::session::{Agent, Session};
use crate::stack::{Layer, Stack};

/// What every guard is given about a requested call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) session: &'a Session,
    pub(crate) agent: &'a Agent,
    pub(crate) event: &'a Event,
    pub(crate) view: &'a View<'a>,
    pub(crate) signature: &'a Signature,
    pub(crate) facts: &'a Facts,
}

impl<'a> Context<'a> {
    pub(crate) fn subject(&self, layer: &'a Layer) -> Subject<'a> {
        Subject { layer, session: self.session, event: self.event, view: self.view, facts: self.facts }
    }
}

/// The facts that all guards together still want.
pub(crate) fn needs(context: &Context<'_>) -> Vec<Probe> {
    let mut wanted = self_protection::needs(context);
    wanted.extend(schema::needs(context));
    for layer in &context.stack.layers {
        let subject = context.subject(layer);
        wanted.extend(subject.steps_need());
        wanted.extend(subject.rules_need());
        for (_, policy) in applying(&subject) {
            wanted.extend(policy.when.iter().flat_map(|when| subject.needs(when)));
            wanted.extend(policy_needs(policy, &subject));
        }
    }
    wanted.extend(own_policy::needs(context));
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// What all guards find, in their order; and the names of those who were asked.
pub(crate) fn judge(context: &Context<'_>) -> (Vec<Finding>, Vec<String>) {
    let mut findings = halted::judge(context);
    findings.extend(native_todo::judge(context));
    let mut consulted: Vec<String> =
        ["unknown_tool", "schema", "budget", "self", "shell"].into_iter().map(str::to_owned).collect();
    for guard in [unknown_tool::judge, schema::judge, budget::judge, self_protection::judge, shell_text::judge] {
        findings.extend(guard(context));
    }
    if served::speaks(context) {
        consulted.push(served::GUARD.to_owned());
        findings.extend(served::judge(context));
    }
    let carried = LazyCell::new(|| Carried::by(context.view, context.facts));
    for layer in &context.stack.layers {
        let subject = context.subject(layer);
        // A pack is named as one: its policies are many, and every record lists who was asked.
        consulted.extend(layer.pack().map(|pack| format!("pack {}", pack.name)));
        for (_, policy) in applying(&subject) {
            consulted.extend((!layer.is_pack()).then(|| policy.name.clone()));
            if !matches!(&policy.guard, Guard::Rule(settings) if !rule::concerns(settings, &carried)) {
                findings.extend(judge_policy(policy, &subject));
            }
        }
        if layer.is_compiled() {
            findings.extend(layer.rules_about(&carried).flat_map(|policy| judge_policy(policy, &subject)));
        }
    }
    for (name, found) in own_policy::judge(context) {
        consulted.push(name);
        findings.extend(found);
    }
    findings.extend(self_protection::judge_unsaid(context));
    consulted.push("loop".to_owned());
    findings.extend(repeat::judge(context));
    if overriding::speaks(context) {
        consulted.push(overriding::GUARD.to_owned());
        findings.extend(overriding::judge(context));
    }
    (findings, consulted)
}

/// What guards find in a call that was judged before it came here: what only this place knows.
pub(crate) fn judge_again(context: &Context<'_>) -> (Vec<Finding>, Vec<String>) {
    let mut findings = halted::judge(context);
    for guard in [unknown_tool::judge, schema::judge, served::judge] {
        findings.extend(guard(context));
    }
    (findings, ["unknown_tool", "schema", served::GUARD].map(str::to_owned).to_vec())
}

/// What guards find in a call that the host refused by itself: only what is about the agent, not about the call.
pub(crate) fn judge_unasked(context: &Context<'_>) -> (Vec<Finding>, Vec<String>) {
    let mut findings = halted::judge(context);
    for guard in [unknown_tool::judge, budget::judge, repeat::judge] {
        findings.extend(guard(context));
    }
    (findings, ["unknown_tool", "budget", "loop"].map(str::to_owned).to_vec())
}

/// The policies of a layer that judge this call: those of its sections first, then the definition's. Those of a
/// compiled pack come after them.
fn applying<'a>(subject: &Subject<'a>) -> Vec<(Option<&'a Section>, &'a Policy)> {
    let in_section = |section: &Section| section.tools.iter().any(|name| subject.is_named(name, subject.restricting()));
    let layer: &'a Layer = subject.layer;
    layer
        .declared()
        .filter(|(section, policy)| policy.enforce != Enforce::Off && section.is_none_or(in_section))
        .collect()
}

fn policy_needs(policy: &Policy, subject: &Subject<'_>) -> Vec<Probe> {
    match &policy.guard {
        Guard::Sequence(settings) => sequence::needs(settings, subject),
        Guard::ReadBeforeWrite(settings) => read_before_write::needs(settings, subject),
        Guard::Paths(settings) => paths::needs(settings, subject),
        Guard::Rule(settings) => rule::needs(settings, subject),
        Guard::Rego(settings) => rego::needs(policy, settings, subject),
    }
}

fn judge_policy(policy: &Policy, subject: &Subject<'_>) -> Vec<Finding> {
    if policy.when.as_ref().is_some_and(|when| !subject.matches(when, subject.restricting())) {
        return Vec::new();
    }
    let found = match &policy.guard {
        Guard::Sequence(settings) => sequence::judge(settings, subject),
        Guard::ReadBeforeWrite(settings) => read_before_write::judge(settings, subject),
        Guard::Paths(settings) => paths::judge(settings, subject),
        Guard::Rule(settings) => rule::judge(settings, &policy.name, subject),
        Guard::Rego(settings) => rego::judge(settings, subject),
    };
    found.into_iter().filter_map(|finding| enforced(finding, policy, subject.layer)).collect()
}

/// A guard's finding as its policy means it: named, softened to `ask`, or only recorded.
fn enforced(mut finding: Finding, policy: &Policy, layer: &Layer) -> Option<Finding> {
    if finding.code.is_fault() && policy.on_fault == OnFault::Allow {
        finding.enforced = false;
    }
    finding.policy.clone_from(&policy.name);
    match policy.enforce {
        Enforce::Deny => {}
        Enforce::Ask => finding.verdict = finding.verdict.min(Verdict::Ask),
        Enforce::Warn => finding.enforced = false,
        Enforce::Off => return None,
    }
    Some(observed(finding, layer))
}

/// A finding of a layer that may only observe.
pub(crate) fn observed(mut finding: Finding, layer: &Layer) -> Finding {
    if layer.observes() {
        finding.enforced = false;
    }
    finding
}
