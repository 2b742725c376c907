//! What a run needs of a workflow's files, typed and complete; and all that stands in its way, at once.
//!
//! The workflow was validated before, so that here only what cannot be *run* is refused.

mod agent;
mod channel;
mod delegation;
mod execution;
mod named;
mod node;
mod retry;
mod sharing;
mod tiers;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use jackline_core::definition::tree;
use jackline_core::sha::Digest;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::load::Workflow;
use crate::manifest::{Manifest, texts};
use crate::run::model::Means;

pub(crate) use agent::AgentSettings;
pub(crate) use channel::Channels;
pub(crate) use delegation::{Budgeted, Delegation};
pub(crate) use execution::{Execution, RunBudget};
pub(crate) use node::{Aggregation, Condition, FanOut, GATHERED, Node, Repeat};
pub(crate) use retry::{OnFailure, Retry};
pub(crate) use sharing::{Sharing, Strategy, within};
pub(crate) use tiers::{Named, Tiers};
pub(crate) use variables::Variables;

/// Megabytes that the shared state may take when the manifest says nothing.
const STATE_MB: f64 = 50.0;
/// Megabytes that the shared state may take whatever the manifest says: it is handed to every agent as a whole.
const STATE_MB_MAX: f64 = 1_024.0;

/// All that a run goes by.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    /// Of every file of the workflow that was read: what a resumed run must still find.
    pub(crate) digest: Digest,
    pub(crate) engine: Engine,
    pub(crate) agents: BTreeMap<String, AgentSettings>,
    pub(crate) execution: Execution,
    pub(crate) budget: RunBudget,
    pub(crate) sharing: Sharing,
    pub(crate) channels: Channels,
    /// Members of the shared state at the start.
    pub(crate) initial: Map<String, Value>,
    pub(crate) required: Vec<String>,
    pub(crate) state_bytes_max: u64,
    /// Names of fields that no record shows.
    pub(crate) hidden: BTreeSet<String>,
    /// Variables that agents get.
    pub(crate) variables: Variables,
    pub(crate) tiers: Tiers,
}

/// Who decides what comes next.
#[derive(Debug)]
pub(crate) enum Engine {
    Graph(Vec<Node>),
    Delegation(Box<Delegation>),
}

impl Engine {
    /// As the manifest calls it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Graph(_) => "dag",
            Self::Delegation(_) => "delegation_loop",
        }
    }
}

/// A part of the manifest, read into its type; what is absent is its default.
fn part<T: for<'a> Deserialize<'a> + Default>(root: &Value, pointer: &str, out: &mut Vec<String>) -> T {
    let Some(value) = root.pointer(pointer) else { return T::default() };
    serde_json::from_value(value.clone()).unwrap_or_else(|why| {
        out.push(format!("`{}` cannot be run: {why}", pointer.trim_start_matches('/').replace('/', ".")));
        T::default()
    })
}

/// Members that hold values of somebody else's, in which null says something: that a schema wants it, that a parameter
/// is left out, that the state begins with it.
const AS_WRITTEN: &[&str] = &["schema", "parameters", "initial", "auto_inject"];

/// Takes members that are null away, at every depth: many programs write absent ones so. The depth of YAML is bounded.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            let ours = members.iter_mut().filter(|(name, _)| !AS_WRITTEN.contains(&name.as_str()));
            ours.for_each(|(_, value)| without_nulls(value));
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// What a run would refuse about judges, critics and scores, as far as the manifest alone tells.
pub(crate) fn unusable_tiers(flow: &Workflow) -> Vec<String> {
    let Some(mut root) = flow.manifest().and_then(|manifest| tree(manifest.root)) else { return Vec::new() };
    without_nulls(&mut root);
    let agents: Vec<&str> = flow.agents.iter().map(|agent| agent.name()).collect();
    tiers::unusable(&root, &agents)
}

impl Settings {
    /// Reads them, or says all that stands in the way of a run.
    pub(crate) fn read(flow: &Workflow, means: &Means<'_>) -> Result<Self, Vec<String>> {
        let manifest = flow.manifest().ok_or_else(|| vec!["the manifest cannot be read".to_owned()])?;
        let mut root = tree(manifest.root).ok_or_else(|| vec!["the manifest holds no plain values".to_owned()])?;
        without_nulls(&mut root);
        let mut out = Vec::new();
        let execution = Execution::read(&root, &mut out);
        let agents = agent::read(flow, means, &mut out);
        let engine = engine(manifest, &root, &execution, &mut out);
        refuse_unknown(&engine, &agents, &mut out);
        let variables = Variables::read(manifest);
        let settings = Self {
            name: root.pointer("/workflow/name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            digest: named::digest(flow),
            budget: part(&root, "/orchestration/run_budget", &mut out),
            sharing: Sharing::read(&root, &engine, &agents, &mut out),
            channels: Channels::read(&root, &mut out),
            initial: initial(&root, &mut out),
            required: part(&root, "/state/required_fields", &mut out),
            state_bytes_max: state_bytes(&root),
            hidden: hidden(flow, manifest, &variables.secret),
            variables,
            tiers: Tiers::read(&root, &agents, means, &mut out),
            engine,
            agents,
            execution,
        };
        refuse_gates(&settings, &mut out);
        refuse_targets(&settings, &mut out);
        out.extend(crate::effect::unheld(flow));
        if out.is_empty() { Ok(settings) } else { Err(out) }
    }
}

impl Settings {
    /// The names of everybody who takes part: nodes, else agents.
    pub(crate) fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.engine {
            Engine::Graph(nodes) => Box::new(nodes.iter().map(|node| node.id.as_str())),
            Engine::Delegation(_) => Box::new(self.agents.keys().map(String::as_str)),
        }
    }
}

