//! Answers, in the forms that Gemini CLI obeys. Silence is "go on".

use jackline_core::decision::EditTarget;
use serde_json::{Map, Value, json};

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return match asked.moment {
            Moment::Gate => refusal(Map::new(), &fault.shown()),
            moment if moment.blocks_on_fault() => said::reply(denied(Map::new(), &fault.shown())),
            _ => Reply::default(),
        };
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(answers),
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => said::reply(told(asked, answers)),
    }
}

/// What is asked of a person elsewhere is refused: where nobody watches, the client ends the run without a word.
fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let Some(strictest) = said::strictest(answers) else {
        let mut answer = told(asked, answers);
        if let Some(value) = said::edited(answers, EditTarget::Args) {
            said::put(&mut answer, asked, "tool_input", value.clone());
        }
        return said::reply(answer);
    };
    let mut answer = Map::new();
    if let Some(halted) = said::halted(answers) {
        answer.insert("continue".to_owned(), json!(false));
        answer.insert("stopReason".to_owned(), json!(halted.shown()));
    }
    refusal(answer, &said::reason(asked, strictest, answers))
}

fn refusal(answer: Map<String, Value>, reason: &str) -> Reply {
    said::thrice(&Value::Object(denied(answer, reason)), reason)
}

fn denied(mut answer: Map<String, Value>, reason: &str) -> Map<String, Value> {
    answer.insert("decision".to_owned(), json!("deny"));
    answer.insert("reason".to_owned(), json!(reason));
    answer
}

fn stop(answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        // By its exit code it would be held as well, and the person told that a hook failed.
        return said::reply(denied(Map::new(), &refused.shown()));
    }
    said::reply(said::telling_person(said::farewell(answers, true)))
}

/// What cannot be refused any more is told instead; a cut outcome takes the place of the whole.
fn outcome(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = told(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(Value::as_str) {
        answer = denied(answer, shown);
    }
    said::reply(answer)
}

/// Before a call the client takes no context.
fn told(asked: &Inquiry, answers: &[Answer]) -> Map<String, Value> {
    said::telling(asked, answers, asked.moment != Moment::Gate)
}
