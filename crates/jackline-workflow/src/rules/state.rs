//! R13, R14 and R16: what agents write, hide and share. What a run keeps of it is enforced when it runs; here the
//! configuration is judged.

use std::collections::BTreeSet;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Node, Value};
use jackline_core::definition::{Fault, Span, found};

use super::manifest::out_if;
use super::{MANIFEST, Rule, manifest_part, not_a_flag, one_of, wrong};
use crate::agent::Agent;
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{Manifest, SharingRule, at, entry_at, home, is, texts};
use crate::run::GATHERED;

/// Who sees what.
pub(crate) const STRATEGIES: &[&str] = &["full", "selective", "isolated"];
/// Keys of the state that are the runtime's.
pub(crate) const RESERVED_KEYS: &[&str] = &["_meta", "_errors", "_trace", "_workflow"];
/// Fields of a contract that are named when none of them is meant.
const NAMED_MAX: usize = 10;
/// Stands for every agent.
const EVERYBODY: &str = "*";

pub(super) static RESERVED: Rule = Rule {
    id: "R13",
    level: Level::Error,
    category: "Memory & State",
    summary: "No agent writes to reserved keys of the state",
    text: "`_meta`, `_errors`, `_trace` and `_workflow` belong to the runtime. No contract declares a field of such a name, \
also not below `state_updates`, in a part of its schema or by requiring it; no node shares one; `state.initial` and `state.auto_inject` do not set one; no `agent.py` \
assigns to one (`state[\"_meta\"] = …`), deletes it, or changes it by a method (`state.update(_meta=…)`, \
`state[\"_errors\"].append(…)`). A runtime refuses such writes as well.",
    good: manifest_part("state:\n  initial:\n    topic: tides\n"),
    bad: manifest_part("state:\n  initial:\n    _meta: {run: 7}    # the runtime's own\n"),
    check: reserved,
};

pub(super) static SENSITIVE: Rule = Rule {
    id: "R14",
    level: Level::Error,
    category: "Security",
    summary: "Sensitive values stay out of every record",
    text: "Fields in `state.sharing.sensitive_fields`, fields that a contract marks as sensitive, and environment variables \
with `sensitive: true` must not reach logs, metrics, traces and audit records of a run. So none of them is a label \
of a metric or an attribute of a trace; `sensitive` is `true` or `false`, and `sensitive_fields` a list of names. A contract's \
mark counts for the field that has it, refers to it, or holds a list or map of what has it; a pattern of names, and whatever else \
an answer may hold, cannot be marked.

A sensitive variable whose value stands in the manifest as its `default` is a warning.",
    good: manifest_part("state:\n  sharing:\n    strategy: full\n    sensitive_fields: [api_key]\n"),
    bad: manifest_part("state:\n  sharing:\n    strategy: full\n    sensitive_fields: [api_key]\nobservability:\n  metrics:\n    custom:\n      - name: calls\n        type: counter\n        labels: [api_key]   # would be in every metric\n"),
    check: sensitive,
};

pub(super) static SHARING: Rule = Rule {
    id: "R16",
    level: Level::Error,
    category: "Memory & State",
    summary: "Sharing names a strategy, agents and fields that exist",
    text: "`state.sharing.strategy` is `full`, `selective` or `isolated`. Rules under `state.sharing.rules` (`from`/`to` or \
`from_agent`/`to_agents`; both spellings at once say the same) have all three of `from`, `to` and `fields`. They, `share_input` and `share_output` name agents of the workflow, and fields that the contract of the \
agent has and lets be shared; `shareable` is `true` or `false`. Of a fan-out also the field that its answers become can be \
named: its `target_field`, else `results`. What `never_share` names is a field, or `agent.field`. A contract that may take fields it does not name is not held against them.

Rules beside a strategy that does not ask for them are a warning. What an agent is given when it runs follows the strategy.",
    good: manifest_part("state:\n  sharing:\n    strategy: selective\n    rules:\n      - {from: researcher, to: writer, fields: [summary]}\n"),
    bad: manifest_part("state:\n  sharing:\n    strategy: selective\n    rules:\n      - {from: researcher, to: editor, fields: [summary]}   # who is the editor?\n"),
    check: sharing,
};

