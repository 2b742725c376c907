//! The engine behind schemas: compiles them within bounds and holds values against them. Nothing is fetched.
//!
//! A schema is its owner's and a value is the agent's; together they may take for ever. So both work on a thread of
//! their own, with room for deep recursion and a limit of time; what takes longer is not known, which denies.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use jackline_core::json::decode;
use jackline_core::schema::{Checked, ERRORS_MAX, KEYWORD_SIZE, MESSAGE_BYTES_MAX, SCHEMA_BYTES_MAX, SchemaError};
use jackline_core::sha::Digest;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};
use serde_json::{Value, json};

use crate::worker::{Left, within};

/// Milliseconds that compiling or validating may take: a thousand times what honest schemas need, and below a host's
/// patience.
const WORK_MS_MAX: u64 = 2_000;
/// Values inside a value that is validated: each may become several errors before they are cut.
const VALUES_MAX: usize = 50_000;
/// Bytes of one compiled regular expression: enough for any pattern over an argument.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// Steps back that a pattern with look-around may take; beyond it the value does not fit.
const BACKTRACKS_MAX: usize = 100_000;
/// Bytes of a schema that may be held against a value right away, if nothing in it can take long: a thread costs more
/// than most calls do.
const PLAIN_BYTES_MAX: usize = 8 * 1024;
/// Values inside a value for which that holds; together they bound the work to some milliseconds.
const PLAIN_VALUES_MAX: usize = 256;
/// Keywords that can take long: patterns, references, comparisons of each with each.
const SLOW: &[&str] = &[
    "pattern",
    "patternProperties",
    "propertyNames",
    "format",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "uniqueItems",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];
/// Bytes of listed values: with the words around them they fit into an error's message.
const CHOICES_BYTES_MAX: usize = MESSAGE_BYTES_MAX - 64;
/// Characters of a schema's fault that are shown.
const FAULT_CHARS_MAX: usize = 300;

/// A schema that is ready for use.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    validator: Arc<Validator>,
    digest: Digest,
    /// Nothing in it can take long.
    plain: bool,
    /// A value that took too long.
    left: Left,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    pub message: String,
    pub help: Option<&'static str>,
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
}

impl SchemaFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, pointer: String::new() }
    }

    fn help(self, help: &'static str) -> Self {
        Self { help: Some(help), ..self }
    }
}

/// Why a schema cannot be used, if it cannot.
#[must_use]
pub fn schema_fault(schema: &Value) -> Option<SchemaFault> {
    compile(schema.to_string().as_bytes()).err()
}

/// A schema that values are held against, within the engine's bounds.
#[derive(Debug, Clone)]
pub struct Schema(Compiled);

impl Schema {
    /// Takes a schema into use.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn new(schema: &Value) -> Result<Self, SchemaFault> {
        compile(schema.to_string().as_bytes()).map(Self)
    }

    /// In which ways a value does not fit; none when it does.
    ///
    /// # Errors
    /// Why that cannot be told.
    pub fn errors(&self, value: &Value) -> Result<Vec<SchemaError>, String> {
        self.0.check(value).map(|checked| checked.errors)
    }
}

/// The text of a schema's file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    // Looked at before it is opened: opening a pipe that was planted there would wait for ever.
    let there = fs::metadata(path).map_err(|fault| fault.to_string())?;
    if !there.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut text = Vec::new();
    let bounded = |file: File| file.take(SCHEMA_BYTES_MAX as u64 + 1).read_to_end(&mut text);
    File::open(path).and_then(bounded).map_err(|fault| fault.to_string())?;
    Ok(text)
}

/// What becomes of `format` in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Formats {
    /// Values are held to it, as an owner means it.
    Held,
    /// It only tells, as the standard has it: servers' libraries write it for types that take more than it says.
    Noted,
}

/// Compiles a schema from its text.
pub(crate) fn compile(text: &[u8]) -> Result<Compiled, SchemaFault> {
    compile_unless(&Left::default(), text, Formats::Held)
}

/// The same, unless that took too long before and still goes on.
pub(crate) fn compile_unless(left: &Left, text: &[u8], formats: Formats) -> Result<Compiled, SchemaFault> {
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(SchemaFault::new(format!("it is longer than {SCHEMA_BYTES_MAX} bytes")));
    }
    let schema = decode(text).map_err(|fault| SchemaFault::new(format!("it is no JSON: {fault}")))?;
    if !schema.is_object() {
        return Err(SchemaFault::new("it is no JSON object"));
    }
    let digest = Digest::of(text);
    let plain = text.len() <= PLAIN_BYTES_MAX && is_plain(&schema);
    let built = within(WORK_MS_MAX, left, move || Ok(build(&schema, formats)));
    let built = built.unwrap_or_else(|why| Err(SchemaFault::new(why)))?;
    Ok(Compiled { validator: Arc::new(built), digest, plain, left: Left::default() })
}

