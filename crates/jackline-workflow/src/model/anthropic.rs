//! The Messages API of Anthropic.

use serde_json::{Map, Value, json};

use super::{Said, Token, Tokens, Turn, count, messages};

pub(super) const BASE_URL: &str = "https://api.anthropic.com";
pub(super) const PATH: &str = "/v1/messages";

/// The version of the API that this speaks.
const VERSION: &str = "2023-06-01";
/// Tokens of an answer, which this API must be told, where the owner says nothing.
const ANSWER_TOKENS: u64 = 8192;

pub(super) fn headers(token: Option<&Token>) -> Vec<(&'static str, String)> {
    let version = ("anthropic-version", VERSION.to_owned());
    token.map(|token| ("x-api-key", token.secret().to_owned())).into_iter().chain([version]).collect()
}

pub(super) fn body(name: &str, system: &str, turns: &[Turn]) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(name));
    body.insert("max_tokens".to_owned(), json!(ANSWER_TOKENS));
    body.insert("system".to_owned(), json!(system));
    body.insert("messages".to_owned(), Value::Array(messages(turns)));
    body
}

pub(super) fn said(answer: &Value) -> Result<Said, String> {
    let blocks = answer.get("content").and_then(Value::as_array).ok_or("it has no `content`")?;
    let texts = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
    let text = texts.filter_map(|block| block.get("text")?.as_str()).collect::<Vec<_>>().join("\n");
    let unfinished = match answer.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => Some("it is cut off at the limit of tokens".to_owned()),
        Some("refusal") => Some("the model refuses".to_owned()),
        _ => None,
    };
    if text.is_empty() && unfinished.is_none() {
        return Err("its content has no text".to_owned());
    }
    Ok(Said { text, unfinished })
}

/// What the server counted, in an answer of any form.
pub(super) fn tokens(answer: &Value) -> Tokens {
    let usage = answer.get("usage").unwrap_or(&Value::Null);
    let input = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(|key| count(usage, key));
    (input.into_iter().fold(0, u64::saturating_add), count(usage, "output_tokens"))
}
