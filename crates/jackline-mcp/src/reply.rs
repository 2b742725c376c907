//! What we say to clients and servers in our own name, as JSON texts on one line.

use std::fmt;

use jackline_runtime::Answer;
use serde_json::{Map, Value, json};

use crate::message::Id;

/// The text is no JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// The JSON is no request.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// The parameters are not what the method takes.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// What was asked for cannot be given.
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// The server is gone, or cannot be reached.
pub(crate) const CONNECTION_CLOSED: i64 = -32000;
/// The server did not answer in time.
pub(crate) const REQUEST_TIMEOUT: i64 = -32001;

/// Where a result says by which code it was refused.
pub(crate) const CODE: &str = "jackline/code";
/// Where it holds the typed events that belong to it.
pub(crate) const EMITTED: &str = "jackline/emitted";

/// An error, for a request or for something that could not be told to be one.
pub(crate) fn error(id: Option<&Id>, code: i64, message: &str) -> String {
    let id = id.map_or("null", Id::as_json);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": code, "message": message }))
}

/// The answer to a request.
pub(crate) fn result(id: &Id, result: &impl fmt::Display) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.as_json())
}

/// The answer to a request that failed, in someone else's words.
pub(crate) fn failure(id: &Id, error: &impl fmt::Display) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.as_json())
}

/// A request of our own.
pub(crate) fn request(id: &Id, method: &str, params: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"method":{},"params":{params}}}"#, id.as_json(), Value::from(method))
}

/// A notice of our own that says nothing more.
pub(crate) fn notice(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{}}}"#, Value::from(method))
}

/// A notice of our own that a request is no longer waited for.
pub(crate) fn cancelled(id: &Id, reason: &str) -> String {
    let reason = Value::from(reason);
    let method = "notifications/cancelled";
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{},"reason":{reason}}}}}"#, id.as_json())
}

/// A call's result that says why it was not made. It has no structured content: that would have to fit the tool's schema.
pub(crate) fn denial(answer: &Answer, text: &str, stateless: bool) -> Value {
    let mut content = vec![block(text)];
    content.extend(answer.feedback.as_deref().map(block));
    let mut meta = Map::new();
    meta.extend(answer.code.as_ref().map(|code| (CODE.to_owned(), json!(code))));
    meta.extend((!answer.emitted.is_empty()).then(|| (EMITTED.to_owned(), json!(answer.emitted))));
    let mut result = json!({ "content": content, "isError": true, "_meta": meta });
    if let (Value::Object(result), true) = (&mut result, stateless) {
        // From 2026-07-28 on every result says whether it is the last word.
        result.insert("resultType".to_owned(), json!("complete"));
    }
    result
}

/// A block of text.
pub(crate) fn block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_json_on_one_line() {
        let id = Id::own("a\n\"b");
        let texts = [
            error(None, PARSE_ERROR, "no\nJSON"),
            error(Some(&id), CONNECTION_CLOSED, "gone"),
            result(&id, &json!({ "a": 1 })),
            request(&id, "tools/list", &json!({})),
            notice("notifications/initialized"),
            cancelled(&id, "too late"),
        ];
        for text in texts {
            assert!(!text.contains('\n') && serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
    }
}
