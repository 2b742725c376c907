//! The chat API of OpenAI, which many other servers speak too.

use serde_json::{Map, Value, json};

use super::{Said, Token, Tokens, Turn, count, messages};

pub(super) const BASE_URL: &str = "https://api.openai.com/v1";
pub(super) const PATH: &str = "/chat/completions";

pub(super) fn headers(token: Option<&Token>) -> Vec<(&'static str, String)> {
    token.map(|token| ("authorization", format!("Bearer {}", token.secret()))).into_iter().collect()
}

pub(super) fn body(name: &str, (system, json): (&str, bool), turns: &[Turn]) -> Map<String, Value> {
    let mut all = vec![json!({"role": "system", "content": system})];
    all.extend(messages(turns));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(name));
    body.insert("messages".to_owned(), Value::Array(all));
    if json {
        body.insert("response_format".to_owned(), json!({"type": "json_object"}));
    }
    body
}

pub(super) fn said(answer: &Value) -> Result<Said, String> {
    let choice = answer.pointer("/choices/0").ok_or("it has no `choices`")?;
    let message = choice.get("message").ok_or("its choice has no `message`")?;
    let refused = message.get("refusal").and_then(Value::as_str).map(|why| format!("the model refuses: {why}"));
    let unfinished = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => Some("it is cut off at the limit of tokens".to_owned()),
        Some("content_filter") => Some("a filter of the server's took it back".to_owned()),
        _ => refused,
    };
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None if unfinished.is_some() => String::new(),
        _ => return Err("its message has no text".to_owned()),
    };
    Ok(Said { text, unfinished })
}

/// What the server counted, in an answer of any form.
pub(super) fn tokens(answer: &Value) -> Tokens {
    let usage = answer.get("usage").unwrap_or(&Value::Null);
    (count(usage, "prompt_tokens"), count(usage, "completion_tokens"))
}
