//! What is sent to a model, what is made of its answers, and how long it is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::ask::Usage;

/// A server's answers, one after the other, and what it was sent.
#[derive(Debug, Default)]
struct Server {
    answers: Mutex<VecDeque<Result<Response, Failed>>>,
    sent: Mutex<Vec<Sent>>,
}

type Sent = (String, Vec<(&'static str, String)>, Value);

impl Post for Server {
    fn post(&self, request: &Request<'_>) -> Result<Response, Failed> {
        let body = serde_json::from_slice(request.body).unwrap();
        self.sent.lock().unwrap().push((request.url.to_owned(), request.headers.to_vec(), body));
        self.answers
            .lock()
            .unwrap()
            .pop_front()
            .unwrap_or(Err(Failed::Unreachable("the script is at its end".to_owned())))
    }
}

/// A clock that pauses by moving on, and remembers for how long.
#[derive(Debug)]
struct Moving {
    begin: Instant,
    pauses: Mutex<Vec<u128>>,
}

impl Clock for Moving {
    fn now(&self) -> Instant {
        let passed: u128 = self.pauses.lock().unwrap().iter().sum();
        self.begin + Duration::from_millis(u64::try_from(passed).unwrap())
    }

    fn pause(&self, pause: Duration) {
        self.pauses.lock().unwrap().push(pause.as_millis());
    }
}

const SECRET: &str = "sk-very-secret-0123456789";

fn endpoint(model: Value) -> Result<Endpoint, String> {
    let variable = |name: &str| match name {
        "TOKEN" | "OPENAI_API_KEY" => Some(format!("{SECRET}\n")),
        "ODD" => Some("two\nlines".to_owned()),
        _ => None,
    };
    Endpoint::read(&model, &variable).map_err(|fault| fault.to_string())
}

fn openai() -> Value {
    json!({"provider": "openai", "base_url": "http://127.0.0.1:9/v1/", "name": "small", "token_env": "TOKEN"})
}

fn answer(text: &str) -> Result<Response, Failed> {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
                      "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
    status(200, &body)
}

fn status(status: u16, body: &Value) -> Result<Response, Failed> {
    Ok(Response { status, retry_after_s: None, body: body.to_string().into_bytes() })
}

/// All that one question led to.
struct Played {
    outcome: Result<Answer, Unanswered>,
    sent: Vec<Sent>,
    pauses: Vec<u128>,
}

fn play(model: Value, answers: Vec<Result<Response, Failed>>, seconds: u64) -> Played {
    let server = Arc::new(Server { answers: Mutex::new(answers.into()), sent: Mutex::default() });
    let clock = Arc::new(Moving { begin: Instant::now(), pauses: Mutex::default() });
    let shared: Arc<dyn Post> = Arc::<Server>::clone(&server);
    let moving: Arc<dyn Clock> = Arc::<Moving>::clone(&clock);
    let model = Model::new(endpoint(model).unwrap(), shared).with_clock(moving);
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let input = json!({"task": "count"});
    let question = Question { role: "worker", instructions: "Count.", input: &input, schema: Some(&schema) };
    let outcome = model.ask(&question, clock.begin + Duration::from_secs(seconds));
    let (sent, pauses) = (server.sent.lock().unwrap().clone(), clock.pauses.lock().unwrap().clone());
    Played { outcome, sent, pauses }
}

#[track_caller]
fn fails(answers: Vec<Result<Response, Failed>>, want: &str, requests: usize) {
    let played = play(openai(), answers, 60);
    let unanswered = played.outcome.unwrap_err();
    assert_eq!(unanswered.why, want);
    assert_eq!((played.sent.len(), unanswered.usage.requests), (requests, requests as u64), "{want}");
}

#[test]
fn openai_is_asked_in_its_way() {
    let played = play(openai(), vec![answer("{\"n\": 3}")], 60);
    let wanted = Answer {
        value: json!({"n": 3}),
        usage: Usage { requests: 1, input_tokens: 100, output_tokens: 10, cost_nano_usd: 0 },
    };
    assert_eq!(played.outcome, Ok(wanted));
    let (url, headers, body) = &played.sent[0];
    assert_eq!(url, "http://127.0.0.1:9/v1/chat/completions");
    assert_eq!(headers, &[("authorization", format!("Bearer {SECRET}"))]);
    assert_eq!((&body["model"], &body["response_format"]), (&json!("small"), &json!({"type": "json_object"})));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "{\n  \"task\": \"count\"\n}"}));
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Count.\n") && system.contains("JSON Schema:\n{"), "{system}");
}