fn reserved(flow: &Workflow, out: &mut Found) {
    if let Some(manifest) = flow.manifest() {
        let shared = manifest.graph().flat_map(|node| texts(node.node.get("share_output")));
        let targets = manifest.graph().flat_map(|node| texts(at(node.node, &["fan_in", "target_field"])));
        let set = ["initial", "auto_inject"].into_iter().filter_map(|key| at(manifest.root, &["state", key]));
        refuse(MANIFEST, shared.chain(targets).chain(set.flat_map(keys)), out);
    }
    for agent in &flow.agents {
        refuse(agent.file, agent.contract.underscored.iter().map(|(name, span)| (name.as_str(), *span)), out);
        let Some(source) = &agent.source else { continue };
        let written = source.facts.iter().flat_map(|facts| &facts.state_writes);
        refuse(source.file, written.filter_map(|said| Some((said.known()?, said.span))), out);
    }
}

/// Refuses those of some names that are reserved.
fn refuse<'a>(file: usize, names: impl Iterator<Item = (&'a str, Span)>, out: &mut Found) {
    for (name, span) in names.filter(|(name, _)| RESERVED_KEYS.contains(name)) {
        let fault = Fault::error(format!("{} is a reserved key of the state", quoted(name))).at(span);
        out.put(file, fault.help("use a name that does not begin with `_`"));
    }
}

fn keys(map: &Node) -> impl Iterator<Item = (&str, Span)> {
    map.entries().iter().map(|entry| (entry.key.as_str(), entry.key_span))
}

fn sensitive(flow: &Workflow, out: &mut Found) {
    vague_fields(flow, true, out);
    let Some(manifest) = flow.manifest() else { return };
    let listed = at(manifest.root, &["state", "sharing", "sensitive_fields"]);
    if let Some(list) = listed {
        not_names("sensitive_fields", list, out);
    }
    for variable in manifest.variables() {
        vague(variable, manifest, out);
    }
    let hidden = hidden(flow, manifest);
    let metrics = ["custom", "custom_metrics"]
        .into_iter()
        .filter_map(|key| at(manifest.root, &["observability", "metrics", key]));
    let metrics = metrics.flat_map(Node::items);
    let labels = metrics.flat_map(|metric| said(metric.get("labels"))).map(|label| ("a label of a metric", label));
    let tracing = said(at(manifest.root, &["observability", "tracing", "attributes"]))
        .map(|name| ("an attribute of a trace", name));
    let audited = texts(at(manifest.root, &["observability", "audit", "include_fields"]))
        .map(|name| ("a field of the audit log", name));
    for (what, (name, span)) in labels.chain(tracing).chain(audited).filter(|(_, (name, _))| hidden.contains(name)) {
        let fault = Fault::error(format!("{} is sensitive, and {what}", quoted(name))).at(span);
        out.put(MANIFEST, fault.help("take it out: every record would show it"));
    }
}

/// Fields that are sensitive, or not to be shared, in words that are not understood.
fn vague_fields(flow: &Workflow, sensitive: bool, out: &mut Found) {
    for agent in &flow.agents {
        let vague = agent.contract.vague.iter().filter(|vague| vague.sensitive == sensitive);
        vague.for_each(|vague| out.put(agent.file, vague.fault.clone()));
    }
}

fn not_names(label: &str, list: &Node, out: &mut Found) {
    match &list.value {
        Value::List(items) => items.iter().filter(|item| item.text().is_none()).for_each(|item| {
            let message = format!("an item of `{label}` must be a name, found {}", found(item));
            out.put(MANIFEST, Fault::error(message).at(item.span));
        }),
        Value::Null | Value::Broken => {}
        _ => out_if(out, MANIFEST, wrong(label, "a list of names", list)),
    }
}

/// A variable that is sensitive in words that are not understood, or by name only.
fn vague(variable: &Node, manifest: Manifest<'_>, out: &mut Found) {
    let Some(flag) = variable.get("sensitive") else { return };
    match flag.value {
        Value::Bool(true) => {
            let name = variable.get("name").and_then(Node::text).unwrap_or_default();
            let values = variable.get("default").into_iter().chain(manifest.default_of(name));
            for value in values.filter(|node| node.value != Value::Null && node.text() != Some("")) {
                let fault = Fault::warning(format!(
                    "the value of the sensitive variable {} stands in the manifest",
                    quoted(name)
                ));
                out.put(MANIFEST, fault.at(value.span).help("remove it, and set the variable where the workflow runs"));
            }
        }
        Value::Bool(false) => {}
        _ => out_if(out, MANIFEST, not_a_flag("sensitive", flag)),
    }
}

