//! The chat completions API of OpenAI, which many hosts speak to whatever model they are given.

use serde_json::{Value, json};

use super::dialect::{Dialect, Outcome, marked};
use super::http::{Request, Response};
use super::script::{Call, Lane, Said};

/// Put before a call's name: ids of this API look like this.
const ID_PREFIX: &str = "call_";

/// What OpenCode, Qwen Code and Copilot CLI speak.
#[derive(Debug)]
pub(super) struct Chat;

impl Dialect for Chat {
    fn speaks(&self, request: &Request) -> bool {
        request.method == "POST" && request.path().ends_with("/chat/completions")
    }

    fn lane(&self, _: &Request, body: &Value) -> Lane {
        let asked = messages(body).filter(|message| member(message, "role") == "user");
        marked(asked.filter_map(|message| message.get("content")).flat_map(texts))
    }

    /// Hosts ask for titles and summaries without tools. A workflow's agent asks for nothing but its turn.
    fn is_aside(&self, request: &Request, body: &Value) -> bool {
        let ours = request.header("user-agent").is_some_and(|name| name.starts_with("jackline/"));
        !ours && body.get("tools").and_then(Value::as_array).is_none_or(Vec::is_empty)
    }

    fn answer(&self, _: &Request, body: &Value, said: &Said, id: &str) -> Response {
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
        let message = Message { id: format!("chatcmpl-{id}"), model, said };
        match body.get("stream") {
            Some(Value::Bool(true)) => Response::stream(message.chunks()),
            _ => Response::json(200, &message.whole()),
        }
    }

    fn outcomes(&self, body: &Value) -> Vec<Outcome> {
        messages(body).filter(|message| member(message, "role") == "tool").map(outcome).collect()
    }

    fn texts(&self, body: &Value) -> Vec<String> {
        messages(body).filter_map(|message| message.get("content")).flat_map(texts).collect()
    }
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("messages").and_then(Value::as_array).into_iter().flatten()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// This API has no mark for what failed.
fn outcome(message: &Value) -> Outcome {
    let id = member(message, "tool_call_id");
    Outcome {
        name: id.strip_prefix(ID_PREFIX).unwrap_or(id).to_owned(),
        text: message.get("content").map(texts).unwrap_or_default().join("\n"),
        failed: false,
    }
}

/// The texts of a content: a string, or parts.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().map(|part| member(part, "text").to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// One answer on its way into this API's form.
struct Message<'a> {
    id: String,
    model: &'a str,
    said: &'a Said,
}

impl Message<'_> {
    fn calls(&self) -> Vec<Value> {
        self.said.calls().iter().enumerate().map(|(index, call)| tool_call(index, call)).collect()
    }

    fn finish_reason(&self) -> &'static str {
        if self.said.calls().is_empty() { "stop" } else { "tool_calls" }
    }

    fn message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.said.text()});
        if let (Some(members), false) = (message.as_object_mut(), self.said.calls().is_empty()) {
            members.insert("tool_calls".to_owned(), json!(self.calls()));
        }
        message
    }

    fn whole(&self) -> Value {
        let choice = json!({"index": 0, "message": self.message(), "finish_reason": self.finish_reason()});
        json!({"id": self.id, "object": "chat.completion", "created": 0, "model": self.model, "choices": [choice],
               "usage": usage()})
    }

    fn chunks(&self) -> Vec<String> {
        let chunk = |choices: Value, usage: Value| {
            json!({"id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.model,
                   "choices": choices, "usage": usage})
        };
        let chunks = [
            chunk(json!([{"index": 0, "delta": self.message(), "finish_reason": null}]), Value::Null),
            chunk(json!([{"index": 0, "delta": {}, "finish_reason": self.finish_reason()}]), Value::Null),
            chunk(json!([]), usage()),
        ];
        let lines = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
        lines.chain(["data: [DONE]\n\n".to_owned()]).collect()
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}

fn tool_call(index: usize, call: &Call) -> Value {
    json!({"index": index, "id": format!("{ID_PREFIX}{}", call.name), "type": "function",
           "function": {"name": call.tool, "arguments": call.input.to_string()}})
}

#[cfg(test)]
mod tests {
    use super::super::http::Body;
    use super::super::script::{SUBAGENT, call};
    use super::*;

    fn sent(body: &Value, said: &Said) -> String {
        match Chat.answer(&Request::default(), body, said, "1").body {
            Body::Whole(text) => text,
            Body::Stream(pieces) => pieces.concat(),
        }
    }

    #[test]
    fn calls_are_streamed_and_the_stream_ends() {
        let said = Said::Calls(vec![call("a", "bash", json!({"command": "x"}))]);
        let text = sent(&json!({"stream": true}), &said);
        assert!(text.contains(r#""arguments":"{\"command\":\"x\"}","name":"bash""#), "{text}");
        assert!(text.contains(r#""finish_reason":"tool_calls""#) && text.ends_with("data: [DONE]\n\n"), "{text}");
    }

    #[test]
    fn who_does_not_stream_gets_one_message() {
        let whole: Value = serde_json::from_str(&sent(&json!({}), &Said::Text("hi".to_owned()))).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], "hi");
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    }

    #[test]
    fn results_lanes_and_asides_are_told_apart() {
        let asked = |prompt: &str| {
            json!({"tools": [{}], "messages": [
            {"role": "system", "content": "rules"}, {"role": "user", "content": [{"type": "text", "text": prompt}]},
            {"role": "tool", "tool_call_id": "call_a", "content": "no"}]})
        };
        let body = asked("go");
        let a = Outcome { name: "a".to_owned(), text: "no".to_owned(), failed: false };
        assert_eq!(Chat.outcomes(&body), [a]);
        assert_eq!(Chat.texts(&body), ["rules", "go", "no"]);
        assert_eq!(Chat.lane(&Request::default(), &body), Lane::Main);
        assert_eq!(Chat.lane(&Request::default(), &asked(&format!("{SUBAGENT} go"))), Lane::Subagent);
        assert!(!Chat.is_aside(&Request::default(), &body) && Chat.is_aside(&Request::default(), &json!({})));
    }
}
