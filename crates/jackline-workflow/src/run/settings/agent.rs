//! Agents as a run knows them: who answers, and what the answer must fit.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jackline_core::definition::tree;
use jackline_runtime::Schema;
use serde_json::{Map, Value, json};

use super::execution::seconds;
use super::without_nulls;
use crate::agent::Agent;
use crate::contract::{Demand, demand};
use crate::load::Workflow;
use crate::read;
use crate::run::model::Means;
use crate::run::worker::{self, Worker};
use crate::within::inside;

/// Bytes of a prompt: far more than a model takes in well.
const PROMPT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a prompt that may be the name of a file.
const PROMPT_PATH_BYTES_MAX: usize = 256;

/// An agent as a run knows it.
#[derive(Debug)]
pub(crate) struct AgentSettings {
    pub(crate) description: String,
    /// Who answers for it, or why nobody can.
    pub(crate) worker: Result<Box<dyn Worker>, String>,
    /// What its answers must fit.
    pub(crate) schema: Option<Schema>,
    /// The same as it is written, for those who are told of it.
    pub(crate) contract: Option<Value>,
    /// Fields that its contract names.
    pub(crate) fields: BTreeSet<String>,
    /// Fields that it shows nobody.
    pub(crate) unshared: BTreeSet<String>,
    /// Whether it can answer with JSON when it is asked about the work of others; a model always can.
    pub(crate) speaks_json: bool,
    /// Seconds that its sandbox gives it.
    pub(crate) timeout: Option<Duration>,
}

/// All agents, by the last part of their directories.
pub(super) fn read(flow: &Workflow, means: &Means<'_>, out: &mut Vec<String>) -> BTreeMap<String, AgentSettings> {
    let mut agents = BTreeMap::new();
    for agent in &flow.agents {
        let Some(config) = flow.config(agent) else { continue };
        let Some(mut root) = tree(config.root) else { continue };
        without_nulls(&mut root);
        match settings(flow, agent, (&root, means)) {
            Ok(settings) => drop(agents.insert(agent.name().to_owned(), settings)),
            Err(why) => out.push(format!("the agent `{}` cannot be run: {why}", agent.name())),
        }
    }
    agents
}

fn settings(flow: &Workflow, agent: &Agent, (root, means): (&Value, &Means<'_>)) -> Result<AgentSettings, String> {
    let (schema, contract) = if worker::is_json(root) { schema(flow, agent)?.unzip() } else { (None, None) };
    // What is no JSON is a text, and models are asked for that in JSON too.
    let text_only = || json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}});
    let wanted = if worker::is_json(root) { contract.clone() } else { Some(text_only()) };
    let fields = agent.contract.named.iter();
    let text = |pointer: &str| root.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let limit = root.pointer("/capabilities/sandbox/timeout").and_then(Value::as_f64);
    Ok(AgentSettings {
        speaks_json: worker::is_json(root) || root.pointer("/runtime/command").is_none(),
        timeout: limit.map(seconds),
        description: text("/identity/description").unwrap_or_default(),
        worker: worker::of(root, (system(flow, agent, root)?, wanted), means),
        schema,
        contract,
        unshared: fields.clone().filter(|field| !field.shareable).map(|field| field.name.clone()).collect(),
        fields: fields.map(|field| field.name.clone()).collect(),
    })
}

/// The prompt of a model: as it is written, or as the file holds it that is named.
fn system(flow: &Workflow, agent: &Agent, root: &Value) -> Result<String, String> {
    let written = root.pointer("/prompt/system").and_then(Value::as_str).unwrap_or_default();
    let named = Some(written).filter(|text| text.len() <= PROMPT_PATH_BYTES_MAX && !text.contains(char::is_whitespace));
    let path = named.filter(|text| !text.is_empty()).and_then(|text| inside(&agent.directory, text));
    match path.filter(|path| flow.root.join(path).is_file()) {
        None if named.is_some_and(names_a_file) => Err(format!("its prompt `{written}` is no file of the workflow")),
        None => Ok(written.to_owned()),
        Some(path) => read::text(&flow.root, &path, PROMPT_BYTES_MAX)
            .map_err(|_| format!("its prompt `{path}` is no text of at most {PROMPT_BYTES_MAX} bytes")),
    }
}

/// Whether a word is meant as a file, and not as a prompt of one word.
fn names_a_file(word: &str) -> bool {
    /// How the names of files with prompts end.
    const ENDINGS: &[&str] = &[".md", ".txt", ".prompt", ".j2", ".jinja", ".yaml"];
    word.contains('/') || ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// What the contract demands, as a JSON Schema.
fn schema(flow: &Workflow, agent: &Agent) -> Result<Option<(Schema, Value)>, String> {
    let Some(config) = flow.config(agent) else { return Ok(None) };
    let schema = match demand(config.root, &flow.root, &agent.directory) {
        None => return Ok(None),
        Some(Demand::Schema(schema)) => schema,
        Some(Demand::Flat(fields)) => flat(fields.as_object().unwrap_or(&Map::new())),
    };
    let compiled = Schema::new(&schema).map_err(|fault| format!("its contract cannot be used: {}", fault.message))?;
    Ok(Some((compiled, schema)))
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
