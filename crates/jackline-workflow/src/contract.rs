//! What an agent promises to answer: a JSON Schema, a flat map of fields, or the name of a file with a schema.

mod inner;

use std::collections::BTreeSet;
use std::path::Path;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Entry, Node, Value};
use jackline_core::definition::{Fault, Span, any_of, found, tree};
use jackline_core::json::decode;
use jackline_core::schema::SCHEMA_BYTES_MAX;
use jackline_runtime::schema_fault;

use crate::manifest::{at, is, texts};
use crate::read;
use crate::rules::not_a_flag;
use crate::within::inside;
use inner::{Marked, Of};

/// The format whose contract is a schema.
const JSON: &str = "json";
/// How a field says that it may be shared, and that it is sensitive: either word counts in every form of a contract.
const SHAREABLE: &[&str] = &["shareable", "x-awp-shareable"];
const SENSITIVE: &[&str] = &["sensitive", "x-awp-sensitive"];
/// The types that JSON has.
pub(crate) const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// A contract, as far as it can be read.
#[derive(Debug, Default)]
pub struct Contract {
    /// The fields it names; none when it may name others that cannot be told.
    pub fields: Option<Vec<Field>>,
    /// The fields it names, whether or not there may be others.
    pub(crate) named: Vec<Field>,
    /// Their numbers in the order of their names: a long contract is asked for many of them.
    sorted: Vec<usize>,
    /// Names that begin as reserved keys of the state do, wherever the contract declares them.
    pub(crate) underscored: Vec<(String, Span)>,
    /// Why it is no contract.
    pub(crate) faults: Vec<Fault>,
    /// What of `sensitive` and `shareable` is not understood, or cannot be held.
    pub(crate) vague: Vec<Vague>,
    /// Names of fields inside of its fields that are sensitive.
    pub(crate) hidden_inside: Vec<String>,
}

/// A flag of a field that is no flag.
#[derive(Debug)]
pub(crate) struct Vague {
    pub(crate) sensitive: bool,
    pub(crate) fault: Fault,
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
        let loose = at(agent, &["output", "format"]).and_then(Node::text).is_some_and(|format| format != JSON);
        match &contract.value {
            Value::Null => Self::missing(agent),
            Value::Broken => Self::default(),
            Value::Map(entries) if entries.is_empty() => {
                let fault = Fault::warning("the contract is empty: any answer fits it").at(contract.span);
                Self::fault(fault.help("name the fields that others rely on"))
            }
            // What is no JSON has no schema: the contract is told to people, and its fields count all the same.
            Value::Map(_) if loose && is_schema(contract) => Self { faults: Vec::new(), ..Self::schema(contract) },
            Value::Map(_) if loose => Self { faults: Vec::new(), ..Self::flat(contract) },
            Value::Text(_) if loose => Self::default(),
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
        Self { faults: vec![fault], ..Self::default() }
    }

    /// A contract of these fields; others are possible when they are open.
    fn of(named: Vec<Field>, open: bool) -> Self {
        let fields = (!open).then(|| named.clone());
        let name = |at: &usize| fields.as_deref().and_then(|fields| fields.get(*at)).map(|field| field.name.as_str());
        let mut sorted: Vec<usize> = (0..fields.as_ref().map_or(0, Vec::len)).collect();
        sorted.sort_by(|one, other| name(one).cmp(&name(other)));
        Self { sorted, fields, named, ..Self::default() }
    }

    fn missing(agent: &Node) -> Self {
        let output = agent.entry("output");
        let span = output.map_or(Span { end: agent.span.start, ..agent.span }, |entry| entry.key_span);
        let help = "add `contract:` with the fields of the answer, each with its `type`, or with a JSON Schema";
        Self::fault(Fault::error("the agent has no `output.contract`").at(span).help(help))
    }

    fn schema(contract: &Node) -> Self {
        let named = contract.get("properties").map(Node::entries).unwrap_or_default();
        let (fields, vague) = flagged(named);
        let open = !closed(contract) || contract.get("properties").is_none();
        let faults = if plainly_valid(contract) { None } else { engine_fault(contract) };
        let mut underscored = Vec::new();
        declared(contract, &mut underscored);
        let read = Self { underscored, vague, faults: faults.into_iter().collect(), ..Self::of(fields, open) };
        read.with_inner(&tree(contract).unwrap_or_default(), contract.span)
    }

