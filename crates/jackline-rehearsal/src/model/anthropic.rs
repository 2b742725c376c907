//! The Anthropic Messages API: turns as server-sent events or as one message, and what a request shows the model.

use serde_json::{Value, json};

use super::dialect::{Dialect, Outcome};
use super::http::{Request, Response};
use super::script::{Call, Lane, Said};

/// Put before a call's name: ids of this API look like this.
const ID_PREFIX: &str = "toolu_";

/// The header that only sub-agents' requests carry.
const AGENT_HEADER: &str = "x-claude-code-agent-id";

/// What Claude Code and the Agent SDK speak.
#[derive(Debug)]
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn speaks(&self, request: &Request) -> bool {
        request.method == "POST" && request.path() == "/v1/messages"
    }

    fn lane(&self, request: &Request, _: &Value) -> Lane {
        if request.header(AGENT_HEADER).is_some() { Lane::Subagent } else { Lane::Main }
    }

    fn is_aside(&self, _: &Request, _: &Value) -> bool {
        false
    }

    fn answer(&self, _: &Request, body: &Value, said: &Said, id: &str) -> Response {
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
        let message = Message { id: format!("msg_{id}"), model, said };
        match body.get("stream") {
            Some(Value::Bool(true)) => Response::stream(message.events()),
            _ => Response::json(200, &message.whole()),
        }
    }

    fn outcomes(&self, body: &Value) -> Vec<Outcome> {
        let blocks = messages(body).flat_map(|message| blocks(message.get("content")));
        blocks.filter(|block| member(block, "type") == "tool_result").map(outcome).collect()
    }

    fn texts(&self, body: &Value) -> Vec<String> {
        let contents = messages(body).filter_map(|message| message.get("content"));
        body.get("system").into_iter().chain(contents).flat_map(texts).collect()
    }
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("messages").and_then(Value::as_array).into_iter().flatten()
}

fn blocks(content: Option<&Value>) -> impl Iterator<Item = &Value> {
    content.and_then(Value::as_array).into_iter().flatten()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn outcome(block: &Value) -> Outcome {
    let id = member(block, "tool_use_id");
    Outcome {
        name: id.strip_prefix(ID_PREFIX).unwrap_or(id).to_owned(),
        text: block.get("content").map(texts).unwrap_or_default().join("\n"),
        failed: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
    }
}

/// The texts of a content: a string, or blocks; results are blocks with a content of their own.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(blocks) => blocks.iter().flat_map(block_texts).collect(),
        _ => Vec::new(),
    }
}

fn block_texts(block: &Value) -> Vec<String> {
    let text = block.get("text").and_then(Value::as_str).map(str::to_owned);
    text.into_iter().chain(block.get("content").map(texts).unwrap_or_default()).collect()
}

/// One answer on its way into this API's form.
struct Message<'a> {
    id: String,
    model: &'a str,
    said: &'a Said,
}

impl Message<'_> {
    fn content(&self) -> Vec<Value> {
        let text = self.said.text().map(|text| json!({"type": "text", "text": text}));
        text.into_iter().chain(self.said.calls().iter().map(tool_use)).collect()
    }

    fn stop_reason(&self) -> &'static str {
        if self.said.calls().is_empty() { "end_turn" } else { "tool_use" }
    }

    fn whole(&self) -> Value {
        self.message(self.content(), Some(self.stop_reason()))
    }

    fn message(&self, content: Vec<Value>, stop_reason: Option<&str>) -> Value {
        json!({"id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": content,
               "stop_reason": stop_reason, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}})
    }

    fn events(&self) -> Vec<String> {
        let mut events = vec![json!({"type": "message_start", "message": self.message(Vec::new(), None)})];
        for (index, block) in self.content().into_iter().enumerate() {
            let (start, delta) = opened(block);
            events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let end = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}}));
        events.push(json!({"type": "message_stop"}));
        events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", member(event, "type"))).collect()
    }
}

fn tool_use(call: &Call) -> Value {
    json!({"type": "tool_use", "id": format!("{ID_PREFIX}{}", call.name), "name": call.tool, "input": call.input})
}

/// A block as it begins in a stream, empty, and the one delta that fills it.
fn opened(mut block: Value) -> (Value, Value) {
    let Some(input) = block.get_mut("input") else {
        let delta = json!({"type": "text_delta", "text": member(&block, "text")});
        return (json!({"type": "text", "text": ""}), delta);
    };
    let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
    *input = json!({});
    (block, delta)
}

#[cfg(test)]
mod tests {
    use super::super::http::Body;
    use super::super::script::call;
    use super::*;

    fn sent(body: &Value, said: &Said) -> String {
        match Anthropic.answer(&Request::default(), body, said, "1").body {
            Body::Whole(text) => text,
            Body::Stream(pieces) => pieces.concat(),
        }
    }

    #[test]
    fn calls_are_streamed_block_by_block() {
        let said = Said::Calls(vec![call("a", "Read", json!({"file_path": "x"})), call("b", "Bash", json!({}))]);
        let text = sent(&json!({"stream": true, "model": "m"}), &said);
        let kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let block = ["content_block_start", "content_block_delta", "content_block_stop"];
        assert_eq!(kinds, [&["message_start"], &block[..], &block, &["message_delta", "message_stop"]].concat());
        assert!(
            text.contains(r#""partial_json":"{\"file_path\":\"x\"}""#) && text.contains(r#""stop_reason":"tool_use""#)
        );
        assert!(text.contains(r#""id":"toolu_b","input":{},"name":"Bash""#), "{text}");
    }

    #[test]
    fn who_does_not_stream_gets_one_message() {
        let message: Value = serde_json::from_str(&sent(&json!({}), &Said::Text("hi".to_owned()))).unwrap();
        assert_eq!((&message["content"][0]["text"], &message["stop_reason"]), (&json!("hi"), &json!("end_turn")));
    }

    #[test]
    fn results_and_texts_are_found_in_both_spellings() {
        let body = json!({"system": [{"type": "text", "text": "rules"}], "messages": [
            {"role": "user", "content": "go"},
            {"role": "system", "content": [{"type": "text", "text": "context"}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "is_error": true, "content": "no"},
                {"type": "tool_result", "tool_use_id": "toolu_b", "content": [{"type": "text", "text": "yes"}]}]}]});
        let outcomes: Vec<_> = Anthropic.outcomes(&body).into_iter().map(|o| (o.name, o.text, o.failed)).collect();
        assert_eq!(outcomes, [("a".into(), "no".into(), true), ("b".into(), "yes".into(), false)]);
        assert_eq!(Anthropic.texts(&body), ["rules", "go", "context", "no", "yes"]);
    }
}
