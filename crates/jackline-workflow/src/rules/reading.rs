//! `load`: what cannot be read, or is not of the form that the files have.

use jackline_core::definition::yaml::Node;
use jackline_core::definition::{Fault, Span};

use super::{MANIFEST, Rule, manifest_part};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::entry_at;

pub(super) static LOAD: Rule = Rule {
    id: "load",
    level: Level::Error,
    category: "Load",
    summary: "Every file can be read",
    text: "Each file is YAML 1.2 in UTF-8 without anchors, aliases or tags, and no key stands twice in a map. Sections are \
maps and lists where they should be. A graph that is followed names at least one agent. Python sources of tools and agents \
can be read.

Keys that nobody knows are let pass. One that looks like a slip of a known key is a warning.",
    good: manifest_part("workflow:\n  name: research-and-write\n  version: \"1.0.0\"\n"),
    bad: manifest_part("workflow:\n  name: research-and-write\n  version: \"1.0.0\"\n  version: \"1.0.1\"   # given twice\n"),
    check,
};

fn check(flow: &Workflow, out: &mut Found) {
    for (file, fault) in &flow.faults {
        out.put(*file, fault.clone());
    }
    let Some(manifest) = flow.manifest() else { return };
    let Some(orchestration) = manifest.root.entry("orchestration") else { return };
    let graph = entry_at(manifest.root, &["orchestration", "graph"]);
    let listed = graph.is_none_or(|entry| matches!(entry.value.value, jackline_core::definition::yaml::Value::List(_)));
    if listed
        && !manifest.delegates()
        && graph.map(|entry| &entry.value).into_iter().flat_map(Node::items).next().is_none()
    {
        let span: Span = graph.map_or(orchestration.key_span, |entry| entry.key_span);
        out.put(MANIFEST, Fault::error("the graph names no agent").at(span).help("add one: `- id: writer`"));
    }
}
