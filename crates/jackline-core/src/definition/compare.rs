//! What a new definition loosens. Conservative: whatever is not provably at least as strict as before is named.
//!
//! A change that only tightens applies at once; one that is named here waits for the owner.

mod checks;
mod completion;
mod files;
mod rego;
mod schemas;
mod width;

use std::collections::BTreeSet;

use super::bounds;
use super::model::{
    Deadline, Guard, Limits, Loop, Matcher, Mode, Model, Paths, Per, Policy, ReadBeforeWrite, Rule, RuleVerdict,
    Section, Sequence, Steps, Tools, UnknownTools,
};
use super::overriding;
use super::todos;
use super::uses;
use crate::glob;
pub use checks::held_less;
pub(super) use width::wider;

/// Everything in `new` that may allow what `old` did not, as sentence fragments; empty when it only tightens.
#[must_use]
pub fn loosenings(old: &Model, new: &Model) -> Vec<String> {
    let mut found = Found::default();
    found.when(old.agent != new.agent, || "agent changed its identity".to_owned());
    found.when(old.mode == Mode::Enforce && new.mode == Mode::Observe, || "mode became observe".to_owned());
    tools(old, new, &mut found);
    steps(old, new, &mut found);
    policies("", &old.policies, &new.policies, &mut found);
    sections(&old.sections, &new.sections, &mut found);
    repeat(old.repeat.as_ref(), new.repeat.as_ref(), &mut found);
    limits(&old.limits, &new.limits, &mut found);
    found.0.extend(bounds::loosenings("reads", old.reads, new.reads));
    found.0.extend(bounds::loosenings("outputs", old.outputs, new.outputs));
    settings(old, new, &mut found);
    schemas::compare(old, new, &mut found);
    checks::compare(old, new, &mut found);
    completion::compare(old, new, &mut found);
    files::compare(old, new, &mut found);
    found.0.extend(uses::loosenings(&old.packs, &new.packs));
    found.0.extend(todos::loosenings(old, new));
    found.0
}

/// What a narrower definition asks for that a wider one (the user's, the machine's) does not grant.
///
/// Only what it says itself counts: what it leaves out, the wider one still says.
#[must_use]
pub fn attempts(wider: &Model, narrower: &Model) -> Vec<String> {
    let said = &narrower.limits;
    let limits = Limits {
        steps: said.steps.or(wider.limits.steps),
        deadline: said.deadline.or(wider.limits.deadline),
        tokens: said.tokens.or(wider.limits.tokens),
        cost_usd: said.cost_usd.or(wider.limits.cost_usd),
        per: wider.limits.per,
    };
    let tools = Tools { unknown: narrower.tools.unknown.or(wider.tools.unknown), declare: wider.tools.declare.clone() };
    let defaults = Model::default();
    let both = Model {
        mode: narrower.mode,
        limits,
        tools,
        repeat: if narrower.repeat == defaults.repeat { wider.repeat.clone() } else { narrower.repeat.clone() },
        shell: if narrower.shell == defaults.shell { wider.shell.clone() } else { narrower.shell.clone() },
        own: narrower.own.clone(),
        reads: narrower.reads.or(wider.reads),
        outputs: narrower.outputs.or(wider.outputs),
        validation: schemas::said(wider, narrower),
        checks: checks::said(wider, narrower),
        todos: todos::said(wider, narrower),
        ..wider.clone()
    };
    let mut found = Found(loosenings(wider, &both));
    declared_anew(wider, narrower, &mut found);
    found.0
}

/// Tools of which a narrower definition says what a wider one would have to take back something for: that they are
/// known, or another kind and other paths than those that are known or guessed.
fn declared_anew(wider: &Model, narrower: &Model, found: &mut Found) {
    for (name, said) in &narrower.tools.declare {
        let known = crate::tools::lookup(None, name);
        let row = known.or_else(|| crate::tools::guess(name));
        let (kind, path) = match wider.tools.declared(name) {
            Some(wide) => (wide.kind, wide.path.as_slice()),
            None => (row.map(|row| row.kind), [].as_slice()),
        };
        let declared = wider.tools.declared(name).is_some();
        let refused = !declared && known.is_none() && wider.tools.unknown == Some(UnknownTools::Deny);
        let guarded = declared || row.is_some();
        let other_kind = said.kind.is_some_and(|said| kind.is_some_and(|kind| kind != said));
        let other_path = !said.path.is_empty() && said.path != path;
        found.when(refused || guarded && (other_kind || other_path), || {
            format!("tools.declare.{name} counts for the project's own policies only")
        });
    }
}

