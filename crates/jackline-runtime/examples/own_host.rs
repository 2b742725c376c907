//! An adapter for a host that nobody has: Kestrel, which sends one JSON object per moment of a run and obeys what it is
//! told. Everything that an adapter has to do is here, and nothing else.
//!
//! `cargo run -p jackline-runtime --example own_host` plays a run through it, and fails if anything passes that must not.
#![expect(clippy::print_stdout, reason = "the conversation is what an example is for")]

use std::error::Error;
use std::path::Path;

use jackline_runtime::adapters::{Adapter, Heard, Inquiry, Message, Moment, Reply};
use jackline_runtime::core::code;
use jackline_runtime::core::decision::{EditTarget, Finding, Verdict};
use jackline_runtime::core::event;
use jackline_runtime::core::json;
use jackline_runtime::core::time::Timestamp;
use jackline_runtime::{Answer, Runtime};
use serde_json::{Value, json as object};

/// Kestrel's language: `{"moment", "run", "worker", "dir", ...}` in, `{"go": bool, "say": text}` out, and where something
/// is to be used in place of what it has, `with` (a call's arguments) or `gave` (what came of it). `over` ends the run.
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
    fn glance(&self, native: &[u8]) -> Inquiry {
        let message = json::decode(native).unwrap_or_default();
        let name = text(&message, "moment").unwrap_or_default();
        let moment = match name.as_str() {
            "tool-done" => Moment::Outcome,
            "asked" => Moment::Prompt,
            "begins" => Moment::Start,
            // Kestrel says that it was held before: a fault of ours holds a run once, never for ever.
            "ends" => Moment::Stop { again: was_held(&message) },
            _ => Moment::Gate,
        };
        Inquiry::new(moment, name)
    }

    /// Answers. Kestrel goes on only if it is told so; a host that goes on by itself is told nothing instead.
    fn render(&self, asked: &Inquiry, answers: &[Answer]) -> Reply {
        let holds = matches!(asked.moment, Moment::Gate | Moment::Stop { .. });
        // Kestrel cannot ask a person, so what would be asked is refused.
        let against = answers.iter().find(|answer| holds && answer.verdict > Verdict::Allow && counts(asked, answer));
        let told = answers.iter().flat_map(|answer| answer.briefing.iter().chain(&answer.feedback).cloned());
        let said: Vec<String> = against.map(Answer::shown).into_iter().chain(told).collect();
        let mut reply = object!({ "go": against.is_none(), "say": said.join("\n\n") });
        if let Value::Object(reply) = &mut reply {
            // Later edits are made of earlier ones, so the last of a kind counts.
            for edit in answers.iter().flat_map(|answer| &answer.edits) {
                let member = if edit.target == EditTarget::Args { "with" } else { "gave" };
                reply.insert(member.to_owned(), edit.value.clone());
            }
            if answers.iter().any(|answer| answer.verdict == Verdict::Halt) {
                reply.insert("over".to_owned(), object!(true));
            }
        }
        Reply::said(reply.to_string())
    }
}

/// Whether an answer holds Kestrel back: one that says that we could not decide does so at a gate, and at a stop once.
fn counts(asked: &Inquiry, answer: &Answer) -> bool {
    let undecided = answer.seq.is_none()
        && answer.code.as_ref().is_some_and(|code| code.is_fault() || *code == code::EVENT_INVALID);
    asked.moment.blocks_on_fault() || !undecided
}

fn was_held(message: &Value) -> bool {
    message.get("held") == Some(&Value::Bool(true))
}

fn message(asked: &Inquiry, native: &[u8], now: Timestamp) -> Result<Message, Box<Finding>> {
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
        "ends" => object!({ "event": "stop.requested", "message": member("text"), "again": was_held(&native) }),
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
outputs: {lines_max: 3}
feedback: [{static: the tide turns at six, every_n_calls: 1}]
completion: {files: [report.txt]}
"#;

/// Says something to the guard; what Kestrel is told.
fn say(runtime: &Runtime, native: &str) -> Result<Value, Box<dyn Error>> {
    let reply = runtime.handle(&Kestrel, native.as_bytes()).stdout;
    println!("> {native}\n< {reply}");
    Ok(serde_json::from_str(&reply)?)
}

/// A broken guard refuses calls, and holds a run once and no longer.
fn broken(workspace: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let state = workspace.join("no directory");
    std::fs::write(&state, "")?;
    let runtime = Runtime::builder().workspace(workspace).definition_yaml(DEFINITION).state(state).build()?;
    let said = [
        (r#"{"moment": "tool", "run": "r2", "step": "1", "tool": "launch", "with": {"command": "ls"}}"#, false),
        (r#"{"moment": "ends", "run": "r2", "text": "done"}"#, false),
        (r#"{"moment": "ends", "run": "r2", "text": "done", "held": true}"#, true),
    ];
    let mut wrong = Vec::new();
    for (native, go) in said {
        let reply = say(&runtime, native)?;
        wrong.extend((reply.get("go") != Some(&Value::Bool(go))).then(|| native.to_owned()));
    }
    Ok(wrong)
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let runtime = Runtime::builder().workspace(workspace.path()).definition_yaml(DEFINITION).build()?;
    let mut wrong = Vec::new();
    let mut expect = |native: &str, go: bool| -> Result<(), Box<dyn Error>> {
        if say(&runtime, native)?.get("go") != Some(&Value::Bool(go)) {
            wrong.push(native.to_owned());
        }
        Ok(())
    };
    expect(r#"{"moment": "begins", "run": "r1"}"#, true)?;
    expect(r#"{"moment": "asked", "run": "r1", "text": "write the report"}"#, true)?;
    expect(r#"{"moment": "tool", "run": "r1", "step": "1", "tool": "launch", "with": {"command": "curl x"}}"#, false)?;
    expect(r#"{"moment": "tool", "run": "r1", "step": "2", "tool": "launch", "with": {"command": "ls"}}"#, true)?;
    expect(r#"{"moment": "ends", "run": "r1", "text": "done"}"#, false)?;
    std::fs::write(workspace.path().join("report.txt"), "done")?;
    expect(r#"{"moment": "ends", "run": "r1", "text": "done"}"#, true)?;
    expect(r#"{"moment": "something new", "run": "r1"}"#, false)?;
    expect("no JSON at all", false)?;
    let long = r#"{"moment": "tool-done", "run": "r1", "step": "2", "tool": "launch", "with": {"command": "ls"},
                   "status": "good", "gave": "1\n2\n3\n4\n5\n"}"#;
    let reply = say(&runtime, long)?;
    let cut = reply.get("gave").and_then(Value::as_str).is_some_and(|gave| gave.contains("has_more: true"));
    let advised = reply.get("say").and_then(Value::as_str).is_some_and(|said| said.contains("the tide turns at six"));
    if !cut || !advised {
        wrong.push(reply.to_string());
    }
    wrong.extend(broken(workspace.path())?);
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrongly answered: {wrong:?}").into()) }
}
