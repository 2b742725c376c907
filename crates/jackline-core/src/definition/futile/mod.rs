//! Conditions that can never hold: a rule that never fires protects nothing, and its owner should know.
//!
//! Only what is certain is told. A rule counts what *may* match (an argument of the wrong type, for instance), so less
//! is certain than one might think.

mod arguments;
mod tools;

use super::compare::wider;
use super::model::{ArgMatcher, Enforce, Guard, Matcher, Model, Policy, Range, RuleVerdict, Section, SessionMatcher};
use tools::Tools;

/// Conditions of one kind that are held against one another; a person writes two or three.
const PAIRED_MAX: usize = 64;

/// Matchers that must hold together, with all that they are made of.
type Together<'a> = Vec<&'a Matcher>;

/// Why the matchers can never hold together; `None` where they may.
pub(super) fn never(model: &Model, matchers: &[&Matcher]) -> Option<String> {
    let mut parts: Together<'_> = Vec::new();
    matchers.iter().for_each(|matcher| flatten(matcher, &mut parts));
    names(&parts)
        .or_else(|| parts.iter().find_map(|part| session(part.session.as_ref()?)))
        .or_else(|| counts(&parts))
        .or_else(|| arguments::never(&arguments_of(&parts)))
        .or_else(|| Tools { model }.never(&parts))
        .or_else(|| parts.iter().find_map(|part| nested(model, part)))
}

/// What a policy can never be about: its section, its `when` and a rule's condition must hold together.
pub(super) fn policy(model: &Model, section: Option<&Section>, policy: &Policy) -> Option<String> {
    let section = section.map(|section| Matcher { tool: section.tools.clone(), ..Matcher::default() });
    let rule = match &policy.guard {
        Guard::Rule(rule) => Some(rule.matcher.clone()),
        Guard::Rego(rego) => Some(Matcher { tool: rego.tool.clone(), ..Matcher::default() }),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) => None,
    };
    let together: Together<'_> = section.iter().chain(policy.when.as_deref()).chain(&rule).collect();
    never(model, &together)
}

/// A policy before this one that halts whatever it is about, so that it never has a say.
pub(super) fn halted_before<'a>(before: &[(Option<&'a Section>, &'a Policy)], policy: &Policy) -> Option<&'a str> {
    let Guard::Rule(rule) = &policy.guard else { return None };
    // What it demands of the agent counts also where something else halts it.
    if rule.overriding.is_some() {
        return None;
    }
    let halts = |(section, earlier): &&(Option<&Section>, &Policy)| match &earlier.guard {
        Guard::Rule(halt) => {
            section.is_none()
                && halt.verdict == Some(RuleVerdict::Halt)
                && earlier.enforce == Enforce::Deny
                && earlier.when.as_ref().is_none_or(|when| policy.when.as_ref() == Some(when))
                && wider(&rule.matcher, &halt.matcher)
        }
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => false,
    };
    before.iter().find(halts).map(|(_, earlier)| earlier.name.as_str())
}

/// Recursion is bounded by the depth of matchers, which is checked before.
fn flatten<'a>(matcher: &'a Matcher, into: &mut Together<'a>) {
    into.push(matcher);
    matcher.all.iter().for_each(|part| flatten(part, into));
}

fn arguments_of<'a>(parts: &[&'a Matcher]) -> Vec<&'a (String, ArgMatcher)> {
    parts.iter().flat_map(|part| &part.args).collect()
}

/// `any` of which none can hold, and `not` of what always holds.
fn nested(model: &Model, part: &Matcher) -> Option<String> {
    if !part.any.is_empty() && part.any.iter().all(|choice| never(model, &[choice]).is_some()) {
        return Some("none of its `any` can ever hold".to_owned());
    }
    let not = part.not.as_deref()?;
    always(model, not).then(|| "its `not` excludes every call".to_owned())
}

/// Whether every call surely matches.
fn always(model: &Model, matcher: &Matcher) -> bool {
    let Matcher { tool, command, path, args, session, agent, host, all, any, not, access: _, opaque } = matcher;
    let unconditional = command.is_none() && path.is_empty() && args.is_empty() && session.is_none() && !*opaque;
    unconditional
        && agent.is_none()
        && host.is_none()
        && (tool.is_empty() || tool.iter().any(|name| name == "*" || name == "**"))
        && all.iter().all(|part| always(model, part))
        && (any.is_empty() || any.iter().any(|part| always(model, part)))
        && not.as_ref().is_none_or(|not| never(model, &[not]).is_some())
}

/// Two agents or two hosts at once.
fn names(parts: &[&Matcher]) -> Option<String> {
    let different = |first: &str, second: &str| match (first, second) {
        ("sub", "main") | ("main", "sub") => true,
        ("sub", _) | (_, "sub") => false,
        (first, second) => first != second,
    };
    let agents: Vec<&str> = parts.iter().filter_map(|part| part.agent.as_deref()).collect();
    let hosts: Vec<&str> = parts.iter().filter_map(|part| part.host.as_deref()).collect();
    let agent = pair(&agents, different).map(|(a, b)| format!("no agent is both `{a}` and `{b}`"));
    agent.or_else(|| pair(&hosts, |a, b| a != b).map(|(a, b)| format!("no host is both `{a}` and `{b}`")))
}

/// The first two of a list that cannot be together; only its beginning is looked at.
fn pair<'a, T: ?Sized>(all: &[&'a T], apart: impl Fn(&T, &T) -> bool) -> Option<(&'a T, &'a T)> {
    let mut rest = all.get(..PAIRED_MAX).unwrap_or(all);
    while let [first, others @ ..] = rest {
        if let Some(second) = others.iter().find(|second| apart(first, second)) {
            return Some((first, second));
        }
        rest = others;
    }
    None
}

fn session(wanted: &SessionMatcher) -> Option<String> {
    let both = wanted.done.iter().find(|name| wanted.not_done.contains(name))?;
    Some(format!("`{both}` cannot be both done and not done"))
}

/// Counts that no session has, all conditions on one count together.
fn counts(parts: &[&Matcher]) -> Option<String> {
    let sessions = || parts.iter().filter_map(|part| part.session.as_ref());
    let calls: Vec<Range> = sessions().filter_map(|session| session.calls).collect();
    let written: Vec<Range> = sessions().filter_map(|session| session.written).collect();
    let minutes: Vec<Range> = sessions().filter_map(|session| session.minutes).collect();
    let empty = |name: &str, ranges: &[Range], whole: bool| {
        is_empty(ranges, whole).then(|| format!("no session ever has such a number of `{name}`"))
    };
    empty("calls", &calls, true)
        .or_else(|| empty("written", &written, true))
        .or_else(|| empty("minutes", &minutes, false))
}

/// Whether no number (no whole number from zero on) lies in all of them. A range that is empty by itself is told of
/// where it stands.
fn is_empty(ranges: &[Range], whole: bool) -> bool {
    let above = ranges.iter().filter_map(|range| range.gt).fold(f64::NEG_INFINITY, f64::max);
    let below = ranges.iter().filter_map(|range| range.lt).fold(f64::INFINITY, f64::min);
    let least = if above < 0.0 { 0.0 } else { above.floor() + 1.0 };
    let told = ranges.iter().any(|range| matches!((range.gt, range.lt), (Some(gt), Some(lt)) if gt >= lt));
    !told && (above >= below || whole && least >= below)
}

#[cfg(test)]
mod tests;
