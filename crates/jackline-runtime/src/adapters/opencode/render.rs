//! Answers, as our plugin in OpenCode carries them out. An empty object is "go on": silence is another program's, and
//! the plugin refuses it.

use jackline_core::decision::EditTarget;
use serde_json::{Map, Value, json};

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return at_fault(asked, fault);
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(answers),
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt => say(told(asked, answers)),
        Moment::Settings | Moment::Passing => say(Map::new()),
    }
}

fn at_fault(asked: &Inquiry, fault: &Answer) -> Reply {
    match asked.moment {
        Moment::Stop { again: false } => one("followup", json!(fault.shown())),
        moment if moment.blocks_on_fault() => Reply::blocked(fault.shown()),
        _ => say(Map::new()),
    }
}

/// What is asked of a person elsewhere is refused: a plugin cannot ask.
fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(strictest) = said::strictest(answers) {
        return one("deny", json!(said::reason(asked, strictest, answers)));
    }
    said::edited(answers, EditTarget::Args).map_or_else(|| say(Map::new()), |args| one("args", args.clone()))
}

/// A stop cannot be held: what is open is said as the next prompt.
fn stop(answers: &[Answer]) -> Reply {
    said::refused(answers).map_or_else(|| say(Map::new()), |refused| one("followup", json!(refused.shown())))
}

fn outcome(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = told(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(shown) {
        answer.insert("output".to_owned(), json!(shown));
    }
    say(answer)
}

/// A cut outcome as text; what was read gets back what stood around it, without the word that this was all.
fn shown(outcome: &Value) -> Option<String> {
    let part = |name: &str| outcome.get(name).and_then(Value::as_str);
    match (part("head"), part("content"), part("tail")) {
        (Some(head), Some(lines), Some(tail)) => Some(format!("{head}{lines}{tail}")),
        _ => said::plain(outcome),
    }
}

fn told(asked: &Inquiry, answers: &[Answer]) -> Map<String, Value> {
    let context = said::context(asked, answers);
    Map::from_iter(context.map(|context| ("context".to_owned(), json!(context))))
}

fn one(member: &str, value: Value) -> Reply {
    say(Map::from_iter([(member.to_owned(), value)]))
}

fn say(answer: Map<String, Value>) -> Reply {
    Reply::said(Value::Object(answer).to_string())
}