/// What was found so far.
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn when(&mut self, loosened: bool, text: impl FnOnce() -> String) {
        if loosened {
            self.0.push(text());
        }
    }

    /// Items that were not there before, where more items allow more.
    fn gained(&mut self, what: &str, old: &[String], new: &[String]) {
        for item in new.iter().filter(|item| !old.contains(item)) {
            self.0.push(format!("{what} gained {item:?}"));
        }
    }

    /// Items that are gone, where fewer items allow more.
    fn lost(&mut self, what: &str, old: &[String], new: &[String]) {
        for item in old.iter().filter(|item| !new.contains(item)) {
            self.0.push(format!("{what} lost {item:?}"));
        }
    }
}

fn tools(old: &Model, new: &Model, found: &mut Found) {
    let strictness = |unknown: Option<UnknownTools>| match unknown {
        Some(UnknownTools::Allow) => 0,
        // Left to the surface, which may deny.
        None => 1,
        Some(UnknownTools::Deny) => 2,
    };
    let loosened = strictness(new.tools.unknown) < strictness(old.tools.unknown);
    found.when(loosened, || "tools.unknown loosened".to_owned());
    let (before, after) = (&old.tools.declare, &new.tools.declare);
    // A kind decides which guards look at a tool, and being declared makes a tool known: any change may loosen.
    for (name, declaration) in before {
        match after.get(name) {
            None => found.0.push(format!("tools.declare.{name} was removed")),
            Some(now) => schemas::declared(name, (declaration, old.validation.missing), now, found),
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        found.0.push(format!("tools.declare.{name} was added"));
    }
}

fn steps(old: &Model, new: &Model, found: &mut Found) {
    for step in &old.steps {
        match new.steps.iter().find(|other| other.name == step.name) {
            None => found.0.push(format!("step {:?} was removed", step.name)),
            Some(other) => found.when(other.matcher != step.matcher, || format!("step {:?} changed", step.name)),
        }
    }
    let used = Used::of(old);
    for step in new.steps.iter().filter(|step| !old.steps.iter().any(|other| other.name == step.name)) {
        // A name that meant a tool before means something else now.
        found.when(used.mentions(&step.name), || format!("step {:?} was added under a name in use", step.name));
    }
}

/// The tool and step names a definition uses.
#[derive(Default)]
struct Used<'a>(BTreeSet<&'a str>);

impl<'a> Used<'a> {
    fn of(model: &'a Model) -> Self {
        let mut used = Self::default();
        model.steps.iter().for_each(|step| used.matcher(&step.matcher));
        let inside = model.sections.iter().flat_map(|section| &section.policies);
        model.policies.iter().chain(inside).for_each(|policy| used.policy(policy));
        model.sections.iter().for_each(|section| used.names(&section.tools));
        model.repeat.iter().for_each(|repeat| used.names(&repeat.exempt));
        used.0.extend(model.completion.iter().flat_map(|completion| completion.check.done()));
        let checks = model.todos.require.iter().flat_map(|required| &required.checks);
        used.0.extend(checks.filter_map(|check| check.tool()));
        used
    }

    fn names(&mut self, names: &'a [String]) {
        self.0.extend(names.iter().map(String::as_str));
    }

    fn policy(&mut self, policy: &'a Policy) {
        policy.when.iter().for_each(|when| self.matcher(when));
        match &policy.guard {
            Guard::Sequence(sequence) => sequence.requires.iter().for_each(|(tool, needs)| {
                self.0.insert(tool);
                self.names(needs);
            }),
            Guard::Rule(rule) => {
                self.matcher(&rule.matcher);
                self.0.extend(rule.overriding.as_ref().and_then(|given| given.demand.tool()));
            }
            Guard::Rego(rego) => self.names(&rego.tool),
            Guard::ReadBeforeWrite(_) | Guard::Paths(_) => {}
        }
    }

    /// Recursion is bounded: both ways into a model check the depth of matchers.
    fn matcher(&mut self, matcher: &'a Matcher) {
        self.names(&matcher.tool);
        matcher.session.iter().for_each(|session| {
            self.names(&session.done);
            self.names(&session.not_done);
        });
        let inner = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
        inner.for_each(|inner| self.matcher(inner));
    }