/// The names of everything sensitive.
fn hidden<'a>(flow: &'a Workflow, manifest: Manifest<'a>) -> BTreeSet<&'a str> {
    let listed = texts(at(manifest.root, &["state", "sharing", "sensitive_fields"])).map(|(name, _)| name);
    let variables = manifest.variables().filter(|variable| is(variable, &["sensitive"], true));
    let variables = variables.filter_map(|variable| variable.get("name")?.text());
    let fields = flow.agents.iter().flat_map(|agent| agent.contract.named.iter());
    let fields = fields.filter(|field| field.sensitive).map(|field| field.name.as_str());
    let inside = flow.agents.iter().flat_map(|agent| agent.contract.hidden_inside.iter().map(String::as_str));
    listed.chain(variables).chain(fields).chain(inside).collect()
}

/// The names in a list, or in a map: its keys, and what they stand for.
fn said(node: Option<&Node>) -> impl Iterator<Item = (&str, Span)> {
    let entries = node.into_iter().flat_map(Node::entries);
    let entries = entries.flat_map(|entry| texts(Some(&entry.value)).chain([(entry.key.as_str(), entry.key_span)]));
    texts(node).chain(entries)
}

fn sharing(flow: &Workflow, out: &mut Found) {
    vague_fields(flow, false, out);
    let Some(manifest) = flow.manifest() else { return };
    let strategy = at(manifest.root, &["state", "sharing", "strategy"]);
    if let Some(node) = strategy {
        out_if(out, MANIFEST, one_of("strategy", STRATEGIES, node));
    }
    let named = strategy.and_then(Node::text);
    if let (Some(strategy), Some(rules)) = (
        named.filter(|name| ["full", "isolated"].contains(name)),
        entry_at(manifest.root, &["state", "sharing", "rules"]),
    ) && !rules.value.items().is_empty()
    {
        let fault = Fault::warning(format!("these rules do nothing under the strategy {}", quoted(strategy)));
        out.put(MANIFEST, fault.at(rules.key_span).help("rules are for `strategy: selective`"));
    }
    for (path, span) in texts(at(manifest.root, &["state", "sharing", "never_share"])) {
        // Of a path, all but the last part names an agent; unless a field is really called so.
        let fields = || flow.agents.iter().flat_map(|agent| &agent.contract.named);
        if let Some((agent, _)) = path.rsplit_once('.').filter(|_| !fields().any(|field| field.name == path)) {
            let stranger = stranger(flow, agent, span, out);
            out_if(out, MANIFEST, stranger);
        }
    }
    let nodes: Vec<&Node> = manifest.graph().map(|node| node.node).collect();
    for rule in manifest.sharing_rules() {
        unsaid(rule, out);
        for (name, span) in texts(rule.from()).chain(texts(rule.to())) {
            let stranger = stranger(flow, name, span, out);
            out_if(out, MANIFEST, stranger);
        }
        let from = rule.from().and_then(Node::text).map(|name| Answers::of(flow, &nodes, name));
        texts(rule.fields()).for_each(|(name, span)| unshared(from, name, span, out));
    }
    for node in manifest.graph() {
        let own = node.id().and_then(Node::text).map(|name| Answers::of(flow, &nodes, name));
        // Reserved names are another rule's.
        let shared = texts(node.node.get("share_output")).filter(|(name, _)| !RESERVED_KEYS.contains(name));
        shared.for_each(|(name, span)| unshared(own, name, span, out));
        for entry in node.node.get("share_input").into_iter().flat_map(Node::entries) {
            let stranger = stranger(flow, &entry.key, entry.key_span, out);
            out_if(out, MANIFEST, stranger);
            let from = Answers::of(flow, &nodes, &entry.key);
            texts(Some(&entry.value)).for_each(|(name, span)| unshared(Some(from), name, span, out));
        }
    }
}

