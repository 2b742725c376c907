//! Answers, in the forms that Claude Code obeys. Silence is "go on".

use jackline_core::code;
use jackline_core::decision::{EditTarget, Verdict};
use serde_json::{Map, Value, json};

use crate::adapters::{Asked, Moment, Reply};
use crate::answer::Answer;

pub(super) fn render(asked: &Asked, answers: &[Answer]) -> Reply {
    // What is on record was decided, how often it blocks included; only what could not be kept is left to us here.
    let decided = |answer: &Answer| matches!(asked.moment, Moment::Stop { .. }) && answer.seq.is_some();
    if let Some(fault) = answers.iter().find(|answer| is_fault(answer) && !decided(answer)) {
        return at_fault(asked, fault);
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Settings => blocked(answers).unwrap_or_default(),
        Moment::Start => start(asked, answers),
        Moment::Outcome | Moment::Prompt | Moment::Passing => outcome(asked, answers),
    }
}

/// Whether we could not decide, as opposed to having decided against it.
fn is_fault(answer: &Answer) -> bool {
    let ours = |code: &code::Code| code.is_fault() || *code == code::EVENT_INVALID;
    answer.verdict.refuses() && answer.code.as_ref().is_some_and(ours)
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
    let strictest = answers.iter().max_by_key(|answer| answer.verdict);
    let Some(strictest) = strictest.filter(|answer| answer.verdict > Verdict::Allow) else {
        // By itself it leaves the person's own prompts as they are: they judge the rewritten call.
        rewrite(&mut answer, asked, answers, (EditTarget::Args, "updatedInput"));
        return said(answer);
    };
    let decision = if strictest.verdict == Verdict::Ask { "ask" } else { "deny" };
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert("permissionDecision".to_owned(), json!(decision));
        specific.insert("permissionDecisionReason".to_owned(), json!(strictest.shown()));
    }
    halt(&mut answer, answers);
    said(answer)
}

/// A halted run ends; a denial alone would only end the call, and ending alone would let the tool run.
fn halt(answer: &mut Map<String, Value>, answers: &[Answer]) {
    if let Some(halted) = answers.iter().find(|answer| answer.verdict == Verdict::Halt) {
        answer.insert("continue".to_owned(), json!(false));
        answer.insert("stopReason".to_owned(), json!(halted.shown()));
    }
}

fn stop(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(refused) = answers.iter().find(|answer| answer.verdict.refuses()) {
        let mut answer = blocking(&refused.shown());
        notify(&mut answer, answers);
        return said(answer);
    }
    let mut told: Vec<String> = answers.iter().flat_map(|answer| answer.notices.clone()).collect();
    let head = answers.iter().rev().find_map(|answer| Some((answer.seq?, answer.hash?)));
    // The head of the record, kept where the agent cannot change it: on the person's screen.
    let head = head.filter(|_| asked.name == "Stop");
    told.extend(head.map(|(seq, hash)| format!("record {seq}, head {}", hash.hex())));
    let mut answer = Map::new();
    if !told.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(format!("jackline: {}", told.join("\njackline: "))));
    }
    said(answer)
}

fn blocked(answers: &[Answer]) -> Option<Reply> {
    answers.iter().find(|answer| answer.verdict.refuses()).map(|answer| block(&answer.shown()))
}

fn block(reason: &str) -> Reply {
    said(blocking(reason))
}

fn blocking(reason: &str) -> Map<String, Value> {
    Map::from_iter([("decision".to_owned(), json!("block")), ("reason".to_owned(), json!(reason))])
}

fn start(asked: &Asked, answers: &[Answer]) -> Reply {
    said(specific(asked, answers))
}

/// What cannot be refused any more is told instead.
fn outcome(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    // Only what a call that succeeded returned can be replaced, and only in its own full shape.
    if asked.name == "PostToolUse" {
        rewrite(&mut answer, asked, answers, (EditTarget::Output, "updatedToolOutput"));
    }
    halt(&mut answer, answers);
    said(answer)
}

/// Puts the rewritten arguments or outcome of a call into the answer. The last edit is made of those before.
fn rewrite(answer: &mut Map<String, Value>, asked: &Asked, answers: &[Answer], (target, member): (EditTarget, &str)) {
    let mut edits = answers.iter().flat_map(|answer| &answer.edits);
    let Some(edit) = edits.rfind(|edit| edit.target == target) else { return };
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert(member.to_owned(), edit.value.clone());
    }
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut parts: Vec<String> = Vec::new();
    for answer in answers {
        parts.extend(answer.briefing.clone());
        parts.extend((asked.moment == Moment::Outcome && answer.verdict.refuses()).then(|| answer.shown()));
        parts.extend(answer.feedback.clone());
    }
    let mut answer = Map::new();
    if !parts.is_empty() {
        let specific = json!({ "hookEventName": asked.name, "additionalContext": parts.join("\n\n") });
        answer.insert("hookSpecificOutput".to_owned(), specific);
    }
    notify(&mut answer, answers);
    answer
}

/// What the person is told, whatever becomes of the event.
fn notify(answer: &mut Map<String, Value>, answers: &[Answer]) {
    let notices: Vec<&str> = answers.iter().flat_map(|answer| &answer.notices).map(String::as_str).collect();
    if !notices.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(format!("jackline: {}", notices.join("\njackline: "))));
    }
}

fn said(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
