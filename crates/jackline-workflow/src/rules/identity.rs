//! R3, R4, R9 and R12: who an agent is, and what it promises.

use jackline_core::definition::Fault;
use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;

use super::manifest::{misnamed, out_if, start};
use super::{MANIFEST, Rule, agent_part, agents, source_part, wrong};
use crate::agent::{Agent, Source};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, entry_at};
use crate::python::Way;

/// Names of agents.
pub(crate) const AGENT_ID: &str = "^[a-z][a-z0-9_]{0,46}[a-z0-9]$";
/// Characters of an agent's name: it is a key of the state and the name of a directory.
const ID_CHARS_MAX: usize = 48;
/// The class that a Python agent is, when it says nothing else.
const CLASS: &str = "Agent";

pub(super) static CLASS_NAME: Rule = Rule {
    id: "R3",
    level: Level::Warning,
    category: "Agent Identity",
    summary: "A Python agent's class is called `Agent`",
    text: "An agent with an `agent.py` has a class `Agent` there, and `runtime.class_name` says nothing else. A source that \
defines no such class, and cannot have it from elsewhere, breaks the rule too.

Agents without `agent.py` are no Python agents and may name any class.",
    good: source_part("class Agent(AWPAgent):\n    pass\n"),
    bad: source_part("class Researcher(AWPAgent):   # nobody finds it under this name\n    pass\n"),
    check: class_name,
};

pub(super) static OWN_NAME: Rule = Rule {
    id: "R4",
    level: Level::Warning,
    category: "Agent Identity",
    summary: "A Python agent's `self.name` is its `identity.id`",
    text: "What the class in `agent.py` gives `self.name` equals `identity.id`: as an attribute of the class, an assignment, \
a property, or an argument to the class above it. The source is parsed, never run; a name that is computed is not judged.",
    good: source_part("class Agent(AWPAgent):\n    @property\n    def name(self):\n        return \"researcher\"\n"),
    bad: source_part(
        "class Agent(AWPAgent):\n    @property\n    def name(self):\n        return \"writer\"      # this is the researcher\n",
    ),
    check: own_name,
};

pub(super) static CONTRACT: Rule = Rule {
    id: "R9",
    level: Level::Error,
    category: "Agent Identity",
    summary: "Every agent has an output contract",
    text: "`output.contract` says what an agent answers: a JSON Schema, a flat map in which each field is a map with its `type`, \
or the name of a file in the agent's directory that holds a JSON Schema. With `output.format: json`, which is the default, it must \
be a valid schema; nothing that it refers to is fetched. For other formats any contract will do, also a sentence.

A contract that is empty is a warning: any answer fits it.",
    good: agent_part("output:\n  format: json\n  contract:\n    type: object\n    required: [summary]\n    properties:\n      summary: {type: string}\n"),
    bad: agent_part("output:\n  format: json       # and no contract\n"),
    check: contract,
};

pub(super) static ID: Rule = Rule {
    id: "R12",
    level: Level::Error,
    category: "Agent Identity",
    summary: "The agent's id is well-formed",
    text: "`identity.id`, and each `id` in the graph, matches `^[a-z][a-z0-9_]{0,46}[a-z0-9]$`: 2 to 48 lowercase letters, \
digits and `_`, beginning with a letter and ending with a letter or digit.",
    good: agent_part("identity:\n  id: researcher\n"),
    bad: agent_part("identity:\n  id: Research-Analyst   # capitals and a hyphen\n"),
    check: id,
};

fn class_name(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let Some(source) = &agent.source else { continue };
        let named = at(config.root, &["runtime", "class_name"]);
        match named.and_then(Node::text) {
            Some(text) if text != CLASS => {
                let message =
                    format!("the Python agent {} has the class {}, not `{CLASS}`", quoted(agent.name()), quoted(text));
                let span = named.map(|node| node.span).unwrap_or_default();
                out.put(
                    agent.file,
                    Fault::warning(message)
                        .at(span)
                        .help(format!("call the class `{CLASS}`, and leave `class_name` out")),
                );
            }
            _ => undefined(source, agent, out),
        }
    }
}

/// A source that has no class `Agent`.
fn undefined(source: &Source, agent: &Agent, out: &mut Found) {
    let Some(facts) = &source.facts else { return };
    if facts.names.contains_key(CLASS) || facts.imports_all {
        return;
    }
    let fault =
        Fault::warning(format!("`{CLASS}` is not defined here, and {} is a Python agent", quoted(agent.name())));
    let fault = fault.help(format!("add `class {CLASS}`"));
    out.put(
        source.file,
        match facts.classes.first() {
            Some(class) => fault.at(class.span).help(format!("call this class `{CLASS}`")),
            None => fault,
        },
    );
}

fn own_name(flow: &Workflow, out: &mut Found) {
    for (agent, config) in agents(flow) {
        let (Some(source), Some(id)) = (&agent.source, config.id().and_then(Node::text)) else { continue };
        let named = at(config.root, &["runtime", "class_name"]).and_then(Node::text).unwrap_or(CLASS);
        let class = source.facts.as_ref().and_then(|facts| facts.class(named));
        let namings = || class.into_iter().flat_map(|class| &class.namings);
        // A property that returns one name or another is computed.
        let chosen = namings().any(|naming| naming.way == Way::Property && naming.said.known() == Some(id));
        for naming in namings().filter(|naming| naming.way != Way::Property || !chosen) {
            let Some(said) = naming.said.known().filter(|said| *said != id) else { continue };
            let message = format!("`self.name` is {}, and `identity.id` is {}", quoted(said), quoted(id));
            out.put(
                source.file,
                Fault::warning(message).at(naming.said.span).help(format!("make both {}", quoted(id))),
            );
        }
    }
}

fn contract(flow: &Workflow, out: &mut Found) {
    for agent in &flow.agents {
        agent.contract.faults.iter().for_each(|fault| out.put(agent.file, fault.clone()));
    }
}

fn id(flow: &Workflow, out: &mut Found) {
    for node in flow.manifest().into_iter().flat_map(crate::manifest::Manifest::graph) {
        match node.id() {
            Some(id) => out_if(out, MANIFEST, no_id(id)),
            None => out.put(MANIFEST, Fault::error("a node of the graph has no `id`").at(start(node.node))),
        }
    }
    for (agent, config) in agents(flow) {
        match config.id() {
            Some(id) => out_if(out, agent.file, no_id(id)),
            None => {
                let place =
                    entry_at(config.root, &["identity"]).map_or_else(|| start(config.root), |entry| entry.key_span);
                let help = format!("add `id: {}`", agent.name());
                out.put(agent.file, Fault::error("`identity.id` is missing").at(place).help(help));
            }
        }
    }
}

/// Whether a name is well-formed.
pub(super) fn is_id(text: &str) -> bool {
    misnamed(text, ID_CHARS_MAX, "_").is_none()
}

fn no_id(node: &Node) -> Option<Fault> {
    let Some(text) = node.text() else { return wrong("id", "a text", node) };
    let (why, help) = misnamed(text, ID_CHARS_MAX, "_")?;
    Some(Fault::error(format!("the agent's id {} {why}", quoted(text))).at(node.span).help_if(help))
}