fn engine(manifest: Manifest<'_>, root: &Value, execution: &Execution, out: &mut Vec<String>) -> Engine {
    if manifest.delegates() {
        let nodes = node::read(manifest, execution, out);
        return Engine::Delegation(Box::new(Delegation::read(root, nodes, out)));
    }
    let nodes = node::read(manifest, execution, out);
    if nodes.is_empty() && manifest.graph().next().is_none() {
        out.push("the graph has no node, so that nothing would run".to_owned());
    }
    Engine::Graph(nodes)
}

/// What the gates would not understand when they are asked.
fn refuse_gates(settings: &Settings, out: &mut Vec<String>) {
    let Engine::Delegation(delegation) = &settings.engine else { return };
    let thresholds =
        settings.tiers.evaluation.as_ref().map_or_else(Default::default, |(scoring, _)| scoring.thresholds);
    let asked = json!({"gates": delegation.gates, "evaluation": {"thresholds": thresholds}});
    if let Err(why) = crate::gates::Run::read(asked.to_string().as_bytes()) {
        out.push(format!("the completion gates cannot be asked: {why}"));
    }
}

/// What many answers may not become: what another node says.
fn refuse_targets(settings: &Settings, out: &mut Vec<String>) {
    let Engine::Graph(nodes) = &settings.engine else { return };
    let fans = nodes.iter().filter_map(|node| Some((node, node.fan_out.as_ref()?.target.as_deref()?)));
    for (node, target) in fans {
        if settings.names().any(|name| name == target) {
            out.push(format!(
                "`fan_in.target_field` of the node `{}` is `{target}`, which is no agent's to write",
                node.id
            ));
        }
    }
}

/// Names of agents without a file that could be run.
fn refuse_unknown(engine: &Engine, agents: &BTreeMap<String, AgentSettings>, out: &mut Vec<String>) {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    match engine {
        Engine::Graph(nodes) => {
            named.extend(nodes.iter().filter(|node| node.enabled).flat_map(Node::agents));
        }
        Engine::Delegation(delegation) => {
            named.extend(Some(delegation.manager.as_str()).filter(|name| !name.is_empty()));
            named.extend(delegation.worker.as_deref());
        }
    }
    for name in named {
        match agents.get(name) {
            Some(agent) => out.extend(agent.worker.as_ref().err().map(|why| format!("the agent `{name}` {why}"))),
            None => out.push(format!("the agent `{name}` has no file that could be run")),
        }
    }
}

fn initial(root: &Value, out: &mut Vec<String>) -> Map<String, Value> {
    let mut initial: Map<String, Value> = part(root, "/state/initial", out);
    let injected: Map<String, Value> = part(root, "/state/auto_inject", out);
    initial.extend(injected);
    initial
}

fn state_bytes(root: &Value) -> u64 {
    let megabytes = root.pointer("/state/max_state_size_mb").and_then(Value::as_f64).unwrap_or(STATE_MB);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
    let bytes = (megabytes.clamp(0.0, STATE_MB_MAX) * 1_048_576.0) as u64;
    bytes
}

/// Names of fields and variables that no record shows (R14). Of a path, what it ends with counts.
fn hidden(flow: &Workflow, manifest: Manifest<'_>, variables: &[String]) -> BTreeSet<String> {
    let listed = crate::manifest::at(manifest.root, &["state", "sharing", "sensitive_fields"]);
    let listed = texts(listed).map(|(name, _)| name.rsplit('.').next().unwrap_or(name).to_owned());
    let fields = flow.agents.iter().flat_map(|agent| agent.contract.named.iter());
    let fields = fields.filter(|field| field.sensitive).map(|field| field.name.clone());
    let inside = flow.agents.iter().flat_map(|agent| agent.contract.hidden_inside.iter().cloned());
    listed.chain(fields).chain(inside).chain(variables.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_absent_save_where_it_says_something() {
        let mut value = json!({
            "a": null, "list": [{"b": null, "c": 1}], "initial": null,
            "model": {"name": "m", "price": null, "parameters": {"response_format": null}},
            "channels": [{"schema": {"properties": {"err": {"const": null}}}}],
        });
        without_nulls(&mut value);
        let want = json!({
            "list": [{"c": 1}],
            "model": {"name": "m", "parameters": {"response_format": null}},
            "channels": [{"schema": {"properties": {"err": {"const": null}}}}],
        });
        assert_eq!(value, want);
    }
}
