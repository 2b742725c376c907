//! The chat API of OpenAI: turns as one completion, and what a request shows the model. Nothing is streamed.

use serde_json::{Value, json};

use super::dialect::{Dialect, Outcome};
use super::http::{Request, Response};
use super::script::{Call, Lane, Said};

/// What OpenAI's own clients and many other servers speak.
#[derive(Debug)]
pub(super) struct OpenAi;

impl Dialect for OpenAi {
    fn speaks(&self, request: &Request) -> bool {
        request.method == "POST" && request.path().ends_with("/chat/completions")
    }

    fn lane(&self, _: &Request) -> Lane {
        Lane::Main
    }

    fn answer(&self, body: &Value, said: &Said, id: &str) -> Response {
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
        let (text, calls) = match said {
            Said::Text(text) => (json!(text), &[][..]),
            Said::Calls(calls) => (Value::Null, calls.as_slice()),
            Said::Both(text, calls) => (json!(text), calls.as_slice()),
            Said::Odd(odd) => return odd.clone(),
        };
        let mut message = json!({"role": "assistant", "content": text});
        if let (false, Some(message)) = (calls.is_empty(), message.as_object_mut()) {
            message.insert("tool_calls".to_owned(), calls.iter().map(tool_call).collect());
        }
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11});
        let completion = json!({"id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 0, "model": model,
                                "choices": [choice], "usage": usage});
        Response::json(200, &completion)
    }

    fn outcomes(&self, body: &Value) -> Vec<Outcome> {
        let results = messages(body).filter(|message| member(message, "role") == "tool");
        let outcome = |message: &Value| Outcome {
            name: member(message, "tool_call_id").to_owned(),
            text: member(message, "content").to_owned(),
            failed: false,
        };
        results.map(outcome).collect()
    }

    fn texts(&self, body: &Value) -> Vec<String> {
        messages(body).map(|message| member(message, "content").to_owned()).collect()
    }
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("messages").and_then(Value::as_array).into_iter().flatten()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn tool_call(call: &Call) -> Value {
    json!({"id": call.name, "type": "function", "function": {"name": call.tool, "arguments": call.input.to_string()}})
}

#[cfg(test)]
mod tests {
    use super::super::http::Body;
    use super::super::script::call;
    use super::*;

    #[test]
    fn texts_and_calls_are_one_completion() {
        let said = Said::Both("look".to_owned(), vec![call("a", "Read", json!({"path": "x"}))]);
        let Body::Whole(text) = OpenAi.answer(&json!({"model": "m"}), &said, "1").body else { panic!("whole") };
        let answer: Value = serde_json::from_str(&text).unwrap();
        let choice = &answer["choices"][0];
        assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("look"), &json!("tool_calls")));
        assert_eq!(choice["message"]["tool_calls"][0]["function"]["arguments"], json!("{\"path\":\"x\"}"));
    }

    #[test]
    fn results_and_texts_are_found() {
        let body = json!({"messages": [{"role": "system", "content": "rules"},
                                       {"role": "tool", "tool_call_id": "a", "content": "yes"}]});
        assert_eq!(OpenAi.outcomes(&body)[0].name, "a");
        assert_eq!(OpenAi.texts(&body), ["rules", "yes"]);
    }
}
