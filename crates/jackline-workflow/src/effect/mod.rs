//! Settings that a run reads past, so that nobody relies on them: told by `validate` and `run`, and the ones that protect
//! something keep a workflow from being run. One [table](SETTINGS) of them is all there is to keep true.

mod table;

use jackline_core::definition::yaml::{Entry, Node, Value};

use crate::load::{MANIFEST_FILE, Workflow};
use table::When;

pub use table::{Place, SETTINGS, Setting};

/// Notes kept of one workflow: more help nobody.
const NOTES_MAX: usize = 100;

/// A setting of a workflow that has no effect.
#[derive(Debug, Clone)]
pub struct Idle<'a> {
    pub setting: &'static Setting,
    /// As seen from the workflow's directory.
    pub file: &'a str,
    pub line: u32,
}

impl Idle<'_> {
    /// In one line, the file as whoever is told sees it.
    #[must_use]
    pub fn told(&self, file: &str) -> String {
        let Setting { path, why, protects, .. } = self.setting;
        let refused = if *protects { "; `jackline workflow run` refuses it" } else { "" };
        format!("note: {file}:{}: `{path}` has no effect in a run: {why}{refused}", self.line)
    }
}

/// The settings of a workflow that have no effect: first those that protect something, then in the order of the table.
#[must_use]
pub fn idle(flow: &Workflow) -> Vec<Idle<'_>> {
    let others = all(flow).filter(|idle| !idle.setting.protects);
    all(flow).filter(|idle| idle.setting.protects).chain(others).take(NOTES_MAX).collect()
}

fn all(flow: &Workflow) -> impl Iterator<Item = Idle<'_>> {
    SETTINGS.iter().flat_map(|setting| in_flow(flow, setting))
}

/// Why a workflow is not run: what it relies on and nobody would hold.
pub(crate) fn unheld(flow: &Workflow) -> Vec<String> {
    // INVARIANT: however much else has no effect, what protects is found.
    let protecting = all(flow).filter(|idle| idle.setting.protects);
    let told = |idle: Idle<'_>| {
        let Setting { path, why, .. } = idle.setting;
        format!("`{path}` ({}:{}) would not be held: {why}; take it out, or hold it elsewhere", idle.file, idle.line)
    };
    protecting.take(NOTES_MAX).map(told).collect()
}

fn in_flow<'a>(flow: &'a Workflow, setting: &'static Setting) -> Vec<Idle<'a>> {
    let manifest = flow.manifest();
    let is_command = |root: &Node| crate::manifest::at(root, &["runtime", "command"]).is_some();
    let files: Vec<(&str, &Node)> = match setting.place {
        Place::Manifest => manifest.map(|manifest| (MANIFEST_FILE, manifest.root)).into_iter().collect(),
        Place::Managed => {
            let managed = manifest.filter(|manifest| manifest.delegates());
            managed.map(|manifest| (MANIFEST_FILE, manifest.root)).into_iter().collect()
        }
        Place::Agent | Place::Command => {
            let agents = flow
                .agents
                .iter()
                .filter_map(|agent| Some((flow.files.get(agent.file)?.path.as_str(), flow.config(agent)?.root)));
            agents.filter(|(_, root)| setting.place == Place::Agent || is_command(root)).collect()
        }
    };
    let idle = files.into_iter().flat_map(|(file, root)| {
        let keys: Vec<&str> = setting.path.split('.').collect();
        found(root, &keys, setting.when).into_iter().map(move |entry| (file, entry))
    });
    idle.map(|(file, entry)| Idle { setting, file, line: entry.key_span.line }).collect()
}

/// The entries below a chain of keys whose values have no effect. As deep as the chain is long.
fn found<'a>(node: &'a Node, keys: &[&str], when: When) -> Vec<&'a Entry> {
    let Some((key, rest)) = keys.split_first() else { return Vec::new() };
    let (name, many) = key.strip_suffix("[]").map_or((*key, false), |name| (name, true));
    let Some(entry) = node.entry(name) else { return Vec::new() };
    if many {
        return entry.value.items().iter().flat_map(|item| found(item, rest, when)).collect();
    }
    if !rest.is_empty() {
        return found(&entry.value, rest, when);
    }
    if is_idle(node, &entry.value, when) { vec![entry] } else { Vec::new() }
}