/// A rule that leaves open who shares what with whom, or says it twice.
fn unsaid(rule: SharingRule<'_>, out: &mut Found) {
    if !matches!(rule.node.value, Value::Map(_)) {
        return;
    }
    for (keys, said) in [("`from`", rule.from()), ("`to`", rule.to()), ("`fields`", rule.fields())] {
        if said.is_none_or(|node| node.value == Value::Null) {
            let fault = Fault::error(format!("a sharing rule has no {keys}")).at(rule.node.span);
            out.put(MANIFEST, fault.help("say whose `fields` are shared `from` whom `to` whom"));
        }
    }
    for (one, other) in [("from", "from_agent"), ("to", "to_agents")] {
        if let (Some(first), Some(second)) = (rule.node.get(one), rule.node.get(other))
            && !texts(Some(first)).map(|(name, _)| name).eq(texts(Some(second)).map(|(name, _)| name))
        {
            let fault = Fault::error(format!("`{one}` and `{other}` of a sharing rule are not the same"));
            out.put(MANIFEST, fault.at(second.span).help("give one of them"));
        }
    }
}

/// An agent that nobody knows.
pub(super) fn stranger(flow: &Workflow, name: &str, span: Span, out: &mut Found) -> Option<Fault> {
    if name == EVERYBODY || flow.knows(name) {
        return None;
    }
    let directories = flow.agents.iter().map(Agent::name);
    let near = out.near(name, flow.nodes.keys().map(String::as_str).chain(directories));
    Some(Fault::error(format!("there is no agent {}", quoted(name))).at(span).help_if(near))
}

/// What somebody answers with: the fields of an agent's contract, and the one that many answers become.
#[derive(Clone, Copy)]
struct Answers<'a> {
    agent: Option<&'a Agent>,
    gathered: Option<&'a str>,
}

impl<'a> Answers<'a> {
    /// Of a node of the graph, else of the agent that is called so.
    fn of(flow: &'a Workflow, nodes: &[&'a Node], name: &str) -> Self {
        let node = flow.nodes.get(name).and_then(|at| nodes.get(*at).copied());
        let fan_out = node.and_then(|node| Some((node, node.get("fan_out")?)));
        let fan_out = fan_out.filter(|(_, fan_out)| !is(fan_out, &["enabled"], false));
        let copies = fan_out.and_then(|(_, fan_out)| flow.agent_in(&home(fan_out.get("agent_template")?.text()?)?));
        Self { agent: copies.or_else(|| flow.agent(name)), gathered: fan_out.and_then(gathered) }
    }
}

/// The field that the answers of a fan-out become together, if they become one.
fn gathered<'a>((node, fan_out): (&'a Node, &'a Node)) -> Option<&'a str> {
    let way = at(node, &["fan_in", "strategy"]).or_else(|| fan_out.get("aggregation")).and_then(Node::text);
    let list = way.is_none_or(|way| matches!(way, "merge" | "list")).then_some(GATHERED);
    at(node, &["fan_in", "target_field"]).and_then(Node::text).or(list)
}

/// Puts down a field that an agent does not have, or does not show.
fn unshared(from: Option<Answers<'_>>, name: &str, span: Span, out: &mut Found) {
    let Some(Answers { agent: Some(agent), gathered }) = from else { return };
    let Some(fields) = agent.contract.fields.as_deref() else { return };
    let who = quoted(agent.name());
    match agent.contract.field(name) {
        _ if name == EVERYBODY || gathered == Some(name) => {}
        Some(field) if field.shareable => {}
        Some(_) => {
            let fault = Fault::error(format!("{who} does not share its field {}", quoted(name))).at(span);
            out.put(MANIFEST, fault.help("the contract says that it is not shareable"));
        }
        None => {
            let fault = Fault::error(format!("the contract of {who} has no field {}", quoted(name))).at(span);
            let near = out.near(name, fields.iter().map(|field| field.name.as_str()));
            let all: Vec<String> = fields.iter().take(NAMED_MAX).map(|field| quoted(&field.name)).collect();
            let all = || (!all.is_empty()).then(|| format!("its fields: {}", all.join(", ")));
            out.put(MANIFEST, fault.help_if(near.or_else(all)));
        }
    }
}
