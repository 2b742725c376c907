//! The one table of rules. Each rule is data for people (what it demands, why, a good and a bad example) and one function
//! that looks at a workflow and puts down what breaks it. No rule ends the round of the others.

mod audit;
mod channels;
mod code_mode;
mod depth;
mod dynamic;
mod evaluation;
mod graph;
mod identity;
mod manifest;
mod reading;
mod state;
mod timeouts;
mod tools;

use jackline_core::definition::yaml::{Node, Value};
use jackline_core::definition::{Fault, flag_meant, found};

use crate::finding::{Found, Level, Report};
use crate::load::Workflow;

pub(crate) use audit::{ALGORITHMS, INTEGRITIES};
pub(crate) use code_mode::{LANGUAGES, SANDBOXES};
#[cfg(test)]
pub(crate) use evaluation::KINDS;
pub(crate) use evaluation::{ACTIONS, HOOKS};
pub(crate) use identity::AGENT_ID;
pub use manifest::WORKFLOW_NAME;
pub(crate) use state::{RESERVED_KEYS, STRATEGIES};
pub(crate) use timeouts::FAILURES;

/// Namespaces of tools that a runtime brings along.
pub const RESERVED_NAMESPACES: &[&str] =
    &["web", "http", "file", "shell", "agent", "memory", "arithmetic", "numpy", "matplot", "pandas", "doc", "sklearn"];

/// Tools that a runtime brings along, by full name.
pub const BUILT_IN_TOOLS: &[&str] = &[
    "web.search",
    "http.request",
    "file.read",
    "file.write",
    "file.list",
    "shell.execute",
    "terminal.execute",
    "memory.read",
    "memory.write",
    "memory.search",
    "memory.curate",
    "agent.send_message",
    "agent.list_messages",
    "arithmetic.add",
    "arithmetic.subtract",
    "arithmetic.multiply",
    "arithmetic.divide",
];

/// A static requirement on a workflow.
#[derive(Debug)]
pub struct Rule {
    /// `R1` to `R32`, or `load`.
    pub id: &'static str,
    /// What breaking it makes of a workflow.
    pub level: Level,
    pub category: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What is demanded, what is looked at, and why; paragraphs.
    pub text: &'static str,
    pub good: Example,
    pub bad: Example,
    pub(crate) check: fn(&Workflow, &mut Found),
}

/// A part of a workflow: the sections of one of its files that matter.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// As seen from the workflow's directory.
    pub file: &'static str,
    pub text: &'static str,
}

/// The manifest in an example.
pub(crate) const fn manifest_part(text: &'static str) -> Example {
    Example { file: crate::load::MANIFEST_FILE, text }
}

/// The first agent in an example.
pub(crate) const fn agent_part(text: &'static str) -> Example {
    Example { file: "agents/researcher/agent.awp.yaml", text }
}

/// A source of tools in an example.
pub(crate) const fn tool_part(text: &'static str) -> Example {
    Example { file: "mcp/tools.py", text }
}

/// The first agent's source in an example.
pub(crate) const fn source_part(text: &'static str) -> Example {
    Example { file: "agents/researcher/agent.py", text }
}

/// Every rule, in order.
pub static RULES: &[&Rule] = &[
    &reading::LOAD,
    &manifest::VERSION,
    &manifest::NAME,
    &identity::CLASS_NAME,
    &identity::OWN_NAME,
    &graph::UNIQUE,
    &graph::ACYCLIC,
    &graph::RESOLVED,
    &graph::FILES,
    &identity::CONTRACT,
    &tools::NAMESPACE,
    &tools::UNIQUE,
    &identity::ID,
    &state::RESERVED,
    &state::SENSITIVE,
    &channels::SCHEMA,
    &state::SHARING,
    &timeouts::TIMEOUTS,
    &audit::CHAIN,
    &code_mode::TOOLS,
    &code_mode::SANDBOX,
    &code_mode::LANGUAGE,
    &code_mode::INCLUDE,
    &code_mode::EXCLUDE,
    &code_mode::NETWORK,
    &dynamic::NAMESPACE,
    &dynamic::FLAGS,
    &evaluation::KIND,
    &evaluation::THRESHOLDS,
    &evaluation::WEIGHTS,
    &evaluation::HOOKS_AND_ACTIONS,
    &depth::REQUIRED,
    &depth::CEILING,
];

/// The rule of an id, however it is capitalised.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id)).copied()
}

/// Holds a workflow against every rule, and those inside it. Recursion is bounded by how deep they were read.
#[must_use]
pub fn validate(flow: &Workflow) -> Report {
    let mut found = Found::new();
    for rule in RULES {
        found.speaks(rule.id, rule.category);
        (rule.check)(flow, &mut found);
    }
    let mut report = found.told(flow);
    for (directory, inner) in flow.inner.workflows() {
        report.take_up(directory, validate(inner));
    }
    report
}

/// The number of the manifest among the files.
const MANIFEST: usize = 0;

/// Every agent whose file can be read, with its tree.
fn agents(flow: &Workflow) -> impl Iterator<Item = (&crate::agent::Agent, crate::agent::Config<'_>)> {
    flow.agents.iter().filter_map(|agent| Some((agent, flow.config(agent)?)))
}

/// A value that is of the wrong kind; nothing for one that is a fault already.
fn wrong(label: &str, expected: &str, node: &Node) -> Option<Fault> {
    if node.value == Value::Broken {
        return None;
    }
    let fault = Fault::error(format!("`{label}` must be {expected}, found {}", found(node))).at(node.span);
    let quotes =
        expected.starts_with("a text") && matches!(node.value, Value::Int(_) | Value::Float(_) | Value::Bool(_));
    let bare = expected.contains("number") && node.text().is_some_and(|text| text.parse::<f64>().is_ok());
    let help =
        if quotes { Some("put it in quotes to make it a text") } else { bare.then_some("write it without quotes") };
    Some(fault.help_if(help.map(str::to_owned)))
}

/// A flag that is none: what is wrong with it, and which was meant.
pub(crate) fn not_a_flag(label: &str, node: &Node) -> Option<Fault> {
    let meant = node.text().and_then(flag_meant);
    Some(wrong(label, "`true` or `false`", node)?.help_if(meant))
}

/// A text out of some: what is wrong with a value that must be one of them.
fn one_of(label: &str, names: &[&str], node: &Node) -> Option<Fault> {
    use jackline_core::definition::any_of;
    use jackline_core::definition::fault::did_you_mean;
    match node.text() {
        Some(text) if names.contains(&text) => None,
        Some(text) => Some(wrong(label, &any_of(names), node)?.help_if(did_you_mean(text, names.iter().copied()))),
        None => wrong(label, &any_of(names), node),
    }
}
