//! Answers, in the forms that Claude Code obeys. Silence is "go on".

use jackline_core::decision::{EditTarget, Verdict};
use serde_json::{Map, Value, json};

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return at_fault(asked, fault);
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Settings => blocked(answers).unwrap_or_default(),
        Moment::Start => said::reply(said::telling(asked, answers, true)),
        Moment::Outcome | Moment::Prompt | Moment::Passing => outcome(asked, answers),
    }
}

fn at_fault(asked: &Inquiry, fault: &Answer) -> Reply {
    if !asked.moment.blocks_on_fault() {
        return Reply::default();
    }
    match asked.moment {
        // The wording of a JSON answer is cleaner, and a stop that is answered wrongly only goes on.
        Moment::Stop { .. } => block(&fault.shown()),
        _ => Reply::blocked(fault.shown()),
    }
}

fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = said::telling(asked, answers, true);
    let Some(strictest) = said::strictest(answers) else {
        // By itself it leaves the person's own prompts as they are: they judge the rewritten call.
        rewrite(&mut answer, asked, answers, (EditTarget::Args, "updatedInput"));
        return said::reply(answer);
    };
    let decision = if strictest.verdict == Verdict::Ask { "ask" } else { "deny" };
    said::put(&mut answer, asked, "permissionDecision", json!(decision));
    said::put(&mut answer, asked, "permissionDecisionReason", json!(strictest.shown()));
    halt(&mut answer, answers);
    said::reply(answer)
}

/// A halted run ends; a denial alone would only end the call, and ending alone would let the tool run.
fn halt(answer: &mut Map<String, Value>, answers: &[Answer]) {
    if let Some(halted) = said::halted(answers) {
        answer.insert("continue".to_owned(), json!(false));
        answer.insert("stopReason".to_owned(), json!(halted.shown()));
    }
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        let mut answer = blocking(&refused.shown());
        answer.extend(said::telling_person(said::notices(answers)));
        return said::reply(answer);
    }
    said::reply(said::telling_person(said::farewell(answers, asked.name == "Stop")))
}

fn blocked(answers: &[Answer]) -> Option<Reply> {
    said::refused(answers).map(|answer| block(&answer.shown()))
}

fn block(reason: &str) -> Reply {
    said::reply(blocking(reason))
}

fn blocking(reason: &str) -> Map<String, Value> {
    Map::from_iter([("decision".to_owned(), json!("block")), ("reason".to_owned(), json!(reason))])
}

/// What cannot be refused any more is told instead.
fn outcome(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = said::telling(asked, answers, true);
    // Only what a call that succeeded returned can be replaced, and only in its own full shape.
    if asked.name == "PostToolUse" {
        rewrite(&mut answer, asked, answers, (EditTarget::Output, "updatedToolOutput"));
    }
    halt(&mut answer, answers);
    said::reply(answer)
}

/// Puts the rewritten arguments or outcome of a call into the answer.
fn rewrite(answer: &mut Map<String, Value>, asked: &Inquiry, answers: &[Answer], (target, member): (EditTarget, &str)) {
    let Some(value) = said::edited(answers, target) else { return };
    said::put(answer, asked, member, value.clone());
}
