//! What an agent promises to answer: a JSON Schema, a flat map of fields, or the name of a file with a schema.

use std::path::Path;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Node, Value};
use jackline_core::definition::{Fault, Span, any_of, found, tree};
use jackline_core::json::decode;
use jackline_core::schema::SCHEMA_BYTES_MAX;
use jackline_runtime::schema_fault;

use crate::manifest::{at, is};
use crate::read;
use crate::within::inside;

/// The types that JSON has.
pub(crate) const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// A contract, as far as it can be read.
#[derive(Debug, Default)]
pub struct Contract {
    /// The fields it names; none when it may name others that cannot be told.
    pub fields: Option<Vec<Field>>,
    /// Why it is no contract.
    pub(crate) faults: Vec<Fault>,
}

/// A field of an agent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub shareable: bool,
    pub sensitive: bool,
    pub span: Span,
}

impl Contract {
    /// Reads the contract of an agent's tree. `root` is the workflow's directory, `directory` the agent's in it.
    pub(crate) fn read(agent: &Node, root: &Path, directory: &str) -> Self {
        let Some(contract) = at(agent, &["output", "contract"]) else { return Self::missing(agent) };
        match &contract.value {
            Value::Null => Self::missing(agent),
            Value::Broken => Self::default(),
            Value::Map(entries) if entries.is_empty() => {
                let fault = Fault::warning("the contract is empty: any answer fits it").at(contract.span);
                Self::fault(fault.help("name the fields that others rely on"))
            }
            Value::Map(_) if is_schema(contract) => Self::schema(contract),
            Value::Map(_) => Self::flat(contract),
            Value::Text(path) => Self::file(contract, path, (root, directory)),
            _ => {
                let message = format!("`contract` must be a map or the name of a file, found {}", found(contract));
                Self::fault(Fault::error(message).at(contract.span))
            }
        }
    }

    fn fault(fault: Fault) -> Self {
        Self { fields: None, faults: vec![fault] }
    }

    fn missing(agent: &Node) -> Self {
        let output = agent.entry("output");
        let span = output.map_or(Span { end: agent.span.start, ..agent.span }, |entry| entry.key_span);
        let help = "add `contract:` with the fields of the answer, each with its `type`, or with a JSON Schema";
        Self::fault(Fault::error("the agent has no `output.contract`").at(span).help(help))
    }

    fn schema(contract: &Node) -> Self {
        let fields = closed(contract).then(|| contract.get("properties")).flatten();
        let fields = fields.map(|node| {
            node.entries()
                .iter()
                .map(|entry| Field {
                    name: entry.key.clone(),
                    shareable: !is(&entry.value, &["x-awp-shareable"], false),
                    sensitive: is(&entry.value, &["x-awp-sensitive"], true),
                    span: entry.key_span,
                })
                .collect()
        });
        let faults = if plainly_valid(contract) { None } else { engine_fault(contract) };
        Self { fields, faults: faults.into_iter().collect() }
    }

    fn flat(contract: &Node) -> Self {
        let fields = contract.entries().iter().map(|entry| Field {
            name: entry.key.clone(),
            shareable: !is(&entry.value, &["shareable"], false),
            sensitive: is(&entry.value, &["sensitive"], true),
            span: entry.key_span,
        });
        let faults = contract.entries().iter().filter_map(|entry| {
            let named = quoted(&entry.key);
            match (&entry.value.value, entry.value.get("type")) {
                (Value::Map(_), Some(kind)) => untyped(kind, &named),
                (Value::Map(_), None) => {
                    Some(Fault::error(format!("the field {named} has no `type`")).at(entry.key_span).help(type_help()))
                }
                (Value::Broken, _) => None,
                _ => Some(
                    Fault::error(format!(
                        "the field {named} must be a map with a `type`, found {}",
                        found(&entry.value)
                    ))
                    .at(entry.value.span)
                    .help(type_help()),
                ),
            }
        });
        Self { fields: Some(fields.collect()), faults: faults.collect() }
    }

    fn file(contract: &Node, path: &str, (root, directory): (&Path, &str)) -> Self {
        let refuse = |message: String| Self::fault(Fault::error(message).at(contract.span));
        let Some(path_inside) = inside(directory, path) else {
            return refuse(format!("the contract's file {} lies outside the workflow", quoted(path)));
        };
        let text = match read::text(root, &path_inside, SCHEMA_BYTES_MAX) {
            Ok(text) => text,
            Err(why) => return refuse(format!("the contract's file {} cannot be read: {why}", quoted(&path_inside))),
        };
        let schema = match decode(text.as_bytes()) {
            Ok(schema) => schema,
            Err(why) => return refuse(format!("the contract's file {} is no JSON: {why}", quoted(&path_inside))),
        };
        if let Some(fault) = schema_fault(&schema) {
            return refuse(format!(
                "the contract's file {} is no JSON Schema: {}",
                quoted(&path_inside),
                fault.message
            ));
        }
        Self { fields: json_fields(&schema, contract.span), faults: Vec::new() }
    }

    /// The field of a name, if its fields are known.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.as_deref()?.iter().find(|field| field.name == name)
    }
}

/// What a contract demands, as it is written.
#[derive(Debug)]
pub(crate) enum Demand {
    Schema(serde_json::Value),
    /// A map from fields to their types.
    Flat(serde_json::Value),
}

