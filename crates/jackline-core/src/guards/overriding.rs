//! Typed overrides: calls of a tool are counted, or only one tool is allowed, while a demand stands on an agent.
//!
//! Held against a call are the overrides that stand and those that this very call puts. Each is judged in the words
//! of the definition that put it, and enforced as its policy is now.

use super::{Context, applying, enforced};
use crate::code::{self, Code};
use crate::decision::Finding;
use crate::definition::Kind;
use crate::definition::model::{Enforce, Guard, Policy, Rule};
use crate::matcher::{Purpose, Subject};
use crate::overrides::{By, Demand, Imposed, Override, Owner};
use crate::stack::Layer;

pub(crate) const GUARD: &str = "override";

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for imposed in held(context) {
        for (layer, policy) in sources(context, &imposed) {
            let broken = finding(&imposed, &context.subject(layer)).map(|finding| match policy {
                Some(policy) => enforced(finding, policy, layer),
                None => Some(finding),
            });
            findings.extend(broken.flatten());
        }
    }
    findings
}

/// Whether any override is held against this call.
pub(crate) fn speaks(context: &Context<'_>) -> bool {
    !held(context).is_empty()
}

/// Every override held against this call: those that stand first.
pub(crate) fn held(context: &Context<'_>) -> Vec<Imposed> {
    standing(context).cloned().chain(put(context)).collect()
}

/// Those that stand on the agent and have not run out of time.
pub(crate) fn standing<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Imposed> + use<'a> {
    let now = context.session.now(context.event.at);
    context.agent.overrides.iter().filter(move |imposed| imposed.lasts(now))
}

/// Those that this call puts: its rule matches, and it does not stand already.
pub(crate) fn put(context: &Context<'_>) -> Vec<Imposed> {
    let now = context.session.now(context.event.at);
    let mut put: Vec<Imposed> = Vec::new();
    for layer in &context.stack.layers {
        let subject = context.subject(layer);
        for (policy, _, given) in matching(&subject) {
            let by = By { owner: Owner::of(layer.origin), policy: policy.name.clone() };
            let imposed = Imposed::new(Some(by), given.clone(), now);
            // A trial that showed more would be no trial.
            if imposed.lingers() && policy.enforce == Enforce::Warn {
                continue;
            }
            let same = |known: &Imposed| known.by == imposed.by && known.settings == imposed.settings;
            if !standing(context).any(same) && !put.iter().any(same) {
                put.push(imposed);
            }
        }
    }
    put
}

/// The rules of a layer that match the call and put an override.
fn matching<'a>(subject: &Subject<'a>) -> Vec<(&'a Policy, &'a Rule, &'a Override)> {
    let rules = applying(subject).into_iter().filter_map(|(_, policy)| match &policy.guard {
        Guard::Rule(rule) if rule.summary().is_some_and(|summary| !summary.overrides) => None,
        Guard::Rule(rule) => Some((policy, &**rule, rule.overriding.as_ref()?)),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => None,
    });
    let when = |policy: &Policy| policy.when.as_ref().is_none_or(|when| subject.matches(when, Purpose::Restrict));
    rules.filter(|(policy, rule, _)| when(policy) && subject.matches(&rule.matcher, Purpose::Restrict)).collect()
}

/// The definitions whose words an override is in, with the policy that put it where it is still there.
fn sources<'a>(context: &Context<'a>, imposed: &Imposed) -> Vec<(&'a Layer, Option<&'a Policy>)> {
    let face = || context.stack.face().map(|layer| (layer, None)).into_iter().collect();
    let Some(by) = &imposed.by else { return face() };
    let own = |layer: &&'a Layer| Owner::of(layer.origin) == by.owner;
    let same = |policy: &Policy| match &policy.guard {
        Guard::Rule(rule) => policy.name == by.policy && rule.overriding.as_ref() == Some(&imposed.settings),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => false,
    };
    let layers = context.stack.layers.iter().filter(own);
    let found: Vec<_> = layers
        .flat_map(|layer| {
            let policies = layer.policies().map(|(_, policy)| policy).filter(|policy| same(policy));
            policies.map(move |policy| (layer, Some(policy)))
        })
        .collect();
    // Its policy is gone: until it lapses, it is held to the letter.
    if found.is_empty() { face() } else { found }
}

/// Whether a call counts against an override's budget, in the words of any definition that put it.
pub(crate) fn counts(context: &Context<'_>, imposed: &Imposed) -> bool {
    let Demand::ToolBudget { tool, .. } = &imposed.settings.demand else { return false };
    sources(context, imposed).iter().any(|(layer, _)| context.subject(layer).is_named(tool, Purpose::Restrict))
}

/// Whether a call breaks an override, in the words of any definition that put it.
pub(crate) fn breaks(context: &Context<'_>, imposed: &Imposed) -> Option<Code> {
    sources(context, imposed).iter().find_map(|(layer, _)| Some(finding(imposed, &context.subject(layer))?.code))
}

fn finding(imposed: &Imposed, subject: &Subject<'_>) -> Option<Finding> {
    match &imposed.settings.demand {
        Demand::ToolBudget { tool, max_calls } => {
            let spent = imposed.calls >= *max_calls && subject.is_named(tool, Purpose::Restrict);
            let reason = format!("TOOL_BUDGET: '{tool}' may be called {max_calls} times while this stands, and was.");
            let found = Finding::deny(GUARD, code::OVERRIDE_TOOL_BUDGET, reason);
            spent.then(|| found.suggest("use another tool, or stop and ask the person"))
        }
        Demand::ForceAction { tool } => {
            let reason = format!("FORCE_ACTION: only '{tool}' is allowed while this stands.");
            let found = Finding::deny(GUARD, code::OVERRIDE_FORCE_ACTION, reason);
            let found = found.suggest(format!("call '{tool}', and nothing else with it; or stop and ask the person"));
            (!is_forced(tool, subject)).then_some(found)
        }
        Demand::WidenRetrieval { .. } => None,
    }
}

/// Whether the call surely is the one asked for. A shell text that runs more than one command is not: anything could
/// ride along with a step.
fn is_forced(tool: &str, subject: &Subject<'_>) -> bool {
    let alone = || subject.view.reading().is_some_and(|reading| reading.commands.len() == 1);
    let rides = subject.view.kind == Kind::Shell && subject.layer.step(tool).is_some();
    subject.is_named(tool, Purpose::Sure) && (!rides || alone())
}
