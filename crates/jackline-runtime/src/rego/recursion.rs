//! Functions that call themselves, at once or around a corner. Rego forbids them and the engine does not look: it would
//! run out of stack, which ends the process instead of the evaluation.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{blanked, calls};

/// A function that leads back to itself. `rules` are the texts of all rules, heads first.
pub(super) fn find(rules: &[&str]) -> Option<String> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for rule in rules {
        let code = blanked(rule);
        let mut names = calls(&code).map(|(name, _)| name.strip_prefix("data.jackline.").unwrap_or(name).to_owned());
        // Only a function's head looks like a call.
        let head = code.trim_start();
        let Some(name) = names.next().filter(|name| head.starts_with(name.as_str())) else { continue };
        graph.entry(name).or_default().extend(names);
    }
    graph.keys().find(|name| leads_back(&graph, name)).cloned()
}

fn leads_back(graph: &BTreeMap<String, BTreeSet<String>>, start: &str) -> bool {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut waiting: Vec<&str> = vec![start];
    while let Some(name) = waiting.pop() {
        for next in graph.get(name).into_iter().flatten() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &[&str], want: Option<&str>) {
        assert_eq!(find(rules).as_deref(), want, "{rules:?}");
    }

    #[test]
    fn circles_of_functions_are_found() {
        check(&["f(x) := f(x)"], Some("f"));
        check(&["f(x) := y if {\n\ty := data.jackline.f(x)\n}"], Some("f"));
        check(&["deny contains f(1)", "f(x) := g(x)", "g(x) := h(x) + 1", "h(x) := f(x)"], Some("f"));
        check(&["f(x) := 1 if x == 0", "f(x) := f(x - 1) + 1 if x > 0"], Some("f"));
    }

    #[test]
    fn what_leads_nowhere_is_left_alone() {
        check(&["deny contains f(1) if g(f(2))", "f(x) := count(x)", "g(x) := f(f(x))"], None);
        check(&["f(x) := \"f(1)\" # f(2)"], None);
    }
}
