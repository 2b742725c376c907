//! Answers, in the forms of VS Code's documentation. Silence is "go on".

use jackline_core::decision::{EditTarget, Verdict};
use serde_json::json;

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(reply) = said::at_fault(asked, answers, refusal) {
        return reply;
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Outcome | Moment::Start => said::reply(said::telling(asked, answers, true)),
        // Of a prompt's answer nothing reaches the model.
        Moment::Prompt | Moment::Settings | Moment::Passing => said::reply(said::telling(asked, answers, false)),
    }
}

fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = said::telling(asked, answers, true);
    match said::strictest(answers) {
        Some(strictest) if strictest.verdict == Verdict::Ask => {
            said::reply(said::asking(answer, asked, &strictest.shown()))
        }
        Some(strictest) => refusal(asked, &said::reason(asked, strictest, answers)),
        None => {
            if let Some(args) = said::edited(answers, EditTarget::Args) {
                said::put(&mut answer, asked, "updatedInput", args.clone());
            }
            said::reply(answer)
        }
    }
}

/// The decision of a stop stands below `hookSpecificOutput` here, where only the exit code speaks for all versions.
fn refusal(asked: &Inquiry, reason: &str) -> Reply {
    if asked.moment == Moment::Gate {
        return said::refusal(asked, reason);
    }
    let answer = json!({ "decision": "block", "reason": reason, "hookSpecificOutput": {
        "hookEventName": asked.name, "decision": "block", "reason": reason,
    }});
    said::thrice(&answer, reason)
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    match said::refused(answers) {
        Some(refused) => refusal(asked, &said::held(refused)),
        None => said::reply(said::telling_person(said::farewell(answers, asked.name == "Stop"))),
    }
}
