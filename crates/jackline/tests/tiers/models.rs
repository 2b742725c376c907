//! Agents that are models: how they are asked, and what becomes of bad answers.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use jackline_rehearsal::{Model, Script};
use serde_json::{Value, json};

use crate::ONE;
use crate::stage::{Stage, TOKEN};

/// A workflow whose one agent is a scripted model.
fn played(provider: &str, script: Script) -> (Stage, Model) {
    let model = Model::start(script, "").unwrap();
    let base = if provider == "openai" { format!("{}/v1", model.url()) } else { model.url() };
    let agent = format!(
        "model: {{provider: {provider}, base_url: \"{base}\", name: small, token_env: MODEL_TOKEN, \
         price: {{input: 1000, output: 2000}}}}\nprompt: {{system: You speak.}}\n"
    );
    (Stage::new(ONE).agent("speaker", &agent), model)
}

#[test]
fn both_apis_are_spoken() {
    for (provider, header, value) in
        [("openai", "authorization", format!("Bearer {TOKEN}")), ("anthropic", "x-api-key", TOKEN.to_owned())]
    {
        let (stage, model) = played(provider, Script::new().say("{\"text\": \"hello\"}"));
        let ended = stage.ends("complete", "complete");
        assert_eq!(ended["output"]["speaker"]["text"], "hello");
        let asked = model.asked();
        assert_eq!((asked.len(), asked[0].request.header(header)), (1, Some(value.as_str())), "{provider}");
        let shown = model.shown_in(0);
        assert!(
            shown.contains("You speak.") && shown.contains("Say something.") && shown.contains("JSON Schema"),
            "{shown}"
        );
        assert_eq!(model.strangers(), [""; 0]);
        let usage = &stage.records("agent.finished")[0]["usage"];
        let count = |name: &str| usage[name].as_f64().unwrap();
        let cost = (count("input_tokens") * 1_000.0 + count("output_tokens") * 2_000.0) / 1e6;
        assert!(cost > 0.0 && (count("cost_usd") - cost).abs() < 1e-9, "{usage}");
        assert!(!stage.left().contains(TOKEN), "{provider}: the token is on disk");
    }
}

#[test]
fn a_token_that_a_server_repeats_is_in_no_record() {
    let (stage, _model) = played("openai", Script::new().say(&format!("{{\"text\": \"{TOKEN}\"}}")));
    stage.ends("complete", "complete");
    assert!(!stage.log().contains(TOKEN));
}

#[test]
fn answers_that_do_not_fit_are_mended() {
    let (stage, model) =
        played("openai", Script::new().say("Hello!").say("{\"text\": 7}").say("{\"text\": \"seven\"}"));
    let ended = stage.ends("complete", "complete");
    assert_eq!(ended["output"]["speaker"]["text"], "seven");
    assert!(
        model.shown_in(2).contains("That cannot be used: it does not fit the schema: `/text` "),
        "{}",
        model.shown_in(2)
    );
}

#[track_caller]
fn fails(script: Script, reason: &str, requests: usize) {
    let (stage, model) = played("openai", script);
    let ended = stage.run().1;
    assert_eq!(ended["status"], "failed", "{ended}");
    let failed = stage.records("agent.failed");
    let told = failed[0]["reason"].as_str().unwrap();
    assert!(told.contains(reason), "{told}");
    assert_eq!(model.asked().len(), requests * failed.len(), "{told}");
}

#[test]
fn bad_answers_fail_the_agent() {
    let three = |text: &str| Script::new().say(text).say(text).say(text).say(text).say(text).say(text);
    fails(three("I cannot say."), "it is no JSON", 3);
    fails(three("[1, 2]"), "it is no JSON object", 3);
    let twice = |script: fn(Script) -> Script| script(script(Script::new()));
    fails(twice(|script| script.odd(200, &[], "<html>")), "the model's answer is no JSON", 1);
    fails(twice(|script| script.odd(200, &[], "{\"choices\": []}")), "of no known form: it has no `choices`", 1);
    fails(
        twice(|script| script.odd(400, &[], "{\"error\": {\"message\": \"no such model\"}}")),
        "400: no such model",
        1,
    );
    fails(twice(|script| script.say(&"x".repeat(9 << 20))), "longer than 8388608 bytes", 1);
}