#[test]
fn anthropic_is_asked_in_its_way() {
    let model = json!({"provider": "anthropic", "base_url": "https://host/v1", "name": "big", "token_env": "TOKEN",
                       "parameters": {"temperature": 0, "model": "ours", "top_p": null}, "price": {"input": 3, "output": 15}});
    let body = json!({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "```json\n{\"n\": 1}\n```"}],
                      "stop_reason": "end_turn",
                      "usage": {"input_tokens": 1000, "cache_read_input_tokens": 1000, "output_tokens": 100}});
    let played = play(model, vec![status(200, &body)], 60);
    let answer = played.outcome.unwrap();
    assert_eq!(answer.value, json!({"n": 1}));
    assert_eq!(answer.usage, Usage { requests: 1, input_tokens: 2000, output_tokens: 100, cost_nano_usd: 7_500_000 });
    let (url, headers, body) = &played.sent[0];
    assert_eq!(url, "https://host/v1/messages");
    assert_eq!(headers, &[("x-api-key", SECRET.to_owned()), ("anthropic-version", "2023-06-01".to_owned())]);
    assert_eq!((&body["model"], &body["temperature"], &body["max_tokens"]), (&json!("big"), &json!(0), &json!(8192)));
    assert!(body["system"].as_str().unwrap().starts_with("Count.") && body.get("top_p").is_none());
}

#[test]
fn what_does_not_fit_is_mended() {
    let played = play(openai(), vec![answer("Three!"), answer("{\"n\": \"3\"}"), answer("So: {\"n\": 3}.")], 60);
    let answered = played.outcome.unwrap();
    assert_eq!((answered.value, answered.usage.requests, answered.usage.input_tokens), (json!({"n": 3}), 3, 300));
    let last = &played.sent[2].2["messages"];
    assert_eq!(last[2], json!({"role": "assistant", "content": "Three!"}));
    assert!(last[3]["content"].as_str().unwrap().starts_with("That cannot be used: it is no JSON"), "{last}");
    assert!(last[5]["content"].as_str().unwrap().contains("`/n` "), "{last}");
}

#[test]
fn what_never_fits_is_no_answer() {
    let wrong = || answer("[1]");
    fails(vec![wrong(), wrong(), wrong(), wrong()], "the model's answer cannot be used: it is no JSON object", 3);
    let cut = json!({"choices": [{"message": {"content": "{\"n\""}, "finish_reason": "length"}]});
    let cut = || status(200, &cut);
    fails(vec![cut(), cut(), cut()], "the model's answer cannot be used: it is cut off at the limit of tokens", 3);
    let no = json!({"choices": [{"message": {"content": null, "refusal": "I will not."}, "finish_reason": "stop"}]});
    let no = || status(200, &no);
    fails(vec![no(), no(), no()], "the model's answer cannot be used: the model refuses: I will not.", 3);
}

#[test]
fn answers_of_no_known_form_are_not_asked_for_again() {
    for (body, why) in [
        (json!({}), "it has no `choices`"),
        (json!({"choices": []}), "it has no `choices`"),
        (json!({"choices": [{"message": {"content": 7}}]}), "its message has no text"),
        (json!("text"), "it has no `choices`"),
    ] {
        fails(vec![status(200, &body)], &format!("the model's answer is of no known form: {why}"), 1);
    }
    let html = Ok(Response { status: 200, retry_after_s: None, body: b"<html>".to_vec() });
    let played = play(openai(), vec![html], 60).outcome.unwrap_err();
    assert!(played.why.starts_with("the model's answer is no JSON: "), "{played}");
    fails(vec![Err(Failed::TooLong(9))], "the model's answer cannot be used: the answer is longer than 9 bytes", 1);
}

#[test]
fn what_was_used_counts_whatever_came_of_it() {
    let mut model = openai();
    model["price"] = json!({"input": 10, "output": 100});
    let used = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let busy = || status(503, &json!({"error": {"message": "overloaded"}, "usage": used}));
    let odd = status(200, &json!({"choices": [], "usage": used}));
    let refused = status(400, &json!({"error": "filtered", "usage": used}));
    for (answers, requests, counted) in [
        (vec![odd.clone()], 1, 1),
        (vec![refused], 1, 1),
        (vec![busy(), busy(), busy(), busy()], 4, 4),
        (vec![busy(), answer("{\"n\": 1}")], 2, 2),
        (vec![answer("no"), Err(Failed::TimedOut)], 2, 1),
        (vec![answer("no"), odd], 2, 2),
    ] {
        let played = play(model.clone(), answers, 60);
        let usage = played.outcome.map_or_else(|unanswered| unanswered.usage, |answer| answer.usage);
        let want = Usage {
            requests,
            input_tokens: counted * 100,
            output_tokens: counted * 10,
            cost_nano_usd: counted * 2_000_000,
        };
        assert_eq!(usage, want, "{:?}", played.sent.len());
    }
}

