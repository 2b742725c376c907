//! Answers, in the forms of Cursor's documentation.
//!
//! A gate that fails closed takes no answer for a failed one; so allowing is an empty object, which approves nothing.

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
        Moment::Outcome | Moment::Start => said::reply(told(asked, answers)),
        Moment::Prompt | Moment::Settings | Moment::Passing => Reply::default(),
    }
}

fn at_fault(asked: &Inquiry, fault: &Answer) -> Reply {
    match asked.moment {
        Moment::Stop { again: false } => followup(&fault.shown()),
        moment if moment.blocks_on_fault() => denial(&fault.shown()),
        _ => Reply::default(),
    }
}

/// Where a person would be asked it is refused: in one of its modes the client runs such a call unasked.
fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(strictest) = said::strictest(answers) {
        return denial(&said::reason(asked, strictest, answers));
    }
    let edited = said::edited(answers, EditTarget::Args);
    Reply::said(edited.map_or_else(|| json!({}), |args| json!({ "updated_input": args })).to_string())
}

fn denial(reason: &str) -> Reply {
    said::thrice(&json!({ "permission": "deny", "user_message": reason, "agent_message": reason }), reason)
}

/// A stop cannot be held: what is open is said as the next message, a few times at most.
fn stop(answers: &[Answer]) -> Reply {
    said::refused(answers).map_or_else(Reply::default, |refused| followup(&said::held(refused)))
}

fn followup(text: &str) -> Reply {
    Reply::said(json!({ "followup_message": text }).to_string())
}

fn told(asked: &Inquiry, answers: &[Answer]) -> Map<String, Value> {
    let context = said::context(asked, answers);
    Map::from_iter(context.map(|context| ("additional_context".to_owned(), json!(context))))
}
