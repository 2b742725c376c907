//! R25 and R26: tools that agents make while they run.

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::Node;
use jackline_core::definition::{Fault, Span};

use super::manifest::out_if;
use super::{RESERVED_NAMESPACES, Rule, agent_part, agents, manifest_part, wrong};
use crate::agent::{Config, DYNAMIC_NAMESPACE};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, entry_at, is};

pub(super) static NAMESPACE: Rule = Rule {
    id: "R25",
    level: Level::Error,
    category: "Capabilities",
    summary: "Tools made at run time stay in declared namespaces",
    text: "An agent with `capabilities.codemode.tool_creation: true` puts its tools into `tool_creation_namespace`, by default \
`dynamic`. The namespace is not reserved, and stands in the manifest's `dynamic_tools.allowed_namespaces` as a text or as a map \
with `name`; by default that list is `[dynamic]`. So no tool that a model writes can stand in for a built-in one.",
    good: agent_part(
        "capabilities:\n  codemode: {enabled: false, tool_creation: false, tool_creation_namespace: dynamic}\n",
    ),
    bad: agent_part(
        "capabilities:\n  tools: {enabled: true}\n  sandbox: {type: subprocess}\n  codemode: {enabled: true, tool_creation: true, tool_creation_namespace: web}   # reserved\n",
    ),
    check: namespace,
};

pub(super) static FLAGS: Rule = Rule {
    id: "R26",
    level: Level::Error,
    category: "Capabilities",
    summary: "Making tools needs code mode and the workflow's consent",
    text:
        "An agent with `capabilities.codemode.tool_creation: true` has `capabilities.codemode.enabled: true`, and the \
manifest has `dynamic_tools.enabled: true`. Each of the two that is missing is told.

Jackline lets no agent make tools at run time; the rule is judged all the same.",
    good: manifest_part("dynamic_tools:\n  enabled: true\n  allowed_namespaces: [dynamic]\n"),
    bad: agent_part("capabilities:\n  codemode: {enabled: false, tool_creation: true}   # neither of the two is on\n"),
    check: flags,
};

fn makers(flow: &Workflow) -> impl Iterator<Item = (&crate::agent::Agent, Config<'_>)> {
    agents(flow).filter(|(_, config)| config.makes_tools())
}

/// The place of the switch that lets an agent make tools.
fn switch(config: Config<'_>) -> Span {
    let entry = entry_at(config.root, &["capabilities", "codemode", "tool_creation"]);
    entry.map(|entry| entry.key_span).unwrap_or_default()
}

/// The namespaces that the manifest lets agents use.
fn allowed(flow: &Workflow) -> Vec<&str> {
    let list = flow.manifest().and_then(|manifest| at(manifest.root, &["dynamic_tools", "allowed_namespaces"]));
    match list {
        None => vec![DYNAMIC_NAMESPACE],
        Some(list) => list.items().iter().filter_map(|item| item.text().or_else(|| item.get("name")?.text())).collect(),
    }
}

fn namespace(flow: &Workflow, out: &mut Found) {
    let allowed = allowed(flow);
    for (agent, config) in makers(flow) {
        let given = config.code_mode().and_then(|mode| mode.get("tool_creation_namespace"));
        if let Some(node) = given.filter(|node| node.text().is_none()) {
            out_if(out, agent.file, wrong("tool_creation_namespace", "a text", node));
            continue;
        }
        let name = given.and_then(Node::text).unwrap_or(DYNAMIC_NAMESPACE);
        let span = given.map_or_else(|| switch(config), |node| node.span);
        if RESERVED_NAMESPACES.contains(&name) {
            let fault = Fault::error(format!("the namespace {} for new tools is reserved", quoted(name))).at(span);
            out.put(agent.file, fault.help("use a namespace of your own, such as `dynamic`"));
        } else if !allowed.contains(&name) {
            let message =
                format!("the namespace {} for new tools is not in `dynamic_tools.allowed_namespaces`", quoted(name));
            let listed: Vec<String> = allowed.iter().map(|name| quoted(name)).collect();
            let help = if listed.is_empty() {
                "add it there".to_owned()
            } else {
                format!("allowed are {}", listed.join(", "))
            };
            out.put(agent.file, Fault::error(message).at(span).help(help));
        }
    }
}

fn flags(flow: &Workflow, out: &mut Found) {
    let consent = flow.manifest().is_some_and(|manifest| is(manifest.root, &["dynamic_tools", "enabled"], true));
    for (agent, config) in makers(flow) {
        if !config.writes_code() {
            let fault = Fault::error("the agent makes tools, and `capabilities.codemode.enabled` is not `true`");
            out.put(agent.file, fault.at(switch(config)).help("set `enabled: true` beside `tool_creation`"));
        }
        if !consent {
            let fault = Fault::error("the agent makes tools, and the manifest's `dynamic_tools.enabled` is not `true`");
            out.put(agent.file, fault.at(switch(config)).help("add `dynamic_tools: {enabled: true}` to the manifest"));
        }
    }
}
