//! The manifest, `workflow.awp.yaml`, as a view of its tree: what is asked of it, under either spelling. Judges nothing.

use jackline_core::definition::Span;
use jackline_core::definition::yaml::{Entry, Node, Value};

use crate::within::inside;

/// The value under a chain of keys.
#[must_use]
pub fn at<'a>(node: &'a Node, keys: &[&str]) -> Option<&'a Node> {
    keys.iter().try_fold(node, |node, key| node.get(key))
}

/// The entry under a chain of keys, its key's place included.
#[must_use]
pub fn entry_at<'a>(node: &'a Node, keys: &[&str]) -> Option<&'a Entry> {
    let (last, path) = keys.split_last()?;
    at(node, path)?.entry(last)
}

/// Whether the value under a chain of keys is this flag.
#[must_use]
pub fn is(node: &Node, keys: &[&str], flag: bool) -> bool {
    at(node, keys).is_some_and(|node| node.value == Value::Bool(flag))
}

/// A number, whole or not.
#[must_use]
pub const fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}

/// The texts of a list, or the one text there is, each with its place.
pub fn texts(node: Option<&Node>) -> impl Iterator<Item = (&str, Span)> {
    let one = node.and_then(|node| Some((node.text()?, node.span)));
    let many = node.into_iter().flat_map(|node| node.items()).filter_map(|item| Some((item.text()?, item.span)));
    one.into_iter().chain(many)
}

/// The directory of an agent that is named by a word or by a directory; none when it leads out of the workflow.
#[must_use]
pub fn home(named: &str) -> Option<String> {
    let bare = !named.trim_end_matches('/').contains('/');
    if bare { inside("agents", named) } else { inside("", named) }
}

/// The tree of a manifest.
#[derive(Debug, Clone, Copy)]
pub struct Manifest<'a> {
    pub root: &'a Node,
}

/// One agent's place in the graph.
#[derive(Debug, Clone, Copy)]
pub struct GraphNode<'a> {
    pub node: &'a Node,
}

/// What a graph's agent waits for.
#[derive(Debug, Clone, Copy)]
pub struct Dependency<'a> {
    pub name: &'a str,
    pub span: Span,
    /// On what condition.
    pub when: Option<&'a str>,
}

/// Fields that one agent may show others.
#[derive(Debug, Clone, Copy)]
pub struct SharingRule<'a> {
    pub node: &'a Node,
}

