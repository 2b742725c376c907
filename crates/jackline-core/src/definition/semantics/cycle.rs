//! Requirements that run in a circle: none of them could ever be met.

use std::collections::{BTreeMap, BTreeSet};

use super::super::fault::quoted;
use super::super::model::Sequence;

/// Names of a cycle that are told.
const CYCLE_NAMES_MAX: usize = 8;

/// What needs what.
pub(super) type Graph<'a> = BTreeMap<&'a str, Vec<&'a str>>;

pub(super) fn requirements<'a>(sequences: impl IntoIterator<Item = &'a Sequence>) -> Graph<'a> {
    let mut graph = Graph::new();
    for (tool, needs) in sequences.into_iter().flat_map(|sequence| &sequence.requires) {
        graph.entry(tool).or_default().extend(needs.iter().map(String::as_str));
    }
    graph
}

/// The first circle of a graph, in order. Keeps its own stack: a chain may have as many links as a file has values.
pub(super) fn cycle<'a>(graph: &Graph<'a>) -> Option<Vec<&'a str>> {
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in graph.keys() {
        let mut trail: Vec<(&'a str, usize)> = vec![(start, 0)];
        let mut on_trail: BTreeSet<&str> = BTreeSet::from([*start]);
        while let Some((name, next)) = trail.last_mut() {
            let name = *name;
            let needed = if done.contains(name) { None } else { graph.get(name).and_then(|needs| needs.get(*next)) };
            *next += 1;
            match needed {
                Some(needed) if on_trail.contains(needed) => {
                    return Some(trail.iter().map(|(name, _)| *name).skip_while(|name| name != needed).collect());
                }
                Some(needed) => {
                    on_trail.insert(needed);
                    trail.push((needed, 0));
                }
                None => {
                    done.insert(name);
                    on_trail.remove(name);
                    trail.pop();
                }
            }
        }
    }
    None
}

/// A circle as it is told: `a` → `b` → `a`.
pub(super) fn arrows(cycle: &[&str]) -> String {
    let mut names: Vec<String> = cycle.iter().take(CYCLE_NAMES_MAX).map(|name| quoted(name)).collect();
    if cycle.len() > CYCLE_NAMES_MAX {
        names.push("…".to_owned());
    }
    names.extend(cycle.first().map(|name| quoted(name)));
    names.join(" → ")
}
