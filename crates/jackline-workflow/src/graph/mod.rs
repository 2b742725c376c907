//! Pictures of a graph of agents: its levels, conditions and findings, as Mermaid, DOT or SVG.
//!
//! A [`Picture`] says what is drawn. `layers` finds the level of each agent, `order` and `place` where it stands. Cycles,
//! unknown agents and twice-used names are drawn as well: a picture is wanted most when something is wrong. Every text is
//! untrusted: `label` shows what hides, and each format escapes in its own way. SVG needs no other program.

mod dot;
pub(crate) mod label;
mod layers;
mod mermaid;
mod order;
mod place;
mod svg;

use std::collections::BTreeMap;

use layers::Layers;

/// Agents that are drawn: more are no picture any more, and a browser still shows so many.
pub const NODES_MAX: usize = 2_000;
/// Dependencies that are drawn, for the same reasons.
pub const EDGES_MAX: usize = 10_000;

/// A finding, as it is marked in a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The rule that speaks: `R6`.
    pub rule: String,
    pub message: String,
    pub warning: bool,
}

/// An agent in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    pub id: String,
    /// When it runs at all.
    pub condition: Option<String>,
    /// What else is shown of it: that it loops, fans out, is off.
    pub note: Option<String>,
    pub marks: Vec<Mark>,
    /// Whether the graph only names it and does not have it.
    pub missing: bool,
}

impl Node {
    /// An agent of this id, and nothing else.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }
}

/// A dependency: `to` runs after `from`. Both are places in the list of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// On which condition it counts.
    pub condition: Option<String>,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    title: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Findings that belong to no agent.
    marks: Vec<Mark>,
    ids: BTreeMap<String, usize>,
    nodes_left_out: usize,
    edges_left_out: usize,
}

impl Picture {
    /// An empty picture with a title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds an agent; its place in the list, or `None` when there is no room for more.
    pub fn add(&mut self, node: Node) -> Option<usize> {
        if self.nodes.len() >= NODES_MAX {
            self.nodes_left_out += 1;
            return None;
        }
        let at = self.nodes.len();
        self.ids.entry(node.id.clone()).or_insert(at);
        self.nodes.push(node);
        Some(at)
    }

    /// Lets an agent depend on another by its id; one that was never added is drawn as missing. So: all agents first.
    pub fn depend(&mut self, to: usize, id: &str, condition: Option<String>) {
        let condition = condition.filter(|condition| !condition.trim().is_empty());
        let known = self.ids.get(id).copied();
        // INVARIANT: an id that found no room is no missing agent.
        let from = known.or_else(|| {
            let missing = self.nodes_left_out == 0;
            missing.then(|| self.add(Node { missing, ..Node::new(id) })).flatten()
        });
        match from {
            Some(from) if self.edges.len() < EDGES_MAX && to < self.nodes.len() => {
                self.edges.push(Edge { from, to, condition });
            }
            _ => self.edges_left_out += 1,
        }
    }

    /// Marks an agent with a finding; one that belongs to none, or to one that is not drawn, stands below the graph.
    pub fn mark(&mut self, node: Option<usize>, mark: Mark) {
        match node.and_then(|at| self.nodes.get_mut(at)) {
            Some(node) => node.marks.push(mark),
            None => self.marks.push(mark),
        }
    }

    /// The place of the first agent of an id.
    #[must_use]
    pub fn place(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// A Mermaid flowchart.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        mermaid::draw(self, &Layers::of(self))
    }

    /// A graph for Graphviz.
    #[must_use]
    pub fn to_dot(&self) -> String {
        dot::draw(self, &Layers::of(self))
    }

    /// A picture that any browser shows.
    #[must_use]
    pub fn to_svg(&self) -> String {
        svg::draw(self, &Layers::of(self))
    }

    /// The size of the graph and what was found, in one line.
    fn summary(&self, layers: &Layers) -> String {
        let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let mut parts = vec![
            count(self.nodes.len(), "agent", "agents"),
            count(self.edges.len(), "dependency", "dependencies"),
            count(layers.count(), "level", "levels"),
        ];
        let warnings = self.all_marks().filter(|(_, mark)| mark.warning).count();
        let errors = self.all_marks().count() - warnings;
        parts.extend((errors > 0).then(|| count(errors, "error", "errors")));
        parts.extend((warnings > 0).then(|| count(warnings, "warning", "warnings")));
        let left_out = self.nodes_left_out + self.edges_left_out;
        parts.extend((left_out > 0).then(|| {
            let agents = count(self.nodes_left_out, "agent", "agents");
            format!("not drawn: {agents}, {}", count(self.edges_left_out, "dependency", "dependencies"))
        }));
        parts.join(", ")
    }

    /// Every finding, with the agent it belongs to.
    fn all_marks(&self) -> impl Iterator<Item = (Option<&Node>, &Mark)> {
        let own = self.nodes.iter().flat_map(|node| node.marks.iter().map(move |mark| (Some(node), mark)));
        own.chain(self.marks.iter().map(|mark| (None, mark)))
    }
}

/// How bad things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Fine,
    Missing,
    Warned,
    Broken,
}

impl Standing {
    fn of(node: &Node) -> Self {
        let marked = node.marks.iter().map(|mark| if mark.warning { Self::Warned } else { Self::Broken }).max();
        marked.unwrap_or(if node.missing { Self::Missing } else { Self::Fine })
    }

    /// The word for it in a format.
    const fn class(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Missing => "missing",
            Self::Warned => "warning",
            Self::Broken => "error",
        }
    }
}