    fn mentions(&self, name: &str) -> bool {
        self.0.contains(name) || self.0.iter().any(|used| glob::is_pattern(used) && glob::text_matches(used, name))
    }
}

/// By name: names are unique in a checked model.
fn policies(place: &str, old: &[Policy], new: &[Policy], found: &mut Found) {
    for policy in old {
        let label = format!("{place}policy {:?}", policy.name);
        match new.iter().find(|other| other.name == policy.name) {
            None => found.0.push(format!("{label} was removed")),
            Some(other) => compare_policy(&label, policy, other, found),
        }
    }
    for policy in new.iter().filter(|policy| !old.iter().any(|other| other.name == policy.name)) {
        let widens = matches!(&policy.guard, Guard::Rule(rule) if overriding::widens(rule));
        found.when(widens, || format!("{place}policy {:?} was added and widens", policy.name));
    }
}

fn compare_policy(label: &str, old: &Policy, new: &Policy, found: &mut Found) {
    found.when(new.enforce > old.enforce, || {
        format!("{label} lowered enforce from {} to {}", old.enforce.name(), new.enforce.name())
    });
    found.when(new.on_fault > old.on_fault, || format!("{label} allows on a fault"));
    match (&old.when, &new.when) {
        (_, None) => {}
        (None, Some(_)) => found.0.push(format!("{label} gained a when")),
        (Some(before), Some(after)) => found.when(!wider(before, after), || format!("{label} changed its when")),
    }
    match (&old.guard, &new.guard) {
        (Guard::Sequence(before), Guard::Sequence(after)) => sequence(label, before, after, found),
        (Guard::ReadBeforeWrite(before), Guard::ReadBeforeWrite(after)) => {
            read_before_write(label, before, after, found);
        }
        (Guard::Paths(before), Guard::Paths(after)) => paths(label, before, after, found),
        (Guard::Rule(before), Guard::Rule(after)) => rule(label, before, after, found),
        (Guard::Rego(before), Guard::Rego(after)) => rego::compare(label, before, after, found),
        _ => found.0.push(format!("{label} changed its guard")),
    }
}

fn sequence(label: &str, old: &Sequence, new: &Sequence, found: &mut Found) {
    found.when(old.fresh && !new.fresh, || format!("{label} is no longer fresh"));
    let needed: BTreeSet<(&str, &str)> = pairs(new).collect();
    for (tool, need) in pairs(old).filter(|pair| !needed.contains(pair)) {
        found.0.push(format!("{label} no longer requires {need:?} before {tool:?}"));
    }
}

fn pairs(sequence: &Sequence) -> impl Iterator<Item = (&str, &str)> {
    sequence.requires.iter().flat_map(|(tool, needs)| needs.iter().map(|need| (tool.as_str(), need.as_str())))
}

fn read_before_write(label: &str, old: &ReadBeforeWrite, new: &ReadBeforeWrite, found: &mut Found) {
    found.when(new.own_writes && !old.own_writes, || format!("{label} counts own writes as reads"));
    found.when(new.stale > old.stale, || format!("{label} allows stale writes"));
}

fn paths(label: &str, old: &Paths, new: &Paths, found: &mut Found) {
    found.when(new.outside > old.outside, || format!("{label}: paths.outside became allow"));
    found.gained(&format!("{label}: paths.allow"), &old.allow, &new.allow);
    found.lost(&format!("{label}: paths.protect"), &old.protect, &new.protect);
    found.when(old.protect_reads && !new.protect_reads, || format!("{label} no longer protects reads"));
}

fn rule(label: &str, old: &Rule, new: &Rule, found: &mut Found) {
    found.when(new.verdict < old.verdict, || {
        let name = |verdict: Option<RuleVerdict>| verdict.map_or("none", RuleVerdict::name);
        format!("{label} lowered its verdict from {} to {}", name(old.verdict), name(new.verdict))
    });
    found.when(!wider(&old.matcher, &new.matcher), || format!("{label} changed what it matches"));
    found.0.extend(overriding::loosenings(label, old, new));
}

fn sections(old: &[Section], new: &[Section], found: &mut Found) {
    for section in old {
        let Some(other) = new.iter().find(|other| other.name == section.name) else {
            found.0.push(format!("section {:?} was removed", section.name));
            continue;
        };
        let label = format!("section {:?}", section.name);
        found.lost(&format!("{label}: tools"), &section.tools, &other.tools);
        policies(&format!("{label}: "), &section.policies, &other.policies, found);
    }
}

