//! Answers, in the forms that Codex obeys. Silence is "go on".

use jackline_core::decision::EditTarget;
use serde_json::{Map, Value, json};

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(reply) = said::at_fault(asked, answers, said::refusal) {
        return reply;
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => said::reply(told(asked, answers)),
    }
}

/// What is asked of a person elsewhere is refused: the client knows no asking, and runs the call instead.
fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(strictest) = said::strictest(answers) {
        return said::refusal(asked, &said::reason(asked, strictest, answers));
    }
    let mut answer = told(asked, answers);
    // A rewritten call is an approved one here; so only where nobody would be asked about it.
    if let Some(value) = said::edited(answers, EditTarget::Args).filter(|_| asked.unasked) {
        said::put(&mut answer, asked, "permissionDecision", json!("allow"));
        said::put(&mut answer, asked, "updatedInput", value.clone());
    }
    said::reply(answer)
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    match said::refused(answers) {
        Some(refused) => said::refusal(asked, &refused.shown()),
        None => said::reply(said::telling_person(said::farewell(answers, asked.name == "Stop"))),
    }
}

/// What cannot be refused any more is told instead; a cut outcome takes the place of the whole.
fn outcome(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = told(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(said::plain) {
        answer.insert("decision".to_owned(), json!("block"));
        answer.insert("reason".to_owned(), json!(shown));
    }
    said::reply(answer)
}

/// The answer of an event that may not hold context is dropped as a whole if it does.
fn told(asked: &Inquiry, answers: &[Answer]) -> Map<String, Value> {
    const TAKING: &[&str] = &["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"];
    said::telling(asked, answers, TAKING.contains(&asked.name.as_str()))
}
