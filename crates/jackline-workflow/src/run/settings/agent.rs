//! Agents as a run knows them: who answers, and what the answer must fit.

use std::collections::{BTreeMap, BTreeSet};

use jackline_core::definition::tree;
use jackline_runtime::Schema;
use serde_json::{Map, Value, json};

use super::without_nulls;
use crate::agent::Agent;
use crate::contract::{Demand, demand};
use crate::load::Workflow;
use crate::run::worker::{self, Worker};

/// An agent as a run knows it.
#[derive(Debug)]
pub(crate) struct AgentSettings {
    pub(crate) description: String,
    /// Who answers for it, or why nobody can.
    pub(crate) worker: Result<Box<dyn Worker>, String>,
    /// What its answers must fit.
    pub(crate) schema: Option<Schema>,
    /// Fields that its contract names.
    pub(crate) fields: BTreeSet<String>,
    /// Fields that it shows nobody.
    pub(crate) unshared: BTreeSet<String>,
}

/// All agents, by the last part of their directories.
pub(super) fn read(flow: &Workflow, out: &mut Vec<String>) -> BTreeMap<String, AgentSettings> {
    let mut agents = BTreeMap::new();
    for agent in &flow.agents {
        let Some(config) = flow.config(agent) else { continue };
        let Some(mut root) = tree(config.root) else { continue };
        without_nulls(&mut root);
        match settings(flow, agent, &root) {
            Ok(settings) => drop(agents.insert(agent.name().to_owned(), settings)),
            Err(why) => out.push(format!("the agent `{}` cannot be run: {why}", agent.name())),
        }
    }
    agents
}

fn settings(flow: &Workflow, agent: &Agent, root: &Value) -> Result<AgentSettings, String> {
    let schema = if worker::is_json(root) { schema(flow, agent)? } else { None };
    let fields = agent.contract.fields.iter().flatten();
    let text = |pointer: &str| root.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Ok(AgentSettings {
        description: text("/identity/description").unwrap_or_default(),
        worker: worker::of(root),
        schema,
        unshared: fields.clone().filter(|field| !field.shareable).map(|field| field.name.clone()).collect(),
        fields: fields.map(|field| field.name.clone()).collect(),
    })
}

/// What the contract demands, as a JSON Schema.
fn schema(flow: &Workflow, agent: &Agent) -> Result<Option<Schema>, String> {
    let Some(config) = flow.config(agent) else { return Ok(None) };
    let schema = match demand(config.root, &flow.root, &agent.directory) {
        None => return Ok(None),
        Some(Demand::Schema(schema)) => schema,
        Some(Demand::Flat(fields)) => flat(fields.as_object().unwrap_or(&Map::new())),
    };
    Schema::new(&schema).map(Some).map_err(|fault| format!("its contract cannot be used: {}", fault.message))
}

/// The schema of a flat map of fields.
fn flat(fields: &Map<String, Value>) -> Value {
    /// Keys of a field that a schema does not know, or knows as something else.
    const OWN: &[&str] = &["required", "shareable", "sensitive", "max_length", "min_length", "examples", "default"];
    let required: Vec<&String> =
        fields.iter().filter(|(_, field)| field.get("required") == Some(&json!(true))).map(|(name, _)| name).collect();
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, field)| {
            let mut field = field.as_object().cloned().unwrap_or_default();
            for (own, keyword) in [("max_length", "maxLength"), ("min_length", "minLength")] {
                if let Some(bound) = field.get(own).cloned() {
                    field.insert(keyword.to_owned(), bound);
                }
            }
            field.retain(|key, _| !OWN.contains(&key.as_str()));
            (name.clone(), Value::Object(field))
        })
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}