    fn flat(contract: &Node) -> Self {
        let (fields, vague) = flagged(contract.entries());
        let own = contract.entries().iter().map(|entry| (entry.key.clone(), entry.key_span));
        let mut underscored: Vec<(String, Span)> = own.filter(|(name, _)| name.starts_with('_')).collect();
        if let Some(updates) = contract.get("state_updates") {
            declared(updates, &mut underscored);
        }
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
        let read = Self { underscored, vague, faults: faults.collect(), ..Self::of(fields, false) };
        read.with_inner(&serde_json::json!({"properties": tree(contract)}), contract.span)
    }

    /// The same with what is marked elsewhere than in its fields. Names are hidden wherever they stand; that a field inside of
    /// another is kept back, or what has no name, is held by nobody.
    fn with_inner(mut self, schema: &serde_json::Value, span: Span) -> Self {
        for Marked { name, shareable, sensitive, of } in inner::marked(schema) {
            let mut unheld = |sensitive: bool| {
                let (mark, help) = if sensitive {
                    ("sensitive", "give it a name")
                } else {
                    ("shareable", "keep back the field that it is in")
                };
                let message =
                    format!("`{mark}` of {} is held by nobody: it is no field of the answer itself", quoted(&name));
                self.vague.push(Vague { sensitive, fault: Fault::error(message).at(span).help(help) });
            };
            if of != Of::Answer && !shareable {
                unheld(false);
            }
            if of == Of::Nothing && sensitive {
                unheld(true);
            }
            match of {
                Of::Answer => self.named.push(Field { name, shareable, sensitive, span }),
                Of::Inside if sensitive => self.hidden_inside.push(name),
                Of::Inside | Of::Nothing => {}
            }
        }
        self
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
        let (fields, open, vague) = json_fields(&schema, contract.span);
        let mut underscored = Vec::new();
        json_declared(&schema, contract.span, &mut underscored);
        Self { underscored, vague, ..Self::of(fields, open) }.with_inner(&schema, contract.span)
    }

    /// The field of a name, if its fields are known.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        let fields = self.fields.as_deref()?;
        let named = |at: &usize| fields.get(*at).map(|field| field.name.as_str());
        let at = self.sorted.binary_search_by(|at| named(at).cmp(&Some(name))).ok()?;
        fields.get(*self.sorted.get(at)?)
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

/// Fields with their flags, and what of the flags is not understood. What is not plainly open is hidden.
fn flagged(entries: &[Entry]) -> (Vec<Field>, Vec<Vague>) {
    let mut vague = Vec::new();
    let fields = entries.iter().map(|entry| {
        let mut flag = |key: &str, sensitive: bool| {
            let node = entry.value.get(key).filter(|node| node.value != Value::Null)?;
            if let Value::Bool(flag) = node.value {
                return Some(flag);
            }
            let fault = not_a_flag(key, node)?;
            vague.push(Vague { sensitive, fault });
            Some(sensitive)
        };
        Field {
            name: entry.key.clone(),
            shareable: SHAREABLE.iter().filter_map(|key| flag(key, false)).all(|flag| flag),
            sensitive: SENSITIVE.iter().filter_map(|key| flag(key, true)).any(|flag| flag),
            span: entry.key_span,
        }
    });
    (fields.collect(), vague)
}

/// The names of an object's fields that begin with `_`, also where they are only required or stand in a part of the
/// schema; and those below `state_updates`. Recursion is bounded by the tree's depth.
fn declared(schema: &Node, names: &mut Vec<(String, Span)>) {
    let properties = schema.get("properties");
    let keys = properties.into_iter().flat_map(Node::entries).map(|entry| (entry.key.as_str(), entry.key_span));
    let all = keys.chain(texts(schema.get("required"))).filter(|(name, _)| name.starts_with('_'));
    names.extend(all.map(|(name, span)| (name.to_owned(), span)));
    let parts = PARTS.iter().filter_map(|key| schema.get(key));
    let parts = parts.flat_map(|part| part.items().iter().chain(std::iter::once(part)));
    parts.chain(properties.and_then(|node| node.get("state_updates"))).for_each(|part| declared(part, names));
}

/// The same of a schema in a file. Recursion is bounded by the reader of JSON.
fn json_declared(schema: &serde_json::Value, span: Span, names: &mut Vec<(String, Span)>) {
    let properties = schema.get("properties").and_then(serde_json::Value::as_object);
    let required = schema.get("required").and_then(serde_json::Value::as_array);
    let required = required.into_iter().flatten().filter_map(serde_json::Value::as_str);
    let keys = properties.into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
    names.extend(keys.chain(required).filter(|name| name.starts_with('_')).map(|name| (name.to_owned(), span)));
    let parts = PARTS.iter().filter_map(|key| schema.get(*key));
    let parts = parts.flat_map(|part| part.as_array().into_iter().flatten().chain(std::iter::once(part)));
    let updates = properties.and_then(|map| map.get("state_updates"));
    parts.chain(updates).for_each(|part| json_declared(part, span, names));
}

/// The fields that a schema in a file names, whether there may be others, and what of their flags is not understood.
fn json_fields(schema: &serde_json::Value, span: Span) -> (Vec<Field>, bool, Vec<Vague>) {
    let mut vague = Vec::new();
    let properties = schema.get("properties").and_then(serde_json::Value::as_object);
    let fields = properties.into_iter().flatten().map(|(name, field)| {
        let mut flag = |key: &str, sensitive: bool| match field.get(key)? {
            serde_json::Value::Null => None,
            serde_json::Value::Bool(flag) => Some(*flag),
            other => {
                let message = format!(
                    "`{key}` of the field {} must be `true` or `false`, found {}",
                    quoted(name),
                    quoted(&other.to_string())
                );
                vague.push(Vague { sensitive, fault: Fault::error(message).at(span) });
                Some(sensitive)
            }
        };
        Field {
            name: name.clone(),
            shareable: SHAREABLE.iter().filter_map(|key| flag(key, false)).all(|flag| flag),
            sensitive: SENSITIVE.iter().filter_map(|key| flag(key, true)).any(|flag| flag),
            span,
        }
    });
    let fields: Vec<Field> = fields.collect();
    let open = OPENING.iter().any(|key| schema.get(*key).is_some());
    (fields, open || properties.is_none(), vague)
}

/// Keywords whose schemas speak of the same object.
const PARTS: &[&str] = &["allOf", "anyOf", "oneOf", "if", "then", "else"];

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
        && texts.is_some_and(|texts| texts.iter().collect::<BTreeSet<_>>().len() == texts.len())
}

