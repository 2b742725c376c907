//! The JSON Schema of a definition, drawn from the table of shapes: editors complete and check from it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::form::{Form, Key, Shape};
use super::shape::ROOT;

const DURATION_PATTERN: &str = "^([0-9]+(ms|s|m|h|d))+$";
const TIME_PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}";

/// The schema (2020-12) of `jackline.yaml`.
#[must_use]
pub fn json_schema() -> Value {
    schema_of("jackline.yaml", &ROOT)
}

/// The schema (2020-12) of a file of this shape.
#[must_use]
pub fn schema_of(title: &str, root: &'static Shape) -> Value {
    let mut defs = BTreeMap::new();
    let root = object(root, &mut defs);
    let mut schema = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": title });
    merge(&mut schema, root);
    merge(&mut schema, json!({ "$defs": defs }));
    schema
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// A reference to a shape, whose own schema is put among the definitions once.
fn reference(shape: &'static Shape, defs: &mut BTreeMap<&'static str, Value>) -> Value {
    if !defs.contains_key(shape.name) {
        // Reserved first: a matcher holds matchers.
        defs.insert(shape.name, Value::Null);
        let schema = object(shape, defs);
        defs.insert(shape.name, schema);
    }
    json!({ "$ref": format!("#/$defs/{}", shape.name) })
}

fn object(shape: &'static Shape, defs: &mut BTreeMap<&'static str, Value>) -> Value {
    let properties: Map<String, Value> =
        shape.keys.iter().map(|key| (key.name.to_owned(), property(key, defs))).collect();
    let required: Vec<&str> = shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    // A key left empty is its defaults, where there are any.
    let may_be_empty = required.is_empty() && shape.one_of.is_empty();
    let mut schema = json!({
        "description": shape.doc,
        "type": if may_be_empty { json!(["object", "null"]) } else { json!("object") },
        "properties": properties,
        "additionalProperties": shape.open,
    });
    if !required.is_empty() {
        merge(&mut schema, json!({ "required": required }));
    }
    if !shape.one_of.is_empty() {
        let one_of: Vec<Value> = shape.one_of.iter().map(|name| json!({ "required": [name] })).collect();
        merge(&mut schema, json!({ "oneOf": one_of }));
    }
    if let Some(conditions) = shape.conditions.and_then(read) {
        merge(&mut schema, json!({ "allOf": conditions }));
    }
    schema
}

fn property(key: &'static Key, defs: &mut BTreeMap<&'static str, Value>) -> Value {
    let mut schema = form(&key.form, defs);
    merge(&mut schema, json!({ "description": key.doc }));
    if let Some(default) = key.default.and_then(read) {
        merge(&mut schema, json!({ "default": default }));
    }
    if let Some(example) = key.example.and_then(read) {
        merge(&mut schema, json!({ "examples": [example] }));
    }
    schema
}

fn read(json: &str) -> Option<Value> {
    serde_json::from_str(json).ok()
}

/// An item of a list: a key may be left empty where a map is, an item may not.
fn item(of: &'static Form, defs: &mut BTreeMap<&'static str, Value>) -> Value {
    let mut schema = form(of, defs);
    if matches!(of, Form::Map(_) | Form::Named(_) | Form::List(_) | Form::Either(_)) {
        merge(&mut schema, json!({ "not": { "type": "null" } }));
    }
    schema
}

fn form(form_of: &'static Form, defs: &mut BTreeMap<&'static str, Value>) -> Value {
    match form_of {
        Form::Flag => json!({ "type": "boolean" }),
        Form::Yes => json!({ "const": true }),
        Form::Whole { min, max } if min == max => json!({ "const": min }),
        Form::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Form::Number => json!({ "type": "number" }),
        Form::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Form::NotNegative => json!({ "type": "number", "minimum": 0 }),
        Form::Fraction => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Form::Text => json!({ "type": "string", "minLength": 1 }),
        Form::Matching(pattern) => json!({ "type": "string", "pattern": pattern }),
        Form::Choice(names) => json!({ "enum": names }),
        Form::Duration => json!({ "type": "string", "pattern": DURATION_PATTERN }),
        Form::Moment => {
            json!({ "type": "string", "anyOf": [{ "pattern": DURATION_PATTERN }, { "pattern": TIME_PATTERN }] })
        }
        Form::Literal => json!({ "type": ["string", "number", "boolean", "null", "array"] }),
        Form::Free => json!({ "type": "object" }),
        Form::List(of) => json!({ "type": ["array", "null"], "items": item(of, defs) }),
        Form::Some(of) => json!({ "type": "array", "items": item(of, defs), "minItems": 1 }),
        Form::Many(of) => {
            let one = item(of, defs);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        Form::Named(of) => json!({
            "type": ["object", "null"],
            "additionalProperties": form(of, defs),
            "propertyNames": { "minLength": 1 },
        }),
        Form::Map(shape) => reference(shape, defs),
        Form::Either(forms) => json!({ "anyOf": forms.iter().map(|of| form(of, defs)).collect::<Vec<_>>() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every object in a schema, with the place it was found at.
    fn walk<'a>(value: &'a Value, at: &str, visit: &mut dyn FnMut(&str, &'a Map<String, Value>)) {
        match value {
            Value::Object(map) => {
                visit(at, map);
                map.iter().for_each(|(key, value)| walk(value, &format!("{at}/{key}"), visit));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, at, visit)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_no_map_is_open() {
        let schema = json_schema();
        let defs = schema["$defs"].as_object().unwrap();
        walk(&schema, "", &mut |at, map| {
            if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                assert!(defs.contains_key(target.trim_start_matches("#/$defs/")), "{at}: {target}");
            }
            if map.contains_key("properties") && map.get("additionalProperties").is_some() {
                assert_eq!(map["additionalProperties"], false, "{at}");
            }
        });
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["jackline"]));
        assert_eq!(schema["properties"]["mode"]["enum"], json!(["enforce", "observe"]));
        assert_eq!(defs["matcher"]["properties"]["not"]["$ref"], "#/$defs/matcher");
        assert_eq!(defs["policy"]["oneOf"].as_array().unwrap().len(), 5);
    }

    fn keys(shape: &'static Shape, seen: &mut Vec<&'static str>, visit: &mut dyn FnMut(&'static Shape, &'static Key)) {
        if seen.contains(&shape.name) {
            return;
        }
        seen.push(shape.name);
        for key in shape.keys {
            visit(shape, key);
            forms(&key.form, seen, visit);
        }
    }

    fn forms(form: &'static Form, seen: &mut Vec<&'static str>, visit: &mut dyn FnMut(&'static Shape, &'static Key)) {
        match form {
            Form::Map(shape) => keys(shape, seen, visit),
            Form::List(of) | Form::Some(of) | Form::Many(of) | Form::Named(of) => forms(of, seen, visit),
            Form::Either(of) => of.iter().for_each(|of| forms(of, seen, visit)),
            _ => {}
        }
    }

    #[test]
    fn the_table_is_well_made() {
        let mut shapes = Vec::new();
        keys(&ROOT, &mut shapes, &mut |shape, key| {
            let place = format!("{}.{}", shape.name, key.name);
            assert!(key.doc.ends_with(['.', '?']) && !key.doc.contains('\n'), "{place}");
            assert!(key.default.is_none_or(|json| read(json).is_some()), "{place}");
            assert!(key.example.is_none_or(|json| read(json).is_some()), "{place}");
            assert!(shape.one_of.iter().all(|name| shape.keys.iter().any(|key| key.name == *name)), "{place}");
            assert_eq!(shape.keys.iter().filter(|other| other.name == key.name).count(), 1, "{place}");
        });
        assert!(shapes.len() > 30, "{shapes:?}");
    }
}
