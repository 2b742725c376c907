//! The guards: each a file with the same pair of functions, `needs` (which facts?) and `judge` (what is found?).
//!
//! A guard is a pure function of what it is given; it neither remembers nor looks. All of them speak, none cuts
//! another short, in the order of [`judge`].

pub(crate) mod budget;
pub(crate) mod expanded;
pub(crate) mod halted;
pub(crate) mod meeting;
mod native_todo;
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

use std::cell::OnceCell;

use crate::call::{Signature, View, Views};
use crate::code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::{Enforce, Guard, OnFault, Policy, Section};
use crate::event::Event;
use crate::hosts;
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
    /// The call as it is seen where no layer is asked.
    pub(crate) view: &'a View<'a>,
    /// The call as each layer sees it.
    pub(crate) views: &'a Views<'a>,
    pub(crate) signature: &'a Signature,
    pub(crate) facts: &'a Facts,
}

impl<'a> Context<'a> {
    /// The call as a layer sees it by itself: what it earns it earns by that.
    pub(crate) fn subject(&self, layer: &'a Layer) -> Subject<'a> {
        let view = self.views.of(self.stack, layer);
        Subject { layer, session: self.session, event: self.event, view, facts: self.facts }
    }

    /// That, and the call as others declare it: what they add is held against the layer's policies as well.
    fn subjects(&self, layer: &'a Layer) -> impl Iterator<Item = Subject<'a>> + use<'a> {
        let own = self.subject(layer);
        let others = self.views.declared_by_others(own.view);
        std::iter::once(own).chain(others.map(move |view| Subject { view, ..own }))
    }

    /// The same call once for each way in which it is seen.
    fn seen(&self) -> impl Iterator<Item = Self> + use<'a> {
        let context = *self;
        self.views.all().map(move |view| Self { view, ..context })
    }
}

/// The facts that all guards together still want.
pub(crate) fn needs(context: &Context<'_>) -> Vec<Probe> {
    let mut wanted = self_protection::needs(context);
    wanted.extend(context.seen().skip(1).flat_map(|context| self_protection::needs(&context)));
    wanted.extend(schema::needs(context));
    for layer in &context.stack.layers {
        for subject in context.subjects(layer) {
            wanted.extend(subject.steps_need());
            wanted.extend(subject.rules_need());
            for (_, policy) in judging(context, &subject) {
                wanted.extend(policy.when.iter().flat_map(|when| subject.needs(when)));
                wanted.extend(policy_needs(policy, &subject));
            }
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
    for guard in [unknown_tool::judge, schema::judge, budget::judge] {
        findings.extend(guard(context));
    }
    for guard in [self_protection::judge, shell_text::judge] {
        findings.extend(context.seen().flat_map(|context| guard(&context)));
    }
    if served::speaks(context) {
        consulted.push(served::GUARD.to_owned());
        findings.extend(served::judge(context));
    }
    judge_policies(context, &mut findings, &mut consulted);
    for (name, found) in own_policy::judge(context) {
        consulted.push(name);
        findings.extend(found);
    }
    findings.extend(context.seen().filter_map(|context| self_protection::judge_unsaid(&context)));
    consulted.push("loop".to_owned());
    findings.extend(repeat::judge(context));
    if overriding::speaks(context) {
        consulted.push(overriding::GUARD.to_owned());
        findings.extend(overriding::judge(context));
    }
    if hosts::ends_by(context.event.host.as_deref(), &context.view.call.tool) {
        findings.retain(|finding| !is_about_the_run(&finding.guard));
    }
    if !context.views.agree() {
        once(&mut findings);
        once(&mut consulted);
    }
    (findings, consulted)
}

/// What is found in two views of a call is told once.
fn once<T: PartialEq>(told: &mut Vec<T>) {
    let mut kept: Vec<T> = Vec::with_capacity(told.len());
    for item in told.drain(..) {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    *told = kept;
}

/// What the policies of all layers find.
fn judge_policies(context: &Context<'_>, findings: &mut Vec<Finding>, consulted: &mut Vec<String>) {
    let shared = OnceCell::new();
    for layer in &context.stack.layers {
        // A pack is named as one: its policies are many, and every record lists who was asked.
        consulted.extend(layer.pack().map(|pack| format!("pack {}", pack.name)));
        for subject in context.subjects(layer) {
            let own = OnceCell::new();
            let cell = if std::ptr::eq(subject.view, context.view) { &shared } else { &own };
            let carried = || cell.get_or_init(|| Carried::by(subject.view, context.facts));
            for (_, policy) in judging(context, &subject) {
                consulted.extend((!layer.is_pack()).then(|| policy.name.clone()));
                if !matches!(&policy.guard, Guard::Rule(settings) if !rule::concerns(settings, carried())) {
                    findings.extend(judge_policy(policy, &subject));
                }
            }
            if layer.is_compiled() {
                findings.extend(layer.rules_about(carried()).flat_map(|policy| judge_policy(policy, &subject)));
            }
        }
    }
}

/// What guards find in a call that was judged before it came here: what only this place knows.
pub(crate) fn judge_again(context: &Context<'_>) -> (Vec<Finding>, Vec<String>) {
    let mut findings = halted::judge(context);
    for guard in [unknown_tool::judge, schema::judge, served::judge] {
        findings.extend(guard(context));
    }
    (findings, ["unknown_tool", "schema", served::GUARD].map(str::to_owned).to_vec())
}

/// What guards find in a call that goes on: all that a new one is held against, but for what counts calls. It was counted
/// when it began.
pub(crate) fn judge_on(context: &Context<'_>) -> (Vec<Finding>, Vec<String>) {
    let counts = |finding: &Finding| finding.code == code::BUDGET_STEPS || counts_calls(&finding.guard);
    let (mut findings, mut consulted) = judge(context);
    findings.retain(|finding| !counts(finding));
    consulted.retain(|guard| !counts_calls(guard));
    (findings, consulted)
}

/// Whether a guard judges by how many calls there were.
fn counts_calls(guard: &str) -> bool {
    [repeat::GUARD, overriding::GUARD].contains(&guard)
}

/// Whether a guard speaks of how an agent goes on (how much, how often, in which turn) and not of what a call is about.
pub(crate) fn is_about_the_run(guard: &str) -> bool {
    [halted::GUARD, budget::GUARD, repeat::GUARD, overriding::GUARD].contains(&guard)
}

/// Whether a guard speaks of the tool, what its server says of it and what its arguments are like.
pub(crate) fn is_about_the_tool(guard: &str) -> bool {
    [unknown_tool::GUARD, schema::GUARD, served::GUARD].contains(&guard)
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

/// The same, for a view of the call that may be another's: what is done or read counts by a layer's own view, so it is
/// not asked for by any other.
fn judging<'a>(context: &Context<'a>, subject: &Subject<'a>) -> Vec<(Option<&'a Section>, &'a Policy)> {
    let mut policies = applying(subject);
    if !std::ptr::eq(subject.view, context.views.of(context.stack, subject.layer)) {
        policies.retain(|(_, policy)| !matches!(policy.guard, Guard::Sequence(_) | Guard::ReadBeforeWrite(_)));
    }
    policies
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