#[test]
fn busy_servers_are_asked_again() {
    let script = Script::new().odd(503, &[], "").odd(429, &[("retry-after", "1")], "").say("{\"text\": \"at last\"}");
    let (stage, model) = played("anthropic", script);
    let began = Instant::now();
    stage.ends("complete", "complete");
    assert!(began.elapsed() >= Duration::from_millis(1_500));
    assert_eq!(model.asked().len(), 3);
}

#[test]
fn tokens_are_not_carried_elsewhere() {
    let other = Model::start(Script::new().say("{\"text\": \"stolen\"}"), "").unwrap();
    let location = format!("{}/v1/chat/completions", other.url());
    let redirect = |script: Script| script.odd(307, &[("location", &location)], "");
    let (stage, _model) = played("openai", redirect(redirect(Script::new())));
    stage.run();
    assert!(stage.records("agent.failed")[0]["reason"].as_str().unwrap().contains("which is not followed"));
    assert!(other.asked().is_empty() && other.strangers().is_empty());
}

#[test]
fn slow_models_cost_no_more_than_their_time() {
    let slow = Script::new().say("{}").meanwhile(|| thread::sleep(Duration::from_secs(30)));
    let model = Model::start(slow, "").unwrap();
    let manifest = "orchestration: {graph: [{id: speaker}], execution: {timeout_per_agent: 1, error_handling: {max_retries: 0}}}\n";
    let agent = format!("model: {{provider: openai, base_url: \"{}\", name: small}}\n", model.url());
    let stage = Stage::new(manifest).agent("speaker", &agent);
    let began = Instant::now();
    stage.run();
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(stage.records("agent.failed")[0]["kind"], "timeout");
}

#[test]
fn models_that_cannot_be_asked_keep_a_run_from_beginning() {
    let stage = Stage::new(ONE).agent(
        "speaker",
        "model: {provider: openai, base_url: \"http://far.example/v1\", name: m, token_env: MODEL_TOKEN}\n",
    );
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("would go over a network unencrypted"), "{}", ran.err);
    let stage = Stage::new(ONE).agent("speaker", "model: {provider: anthropic, name: m, token_env: NO_SUCH}\n");
    let ran = stage.jackline(&["workflow", "run", "flow", "--task", "x"]);
    assert!(
        ran.err.contains("the environment variable `NO_SUCH`, which holds the model's token, is not set"),
        "{}",
        ran.err
    );
}

#[test]
fn certificates_are_checked() {
    // Nobody speaks TLS there, so that no answer counts.
    let plain = Model::start(Script::new().say("{\"text\": \"x\"}"), "").unwrap();
    let base = plain.url().replace("http://", "https://");
    let agent = format!("model: {{provider: openai, base_url: \"{base}\", name: m, token_env: MODEL_TOKEN}}\n");
    let manifest = "orchestration: {graph: [{id: speaker}], execution: {timeout_per_agent: 5, error_handling: {max_retries: 0}}}\n";
    let stage = Stage::new(manifest).agent("speaker", &agent);
    assert_eq!(stage.run().1["status"], "failed");
    assert!(plain.asked().is_empty());
}

/// The usage of a run as `workflow show` tells it.
fn shown(stage: &Stage) -> Value {
    let shown = stage.jackline(&["workflow", "show", "run-1", "--format", "json"]);
    serde_json::from_str::<Value>(&shown.out).unwrap()["usage"].clone()
}

