//! R5, R6, R7 and R8: the graph of agents.

use std::collections::BTreeMap;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;
use jackline_core::definition::{Fault, Span};

use super::identity::is_id;
use super::{MANIFEST, Rule, manifest_part};
use crate::finding::{Found, Level};
use crate::inner::{INNER_DEPTH_MAX, INNER_MAX, Inner};
use crate::load::{AGENT_FILE, MANIFEST_FILE, Workflow};
use crate::manifest::{Manifest, at, home};

/// Agents of a cycle that are named at its beginning and end; what lies between is counted.
const NAMED_MAX: usize = 6;

pub(super) static UNIQUE: Rule = Rule {
    id: "R5",
    level: Level::Error,
    category: "Orchestration",
    summary: "Ids in the graph are unique",
    text: "No two nodes of `orchestration.graph` have the same `id`: dependencies and the state name agents by it.",
    good: manifest_part("orchestration:\n  graph:\n    - id: researcher\n    - id: writer\n"),
    bad: manifest_part(
        "orchestration:\n  graph:\n    - id: researcher\n    - id: researcher    # the second of this name\n",
    ),
    check: unique,
};

pub(super) static ACYCLIC: Rule = Rule {
    id: "R6",
    level: Level::Error,
    category: "Orchestration",
    summary: "The graph has no cycle",
    text: "No agent waits for itself, over however many others. Each knot of agents that wait for one another is told once, \
by its shortest cycle, with the agents' names in order.

Agents that loop are no exception: a loop is said with `loop`, not with a dependency that leads back.",
    good: manifest_part("orchestration:\n  graph:\n    - id: researcher\n    - id: writer\n      depends_on: [researcher]\n"),
    bad: manifest_part("orchestration:\n  graph:\n    - id: researcher\n      depends_on: [writer]\n    - id: writer\n      depends_on: [researcher]   # they wait for one another\n"),
    check: acyclic,
};

pub(super) static RESOLVED: Rule = Rule {
    id: "R7",
    level: Level::Error,
    category: "Orchestration",
    summary: "Dependencies name agents of the graph",
    text: "Every entry of `depends_on` is the `id` of a node in the graph, written as a text or as a map with `agent` (or \
`id`) and a condition `when` (or `expr`); both spellings at once name the same agent. So is `execution.error_handling.fallback_agent`.",
    good: manifest_part(
        "orchestration:\n  graph:\n    - id: researcher\n    - id: writer\n      depends_on:\n        - {agent: researcher, when: \"state.researcher.confidence > 0.5\"}\n",
    ),
    bad: manifest_part(
        "orchestration:\n  graph:\n    - id: researcher\n    - id: writer\n      depends_on: [reseacher]   # misspelled\n",
    ),
    check: resolved,
};

pub(super) static FILES: Rule = Rule {
    id: "R8",
    level: Level::Error,
    category: "File Structure",
    summary: "Every agent has its file",
    text: "Each agent that the graph names, and the manager of a delegation loop, has `agents/<id>/agent.awp.yaml`. A node's \
`agent` may name another directory inside the workflow. A node's `subworkflow`, and each `ref` of \
`orchestration.subworkflows` that is no address, is a directory with a `workflow.awp.yaml` of its own that does not hold this \
workflow; it is held against all rules as well.

An agent whose `identity.id` is not the name of its directory is a warning.",
    good: manifest_part("orchestration:\n  graph:\n    - id: researcher\n    - id: writer\n      agent: agents/writer\n"),
    bad: manifest_part("orchestration:\n  graph:\n    - id: researcher\n    - id: editor      # there is no agents/editor/agent.awp.yaml\n"),
    check: files,
};

fn nodes(flow: &Workflow) -> impl Iterator<Item = crate::manifest::GraphNode<'_>> {
    flow.manifest().into_iter().flat_map(Manifest::graph)
}

fn unique(flow: &Workflow, out: &mut Found) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for id in nodes(flow).filter_map(|node| node.id()) {
        let Some(text) = id.text() else { continue };
        match seen.get(text) {
            Some(line) => {
                let help = format!("it was given before, on line {line}");
                out.put(MANIFEST, Fault::error(format!("duplicate agent id {}", quoted(text))).at(id.span).help(help));
            }
            None => drop(seen.insert(text, id.span.line)),
        }
    }
}

fn acyclic(flow: &Workflow, out: &mut Found) {
    let cycles = flow.dag.cycles();
    if cycles.is_empty() {
        return;
    }
    let names: Vec<&str> = nodes(flow).map(|node| node.id().and_then(Node::text).unwrap_or_default()).collect();
    let name = |vertex: usize| quoted(names.get(vertex).copied().unwrap_or_default());
    for cycle in cycles {
        let Some((first, edge)) = cycle.first().copied() else { continue };
        let fault = if cycle.len() == 1 {
            Fault::error(format!("{} depends on itself", name(first))).help("remove the dependency")
        } else {
            let agents: Vec<String> = cycle.iter().map(|(vertex, _)| name(*vertex)).collect();
            Fault::error(format!("{} agents wait for one another: {}", cycle.len(), chain(&agents)))
                .help("an arrow reads `depends on`; remove one of these dependencies")
        };
        out.put(MANIFEST, fault.at(edge.span));
    }
}

/// The agents of a cycle, back to the first; of a long one its beginning and end.
fn chain(agents: &[String]) -> String {
    let first = agents.first().map(String::as_str).unwrap_or_default();
    if agents.len() <= 2 * NAMED_MAX {
        return format!("{} → {first}", agents.join(" → "));
    }
    let (head, rest) = agents.split_at(NAMED_MAX);
    let (middle, tail) = rest.split_at(rest.len() - NAMED_MAX);
    format!("{} → … {} more … → {} → {first}", head.join(" → "), middle.len(), tail.join(" → "))
}

