//! Answers, in the forms that Claude Code obeys. Silence is "go on".

use jackline_core::decision::{EditTarget, Verdict};
use serde_json::{Map, Value, json};

use crate::adapters::{Asked, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return at_fault(asked, fault);
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Settings => blocked(answers).unwrap_or_default(),
        Moment::Start => say(specific(asked, answers)),
        Moment::Outcome | Moment::Prompt | Moment::Passing => outcome(asked, answers),
    }
}

fn at_fault(asked: &Asked, fault: &Answer) -> Reply {
    if !asked.moment.blocks_on_fault() {
        return Reply::default();
    }
    match asked.moment {
        // The wording of a JSON answer is cleaner, and a stop that is answered wrongly only goes on.
        Moment::Stop { .. } => block(&fault.shown()),
        _ => Reply::blocked(fault.shown()),
    }
}

fn gate(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    let Some(strictest) = said::strictest(answers) else {
        // By itself it leaves the person's own prompts as they are: they judge the rewritten call.
        rewrite(&mut answer, asked, answers, (EditTarget::Args, "updatedInput"));
        return say(answer);
    };
    let decision = if strictest.verdict == Verdict::Ask { "ask" } else { "deny" };
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert("permissionDecision".to_owned(), json!(decision));
        specific.insert("permissionDecisionReason".to_owned(), json!(strictest.shown()));
    }
    halt(&mut answer, answers);
    say(answer)
}

/// A halted run ends; a denial alone would only end the call, and ending alone would let the tool run.
fn halt(answer: &mut Map<String, Value>, answers: &[Answer]) {
    if let Some(halted) = said::halted(answers) {
        answer.insert("continue".to_owned(), json!(false));
        answer.insert("stopReason".to_owned(), json!(halted.shown()));
    }
}

fn stop(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(refused) = answers.iter().find(|answer| answer.verdict.refuses()) {
        let mut answer = blocking(&refused.shown());
        if let Some(told) = said::notices(answers) {
            answer.insert("systemMessage".to_owned(), json!(told));
        }
        return say(answer);
    }
    let mut answer = Map::new();
    if let Some(told) = said::farewell(answers, asked.name == "Stop") {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    say(answer)
}

fn blocked(answers: &[Answer]) -> Option<Reply> {
    said::refused(answers).map(|answer| block(&answer.shown()))
}

fn block(reason: &str) -> Reply {
    say(blocking(reason))
}

fn blocking(reason: &str) -> Map<String, Value> {
    Map::from_iter([("decision".to_owned(), json!("block")), ("reason".to_owned(), json!(reason))])
}

/// What cannot be refused any more is told instead.
fn outcome(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    // Only what a call that succeeded returned can be replaced, and only in its own full shape.
    if asked.name == "PostToolUse" {
        rewrite(&mut answer, asked, answers, (EditTarget::Output, "updatedToolOutput"));
    }
    halt(&mut answer, answers);
    say(answer)
}

/// Puts the rewritten arguments or outcome of a call into the answer.
fn rewrite(answer: &mut Map<String, Value>, asked: &Asked, answers: &[Answer], (target, member): (EditTarget, &str)) {
    let Some(value) = said::edited(answers, target) else { return };
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert(member.to_owned(), value.clone());
    }
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(context) = said::context(asked, answers) {
        let specific = json!({ "hookEventName": asked.name, "additionalContext": context });
        answer.insert("hookSpecificOutput".to_owned(), specific);
    }
    if let Some(told) = said::notices(answers) {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    answer
}

fn say(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