#[test]
fn what_answers_used_that_failed_is_counted() {
    let used = json!({"prompt_tokens": 100, "completion_tokens": 10});
    let odd = |status: u16, body: Value| Script::new().odd(status, &[], &body.to_string());
    for script in [
        odd(200, json!({"choices": [], "usage": used})),
        odd(400, json!({"error": {"message": "filtered"}, "usage": used})),
    ] {
        let (stage, _model) = played("openai", script);
        let manifest = std::fs::read_to_string(stage.flow().join("workflow.awp.yaml")).unwrap();
        stage.file(
            "workflow.awp.yaml",
            &manifest.replace("execution: {", "execution: {error_handling: {max_retries: 0}, "),
        );
        let ended = stage.run().1;
        assert_eq!(ended["status"], "failed");
        let want = json!({"requests": 1, "input_tokens": 100, "output_tokens": 10, "tool_calls": 0, "cost_usd": 0.12});
        assert_eq!((&stage.records("agent.failed")[0]["usage"], &ended["usage"]), (&want, &want));
        assert_eq!(ended["budgets"]["tokens"]["used"], 110);
        assert_eq!((&shown(&stage)["requests"], &shown(&stage)["input_tokens"]), (&json!(1), &json!(100)));
    }
}

#[test]
fn what_a_model_used_until_it_was_stopped_is_counted() {
    let script = Script::new().say("no JSON").say("{}").meanwhile(|| thread::sleep(Duration::from_secs(30)));
    let model = Model::start(script, "").unwrap();
    let manifest = "orchestration: {graph: [{id: speaker}], execution: {timeout_total: 3}}\n";
    let agent = format!("model: {{provider: openai, base_url: \"{}/v1\", name: small}}\n", model.url());
    let stage = Stage::new(manifest).agent("speaker", &agent);
    let ended = stage.ends("partial", "max_wall_time");
    let stopped = &stage.records("agent.stopped")[0]["usage"];
    assert_eq!((&stopped["requests"], &ended["usage"]["requests"]), (&json!(2), &json!(2)));
    assert_eq!(stopped["input_tokens"], ended["usage"]["input_tokens"]);
    assert!(stopped["input_tokens"].as_u64().unwrap() > 0, "{stopped}");
}

#[test]
fn a_token_that_was_changed_is_hidden_before_and_after() {
    const OLD: &str = "tok-0ld-of-the-model-9876543210";
    let repeats = |token: &str| format!("{{\"text\": \"your token is {token}\"}}");
    let first = Model::start(Script::new().say(&repeats(OLD)), "").unwrap();
    let second = Model::start(Script::new().say(&repeats(TOKEN)), "").unwrap();
    let manifest = "orchestration: {graph: [{id: first}, {id: waits, depends_on: [first]}, {id: second, depends_on: [waits]}, {id: last, depends_on: [second]}]}\n";
    let agent = |model: &Model| {
        format!("model: {{provider: openai, base_url: \"{}/v1\", name: small, token_env: MODEL_TOKEN}}\n", model.url())
    };
    let stage = Stage::new(manifest)
        .agent("first", &agent(&first))
        .script("waits", "while [ ! -e go ]; do sleep 0.05; done; echo '{}'")
        .agent("second", &agent(&second))
        .script("last", "printf '{\"seen\": %s}' \"$input\"");
    let mut command = stage.command(&["workflow", "run", "flow", "--task", "Say something.", "--run-id", "run-1"]);
    command.env("MODEL_TOKEN", OLD).stdout(Stdio::null()).stderr(Stdio::null());
    stage.kill_after(command.spawn().unwrap(), "agent.started", 2);
    stage.file("go", "");
    let resumed = stage.jackline(&["workflow", "run", "flow", "--resume", "run-1", "--json"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.err);
    assert_eq!(second.asked().len(), 1);
    assert!(resumed.out.contains("your token is "), "{}", resumed.out);
    let left = format!("{}{}{}", stage.left(), resumed.out, resumed.err);
    for token in [OLD, TOKEN] {
        assert!(!left.contains(token), "{token}");
    }
}
