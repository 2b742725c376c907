//! Reads a definition: text in, a [`Model`] or all its faults out.
//!
//! `yaml` makes a tree with places, `validate` holds it against the one table in `shape`, `read` makes the model of
//! it, `semantics` asks whether the model makes sense. The table also yields the JSON Schema and the reference page.

mod bounds;
mod builder;
mod compare;
mod expansion;
pub mod fault;
mod feedback;
pub mod form;
mod futile;
pub mod model;
mod overriding;
mod place;
mod read;
mod reference;
mod schema;
mod semantics;
mod shape;
#[cfg(test)]
mod tests;
mod todos;
mod unreadable;
mod uses;
mod validate;
pub mod yaml;

use std::collections::BTreeMap;

use crate::index;
pub use bounds::{BYTES_BOUND_MAX, Bounds, LINES_BOUND_MAX};
pub use builder::DefinitionBuilder;
pub use compare::{attempts, held_less, loosenings};
pub use fault::Faults;
pub use fault::{Fault, Faulty, Span, render};
pub use model::{Kind, Model, UnknownTools};
pub use read::tree;
pub use reference::{file_policy_markdown, reference_markdown};
pub use schema::{json_schema, schema_of};
pub use semantics::{compile_regex, is_below};
pub use validate::{any_of, flag_meant, found, hold};

/// A definition that can be used, and what its owner may have meant differently.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub model: Model,
    pub warnings: Vec<Fault>,
}

/// Reads `jackline.yaml`. `known_tools` are the names of the hosts' own tools; others must be declared or be steps.
///
/// An `Err` holds every fault in the order of the source, warnings included; at least one is an error.
pub fn parse(source: &str, known_tools: &[&str]) -> Result<Parsed, Vec<Fault>> {
    let mut faults = Faults::default();
    let Some(tree) = yaml::read(source, &mut faults) else {
        if !faults.any_error() {
            faults.push(validate::version_missing(Span { line: 1, column: 1, ..Span::default() }));
        }
        return Err(faults.into_sorted());
    };
    validate::validate(&tree, &mut faults);
    let mut model = read::model(&tree, &mut faults);
    name_policies(&mut model);
    feedback::place(&mut model);
    todos::check(&model, Some(&tree), &mut faults);
    semantics::check(&model, Some(&tree), known_tools, &mut faults);
    finish(model, faults)
}

/// Where the value under a chain of keys, or of items by their number, stands in a definition's text; for faults that
/// only others can find.
#[must_use]
pub fn span_of(source: &str, keys: &[&str]) -> Option<Span> {
    let tree = yaml::read(source, &mut Faults::default())?;
    let inside = |node, key: &&str| below(node, key);
    keys.iter().try_fold(&tree, inside).map(|node| node.span)
}

fn below<'a>(node: &'a yaml::Node, key: &str) -> Option<&'a yaml::Node> {
    node.get(key).or_else(|| node.items().get(key.parse::<usize>().ok()?))
}

/// Reads the front matter of a file policy into its tree; faults say what is wrong with it.
pub(crate) fn front_matter(source: &str, faults: &mut Faults) -> Option<yaml::Node> {
    let tree = yaml::read(source, faults)?;
    validate::front_matter(&tree, faults);
    Some(tree)
}

fn finish(mut model: Model, faults: Faults) -> Result<Parsed, Vec<Fault>> {
    if faults.any_error() {
        return Err(faults.into_sorted());
    }
    // Only now: what a definition with faults may unfold to has no bound.
    index::sum_up(&mut model);
    Ok(Parsed { model, warnings: faults.into_sorted() })
}

/// Names the policies that have none after their guard, numbered over the whole definition.
fn name_policies(model: &mut Model) {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let all = model.policies.iter_mut().chain(model.sections.iter_mut().flat_map(|section| &mut section.policies));
    for policy in all.filter(|policy| policy.name.is_empty()) {
        let count = counts.entry(policy.guard.name()).or_default();
        *count += 1;
        policy.name = format!("{}-{count}", policy.guard.name());
    }
}
