//! What a request says of itself in its headers, from protocol 2026-07-28 on: servers hold it against the body, and what
//! stands between may route by it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::message::Message;

/// Where a schema says that an argument stands in a header too.
const ANNOTATION: &str = "x-mcp-header";
/// What the names of such headers begin with.
const PARAM: &str = "Mcp-Param-";
/// Headers of arguments in one request: no server routes by more.
const PARAMS_MAX: usize = 32;
/// How a value is written that is no plain text.
const ENCODED: (&str, &str) = ("=?base64?", "?=");

/// What a request is about: a tool, a prompt, a resource, a task.
pub(super) fn name<'a>(message: &Message<'a>) -> Option<&'a str> {
    let key = match message.fields.get("method")?.as_str()? {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    message.param(key)?.as_str()
}

/// The headers that a tool's schema asks for, with what these arguments say.
pub(super) fn params(schema: &str, args: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // Few schemas have any, and a call should not cost the reading of each.
    if schema.contains(ANNOTATION)
        && let Ok(schema) = serde_json::from_str::<Value>(schema)
    {
        collect(&schema, args, &mut found);
    }
    found
}

/// Along `properties`, as deep as there are arguments.
fn collect(schema: &Value, args: &Value, found: &mut Vec<(String, String)>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, schema) in properties.into_iter().flatten() {
        let Some(given) = args.get(key) else { continue };
        let named = schema.get(ANNOTATION).and_then(Value::as_str).filter(|name| is_token(name));
        if let (Some(name), Some(text), true) = (named, plain(given), found.len() < PARAMS_MAX) {
            found.push((format!("{PARAM}{name}"), encoded(&text)));
        }
        collect(schema, given, found);
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a text can be a header's name.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// A value as a header holds it.
pub(super) fn encoded(value: &str) -> String {
    let (front, end) = ENCODED;
    let printable = value.bytes().all(|b| (0x20..=0x7e).contains(&b));
    let looks_encoded = value.starts_with(front) && value.ends_with(end);
    if printable && value.trim().len() == value.len() && !looks_encoded {
        return value.to_owned();
    }
    format!("{front}{}{end}", BASE64_STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_say_what_they_are_about() {
        let of = |method: &str, params: Value| {
            let value = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let message = Message::of(&value).unwrap();
            name(&message).map(str::to_owned)
        };
        assert_eq!(of("tools/call", json!({"name": "a", "uri": "b"})).as_deref(), Some("a"));
        assert_eq!(of("resources/read", json!({"uri": "a:b"})).as_deref(), Some("a:b"));
        assert_eq!(of("tasks/get", json!({"taskId": "t1"})).as_deref(), Some("t1"));
        assert_eq!(of("tools/list", json!({"name": "a"})), None);
    }

    #[test]
    fn values_are_written_so_that_they_come_back() {
        for plain in ["", "us-west1", "a b c"] {
            assert_eq!(encoded(plain), plain);
        }
        assert_eq!(encoded("größe"), "=?base64?Z3LDtsOfZQ==?=");
        assert_eq!(encoded(" a"), "=?base64?IGE=?=");
        assert_eq!(encoded("a\nb"), "=?base64?YQpi?=");
        assert_eq!(encoded("=?base64?YQ==?="), "=?base64?PT9iYXNlNjQ/WVE9PT89?=");
    }

    #[test]
    fn arguments_stand_in_headers_where_the_schema_says_so() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"n": {"type": "integer", "x-mcp-header": "Count"}}},
            "odd": {"x-mcp-header": "a b"}, "list": {"x-mcp-header": "List"}, "gone": {"x-mcp-header": "Gone"},
        }});
        let args = json!({"region": "eu", "in": {"n": 5}, "odd": "x", "list": [1]});
        let want = [("Mcp-Param-Count", "5"), ("Mcp-Param-Region", "eu")];
        let found = params(&schema.to_string(), &args);
        assert_eq!(found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<Vec<_>>(), want);
        assert!(params("{}", &args).is_empty());
    }
}
