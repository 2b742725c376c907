//! Schemas as the core knows them: which one, held against what, and what came of it. The engine is the runtime's.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sha::Digest;

/// Errors told of one value: a model mends these first, and more would bury them.
pub const ERRORS_MAX: usize = 20;
/// Bytes of an error's instance path; a longer one leads deeper than anyone reads.
pub const INSTANCE_PATH_BYTES_MAX: usize = 256;
/// Bytes of an error's message; a schema may list hundreds of choices, and keys are the agent's own.
pub const MESSAGE_BYTES_MAX: usize = 256;
/// Bytes of a schema; those of real tools have a few thousand.
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the name of a schema; it is a tool's or one of ours.
pub const SCHEMA_NAME_BYTES_MAX: usize = 256;

/// The keyword of an error about text that is no JSON.
pub const KEYWORD_JSON: &str = "json";
/// The keyword of an error about a value that is too large to be validated.
pub const KEYWORD_SIZE: &str = "size";

/// The plan of one step, as agents write it.
pub const PLAN: &str = "plan";
/// Schemas that are shipped: their names and texts.
pub const BUILT_IN: &[(&str, &str)] = &[(PLAN, include_str!("plan.json"))];

/// Which schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schema {
    /// Written into a definition in force, known by the digest of its compact JSON.
    Inline(Digest),
    /// The file at this absolute path.
    File(String),
    /// One of [`BUILT_IN`].
    BuiltIn(String),
    /// The event's own, known by the digest of its canonical JSON.
    Given(Digest),
}

/// Which part of the event is held against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A call's arguments.
    Args,
    /// A call's result.
    Output,
    /// What the agent produced.
    Text,
}

/// One way in which a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SchemaError {
    /// JSON Pointer into the value; empty for the whole of it.
    pub instance_path: String,
    /// The keyword of the schema that does not hold.
    pub keyword: String,
    pub message: String,
    /// JSON Pointer into the schema; empty where no schema was looked at.
    #[serde(default)]
    pub schema_path: String,
}

impl SchemaError {
    /// An error with its texts cut to their bounds.
    #[must_use]
    pub fn new(instance_path: &str, keyword: &str, message: &str) -> Self {
        Self {
            instance_path: cut(instance_path, INSTANCE_PATH_BYTES_MAX),
            keyword: cut(keyword, SCHEMA_NAME_BYTES_MAX),
            message: cut(message, MESSAGE_BYTES_MAX),
            schema_path: String::new(),
        }
    }

    /// The same, with the place in the schema.
    #[must_use]
    pub fn under(self, schema_path: &str) -> Self {
        Self { schema_path: cut(schema_path, INSTANCE_PATH_BYTES_MAX), ..self }
    }

    /// Bytes of its texts.
    pub(crate) const fn bytes(&self) -> usize {
        self.instance_path.len() + self.keyword.len() + self.message.len() + self.schema_path.len()
    }
}

/// What came of holding a value against a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Digest of the schema's text as it was then.
    pub schema: Digest,
    /// At most [`ERRORS_MAX`], in the order of their paths; none when it fits.
    pub errors: Vec<SchemaError>,
    /// How many more there were.
    pub omitted: u64,
    /// Why nothing was held against it: the schema that a server offers cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
}

impl Checked {
    /// What came of it where the value was looked at.
    #[must_use]
    pub const fn new(schema: Digest, errors: Vec<SchemaError>, omitted: u64) -> Self {
        Self { schema, errors, omitted, unusable: None }
    }

    /// Nothing was looked at, for this reason.
    #[must_use]
    pub fn unusable(schema: Digest, why: &str) -> Self {
        Self { unusable: Some(cut(why, MESSAGE_BYTES_MAX)), ..Self::new(schema, Vec::new(), 0) }
    }
}

/// The digest that an event's own schema is known by.
#[must_use]
pub fn digest(schema: &Value) -> Digest {
    Digest::of(&crate::json::canonical(schema))
}

fn cut(text: &str, bytes_max: usize) -> String {
    let head = crate::audit::head(text, bytes_max);
    if head.len() < text.len() { format!("{head}…") } else { head.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_an_error_are_bounded() {
        let long = "ключ/".repeat(1_000);
        let error = SchemaError::new(&long, "type", &long);
        assert!(error.instance_path.len() <= INSTANCE_PATH_BYTES_MAX + '…'.len_utf8());
        assert!(error.message.ends_with('…') && error.message.len() <= MESSAGE_BYTES_MAX + '…'.len_utf8());
        assert_eq!(SchemaError::new("/a", "type", "short").message, "short");
    }

    #[test]
    fn built_in_schemas_are_json_objects_within_the_bound() {
        for (name, text) in BUILT_IN {
            assert!(text.len() <= SCHEMA_BYTES_MAX && name.len() <= SCHEMA_NAME_BYTES_MAX);
            assert!(crate::json::decode(text.as_bytes()).is_ok_and(|schema| schema.is_object()), "{name}");
        }
    }
}