/// What the engine says about a schema, at its place.
pub(crate) fn engine_fault(schema: &Node) -> Option<Fault> {
    let Some(value) = tree(schema) else {
        let fault = Fault::error("the schema holds a value that JSON does not have").at(schema.span);
        return Some(fault.help("numbers must be finite"));
    };
    let fault = schema_fault(&value)?;
    if let Some(unknown) = unknown_dialect(schema) {
        return Some(unknown);
    }
    let steps = fault.pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let place = steps.fold(schema, |node, step| below(node, &step).unwrap_or(node));
    let message = match fault.message.strip_prefix("it is no schema") {
        // Where is told by the place.
        Some(why) => format!("this is no JSON Schema: {}", why.split_once(": ").map_or(why, |(_, why)| why)),
        None => format!("the schema cannot be used: {}", fault.message),
    };
    if let Some(dead) = dead_reference(schema, schema).filter(|_| fault.pointer.is_empty()) {
        let message = format!("the reference {} leads nowhere", quoted(dead.text().unwrap_or_default()));
        return Some(Fault::error(message).at(dead.span));
    }
    Some(Fault::error(message).at(place.span).help_if(fault.help.map(str::to_owned)))
}

fn below<'a>(node: &'a Node, step: &str) -> Option<&'a Node> {
    let item = || step.parse().ok().and_then(|at: usize| node.items().get(at));
    node.get(step).or_else(item)
}

/// A schema that says it is of a kind which nobody here knows.
fn unknown_dialect(schema: &Node) -> Option<Fault> {
    let named = schema.get("$schema")?;
    let text = named.text()?.trim_end_matches('#').trim_end_matches('/');
    let known = text.split_once("://").is_some_and(|(_, rest)| DIALECTS.contains(&rest));
    let message = || format!("the schema is of a kind that is not known, {}", quoted(text));
    (!known).then(|| Fault::error(message()).at(named.span).help("leave `$schema` out: nothing is fetched"))
}

/// The kinds of JSON Schema, without how they are fetched.
const DIALECTS: &[&str] = &[
    "json-schema.org/draft-04/schema",
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema",
];

/// The first reference into the schema itself that leads nowhere. Recursion is bounded by the tree's depth.
fn dead_reference<'a>(node: &'a Node, schema: &'a Node) -> Option<&'a Node> {
    let leads = |text: &str| {
        let mut steps = text.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
        steps.try_fold(schema, |node, step| below(node, &step)).is_some()
    };
    let own = node.get("$ref").filter(|named| named.text().is_some_and(|text| text.starts_with('#') && !leads(text)));
    own.or_else(|| node.entries().iter().find_map(|entry| dead_reference(&entry.value, schema)))
        .or_else(|| node.items().iter().find_map(|item| dead_reference(item, schema)))
}

/// What is wrong with a schema that stands in a file of the workflow.
pub(crate) fn fault_of(schema: &Node) -> Option<Fault> {
    if plainly_valid(schema) { None } else { engine_fault(schema) }
}