#[test]
fn a_token_that_a_server_repeats_is_no_part_of_its_answer() {
    let said = json!({"n": 3, "note": format!("your key is {SECRET}, keep it"), "deep": [{SECRET: SECRET}]});
    let played = play(openai(), vec![answer(&said.to_string())], 60);
    let value = played.outcome.unwrap().value;
    assert!(!value.to_string().contains(SECRET), "{value}");
    assert_eq!(value["note"], "your key is ‹redacted:token›, keep it");
}

#[test]
fn busy_servers_are_asked_again_and_pauses_grow() {
    let busy = |code| status(code, &json!({"error": {"message": "slow down"}}));
    let down = || Err(Failed::Unreachable("connection refused".to_owned()));
    let played = play(openai(), vec![busy(429), busy(503), down(), answer("{\"n\": 1}")], 60);
    assert_eq!((played.outcome.unwrap().usage.requests, played.pauses), (4, vec![500, 1_000, 2_000]));
    fails(vec![busy(500); 9], "the model's server answers 500: slow down (asked 4 times)", 4);
    fails(vec![down(); 9], "the model cannot be reached: connection refused (asked 4 times)", 4);
}

#[test]
fn what_stays_as_it_is_is_asked_once() {
    let body = json!({"error": {"type": "auth", "message": format!("bad key {SECRET}\u{1b}[2J")}});
    let played = play(openai(), vec![status(401, &body)], 60);
    let Unanswered { why, cause, .. } = played.outcome.unwrap_err();
    assert_eq!(cause, Cause::Denied);
    assert!(why.starts_with("the model's server answers 401: bad key ‹redacted"), "{why}");
    assert!(!why.contains(SECRET) && !why.contains('\u{1b}'), "{why}");
    fails(vec![status(404, &json!("gone"))], "the model's server answers 404", 1);
    let elsewhere = "the model's server answers 302 and names another address, which is not followed";
    fails(vec![status(302, &json!({}))], elsewhere, 1);
}

#[test]
fn servers_say_when_to_come_back() {
    let later = |seconds| Ok(Response { status: 429, retry_after_s: Some(seconds), body: Vec::new() });
    let played = play(openai(), vec![later(7), answer("{\"n\": 1}")], 60);
    assert_eq!((played.outcome.is_ok(), played.pauses), (true, vec![7_000]));
    fails(vec![later(3_600)], "the model's server answers 429 (asked once)", 1);
}

#[test]
fn no_time_is_no_answer() {
    let later = Ok(Response { status: 429, retry_after_s: Some(30), body: Vec::new() });
    let played = play(openai(), vec![later], 10).outcome.unwrap_err();
    assert!(played.cause == Cause::Late && played.why.ends_with("and there is no time to ask again"), "{played}");
    let played = play(openai(), vec![Err(Failed::TimedOut)], 10);
    assert_eq!((played.sent.len(), played.outcome.unwrap_err().cause), (1, Cause::Late));
    let played = play(openai(), vec![], 0);
    assert!(played.sent.is_empty() && played.outcome.unwrap_err().cause == Cause::Late);
}

#[test]
fn others_stand_in_for_a_model() {
    let mut model = openai();
    model["fallback"] = json!(["spare", "last"]);
    let gone = || status(404, &json!({}));
    let played = play(model, vec![gone(), gone(), answer("{\"n\": 2}")], 60);
    let names: Vec<&str> = played.sent.iter().map(|sent| sent.2["model"].as_str().unwrap()).collect();
    assert_eq!((names, played.outcome.unwrap().usage.requests), (vec!["small", "spare", "last"], 3));
}

/// A server that does not answer one of its models, and does not let go of the request before its time is up.
#[derive(Debug)]
struct Hanging(Arc<Moving>, Mutex<Vec<(String, Duration)>>);

impl Post for Hanging {
    fn post(&self, request: &Request<'_>) -> Result<Response, Failed> {
        let body: Value = serde_json::from_slice(request.body).unwrap();
        self.1.lock().unwrap().push((body["model"].as_str().unwrap().to_owned(), request.timeout));
        if body["model"] == "spare" {
            return answer("{\"n\": 2}");
        }
        self.0.pause(request.timeout);
        Err(Failed::TimedOut)
    }
}