/// Whether no key in a schema is a keyword that can take long. Recursion is bounded by the depth of decoded JSON.
fn is_plain(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().all(|(key, value)| !SLOW.contains(&key.as_str()) && is_plain(value)),
        Value::Array(items) => items.iter().all(is_plain),
        _ => true,
    }
}

fn build(schema: &Value, formats: Formats) -> Result<Validator, SchemaFault> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX).size_limit(REGEX_BYTES_MAX);
    jsonschema::options()
        .offline()
        .should_validate_formats(formats == Formats::Held)
        .with_pattern_options(patterns.dfa_size_limit(REGEX_BYTES_MAX))
        .build(schema)
        .map_err(|error| SchemaFault { pointer: error.instance_path().as_str().to_owned(), ..refused(&error) })
}

/// Why the engine refuses a schema, in our words.
fn refused(error: &ValidationError<'_>) -> SchemaFault {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            SchemaFault::new(format!("it refers to `{}`, and nothing outside a schema is fetched", shown(uri)))
                .help("put what it refers to under `$defs`, and refer to it as `#/$defs/name`")
        }
        ValidationErrorKind::Referencing(fault) => {
            SchemaFault::new(format!("a reference leads nowhere: {}", shown(&fault.to_string())))
        }
        ValidationErrorKind::AnyOf { .. } if error.instance_path().as_str().ends_with("/type") => {
            let (path, found) = (shown(error.instance_path().as_str()), shown(&error.instance().to_string()));
            SchemaFault::new(format!("it is no schema at `{path}`: there is no type {found}"))
                .help("types are `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`")
        }
        _ => {
            let (path, message) = (error.instance_path().as_str(), shown(&error.to_string()));
            let place = if path.is_empty() { String::new() } else { format!(" at `{}`", shown(path)) };
            SchemaFault::new(format!("it is no schema{place}: {message}"))
        }
    }
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(FAULT_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

impl Compiled {
    /// Holds a value against it.
    pub(crate) fn check(&self, value: &Value) -> Result<Checked, String> {
        let values = count(value, VALUES_MAX + 1);
        if values > VALUES_MAX {
            let message = format!("it holds more than {VALUES_MAX} values");
            let errors = vec![SchemaError::new("", KEYWORD_SIZE, &message)];
            return Ok(Checked::new(self.digest, errors, 0));
        }
        let (errors, omitted) = if self.plain && values <= PLAIN_VALUES_MAX {
            errors(&self.validator, value)?
        } else {
            let (validator, value) = (Arc::clone(&self.validator), value.clone());
            within(WORK_MS_MAX, &self.left, move || errors(&validator, &value))?
        };
        Ok(Checked::new(self.digest, errors, omitted))
    }
}

/// All errors in the order of their paths, cut to those that are told; and how many more there are.
fn errors(validator: &Validator, value: &Value) -> Result<(Vec<SchemaError>, u64), String> {
    if validator.is_valid(value) {
        return Ok((Vec::new(), 0));
    }
    let mut found = Vec::new();
    for error in validator.iter_errors(value) {
        if let ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. } =
            error.kind()
        {
            return Err(format!(
                "a pattern of the schema takes too long at `{}`",
                shown(error.instance_path().as_str())
            ));
        }
        found.push(told(&error, value));
    }
    if found.is_empty() {
        return Err("the value does not fit, and why cannot be told".to_owned());
    }
    found.sort_unstable();
    let omitted = found.len().saturating_sub(ERRORS_MAX) as u64;
    found.truncate(ERRORS_MAX);
    Ok((found, omitted))
}

/// An error as it is told. What the agent sent is not said again, but for the names of its keys.
fn told(error: &ValidationError<'_>, value: &Value) -> SchemaError {
    let (place, schema) = (error.instance_path().as_str(), error.schema_path().as_str());
    let (keyword, message) = match error.kind() {
        ValidationErrorKind::Enum { options } => ("enum", format!("value is not one of {}", choices(options))),
        ValidationErrorKind::FalseSchema if schema.ends_with("/additionalProperties") => {
            let there = value.pointer(place).and_then(Value::as_object);
            let keys: Vec<Value> = there.into_iter().flatten().map(|(key, _)| json!(key)).collect();
            ("additionalProperties", format!("no key is allowed here, and there is {}", choices(&Value::Array(keys))))
        }
        kind => (kind.keyword(), error.masked().to_string()),
    };
    SchemaError::new(place, keyword, &message).under(schema)
}

