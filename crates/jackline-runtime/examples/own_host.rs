//! An adapter for a host that nobody has: Kestrel, which sends one JSON object per moment of a run and obeys what it is
//! told. Everything that an adapter has to do is here, and nothing else.
//!
//! `cargo run -p jackline-runtime --example own_host` plays a run through it, and fails if anything passes that must not.
#![expect(clippy::print_stdout, reason = "the conversation is what an example is for")]

use std::error::Error;

use jackline_runtime::adapters::{Adapter, Asked, Heard, Message, Moment, Reply};
use jackline_runtime::core::code;
use jackline_runtime::core::decision::{Finding, Verdict};
use jackline_runtime::core::event;
use jackline_runtime::core::json;
use jackline_runtime::core::time::Timestamp;
use jackline_runtime::{Answer, Runtime};
use serde_json::{Value, json as object};

/// Kestrel's language: `{"moment", "run", "worker", "dir", ...}` in, `{"go": bool, "say": text}` out.
struct Kestrel;

impl Adapter for Kestrel {
    fn host(&self) -> Option<&str> {
        Some("kestrel")
    }

    /// Reads a message. What cannot be read is an error here, and a refusal where a tool is about to run.
    fn read(&self, native: &[u8], now: Timestamp) -> Heard {
        let asked = self.glance(native);
        Heard { messages: message(&asked, native, now).map(|message| vec![message]), asked }
    }

    /// What a message is about, told even where it cannot be read. What is not known may be a tool about to run.
    fn glance(&self, native: &[u8]) -> Asked {
        let name = json::decode(native).ok().and_then(|message| text(&message, "moment")).unwrap_or_default();
        let moment = match name.as_str() {
            "tool-done" => Moment::Outcome,
            "asked" => Moment::Prompt,
            "begins" => Moment::Start,
            "ends" => Moment::Stop { again: false },
            _ => Moment::Gate,
        };
        Asked::new(moment, name)
    }

    /// Answers. Kestrel goes on only if it is told so; a host that goes on by itself is told nothing instead.
    fn render(&self, asked: &Asked, answers: &[Answer]) -> Reply {
        let holds = matches!(asked.moment, Moment::Gate | Moment::Stop { .. });
        // Kestrel cannot ask a person, so what would be asked is refused.
        let against = answers.iter().find(|answer| holds && answer.verdict > Verdict::Allow);
        let told = answers.iter().flat_map(|answer| answer.briefing.iter().chain(&answer.feedback).cloned());
        let said: Vec<String> = against.map(Answer::shown).into_iter().chain(told).collect();
        Reply::said(object!({ "go": against.is_none(), "say": said.join("\n\n") }).to_string())
    }
}

fn message(asked: &Asked, native: &[u8], now: Timestamp) -> Result<Message, Box<Finding>> {
    let native = json::decode(native).map_err(|fault| refusal(&fault.to_string()))?;
    let member = |name: &str| native.get(name).cloned().unwrap_or_default();
    let call = || object!({ "id": member("step"), "tool": member("tool"), "args": member("with") });
    let mut raw = match asked.name.as_str() {
        "tool" => object!({ "event": "call.requested", "call": call() }),
        "tool-done" => {
            let ok = member("status") == "good";
            object!({ "event": "call.finished", "call": call(), "ok": ok, "output": member("gave") })
        }
        "asked" => object!({ "event": "prompt.submitted", "prompt": member("text") }),
        "begins" => object!({ "event": "session.started" }),
        "ends" => object!({ "event": "stop.requested", "message": member("text") }),
        other => return Err(refusal(&format!("`{other}` is no moment of Kestrel's"))),
    };
    if let Value::Object(raw) = &mut raw {
        let common = [("session", "run"), ("agent", "worker"), ("cwd", "dir")];
        raw.extend(common.into_iter().map(|(ours, theirs)| (ours.to_owned(), member(theirs))));
        raw.retain(|_, value| !value.is_null());
        raw.insert("host".to_owned(), object!("kestrel"));
        raw.insert("native".to_owned(), object!(asked.name));
    }
    let event = event::read(&raw, now).map_err(|fault| refusal(&fault.to_string()))?;
    Ok(Message::new(event, raw))
}

fn refusal(why: &str) -> Box<Finding> {
    Box::new(Finding::deny("event", code::EVENT_INVALID, format!("Kestrel's message cannot be read: {why}.")))
}

fn text(value: &Value, member: &str) -> Option<String> {
    value.get(member).and_then(Value::as_str).map(str::to_owned)
}

const DEFINITION: &str = r#"
jackline: 1
tools:
  declare:
    launch: {kind: shell}
policies:
  - name: no-network
    rule: {tool: "@shell", command: "curl*", reason: "this run has no network"}
completion: {files: [report.txt]}
"#;

/// Says something to the guard; whether Kestrel would go on.
fn say(runtime: &Runtime, native: &str) -> Result<bool, Box<dyn Error>> {
    let reply = runtime.handle(&Kestrel, native.as_bytes()).stdout;
    println!("> {native}\n< {reply}");
    let reply: Value = serde_json::from_str(&reply)?;
    Ok(reply.get("go") == Some(&Value::Bool(true)))
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let runtime = Runtime::builder().workspace(workspace.path()).definition_yaml(DEFINITION).build()?;
    let mut wrong = Vec::new();
    let mut expect = |native: &str, go: bool| -> Result<(), Box<dyn Error>> {
        if say(&runtime, native)? != go {
            wrong.push(native.to_owned());
        }
        Ok(())
    };
    expect(r#"{"moment": "begins", "run": "r1"}"#, true)?;
    expect(r#"{"moment": "asked", "run": "r1", "text": "write the report"}"#, true)?;
    expect(r#"{"moment": "tool", "run": "r1", "step": "1", "tool": "launch", "with": {"command": "curl x"}}"#, false)?;
    expect(r#"{"moment": "tool", "run": "r1", "step": "2", "tool": "launch", "with": {"command": "ls"}}"#, true)?;
    expect(r#"{"moment": "tool-done", "run": "r1", "step": "2", "tool": "launch", "status": "good"}"#, true)?;
    expect(r#"{"moment": "ends", "run": "r1", "text": "done"}"#, false)?;
    std::fs::write(workspace.path().join("report.txt"), "done")?;
    expect(r#"{"moment": "ends", "run": "r1", "text": "done"}"#, true)?;
    expect(r#"{"moment": "something new", "run": "r1"}"#, false)?;
    expect("no JSON at all", false)?;
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrongly answered: {wrong:?}").into()) }
}
