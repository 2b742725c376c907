//! The Responses API of OpenAI: items in, items out, as server-sent events.

use serde_json::{Value, json};

use super::dialect::{Dialect, Outcome, marked};
use super::http::{Request, Response};
use super::script::{Call, Lane, Said};

/// Put before a call's name: ids of this API look like this.
const ID_PREFIX: &str = "call_";

/// What Codex speaks.
#[derive(Debug)]
pub(super) struct Responses;

impl Dialect for Responses {
    fn speaks(&self, request: &Request) -> bool {
        request.method == "POST" && request.path().ends_with("/responses")
    }

    fn lane(&self, _: &Request, body: &Value) -> Lane {
        let asked = items(body).filter(|item| member(item, "role") == "user");
        marked(asked.filter_map(|item| item.get("content")).flat_map(texts))
    }

    fn is_aside(&self, _: &Request, body: &Value) -> bool {
        let declared =
            |from: &Value| from.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
        !declared(body) && !items(body).any(declared)
    }

    fn answer(&self, _: &Request, _: &Value, said: &Said, id: &str) -> Response {
        let id = format!("resp_{id}");
        let usage = json!({"input_tokens": 100, "input_tokens_details": null, "output_tokens": 10,
                           "output_tokens_details": null, "total_tokens": 110});
        let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
        events.extend(output(said).into_iter().map(|item| json!({"type": "response.output_item.done", "item": item})));
        events.push(json!({"type": "response.completed", "response": {"id": id, "usage": usage}}));
        let sent = events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", member(event, "type")));
        Response::stream(sent.collect())
    }

    fn outcomes(&self, body: &Value) -> Vec<Outcome> {
        items(body).filter(|item| member(item, "type").ends_with("_call_output")).map(outcome).collect()
    }

    fn texts(&self, body: &Value) -> Vec<String> {
        let contents = items(body).flat_map(|item| item.get("content").into_iter().chain(item.get("output")));
        body.get("instructions").into_iter().chain(contents).flat_map(texts).collect()
    }
}

fn items(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("input").and_then(Value::as_array).into_iter().flatten()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// This API has no mark for what failed.
fn outcome(item: &Value) -> Outcome {
    let id = member(item, "call_id");
    Outcome {
        name: id.strip_prefix(ID_PREFIX).unwrap_or(id).to_owned(),
        text: item.get("output").map(texts).unwrap_or_default().join("\n"),
        failed: false,
    }
}

/// The texts of a content or an output: a string, parts, or an object that holds one of them.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().map(|part| member(part, "text").to_owned()).collect(),
        Value::Object(members) => members.get("content").map(texts).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn output(said: &Said) -> Vec<Value> {
    let text = said.text().map(|text| {
        json!({"type": "message", "role": "assistant", "id": "msg_1",
               "content": [{"type": "output_text", "text": text}]})
    });
    text.into_iter().chain(said.calls().iter().map(function_call)).collect()
}

/// A tool of a namespace is spelled `namespace/tool` in scripts. What is called with a text alone is no function.
fn function_call(call: &Call) -> Value {
    let id = format!("{ID_PREFIX}{}", call.name);
    if let Value::String(text) = &call.input {
        return json!({"type": "custom_tool_call", "id": format!("ctc_{}", call.name), "name": call.tool,
                      "call_id": id, "input": text});
    }
    let (namespace, name) =
        call.tool.rsplit_once('/').map_or((None, call.tool.as_str()), |(space, name)| (Some(space), name));
    let mut item = json!({"type": "function_call", "id": format!("fc_{}", call.name), "name": name,
                          "call_id": id, "arguments": call.input.to_string()});
    if let (Some(namespace), Some(members)) = (namespace, item.as_object_mut()) {
        members.insert("namespace".to_owned(), json!(namespace));
    }
    item
}

#[cfg(test)]
mod tests {
    use super::super::http::Body;
    use super::super::script::{SUBAGENT, call};
    use super::*;

    #[test]
    fn items_are_streamed_between_beginning_and_end() {
        let calls = vec![call("a", "exec_command", json!({"cmd": "x"})), call("b", "apply_patch", json!("*** x"))];
        let said = Said::Both("look".to_owned(), calls);
        let Body::Stream(sent) = Responses.answer(&Request::default(), &json!({}), &said, "1").body else {
            panic!("a stream")
        };
        let text = sent.concat();
        let kinds: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let item = "response.output_item.done";
        assert_eq!(kinds, ["response.created", item, item, item, "response.completed"]);
        assert!(text.contains(r#""call_id":"call_b","id":"ctc_b","input":"*** x","name":"apply_patch""#), "{text}");
        assert!(text.contains(r#""arguments":"{\"cmd\":\"x\"}","call_id":"call_a""#), "{text}");
    }

    #[test]
    fn results_texts_lanes_and_asides_are_told_apart() {
        let asked = |prompt: &str| {
            json!({"instructions": "rules", "tools": [{}], "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]},
            {"type": "function_call_output", "call_id": "call_a", "output": "no"},
            {"type": "custom_tool_call_output", "call_id": "call_b", "output": [{"type": "input_text", "text": "b"}]}]})
        };
        let body = asked("go");
        let found: Vec<_> = Responses.outcomes(&body).into_iter().map(|o| (o.name, o.text)).collect();
        assert_eq!(found, [("a".to_owned(), "no".to_owned()), ("b".to_owned(), "b".to_owned())]);
        assert_eq!(Responses.texts(&body), ["rules", "go", "no", "b"]);
        assert_eq!(Responses.lane(&Request::default(), &body), Lane::Main);
        assert_eq!(Responses.lane(&Request::default(), &asked(&format!("{SUBAGENT} x"))), Lane::Subagent);
        let nested = json!({"input": [{"type": "additional_tools", "tools": [{}]}]});
        let aside = |body: &Value| Responses.is_aside(&Request::default(), body);
        assert!(!aside(&body) && !aside(&nested) && aside(&json!({"tools": []})));
    }
}
