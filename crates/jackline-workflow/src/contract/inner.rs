//! Marks of fields that a schema names elsewhere than under its own `properties`: in parts that speak of the same object, in
//! what it refers to, and deeper inside of its fields.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{PARTS, SENSITIVE, SHAREABLE};

/// Keywords whose members are schemas by name.
const NAMED: &[&str] = &["patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose schemas speak of values that have no name of their own.
const NAMELESS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
];
/// Keywords that hold values, not schemas.
const DATA: &[&str] = &["const", "enum", "default", "examples"];
/// Schemas that are looked at for the marks of fields: far more than a contract has, unless many fields refer to large ones.
const LOOKS_MAX: u32 = 1_000_000;
/// Stands for the answer as a whole.
const WHOLE: &str = "contract";

/// A field that is marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) name: String,
    pub(super) shareable: bool,
    pub(super) sensitive: bool,
    pub(super) of: Of,
}

/// Of what it is a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Answer,
    /// Of something inside of the answer.
    Inside,
    /// It is no field that has a name: a pattern, or whatever else there may be.
    Nothing,
}

/// All of them. The depth of a schema is bounded where it is read.
pub(super) fn marked(schema: &Value) -> Vec<Marked> {
    let mut found = Vec::new();
    found.extend(Marks::plain(schema).named(WHOLE, Of::Nothing));
    walk(&mut Search { root: schema, seen: BTreeSet::new(), left: LOOKS_MAX }, schema, Level::Schema, &mut found);
    found
}

/// Of what a schema speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The whole answer. What is plainly marked under its `properties` is read elsewhere.
    Schema,
    /// A part that speaks of the answer, too.
    Part,
    /// Something inside of it.
    Inside,
}

fn walk<'s>(search: &mut Search<'s>, schema: &'s Value, level: Level, found: &mut Vec<Marked>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        let members = || value.as_object().into_iter().flatten();
        let schemas = || value.as_array().into_iter().flatten().chain([value]);
        match key.as_str() {
            key if DATA.contains(&key) => {}
            "properties" => {
                let of = if level == Level::Inside { Of::Inside } else { Of::Answer };
                let unread = members().filter(|(_, field)| level != Level::Schema || !Marks::plain(field).any());
                found.extend(unread.filter_map(|(name, field)| search.marks(field).named(name, of)));
                members().for_each(|(_, field)| walk(search, field, Level::Inside, found));
            }
            key if NAMED.contains(&key) => {
                let patterns = members().filter(|_| key == "patternProperties" && level != Level::Inside);
                found.extend(patterns.filter_map(|(name, field)| search.marks(field).named(name, Of::Nothing)));
                members().for_each(|(_, field)| walk(search, field, Level::Inside, found));
            }
            key => {
                let nameless = schemas().filter(|_| NAMELESS.contains(&key) && level != Level::Inside);
                found.extend(nameless.filter_map(|schema| search.marks(schema).named(key, Of::Nothing)));
                let same = PARTS.contains(&key) && level != Level::Inside;
                let below = if same { Level::Part } else { Level::Inside };
                schemas().for_each(|schema| walk(search, schema, below, found));
            }
        }
    }
}

/// What a schema says of the value that it speaks of. What is not plainly open is hidden.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    kept_back: bool,
    sensitive: bool,
}

impl Marks {
    /// As they stand beside its keywords.
    fn plain(schema: &Value) -> Self {
        let given = |keys: &[&str], plain: bool| {
            let mut flags = keys.iter().filter_map(|key| schema.get(*key)).filter(|flag| !flag.is_null());
            flags.any(|flag| *flag != Value::Bool(plain))
        };
        Self { kept_back: given(SHAREABLE, true), sensitive: given(SENSITIVE, false) }
    }

    const fn any(self) -> bool {
        self.kept_back || self.sensitive
    }

    fn named(self, name: &str, of: Of) -> Option<Marked> {
        let Self { kept_back, sensitive } = self;
        self.any().then(|| Marked { name: name.to_owned(), shareable: !kept_back, sensitive, of })
    }
}

/// Looks for marks in a schema, and in what it refers to.
struct Search<'s> {
    root: &'s Value,
    /// What was followed for one field.
    seen: BTreeSet<&'s str>,
    left: u32,
}

impl<'s> Search<'s> {
    /// The marks of a schema with those of its parts, of what it refers to, and of what is in it without a name: that is hidden
    /// with the whole. Where there is too much to look at, everything is.
    fn marks(&mut self, schema: &'s Value) -> Marks {
        self.seen.clear();
        let mut marks = Marks::default();
        self.add(schema, &mut marks);
        if self.left == 0 { Marks { kept_back: true, sensitive: true } } else { marks }
    }

    fn add(&mut self, schema: &'s Value, marks: &mut Marks) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return;
        }
        let plain = Marks::plain(schema);
        marks.kept_back |= plain.kept_back;
        marks.sensitive |= plain.sensitive;
        for (key, value) in schema.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("$ref", Value::String(path)) => {
                    let target = path.strip_prefix('#').and_then(|path| self.root.pointer(path));
                    if let Some(target) = target.filter(|_| self.seen.insert(path)) {
                        self.add(target, marks);
                    }
                }
                ("patternProperties", Value::Object(fields)) => {
                    fields.values().for_each(|field| self.add(field, marks));
                }
                (key, _) if PARTS.contains(&key) || NAMELESS.contains(&key) => {
                    let schemas = value.as_array().into_iter().flatten().chain([value]);
                    schemas.for_each(|schema| self.add(schema, marks));
                }
                _ => {}
            }
        }
    }
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
            marked(&schema).into_iter().map(|one| (one.name, one.shareable, one.sensitive, one.of)).collect();
        found.sort();
        let want = [
            ("back", false, false, Of::Inside),
            ("key", true, true, Of::Inside),
            ("part", false, false, Of::Answer),
            ("tok", true, true, Of::Inside),
        ];
        assert_eq!(found, want.map(|(name, shareable, sensitive, of)| (name.to_owned(), shareable, sensitive, of)));
    }

    #[test]
    fn what_has_no_name_of_its_own_is_hidden_with_what_it_is_in() {
        let secret = json!({"type": "string", "sensitive": true});
        let schema = json!({
            "$defs": {"secret": secret, "loop": {"allOf": [{"$ref": "#/$defs/loop"}]}},
            "properties": {
                "referred": {"$ref": "#/$defs/secret"},
                "both": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/secret"}]},
                "keys": {"items": {"type": "string", "shareable": false}},
                "map": {"patternProperties": {"^a": secret}},
                "endless": {"$ref": "#/$defs/loop"},
                "plain": {"items": {"type": "string"}},
            },
            "patternProperties": {"^tok": secret},
            "additionalProperties": {"shareable": false},
            "sensitive": true,
        });
        let mut found: Vec<_> =
            marked(&schema).into_iter().map(|one| (one.of, one.name, one.shareable, one.sensitive)).collect();
        found.sort();
        let want = [
            (Of::Answer, "both", true, true),
            (Of::Answer, "keys", false, false),
            (Of::Answer, "map", true, true),
            (Of::Answer, "referred", true, true),
            (Of::Nothing, "^tok", true, true),
            (Of::Nothing, "additionalProperties", false, false),
            (Of::Nothing, "contract", true, true),
        ];
        assert_eq!(found, want.map(|(of, name, shareable, sensitive)| (of, name.to_owned(), shareable, sensitive)));
    }
}