#[test]
fn one_that_hangs_leaves_the_others_their_time() {
    let clock = Arc::new(Moving { begin: Instant::now(), pauses: Mutex::default() });
    let server = Arc::new(Hanging(Arc::clone(&clock), Mutex::default()));
    let mut named = openai();
    named["fallback"] = json!("spare");
    let shared: Arc<dyn Post> = Arc::<Hanging>::clone(&server);
    let moving: Arc<dyn Clock> = Arc::<Moving>::clone(&clock);
    let model = Model::new(endpoint(named).unwrap(), shared).with_clock(moving);
    let question = Question { role: "worker", instructions: "Count.", input: &json!({}), schema: None };
    let answer = model.ask(&question, clock.begin + Duration::from_secs(4)).unwrap();
    assert_eq!((answer.value, answer.usage.requests), (json!({"n": 2}), 2));
    let asked = server.1.lock().unwrap().clone();
    let second = Duration::from_secs(2);
    assert_eq!(asked, [("small".to_owned(), second), ("spare".to_owned(), second)]);
}

#[test]
fn a_server_that_is_broken_is_no_busy_one() {
    for (answer, want) in [
        (status(429, &json!({})), Cause::Busy),
        (status(500, &json!({})), Cause::Failed),
        (Err(Failed::Unreachable("refused".to_owned())), Cause::Failed),
    ] {
        let played = play(openai(), vec![answer.clone(); 4], 60);
        assert_eq!(played.outcome.unwrap_err().cause, want, "{answer:?}");
    }
}

#[test]
fn what_a_model_refuses_with_is_cut_and_holds_no_token() {
    let long = format!("{} {SECRET} {}", "x".repeat(190), "y".repeat(20_000));
    let body = json!({"choices": [{"message": {"content": null, "refusal": long}}]});
    let why = play(openai(), vec![status(200, &body); 3], 60).outcome.unwrap_err().why;
    assert!(why.contains("the model refuses: xxx") && why.len() < 400 && !why.contains("sk-very"), "{why}");
}

#[test]
fn tokens_go_only_where_they_belong() {
    let headers = |model: Value| endpoint(model).map(|endpoint| endpoint.headers());
    let usual = headers(json!({"provider": "openai", "name": "m"})).unwrap();
    assert_eq!(usual, [("authorization", format!("Bearer {SECRET}"))]);
    // Whoever names another server has to name a token for it.
    let elsewhere = headers(json!({"provider": "openai", "name": "m", "base_url": "https://evil.example/v1"})).unwrap();
    assert_eq!(elsewhere, []);
    let missing = headers(json!({"provider": "anthropic", "name": "m"})).unwrap_err();
    assert_eq!(missing, "the environment variable `ANTHROPIC_API_KEY`, which holds the model's token, is not set");
    for url in ["http://evil.example/v1", "http://127.0.0.1.evil.example", "http://localhost.evil.example:80"] {
        let exposed = headers(json!({"provider": "openai", "name": "m", "base_url": url, "token_env": "TOKEN"}));
        assert!(exposed.unwrap_err().ends_with("would go over a network unencrypted"), "{url}");
    }
    for url in ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:9/v1"] {
        assert!(
            headers(json!({"provider": "openai", "name": "m", "base_url": url, "token_env": "TOKEN"})).is_ok(),
            "{url}"
        );
    }
    let shown = format!("{:?}", endpoint(openai()).unwrap());
    assert!(!shown.contains(SECRET), "{shown}");
}

#[test]
fn models_that_cannot_be_asked_are_refused() {
    for (model, want) in [
        (json!({}), "`provider` is ``; models are asked as `openai` or `anthropic` are"),
        (
            json!({"provider": "ollama", "name": "m"}),
            "`provider` is `ollama`; models are asked as `openai` or `anthropic` are",
        ),
        (json!({"provider": "openai", "name": ""}), "the model has no `name`"),
        (
            json!({"provider": "openai", "name": "m", "base_url": "ftp://x"}),
            "`base_url` is `ftp://x`; an address is `https://` or `http://`, a host and a path, without a user, `?` and `#`",
        ),
        (
            json!({"provider": "openai", "name": "m", "base_url": "https://user:pw@host"}),
            "`base_url` is `https://user:pw@host`; an address is `https://` or `http://`, a host and a path, without a user, `?` and `#`",
        ),
        (
            json!({"provider": "openai", "name": "m", "token_env": "ODD"}),
            "the environment variable `ODD` holds no token: a token has no blanks and only visible ASCII characters",
        ),
        (
            json!({"provider": "openai", "name": "m", "fallback": ["a", "b", "c", "d", "e"]}),
            "`fallback` must be the name of a model, or up to 4 of them",
        ),
        (
            json!({"provider": "openai", "name": "m", "price": {"input": -1}}),
            "`price` must be two numbers of at least 0",
        ),
    ] {
        assert_eq!(endpoint(model).map(|_| ()).unwrap_err(), want);
    }
    assert!(endpoint(json!({"provider": 7})).unwrap_err().starts_with("`model` cannot be read: "));
}
