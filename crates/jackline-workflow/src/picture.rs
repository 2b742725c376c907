//! A workflow as a picture: its agents, who waits for whom, and what was found, each at the agent it belongs to.

use std::collections::BTreeMap;

use jackline_core::definition::yaml::{Node as Tree, Value};

use crate::finding::{Finding, Level, Report};
use crate::graph::{Mark, Node, Picture};
use crate::load::Workflow;
use crate::manifest::{GraphNode, Manifest, at};

/// Draws a workflow with its findings; none when there is no manifest to draw.
#[must_use]
pub fn picture(flow: &Workflow, report: &Report) -> Option<Picture> {
    let manifest = flow.manifest()?;
    let title = at(manifest.root, &["workflow", "name"]).and_then(Tree::text).unwrap_or("workflow");
    let mut picture = Picture::new(title);
    let mut homes: BTreeMap<String, usize> = BTreeMap::new();
    let mut places: Vec<Option<usize>> = Vec::new();
    for (at, node) in manifest.graph().enumerate() {
        let place = picture.add(drawn(node));
        let inner = node.node.get("subworkflow").and_then(|named| flow.inner.directory(named.text()?));
        let home = inner.or_else(|| flow.home(at).map(str::to_owned));
        if let (Some(place), Some(home)) = (place, home) {
            homes.entry(home).or_insert(place);
        }
        places.push(place);
    }
    for (node, place) in manifest.graph().zip(&places) {
        for dependency in place
            .map(|place| (place, node))
            .into_iter()
            .flat_map(|(place, node)| node.depends_on().map(move |one| (place, one)))
        {
            let (place, dependency) = dependency;
            picture.depend(place, dependency.name, dependency.when.map(str::to_owned));
        }
    }
    if places.is_empty() && manifest.delegates() {
        delegation(flow, manifest, &mut picture, &mut homes);
    }
    for finding in &report.findings {
        let place = owner(finding, &places, &homes);
        picture.mark(place, mark(finding));
    }
    Some(picture)
}

/// An agent of the graph, with what is special about its run.
fn drawn(node: GraphNode<'_>) -> Node {
    let id = node.id().and_then(Tree::text).unwrap_or("?");
    let said = |key: &str| node.node.get(key).is_some_and(|value| !matches!(value.value, Value::Null));
    let mut notes = Vec::new();
    if node.node.get("enabled").is_some_and(|flag| flag.value == Value::Bool(false)) {
        notes.push("off");
    }
    if said("loop") {
        notes.push("loops");
    }
    if said("fan_out") {
        notes.push("fans out");
    }
    if said("subworkflow") {
        notes.push("workflow");
    }
    let note = (!notes.is_empty()).then(|| notes.join(", "));
    Node { condition: node.when().map(str::to_owned), note, ..Node::new(id) }
}

/// A manager and the workers it may delegate to.
fn delegation(flow: &Workflow, manifest: Manifest<'_>, picture: &mut Picture, homes: &mut BTreeMap<String, usize>) {
    let named = manifest.manager().and_then(Tree::text).unwrap_or("manager");
    let manager = named.trim_end_matches('/').rsplit('/').next().unwrap_or(named);
    for agent in &flow.agents {
        let note = (agent.name() == manager).then(|| "manager".to_owned());
        if let Some(place) = picture.add(Node { note, ..Node::new(agent.name()) }) {
            homes.insert(agent.directory.clone(), place);
        }
    }
    let workers: Vec<usize> = flow
        .agents
        .iter()
        .filter(|agent| agent.name() != manager)
        .filter_map(|agent| homes.get(agent.directory.as_str()).copied())
        .collect();
    for worker in workers {
        picture.depend(worker, manager, Some("delegates".to_owned()));
    }
}

/// The agent that a finding belongs to: its node in the manifest, or its own files.
fn owner(finding: &Finding, places: &[Option<usize>], homes: &BTreeMap<String, usize>) -> Option<usize> {
    let rest = finding.pointer.strip_prefix("/orchestration/graph/");
    if let Some(rest) = rest.filter(|_| !finding.file.contains('/')) {
        let number: usize = rest.split('/').next()?.parse().ok()?;
        return places.get(number).copied().flatten();
    }
    // A file of a workflow inside belongs to the node that stands for it.
    let parents = std::iter::successors(finding.file.rsplit_once('/'), |(parent, _)| parent.rsplit_once('/'));
    parents.into_iter().find_map(|(directory, _)| homes.get(directory)).copied()
}

fn mark(finding: &Finding) -> Mark {
    Mark { rule: finding.rule.to_owned(), message: finding.message.clone(), warning: finding.level == Level::Warning }
}
