//! Puts the home directory where a definition's path patterns begin with `~/`. Where home is, the runtime says.

use crate::definition::Model;
use crate::definition::model::{Guard, KeptRule, Matcher, Policy};

/// Whether any path pattern of a definition begins with `~`: most definitions have none and need no copy.
pub(crate) fn mentioned(model: &Model) -> bool {
    let mut policies = model.policies.iter().chain(model.sections.iter().flat_map(|section| &section.policies));
    model.own.allow.iter().any(below_home)
        || model.steps.iter().any(|step| in_matcher(&step.matcher))
        || policies.any(|policy| policy.when.as_deref().is_some_and(in_matcher) || in_guard(&policy.guard))
}

fn in_guard(guard: &Guard) -> bool {
    match guard {
        Guard::Paths(paths) => paths.allow.iter().chain(&paths.protect).any(below_home),
        Guard::Rule(rule) => in_rule(rule),
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Rego(_) => false,
    }
}

fn in_rule(rule: &KeptRule) -> bool {
    rule.summary().map_or_else(|| in_matcher(&rule.matcher), |summary| summary.mentions_home)
}

pub(crate) fn in_matcher(matcher: &Matcher) -> bool {
    let mut inner = matcher.all.iter().chain(&matcher.any).chain(matcher.not.as_deref());
    matcher.path.iter().any(below_home) || inner.any(in_matcher)
}

fn below_home(pattern: impl AsRef<str>) -> bool {
    pattern.as_ref().strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Replaces a leading `~` in every path pattern of a definition.
pub(crate) fn put(model: &mut Model, home: &str) {
    model.own.allow.iter_mut().for_each(|pattern| place(pattern, home));
    model.steps.iter_mut().for_each(|step| matcher(&mut step.matcher, home));
    let of_sections = model.sections.iter_mut().flat_map(|section| &mut section.policies);
    model.policies.iter_mut().chain(of_sections).for_each(|policy| put_in(policy, home));
}

/// The same for a single policy.
pub(crate) fn put_in(policy: &mut Policy, home: &str) {
    policy.when.iter_mut().for_each(|when| matcher(when, home));
    match &mut policy.guard {
        Guard::Paths(paths) => {
            paths.allow.iter_mut().chain(&mut paths.protect).for_each(|pattern| place(pattern, home));
        }
        Guard::Rule(rule) if in_rule(rule) => rule.change(|rule| matcher(&mut rule.matcher, home)),
        Guard::Rule(_) | Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Rego(_) => {}
    }
}

fn matcher(each: &mut Matcher, home: &str) {
    each.path.iter_mut().for_each(|pattern| place(pattern, home));
    let inner = each.all.iter_mut().chain(&mut each.any).chain(each.not.as_deref_mut());
    inner.for_each(|part| matcher(part, home));
}

fn place(pattern: &mut String, home: &str) {
    if pattern == "~" {
        *pattern = escaped(home);
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        *pattern = format!("{}/{rest}", escaped(home));
    }
}

/// A directory's name as a pattern that matches only itself.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|c| if "*?[]{}\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_noticed_wherever_one_may_stand() {
        for text in [
            r#"{jackline: 1, self: {allow: ["~/a"]}}"#,
            r#"{jackline: 1, self: {allow: ["~"]}}"#,
            r#"{jackline: 1, steps: {s: {path: "~/a"}}}"#,
            r#"{jackline: 1, policies: [{paths: {allow: ["/x", "~/a"]}}]}"#,
            r#"{jackline: 1, policies: [{paths: {protect: ["~/a"]}}]}"#,
            r#"{jackline: 1, policies: [{rule: {not: {path: "~/a"}, reason: r}}]}"#,
            r#"{jackline: 1, policies: [{rule: {any: [{all: [{path: "~/a"}]}], reason: r}}]}"#,
        ] {
            let model = |text: &str| crate::definition::parse(text, &[]).unwrap().model;
            assert!(mentioned(&model(text)), "{text}");
            assert!(!mentioned(&model(&text.replace('~', "/x"))), "{text}");
            let mut placed = model(text);
            put(&mut placed, "/no/home");
            assert!(!mentioned(&placed), "{text}");
        }
    }

    #[test]
    fn every_pattern_of_a_path_is_placed() {
        let text = r#"{jackline: 1, self: {allow: ["~/a"]}, policies: [
            {paths: {allow: ["~/b/**", "/c"], protect: ["~/d", "e~/f"]}},
            {rule: {any: [{path: ["~/g", "~"]}], reason: r}}]}"#;
        let mut model = crate::definition::parse(text, &[]).unwrap().model;
        put(&mut model, "/no/h*me");
        let shown = format!("{model:?}");
        for placed in
            ["/no/h\\\\*me/a", "/no/h\\\\*me/b/**", "/no/h\\\\*me/d", "e~/f", "/no/h\\\\*me/g", "/no/h\\\\*me"]
        {
            assert!(shown.contains(&format!("\"{placed}\"")), "{placed} in {shown}");
        }
    }
}