/// Whether a value, in its section, is one that has no effect.
fn is_idle(section: &Node, value: &Node, when: When) -> bool {
    match when {
        When::Given => is_given(value),
        When::Beside(flag) => is_given(value) && crate::manifest::is(section, &[flag], true),
        When::Off => value.value == Value::Bool(false),
        When::Condition => value.value == Value::Bool(false) || value.text().is_some(),
        When::Other(known) => value.text().is_some_and(|text| !known.contains(&text)),
        When::Keys(known) => value.entries().iter().any(|entry| !known.contains(&entry.key.as_str())),
    }
}

/// Whether somebody wants something by a value. A section that is not enabled wants nothing, and neither does one of nothing
/// else.
fn is_given(value: &Node) -> bool {
    let off = |node: &Node| crate::manifest::is(node, &["enabled"], false);
    match &value.value {
        Value::Null | Value::Broken | Value::Bool(false) => false,
        Value::List(items) => !items.is_empty(),
        Value::Map(entries) => !off(value) && entries.iter().any(|entry| !off(&entry.value)),
        Value::Bool(true) | Value::Int(_) | Value::Float(_) | Value::Text(_) => true,
    }
}

/// The page that lists all of them.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Settings that a run reads past\n\nWorkflows are written for many runtimes. What `jackline workflow run` does not do is \
listed here and nowhere else: `jackline workflow validate` and `run` name each such setting that a workflow has. One that its \
author would rely on to limit or protect something keeps the workflow from being run. Keys that nobody knows are let pass.\n\n\
| setting | of | held instead | `run` |\n|---|---|---|---|\n",
    );
    for Setting { place, path, when, protects, why } in SETTINGS {
        let place = match place {
            Place::Manifest => "the manifest",
            Place::Managed => "the manifest, with a manager",
            Place::Agent => "an agent",
            Place::Command => "an agent that is a command",
        };
        let run = if *protects { "refuses it" } else { "goes on" };
        page.push_str(&format!("| `{path}`{} | {place} | {why} | {run} |\n", when.words()));
    }
    page
}

impl When {
    /// Which values, in words that follow the path.
    fn words(self) -> String {
        let listed = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Given => String::new(),
            Self::Beside(flag) => format!(" with `{flag}: true`"),
            Self::Off => ": `false`".to_owned(),
            Self::Condition => ": `false`, or an expression".to_owned(),
            Self::Other(known) => format!(" other than {}", listed(known)),
            Self::Keys(known) => format!(", keys other than {}", listed(known)),
        }
    }
}

#[cfg(test)]
mod tests {
    use jackline_core::definition::form::{Form, Shape};

    use super::*;
    use crate::shape::{AGENT, WORKFLOW};

    /// Whether a chain of keys is known to a shape; below a map of any keys everything is.
    fn knows(shape: &'static Shape, keys: &[&str]) -> bool {
        let Some((first, rest)) = keys.split_first() else { return true };
        let name = first.trim_end_matches("[]");
        shape.keys.iter().filter(|key| key.name == name).any(|key| rest.is_empty() || below(&key.form, rest))
    }

    fn below(form: &'static Form, rest: &[&str]) -> bool {
        match form {
            Form::Map(shape) => knows(shape, rest),
            Form::List(form) | Form::Some(form) | Form::Many(form) => below(form, rest),
            Form::Either(forms) => forms.iter().any(|form| below(form, rest)),
            Form::Free => true,
            _ => false,
        }
    }

    #[test]
    fn every_row_is_a_setting_of_the_tables() {
        for setting in SETTINGS {
            let keys: Vec<&str> = setting.path.split('.').collect();
            let shape = if matches!(setting.place, Place::Manifest | Place::Managed) { &WORKFLOW } else { &AGENT };
            assert!(knows(shape, &keys), "{}", setting.path);
        }
    }
}