/// Values as they are listed, as many as there is room for.
fn choices(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed = String::new();
    for (number, option) in options.iter().enumerate() {
        let option = option.to_string();
        if listed.len() + option.len() > CHOICES_BYTES_MAX {
            return format!("{listed} and {} more", options.len() - number);
        }
        listed.push_str(if number == 0 { "" } else { ", " });
        listed.push_str(&option);
    }
    listed
}

/// Values inside a value, itself included, counted up to `max`. Recursion is bounded by the depth of decoded JSON.
fn count(value: &Value, max: usize) -> usize {
    let mut sum = 1;
    let parts: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => return sum,
    };
    for part in parts {
        if sum >= max {
            break;
        }
        sum += count(part, max - sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::schema::BUILT_IN;
    use std::time::Duration;

    fn compiled(schema: &Value) -> Compiled {
        compile(schema.to_string().as_bytes()).unwrap()
    }

    #[track_caller]
    fn check(schema: &Value, value: &Value, want: &[(&str, &str, &str)]) {
        let checked = compiled(schema).check(value).unwrap();
        let got: Vec<_> = checked.errors.iter().map(|e| (&*e.instance_path, &*e.keyword, &*e.message)).collect();
        assert_eq!(got, want, "{schema} on {value}");
    }

    #[track_caller]
    fn refuse(schema: &Value, want: &str) {
        let fault = compile(schema.to_string().as_bytes()).unwrap_err();
        assert!(fault.message.contains(want), "{}", fault.message);
    }

    #[test]
    fn what_can_take_long_is_not_plain() {
        let plain = |schema: &Value| compiled(schema).plain;
        assert!(plain(&json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})));
        assert!(!plain(&json!({"properties": {"a": {"pattern": "^(a+)+$"}}})));
        assert!(!plain(&json!({"$defs": {"a": {"$ref": "#"}}, "anyOf": [{"$ref": "#/$defs/a"}, {}]})));
        assert!(!plain(&json!({"description": "x".repeat(PLAIN_BYTES_MAX)})));
    }

    #[test]
    fn errors_name_place_keyword_and_cause_without_the_value() {
        let schema = json!({ "properties": { "env": { "enum": ["stage", "live"] }, "n": { "type": "integer" } }, "required": ["env", "who"] });
        check(&schema, &json!({ "env": "live", "who": 1, "n": 1.0 }), &[]);
        check(
            &schema,
            &json!({ "env": "secret", "n": "secret" }),
            &[
                ("", "required", "\"who\" is a required property"),
                ("/env", "enum", "value is not one of \"stage\", \"live\""),
                ("/n", "type", "value is not of type \"integer\""),
            ],
        );
        let closed = json!({ "properties": { "naïve/ключ~": { "maxLength": 2 } }, "additionalProperties": false });
        check(&closed, &json!({ "naïve/ключ~": "日本" }), &[]);
        check(
            &closed,
            &json!({ "naïve/ключ~": "日本語" }),
            &[("/naïve~1ключ~0", "maxLength", "value is longer than 2 characters")],
        );
    }

    #[test]
    fn errors_say_all_that_is_needed_to_mend_them() {
        check(
            &json!({ "enum": ["a", "b", "c", 4] }),
            &json!("x"),
            &[("", "enum", "value is not one of \"a\", \"b\", \"c\", 4")],
        );
        let many: Vec<String> = (0..500).map(|n| format!("choice-{n}")).collect();
        let checked = compiled(&json!({ "enum": many })).check(&json!("x")).unwrap();
        assert!(checked.errors[0].message.ends_with(" more"), "{}", checked.errors[0].message);
        check(
            &json!({ "additionalProperties": false }),
            &json!({ "x": 1 }),
            &[("", "additionalProperties", "no key is allowed here, and there is \"x\"")],
        );
        let checked =
            compiled(&json!({ "properties": { "n": { "type": "string" } } })).check(&json!({ "n": 1 })).unwrap();
        assert_eq!(checked.errors[0].schema_path, "/properties/n/type");
    }

    #[test]
    fn at_most_twenty_errors_are_told_and_the_rest_is_counted() {
        let checked = compiled(&json!({ "items": { "type": "string" } })).check(&json!(vec![0; 25])).unwrap();
        assert_eq!((checked.errors.len(), checked.omitted), (ERRORS_MAX, 5));
        assert!(checked.errors.is_sorted());
    }

    #[test]
    fn formats_and_other_drafts_count() {
        let date = json!({ "format": "date" });
        check(&date, &json!("2026-02-30"), &[("", "format", "value is not a \"date\"")]);
        check(&json!({ "format": "int32" }), &json!("x"), &[]);
        let tuple = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "items": [{ "type": "string" }] });
        check(&tuple, &json!([1]), &[("/0", "type", "value is not of type \"string\"")]);
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        refuse(&json!({ "type": "objct" }), "it is no schema at `/type`: there is no type \"objct\"");
        refuse(&json!({ "$ref": "https://example.com/a.json" }), "it refers to `https://example.com/a.json`, and");
        refuse(&json!({ "$ref": "file:///etc/passwd" }), "nothing outside a schema is fetched");
        refuse(&json!({ "$ref": "other.json" }), "nothing outside a schema is fetched");
        refuse(&json!({ "$ref": "#/$defs/nobody" }), "a reference leads nowhere");
        refuse(&json!({ "pattern": "(" }), "it is no schema at `/pattern`");
        refuse(&json!([]), "it is no JSON object");
        assert!(compile(b"{\"a\":1,\"a\":2}").unwrap_err().message.contains("occurs twice"));
        assert!(compile(&[b' '; SCHEMA_BYTES_MAX + 1]).unwrap_err().message.starts_with("it is longer than"));
    }

    #[test]
    fn schemas_that_never_end_end() {
        check(&json!({ "$ref": "#" }), &json!(1), &[]);
        let round = json!({ "$defs": { "a": { "allOf": [{ "$ref": "#/$defs/b" }] }, "b": { "not": { "$ref": "#/$defs/a" } } }, "$ref": "#/$defs/a" });
        assert!(compiled(&round).check(&json!(1)).is_ok());
        let chain: serde_json::Map<_, _> =
            (0..3_000).map(|n| (format!("a{n}"), json!({ "$ref": format!("#/$defs/a{}", n + 1) }))).collect();
        let mut chain = json!({ "$defs": chain, "$ref": "#/$defs/a0" });
        chain["$defs"]["a3000"] = json!({ "type": "string" });
        assert_eq!(compiled(&chain).check(&json!(1)).unwrap().errors.len(), 1);
    }

    #[test]
    fn a_schema_that_doubles_without_end_is_not_waited_for() {
        let step =
            |n: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/a{n}") }, { "$ref": format!("#/$defs/a{n}") }] });
        let mut doubling: serde_json::Map<_, _> = (0..40).map(|n| (format!("a{n}"), step(n + 1))).collect();
        doubling.insert("a40".to_owned(), json!({ "type": "string" }));
        let doubling = json!({ "$defs": doubling, "$ref": "#/$defs/a0" });
        let began = std::time::Instant::now();
        let checked = compile(doubling.to_string().as_bytes()).map(|doubling| doubling.check(&json!(1)));
        assert!(!matches!(checked, Ok(Ok(_))), "{checked:?}");
        assert!(began.elapsed() < Duration::from_millis(3 * WORK_MS_MAX));
    }

    #[test]
    fn a_value_of_too_many_parts_is_told_so() {
        let checked = compiled(&json!({ "items": { "type": "string" } })).check(&json!(vec![0; VALUES_MAX])).unwrap();
        assert_eq!(checked.errors[0].keyword, KEYWORD_SIZE);
        assert_eq!(count(&json!({ "a": [1, 2, { "b": null }] }), usize::MAX), 6);
        assert_eq!(count(&json!([[1, 2, 3], [4, 5, 6]]), 4), 4);
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_a_fault() {
        let slow = json!({ "pattern": "^(?:(a|aa)(?=a|b))*\\1b" });
        for schema in [slow.clone(), json!({ "not": slow })] {
            assert!(compiled(&schema).check(&json!("a".repeat(64))).is_err(), "{schema}");
        }
        check(&slow, &json!("aab"), &[]);
    }

    #[test]
    fn the_shipped_schemas_compile() {
        for (name, text) in BUILT_IN {
            assert!(compile(text.as_bytes()).is_ok(), "{name}");
        }
    }
}