/// What the contract of an agent demands; nothing where there is none. It was found valid before.
pub(crate) fn demand(agent: &Node, root: &Path, directory: &str) -> Option<Demand> {
    let contract = at(agent, &["output", "contract"])?;
    match &contract.value {
        Value::Map(entries) if entries.is_empty() => None,
        Value::Map(_) if is_schema(contract) => tree(contract).map(Demand::Schema),
        Value::Map(_) => tree(contract).map(Demand::Flat),
        Value::Text(path) => {
            let text = read::text(root, &inside(directory, path)?, SCHEMA_BYTES_MAX).ok()?;
            decode(text.as_bytes()).ok().map(Demand::Schema)
        }
        _ => None,
    }
}

fn type_help() -> String {
    format!("types are {}", any_of(TYPES))
}

fn untyped(kind: &Node, named: &str) -> Option<Fault> {
    let unknown = |node: &Node| !node.text().is_some_and(|text| TYPES.contains(&text));
    let wrong = match &kind.value {
        Value::Broken => return None,
        Value::List(items) if !items.is_empty() => items.iter().find(|item| unknown(item))?,
        _ if unknown(kind) => kind,
        _ => return None,
    };
    Some(
        Fault::error(format!("the field {named} has no type of JSON: {}", found(wrong)))
            .at(wrong.span)
            .help(type_help()),
    )
}

/// The fields that a schema in a file names.
fn json_fields(schema: &serde_json::Value, span: Span) -> Option<Vec<Field>> {
    let object = schema.as_object()?;
    if OPENING.iter().any(|key| object.contains_key(*key)) {
        return None;
    }
    let fields = object.get("properties")?.as_object()?.iter().map(|(name, field)| Field {
        name: name.clone(),
        shareable: field.get("x-awp-shareable") != Some(&serde_json::Value::Bool(false)),
        sensitive: field.get("x-awp-sensitive") == Some(&serde_json::Value::Bool(true)),
        span,
    });
    Some(fields.collect())
}

/// Keywords by which a schema takes fields that it does not name under `properties`.
const OPENING: &[&str] = &["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "additionalProperties", "if"];

/// Whether the fields of a schema are those under `properties`.
fn closed(schema: &Node) -> bool {
    OPENING.iter().all(|key| schema.get(key).is_none() || *key == "additionalProperties" && is(schema, &[key], false))
}

/// Whether a map is a schema, and no flat map with fields of such names.
fn is_schema(contract: &Node) -> bool {
    contract.entries().iter().any(|entry| match (entry.key.as_str(), &entry.value.value) {
        ("$schema" | "$ref" | "$id" | "type" | "format" | "pattern", Value::Text(_)) => true,
        ("type" | "required" | "enum" | "allOf" | "anyOf" | "oneOf", Value::List(_)) => true,
        ("properties", Value::Map(_)) => entry.value.get("type").and_then(Node::text).is_none(),
        ("additionalProperties", Value::Bool(_)) => true,
        _ => false,
    })
}

/// Whether a tree is a schema beyond doubt: known keywords in known forms, nothing that an engine must compile. Whoever
/// is not plainly valid is asked about in earnest; that takes a hundred times as long. Recursion is bounded by the tree's
/// depth.
fn plainly_valid(schema: &Node) -> bool {
    matches!(schema.value, Value::Map(_))
        && schema.entries().iter().all(|entry| keyword_is_plain(&entry.key, &entry.value))
}

fn keyword_is_plain(key: &str, node: &Node) -> bool {
    let is_type = |node: &Node| node.text().is_some_and(|text| TYPES.contains(&text));
    match key {
        "type" => is_type(node),
        "title" | "description" | "format" => node.text().is_some(),
        "properties" | "$defs" => {
            matches!(node.value, Value::Map(_)) && node.entries().iter().all(|entry| plainly_valid(&entry.value))
        }
        "items" | "additionalProperties" | "not" => matches!(node.value, Value::Bool(_)) || plainly_valid(node),
        "allOf" | "anyOf" | "oneOf" => !node.items().is_empty() && node.items().iter().all(plainly_valid),
        "required" => distinct_texts(node),
        "enum" => matches!(node.value, Value::List(_)),
        "minimum" | "maximum" => {
            matches!(node.value, Value::Int(_)) || matches!(node.value, Value::Float(number) if number.is_finite())
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" => matches!(node.value, Value::Int(number) if number >= 0),
        key => key.starts_with("x-"),
    }
}

fn distinct_texts(node: &Node) -> bool {
    let texts: Option<Vec<&str>> = node.items().iter().map(Node::text).collect();
    matches!(node.value, Value::List(_))
        && texts.is_some_and(|texts| {
            texts.iter().enumerate().all(|(at, text)| !texts.iter().take(at).any(|other| other == text))
        })
}

/// What the engine says about a schema, at its place.
pub(crate) fn engine_fault(schema: &Node) -> Option<Fault> {
    let Some(value) = tree(schema) else {
        let fault = Fault::error("the schema holds a value that JSON does not have").at(schema.span);
        return Some(fault.help("numbers must be finite"));
    };
    let fault = schema_fault(&value)?;
    let steps = fault.pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let place = steps.fold(schema, |node, step| {
        let item = || step.parse().ok().and_then(|at: usize| node.items().get(at));
        node.get(&step).or_else(item).unwrap_or(node)
    });
    let message = match fault.message.strip_prefix("it is no schema") {
        // Where is told by the place.
        Some(why) => format!("this is no JSON Schema: {}", why.split_once(": ").map_or(why, |(_, why)| why)),
        None => format!("the schema cannot be used: {}", fault.message),
    };
    Some(Fault::error(message).at(place.span).help_if(fault.help.map(str::to_owned)))
}

/// What is wrong with a schema that stands in a file of the workflow.
pub(crate) fn fault_of(schema: &Node) -> Option<Fault> {
    if plainly_valid(schema) { None } else { engine_fault(schema) }
}
