//! `load`: what cannot be read, or is not of the form that the files have.

use jackline_core::definition::fault::quoted;
use jackline_core::definition::form::{Form, Shape};
use jackline_core::definition::yaml::{Node, Value};
use jackline_core::definition::{Fault, Span};

use super::{MANIFEST, Rule, agents, manifest_part};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::entry_at;
use crate::shape::{AGENT, WORKFLOW};

pub(super) static LOAD: Rule = Rule {
    id: "load",
    level: Level::Error,
    category: "Load",
    summary: "Every file can be read",
    text: "Each file is YAML 1.2 in UTF-8 without anchors, aliases, merge keys or tags, and no key stands twice in a map. Sections are \
maps and lists where they should be. A graph that is followed names at least one agent. Python sources of tools and agents \
can be read; hidden directories and `__pycache__` are left out. Names of files are UTF-8.

Keys that nobody knows are let pass. One that looks like a slip of a known key is a warning, and so is a section that stands \
at the top and belongs into another.

In a manifest, `{{settings.custom.depth}}` stands for that value of `workflow.settings`, and `{{workflow.name}}` for that of \
`workflow`: alone for the value itself, in a longer text for its text. Rules judge what comes of it.",
    good: manifest_part("workflow:\n  name: research-and-write\n  version: \"1.0.0\"\n"),
    bad: manifest_part("workflow:\n  name: research-and-write\n  version: \"1.0.0\"\n  version: \"1.0.1\"   # given twice\n"),
    check,
};

fn check(flow: &Workflow, out: &mut Found) {
    for (file, fault) in &flow.faults {
        out.put(*file, fault.clone());
    }
    for (agent, config) in agents(flow) {
        misplaced(&AGENT, config.root, agent.file, out);
    }
    let Some(manifest) = flow.manifest() else { return };
    misplaced(&WORKFLOW, manifest.root, MANIFEST, out);
    let Some(orchestration) = manifest.root.entry("orchestration") else { return };
    let graph = entry_at(manifest.root, &["orchestration", "graph"]);
    let listed = graph.is_none_or(|entry| matches!(entry.value.value, Value::List(_) | Value::Null));
    if listed
        && !manifest.delegates()
        && graph.map(|entry| &entry.value).into_iter().flat_map(Node::items).next().is_none()
    {
        let span: Span = graph.map_or(orchestration.key_span, |entry| entry.key_span);
        out.put(MANIFEST, Fault::error("the graph names no agent").at(span).help("add one: `- id: writer`"));
    }
}

/// Sections at the top of a file that do nothing there, because they belong into another.
fn misplaced(shape: &'static Shape, root: &Node, file: usize, out: &mut Found) {
    let knows = |shape: &Shape, name: &str| shape.keys.iter().any(|key| key.name == name);
    let is_section = |node: &Node| matches!(node.value, Value::Map(_) | Value::List(_));
    for entry in root.entries().iter().filter(|entry| is_section(&entry.value) && !knows(shape, &entry.key)) {
        let around = shape.keys.iter().find(|key| matches!(key.form, Form::Map(inner) if knows(inner, &entry.key)));
        if let Some(around) = around {
            let fault = Fault::warning(format!("{} does nothing here", quoted(&entry.key))).at(entry.key_span);
            out.put(file, fault.help(format!("it belongs under `{}`", around.name)));
        }
    }
}