fn repeat(old: Option<&Loop>, new: Option<&Loop>, found: &mut Found) {
    let (old, new) = match (old, new) {
        (None, _) => return,
        (Some(_), None) => return found.0.push("loop was switched off".to_owned()),
        (Some(old), Some(new)) => (old, new),
    };
    found.when(new.threshold > old.threshold, || rose("loop.threshold", old.threshold, new.threshold));
    found.when(new.window < old.window, || fell("loop.window", old.window, new.window));
    let (before, after) = (old.override_retries, new.override_retries);
    found.when(after > before, || rose("loop.override_retries", before, after));
    found.when(new.ttl_steps < old.ttl_steps, || fell("loop.ttl_steps", old.ttl_steps, new.ttl_steps));
    found.when(new.progress_aware && !old.progress_aware, || "loop.progress_aware was switched on".to_owned());
    found.when(old.cycles && !new.cycles, || "loop.cycles was switched off".to_owned());
    found.gained("loop.exempt", &old.exempt, &new.exempt);
}

fn rose(what: &str, old: impl std::fmt::Display, new: impl std::fmt::Display) -> String {
    format!("{what} rose from {old} to {new}")
}

fn fell(what: &str, old: impl std::fmt::Display, new: impl std::fmt::Display) -> String {
    format!("{what} fell from {old} to {new}")
}

fn limits(old: &Limits, new: &Limits, found: &mut Found) {
    steps_limit(old.steps, new.steps, found);
    deadline(old.deadline, new.deadline, found);
    limit("limits.tokens", old.tokens, new.tokens, found);
    limit("limits.cost_usd", old.cost_usd, new.cost_usd, found);
    let any = old.steps.is_some() || old.deadline.is_some() || old.tokens.is_some() || old.cost_usd.is_some();
    found.when(any && old.per == Per::Session && new.per == Per::Prompt, || "limits.per became prompt".to_owned());
}

fn limit<T: PartialOrd + std::fmt::Display>(what: &str, old: Option<T>, new: Option<T>, found: &mut Found) {
    match (old, new) {
        (None, _) => {}
        (Some(_), None) => found.0.push(format!("{what} was removed")),
        (Some(old), Some(new)) => {
            // What cannot be compared is not provably lower.
            let lower = matches!(new.partial_cmp(&old), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal));
            found.when(!lower, || rose(what, old, new));
        }
    }
}

fn steps_limit(old: Option<Steps>, new: Option<Steps>, found: &mut Found) {
    limit("limits.steps", old.map(|steps| steps.max), new.map(|steps| steps.max), found);
    let softened = old.is_some_and(|old| !old.soft) && new.is_some_and(|new| new.soft);
    found.when(softened, || "limits.steps became soft".to_owned());
}

fn deadline(old: Option<Deadline>, new: Option<Deadline>, found: &mut Found) {
    let what = "limits.deadline";
    match (old, new) {
        (None, _) => {}
        (Some(_), None) => found.0.push(format!("{what} was removed")),
        (Some(Deadline::After(old)), Some(Deadline::After(new))) => {
            found.when(new > old, || format!("{what} rose from {old} ms to {new} ms"));
        }
        (Some(Deadline::At(old)), Some(Deadline::At(new))) => {
            found.when(new > old, || format!("{what} moved from {old} to {new}"));
        }
        (Some(_), Some(_)) => found.0.push(format!("{what} changed")),
    }
}

fn settings(old: &Model, new: &Model, found: &mut Found) {
    let (before, after) = (old.shell.opaque, new.shell.opaque);
    found.when(after < before, || format!("shell.opaque loosened from {} to {}", before.name(), after.name()));
    found.when(new.shell.computed > old.shell.computed, || "shell.computed became pass".to_owned());
    found.gained("self.allow", &old.own.allow, &new.own.allow);
    found.lost("audit.redact", &old.audit.redact, &new.audit.redact);
    found.when(old.audit.checkpoint && !new.audit.checkpoint, || "audit.checkpoint was switched off".to_owned());
    found.when(new.mcp.changed_tools > old.mcp.changed_tools, || "mcp.changed_tools became report".to_owned());
    found.when(new.store.sync > old.store.sync, || format!("store.sync became {}", new.store.sync.name()));
}

#[cfg(test)]
mod tests;