fn resolved(flow: &Workflow, out: &mut Found) {
    let unknown = |name: &str, span, out: &mut Found| {
        let fault = Fault::error(format!("there is no agent {} in the graph", quoted(name))).at(span);
        let near = out.near(name, flow.nodes.keys().map(String::as_str));
        out.put(MANIFEST, fault.help_if(near.or_else(|| Some("dependencies are ids of the graph".to_owned()))));
    };
    for dependency in nodes(flow).flat_map(crate::manifest::GraphNode::depends_on) {
        if !flow.nodes.contains_key(dependency.name) {
            unknown(dependency.name, dependency.span, out);
        }
    }
    for node in nodes(flow) {
        nameless(node.node, out);
    }
    let fallback = flow
        .manifest()
        .and_then(|manifest| at(manifest.root, &["orchestration", "execution", "error_handling", "fallback_agent"]));
    if let Some((name, node)) =
        fallback.and_then(|node| Some((node.text()?, node))).filter(|(name, _)| !flow.knows(name))
    {
        unknown(name, node.span, out);
    }
}

/// Dependencies that are maps and name nobody.
fn nameless(node: &Node, out: &mut Found) {
    let items = node.get("depends_on").into_iter().flat_map(Node::items);
    for item in items.filter(|item| matches!(item.value, jackline_core::definition::yaml::Value::Map(_))) {
        match (item.get("agent"), item.get("id")) {
            (None, None) => {
                out.put(MANIFEST, Fault::error("a dependency names no agent").at(item.span).help("add `agent: <id>`"));
            }
            (Some(one), Some(other)) if one.text() != other.text() => {
                let fault = Fault::error("`agent` and `id` of a dependency are not the same").at(other.span);
                out.put(MANIFEST, fault.help("give one of them"));
            }
            _ => {}
        }
    }
}

fn files(flow: &Workflow, out: &mut Found) {
    for node in nodes(flow) {
        if let Some(inner) = node.node.get("subworkflow") {
            subworkflow(flow, inner, out);
            continue;
        }
        match node.directory() {
            None => {}
            Some((None, span)) => out.put(MANIFEST, outside(span)),
            Some((Some(directory), span)) => fileless(flow, &directory, span, out),
        }
    }
    for listed in flow.manifest().into_iter().flat_map(Manifest::listed_workflows) {
        subworkflow(flow, listed, out);
    }
    if let Some((name, node)) = flow.manifest().and_then(Manifest::manager).and_then(|node| Some((node.text()?, node)))
    {
        match home(name) {
            // The graph may call it by another name than its directory has.
            _ if flow.agent(name).is_some() => {}
            Some(directory) => fileless(flow, &directory, node.span, out),
            None => out.put(MANIFEST, outside(node.span)),
        }
    }
    for agent in &flow.agents {
        let Some(id) = flow.config(agent).and_then(crate::agent::Config::id) else { continue };
        if let Some(text) = id.text().filter(|text| *text != agent.name() && is_id(text)) {
            let message = format!("the agent in {} calls itself {}", quoted(&agent.directory), quoted(text));
            out.put(agent.file, Fault::warning(message).at(id.span).help("give both the same name"));
        }
    }
}

fn outside(span: Span) -> Fault {
    Fault::error("the agent's directory lies outside the workflow").at(span)
}

fn fileless(flow: &Workflow, directory: &str, span: Span, out: &mut Found) {
    if flow.agent_in(directory).is_none() {
        let message = format!("there is no {}", quoted(&format!("{directory}/{AGENT_FILE}")));
        let (parent, name) = directory.rsplit_once('/').unwrap_or(("", directory));
        let file = name == AGENT_FILE && flow.agent_in(parent).is_some();
        let beside = flow.agents.iter().map(|agent| agent.directory.rsplit_once('/').unwrap_or_default());
        let near = out.near(name, beside.map(|(other, name)| if other == parent { name } else { "" }));
        let near = if file { Some(format!("name the directory, {}", quoted(parent))) } else { near };
        out.put(
            MANIFEST,
            Fault::error(message)
                .at(span)
                .help_if(near.or_else(|| Some("write one, or name another agent".to_owned()))),
        );
    }
}

/// A workflow inside this one, by the node that names it.
fn subworkflow(flow: &Workflow, node: &Node, out: &mut Found) {
    let Some(text) = node.text() else { return };
    let Some(directory) = flow.inner.directory(text) else {
        return out.put(MANIFEST, Fault::error("the subworkflow lies outside the workflow").at(node.span));
    };
    let fault = match flow.inner.found.get(&directory) {
        Some(Inner::Read(_)) => return,
        Some(Inner::Itself) => Fault::error("the subworkflow is this workflow, or holds it").help("it would never end"),
        Some(Inner::Outside) => Fault::error("a link on the way to the subworkflow leads out of the workflow"),
        Some(Inner::Beyond) => {
            Fault::error("the subworkflow is not looked at: there are too many, or they are too deep")
                .help(format!("at most {INNER_MAX} are read, {INNER_DEPTH_MAX} inside one another"))
        }
        Some(Inner::Missing) | None => {
            let file =
                if directory.is_empty() { MANIFEST_FILE.to_owned() } else { format!("{directory}/{MANIFEST_FILE}") };
            Fault::error(format!("there is no {}", quoted(&file)))
                .help("a subworkflow is a directory with a manifest of its own")
        }
    };
    out.put(MANIFEST, fault.at(node.span));
}
