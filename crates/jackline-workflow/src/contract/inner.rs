//! Marks of fields that a schema names elsewhere than under its own `properties`: in parts that speak of the same object, and
//! deeper inside of its fields.

use serde_json::{Map, Value};

use super::{PARTS, SENSITIVE, SHAREABLE};

/// Keywords whose members are schemas by name.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that hold values, not schemas.
const DATA: &[&str] = &["const", "enum", "default", "examples"];

/// A field that is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) name: String,
    pub(super) shareable: bool,
    pub(super) sensitive: bool,
    /// Whether it is a field of the answer itself, and of nothing inside of it.
    pub(super) own: bool,
}

/// All of them. The depth of a schema is bounded where it is read.
pub(super) fn marked(schema: &Value) -> Vec<Marked> {
    let mut found = Vec::new();
    walk(schema, Level::Schema, &mut found);
    found
}

/// Of what a schema speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The whole answer. What stands under its `properties` is read elsewhere.
    Schema,
    /// A part that speaks of the answer, too.
    Part,
    /// Something inside of it.
    Inside,
}

fn walk(schema: &Value, level: Level, found: &mut Vec<Marked>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            (key, _) if DATA.contains(&key) => {}
            (key, Value::Object(fields)) if NAMED.contains(&key) => {
                if key == "properties" && level != Level::Schema {
                    found.extend(fields.iter().filter_map(|(name, field)| marks(name, field.as_object()?, level)));
                }
                fields.values().for_each(|field| walk(field, Level::Inside, found));
            }
            (key, _) => {
                let same = PARTS.contains(&key) && level != Level::Inside;
                let below = if same { Level::Part } else { Level::Inside };
                let schemas = value.as_array().into_iter().flatten().chain([value]);
                schemas.for_each(|schema| walk(schema, below, found));
            }
        }
    }
}

/// The marks of a field, if it has any. What is not plainly open is hidden.
fn marks(name: &str, field: &Map<String, Value>, level: Level) -> Option<Marked> {
    let given = |keys: &[&str], plain: bool| {
        let mut flags = keys.iter().filter_map(|key| field.get(*key)).filter(|flag| !flag.is_null());
        flags.any(|flag| *flag != Value::Bool(plain))
    };
    let (kept_back, sensitive) = (given(SHAREABLE, true), given(SENSITIVE, false));
    let own = level == Level::Part;
    (kept_back || sensitive).then(|| Marked { name: name.to_owned(), shareable: !kept_back, sensitive, own })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        let secret = json!({"type": "string", "sensitive": true});
        let schema = json!({
            "properties": {
                "own": {"sensitive": true},
                "user": {"properties": {"tok": secret, "plain": {"type": "string"}}},
                "list": {"items": {"properties": {"key": {"x-awp-sensitive": "yes"}}}},
            },
            "allOf": [{"properties": {"part": {"shareable": false}}}],
            "$defs": {"deep": {"properties": {"back": {"x-awp-shareable": false}}}},
            "examples": [{"properties": {"no": secret}}],
        });
        let mut found: Vec<_> =
            marked(&schema).into_iter().map(|one| (one.name, one.shareable, one.sensitive, one.own)).collect();
        found.sort();
        let want = [
            ("back", false, false, false),
            ("key", true, true, false),
            ("part", false, false, true),
            ("tok", true, true, false),
        ];
        assert_eq!(found, want.map(|(name, shareable, sensitive, own)| (name.to_owned(), shareable, sensitive, own)));
    }
}
