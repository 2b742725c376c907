//! The Gemini API: contents with parts in, candidates with parts out.

use serde_json::{Value, json};

use super::dialect::{Dialect, Outcome, marked};
use super::http::{Request, Response};
use super::script::{Call, Lane, Said};

/// What Gemini CLI speaks.
#[derive(Debug)]
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn speaks(&self, request: &Request) -> bool {
        request.method == "POST" && METHODS.iter().any(|method| request.path().ends_with(method))
    }

    fn lane(&self, _: &Request, body: &Value) -> Lane {
        let asked = contents(body).filter(|content| content.get("role").and_then(Value::as_str) == Some("user"));
        marked(asked.flat_map(parts).filter_map(text))
    }

    fn is_aside(&self, request: &Request, body: &Value) -> bool {
        let tools = body.get("tools").and_then(Value::as_array);
        let declared = tools.into_iter().flatten().any(|tool| tool.get("functionDeclarations").is_some());
        !declared || request.path().ends_with(COUNT)
    }

    fn answer(&self, request: &Request, _: &Value, said: &Said, id: &str) -> Response {
        if request.path().ends_with(COUNT) {
            return Response::json(200, &json!({"totalTokens": 100}));
        }
        let content = json!({"role": "model", "parts": answered(said)});
        let whole = json!({"responseId": id, "modelVersion": "scripted",
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}});
        if request.path().ends_with(STREAM) {
            return Response::stream(vec![format!("data: {whole}\r\n\r\n")]);
        }
        Response::json(200, &whole)
    }

    fn outcomes(&self, body: &Value) -> Vec<Outcome> {
        contents(body).flat_map(parts).filter_map(|part| part.get("functionResponse")).map(outcome).collect()
    }

    fn texts(&self, body: &Value) -> Vec<String> {
        let all = body.get("systemInstruction").into_iter().chain(contents(body)).flat_map(parts);
        let mut found = Vec::new();
        for part in all {
            found.extend(text(part));
            found.extend(part.get("functionResponse").map(|response| outcome(response).text));
        }
        found
    }
}

const STREAM: &str = ":streamGenerateContent";
const COUNT: &str = ":countTokens";
const METHODS: [&str; 3] = [STREAM, ":generateContent", COUNT];

fn contents(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("contents").and_then(Value::as_array).into_iter().flatten()
}

fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content.get("parts").and_then(Value::as_array).into_iter().flatten()
}

fn text(part: &Value) -> Option<String> {
    part.get("text").and_then(Value::as_str).map(str::to_owned)
}

/// A result is an object: `output` where all went well, `error` where not.
fn outcome(response: &Value) -> Outcome {
    let said = response.get("response").cloned().unwrap_or_default();
    let shown = |name: &str| said.get(name).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    let failed = shown("error");
    let id = response.get("id").and_then(Value::as_str).unwrap_or_default();
    Outcome {
        // The client puts the tool's name before the id of a sub-agent's call.
        name: id.rsplit("__").next().unwrap_or(id).to_owned(),
        failed: failed.is_some(),
        text: failed.or_else(|| shown("output")).unwrap_or_else(|| said.to_string()),
    }
}

fn answered(said: &Said) -> Vec<Value> {
    let text = said.text().map(|text| json!({"text": text}));
    text.into_iter().chain(said.calls().iter().map(function_call)).collect()
}

fn function_call(call: &Call) -> Value {
    json!({"functionCall": {"id": call.name, "name": call.tool, "args": call.input}})
}

#[cfg(test)]
mod tests {
    use super::super::http::Body;
    use super::super::script::{SUBAGENT, call};
    use super::*;

    fn request(method: &str) -> Request {
        let target = format!("/v1beta/models/m:{method}");
        Request { method: "POST".to_owned(), target, ..Request::default() }
    }

    #[test]
    fn the_path_says_how_it_is_answered() {
        let said = Said::Calls(vec![call("a", "run_shell_command", json!({"command": "x"}))]);
        let stream = request("streamGenerateContent?alt=sse");
        let Body::Stream(sent) = Gemini.answer(&stream, &json!({}), &said, "1").body else { panic!("a stream") };
        assert!(sent.concat().contains(r#""functionCall":{"args":{"command":"x"},"id":"a""#), "{sent:?}");
        let Body::Whole(sent) = Gemini.answer(&request("generateContent"), &json!({}), &said, "1").body else {
            panic!("one piece")
        };
        assert!(sent.contains("functionCall"), "{sent}");
        assert!(Gemini.speaks(&stream) && Gemini.speaks(&request("countTokens")) && !Gemini.speaks(&request("other")));
    }

    #[test]
    fn results_texts_lanes_and_asides_are_told_apart() {
        let asked = |prompt: &str| {
            json!({"tools": [{"functionDeclarations": []}], "systemInstruction": {"parts": [{"text": "rules"}]},
            "contents": [{"role": "user", "parts": [{"text": prompt}]}, {"role": "user", "parts": [
                {"functionResponse": {"id": "a", "response": {"output": "yes"}}},
                {"functionResponse": {"id": "b", "response": {"error": "no"}}}]}]})
        };
        let body = asked("go");
        let found: Vec<_> = Gemini.outcomes(&body).into_iter().map(|o| (o.name, o.text, o.failed)).collect();
        assert_eq!(found, [("a".into(), "yes".into(), false), ("b".into(), "no".into(), true)]);
        assert_eq!(Gemini.texts(&body), ["rules", "go", "yes", "no"]);
        let stream = request("streamGenerateContent");
        assert_eq!(Gemini.lane(&stream, &body), Lane::Main);
        assert_eq!(Gemini.lane(&stream, &asked(&format!("{SUBAGENT} x"))), Lane::Subagent);
        let aside = |request: &Request, body: &Value| Gemini.is_aside(request, body);
        assert!(!aside(&stream, &body) && aside(&stream, &json!({})) && aside(&request("countTokens"), &body));
    }
}
