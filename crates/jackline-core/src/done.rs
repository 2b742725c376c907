//! What a successful call counts as, and whether something has been done.

use std::collections::{BTreeMap, BTreeSet};

use crate::definition::model::Step;
use crate::glob;
use crate::matcher::{Purpose, Subject};
use crate::session::{Done, Session};
use crate::stack::Layer;

/// The name a step is remembered by: another matcher under the same name is another step.
fn step_name(step: &Step) -> String {
    format!("step:{}:{}", step.name, step.key)
}

/// What a successful call counts as: its tool, its kind, and every step it proves.
#[must_use]
pub fn names(subject: &Subject<'_>) -> Vec<String> {
    let steps = subject.layer.model.steps.iter().filter(|step| subject.is_named(&step.name, Purpose::Prove));
    let tool = [format!("tool:{}", subject.view.call.tool), format!("@{}", subject.view.kind.name())];
    tool.into_iter().chain(steps.map(step_name)).collect()
}

/// When something of this name (a tool or glob, a step, `@kind`) last succeeded.
#[must_use]
pub fn find<'a>(session: &'a Session, layer: &Layer, name: &str) -> Option<&'a Done> {
    let mut newest_first = session.memory.done.iter().rev();
    match layer.step(name).map(step_name) {
        Some(wanted) => newest_first.find(|done| done.name == wanted),
        None => newest_first.find(|done| is_named(layer, name, &done.name)),
    }
}

/// Everything that is done, as a definition would name it: tools, steps and `@kind`s, sorted.
#[must_use]
pub fn told(session: &Session, layer: &Layer) -> Vec<String> {
    let steps: BTreeMap<String, &str> =
        layer.model.steps.iter().map(|step| (step_name(step), step.name.as_str())).collect();
    let name = |done: &Done| match done.name.strip_prefix("tool:") {
        Some(tool) => Some(tool.to_owned()),
        None if done.name.starts_with('@') => Some(done.name.clone()),
        // A step of another definition, or of an earlier state of this one, is none of its own.
        None => steps.get(&done.name).map(|name| (*name).to_owned()),
    };
    let names: BTreeSet<String> = session.memory.done.iter().filter_map(name).collect();
    names.into_iter().collect()
}

/// Whether a remembered name is what `name` (a tool or glob, a step, `@kind`) asks for.
#[must_use]
pub fn is_named(layer: &Layer, name: &str, remembered: &str) -> bool {
    match (layer.step(name), remembered.strip_prefix("tool:")) {
        (Some(step), _) => remembered == step_name(step),
        (None, Some(tool)) => !name.starts_with('@') && glob::text_matches(name, tool),
        (None, None) => remembered == name,
    }
}
