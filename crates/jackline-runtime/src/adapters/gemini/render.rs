//! Answers, in the forms that Gemini CLI obeys. Silence is "go on".

use jackline_core::decision::EditTarget;
use serde_json::{Map, Value, json};

use crate::adapters::{Asked, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return match asked.moment {
            Moment::Gate => refusal(Map::new(), &fault.shown()),
            moment if moment.blocks_on_fault() => say(denied(Map::new(), &fault.shown())),
            _ => Reply::default(),
        };
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(answers),
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => say(specific(asked, answers)),
    }
}

/// What is asked of a person elsewhere is refused: where nobody watches, the client ends the run without a word.
fn gate(asked: &Asked, answers: &[Answer]) -> Reply {
    let Some(strictest) = said::strictest(answers) else {
        let mut answer = specific(asked, answers);
        if let Some(value) = said::edited(answers, EditTarget::Args) {
            said::put(&mut answer, asked, "tool_input", value.clone());
        }
        return say(answer);
    };
    let mut answer = Map::new();
    if let Some(halted) = said::halted(answers) {
        answer.insert("continue".to_owned(), json!(false));
        answer.insert("stopReason".to_owned(), json!(halted.shown()));
    }
    // Before a call the client takes no context, so what is told beside a refusal is part of its reason.
    let told = said::context(asked, answers).map(|context| format!("\n\n{context}"));
    refusal(answer, &format!("{}{}", strictest.shown(), told.unwrap_or_default()))
}

/// A refusal that holds even where its JSON is not taken.
fn refusal(answer: Map<String, Value>, reason: &str) -> Reply {
    Reply { stdout: Value::Object(denied(answer, reason)).to_string(), stderr: reason.to_owned(), exit: 2 }
}

fn denied(mut answer: Map<String, Value>, reason: &str) -> Map<String, Value> {
    answer.insert("decision".to_owned(), json!("deny"));
    answer.insert("reason".to_owned(), json!(reason));
    answer
}

fn stop(answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        // By its exit code it would be held as well, and the person told that a hook failed.
        return say(denied(Map::new(), &refused.shown()));
    }
    let told = said::farewell(answers, true);
    say(told.map(|told| ("systemMessage".to_owned(), json!(told))).into_iter().collect())
}

/// What cannot be refused any more is told instead; a cut outcome takes the place of the whole.
fn outcome(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(Value::as_str) {
        answer = denied(answer, shown);
    }
    say(answer)
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(context) = said::context(asked, answers).filter(|_| asked.moment != Moment::Gate) {
        said::put(&mut answer, asked, "additionalContext", json!(context));
    }
    if let Some(told) = said::notices(answers) {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    answer
}

fn say(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