impl<'a> Manifest<'a> {
    /// The agents of the graph, in the order they are declared.
    pub fn graph(self) -> impl Iterator<Item = GraphNode<'a>> {
        let list = at(self.root, &["orchestration", "graph"]);
        list.into_iter().flat_map(Node::items).map(|node| GraphNode { node })
    }

    /// Whether a manager delegates, instead of a graph that is followed.
    #[must_use]
    pub fn delegates(self) -> bool {
        let engine = at(self.root, &["orchestration", "engine"]).and_then(Node::text);
        engine == Some("delegation_loop") || at(self.root, &["orchestration", "delegation_loop"]).is_some()
    }

    /// The agent that delegates.
    #[must_use]
    pub fn manager(self) -> Option<&'a Node> {
        at(self.root, &["orchestration", "delegation_loop", "manager"])
    }

    /// Every budget of a delegation loop: the workflow's own, and those of loops inside the graph.
    pub fn budgets(self) -> impl Iterator<Item = &'a Entry> {
        let own = entry_at(self.root, &["orchestration", "delegation_loop", "budget"]);
        own.into_iter().chain(self.graph().filter_map(|node| entry_at(node.node, &["config", "budget"])))
    }

    /// Every limit of time, with its name as it is written.
    #[must_use]
    pub fn timeouts(self) -> Vec<(String, &'a Node)> {
        let named = |keys: &[&str]| {
            Some((keys.join("."), at(self.root, &["orchestration", "execution"]).and_then(|node| at(node, keys))?))
        };
        let spelled: [&[&str]; 6] = [
            &["timeout_per_agent"],
            &["timeout_total"],
            &["timeout_idle"],
            &["timeout", "per_agent"],
            &["timeout", "total"],
            &["timeout", "idle"],
        ];
        let execution = spelled.into_iter().filter_map(named);
        let nodes = self.graph().filter_map(|node| Some(("timeout".to_owned(), node.node.get("timeout")?)));
        let walls = self.budgets().filter_map(|budget| budget.value.get("max_wall_time"));
        let run = at(self.root, &["orchestration", "run_budget", "max_wall_time"]);
        execution.chain(nodes).chain(walls.chain(run).map(|node| ("max_wall_time".to_owned(), node))).collect()
    }

    /// Where `orchestration.subworkflows` has workflows inside this one; addresses are left out, nothing is fetched.
    pub fn listed_workflows(self) -> impl Iterator<Item = &'a Node> {
        let listed = at(self.root, &["orchestration", "subworkflows"]).into_iter().flat_map(Node::items);
        listed.filter_map(|one| one.get("ref")).filter(|node| node.text().is_some_and(|text| !text.contains("://")))
    }

    /// What `state.sharing.rules` lets agents see of one another.
    pub fn sharing_rules(self) -> impl Iterator<Item = SharingRule<'a>> {
        let list = at(self.root, &["state", "sharing", "rules"]);
        list.into_iter().flat_map(Node::items).map(|node| SharingRule { node })
    }

    /// The channels by which agents talk.
    pub fn channels(self) -> impl Iterator<Item = &'a Node> {
        at(self.root, &["communication", "channels"]).into_iter().flat_map(Node::items)
    }

    /// How a run is scored.
    #[must_use]
    pub fn evaluation(self) -> Option<&'a Node> {
        at(self.root, &["observability", "evaluation"])
    }

    /// The settings of custom tools, under either place.
    pub fn custom_tools(self) -> impl Iterator<Item = &'a Node> {
        let nested = at(self.root, &["capabilities", "custom_tools"]);
        self.root.get("custom_tools").into_iter().chain(nested)
    }

    /// The tools that the manifest declares, by full name.
    pub fn declared_tools(self) -> impl Iterator<Item = (&'a str, Span)> {
        let declarations = self.custom_tools().filter_map(|node| node.get("declarations")).flat_map(Node::items);
        declarations.flat_map(|one| {
            let named = ["fqn", "name"].iter().find_map(|key| one.get(key));
            texts(named).chain(texts(one.get("tools")))
        })
    }

    /// The files that declared tools are in.
    pub fn tool_files(self) -> impl Iterator<Item = (&'a str, Span)> {
        let declarations = self.custom_tools().filter_map(|node| node.get("declarations")).flat_map(Node::items);
        declarations.flat_map(|one| texts(one.get("file")))
    }

    /// The value that the manifest gives a variable, where it lists them apart.
    #[must_use]
    pub fn default_of(self, name: &str) -> Option<&'a Node> {
        let places: [&[&str]; 2] = [&["workflow", "env", "defaults"], &["env", "defaults"]];
        places.into_iter().find_map(|keys| at(self.root, keys)?.get(name))
    }

    /// Environment variables that are declared, in either form.
    pub fn variables(self) -> impl Iterator<Item = &'a Node> {
        let places = [at(self.root, &["workflow", "env"]), self.root.get("env")];
        places.into_iter().flatten().flat_map(|env| {
            env.items().iter().chain(
                ["required", "optional"].into_iter().flat_map(|key| env.get(key).into_iter().flat_map(Node::items)),
            )
        })
    }
}

impl<'a> GraphNode<'a> {
    /// Its name, as it is written.
    #[must_use]
    pub fn id(self) -> Option<&'a Node> {
        self.node.get("id")
    }

    /// The directory of its agent as seen from the workflow's, and where that is named; none when it leads out.
    #[must_use]
    pub fn directory(self) -> Option<(Option<String>, Span)> {
        let named = self.node.get("agent").or_else(|| self.id())?;
        Some((home(named.text()?), named.span))
    }

    /// What it waits for.
    pub fn depends_on(self) -> impl Iterator<Item = Dependency<'a>> {
        let items = self.node.get("depends_on").into_iter().flat_map(Node::items);
        items.filter_map(|item| {
            if let Some(name) = item.text() {
                return Some(Dependency { name, span: item.span, when: None });
            }
            let named = item.get("agent").or_else(|| item.get("id"))?;
            let when = item.get("when").or_else(|| item.get("expr")).and_then(Node::text);
            Some(Dependency { name: named.text()?, span: named.span, when })
        })
    }

    /// On what condition it runs at all.
    #[must_use]
    pub fn when(self) -> Option<&'a str> {
        self.node.get("when").or_else(|| self.node.get("enabled")).and_then(Node::text)
    }
}

impl<'a> SharingRule<'a> {
    fn either(self, first: &str, second: &str) -> Option<&'a Node> {
        self.node.get(first).or_else(|| self.node.get(second))
    }

    /// Whose fields.
    #[must_use]
    pub fn from(self) -> Option<&'a Node> {
        self.either("from", "from_agent")
    }

    /// Who may see them.
    #[must_use]
    pub fn to(self) -> Option<&'a Node> {
        self.either("to", "to_agents")
    }

    /// Which ones.
    #[must_use]
    pub fn fields(self) -> Option<&'a Node> {
        self.node.get("fields")
    }
}
