//! What adapters share in answering: what is said to the model and to the person, in no host's form yet.

use jackline_core::code;
use jackline_core::completion::park;
use jackline_core::decision::{EditTarget, Verdict};
use jackline_core::files::text;
use serde_json::{Map, Value, json};

use super::{Inquiry, Moment, Reply};
use crate::answer::Answer;

/// A fault of ours that is left to the adapter. What is on record was decided, how often it blocks a stop included.
pub(super) fn fault<'a>(asked: &Inquiry, answers: &'a [Answer]) -> Option<&'a Answer> {
    let decided = |answer: &Answer| matches!(asked.moment, Moment::Stop { .. }) && answer.seq.is_some();
    answers.iter().find(|answer| is_fault(answer) && !decided(answer))
}

/// Whether we could not decide, as opposed to having decided against it.
fn is_fault(answer: &Answer) -> bool {
    let ours = |code: &code::Code| code.is_fault() || *code == code::EVENT_INVALID;
    answer.verdict.refuses() && answer.code.as_ref().is_some_and(ours)
}

/// The reply to a fault of ours, where there is one: it refuses what must not pass by it, and says nothing of the rest.
pub(super) fn at_fault(asked: &Inquiry, answers: &[Answer], refusal: fn(&Inquiry, &str) -> Reply) -> Option<Reply> {
    let fault = fault(asked, answers)?;
    Some(if asked.moment.blocks_on_fault() { refusal(asked, &fault.shown()) } else { Reply::default() })
}

/// The strictest answer, where one does not simply allow.
pub(super) fn strictest(answers: &[Answer]) -> Option<&Answer> {
    answers.iter().max_by_key(|answer| answer.verdict).filter(|answer| answer.verdict > Verdict::Allow)
}

/// Why a stop is held, for hosts that do not tell an agent's last words: the exits are those that work there.
pub(super) fn held(answer: &Answer) -> String {
    text::unspoken(&answer.shown().replace(park::EXIT, park::EXIT_BY_TOOL))
}

/// Why a call is refused, for hosts that show the model nothing else of such an answer: what is told beside it follows.
pub(super) fn reason(asked: &Inquiry, strictest: &Answer, answers: &[Answer]) -> String {
    let told = context(asked, answers).map(|context| format!("\n\n{context}"));
    format!("{}{}", strictest.shown(), told.unwrap_or_default())
}

/// The first answer that refuses.
pub(super) fn refused(answers: &[Answer]) -> Option<&Answer> {
    answers.iter().find(|answer| answer.verdict.refuses())
}

/// The answer that ends the run, if one does.
pub(super) fn halted(answers: &[Answer]) -> Option<&Answer> {
    answers.iter().find(|answer| answer.verdict == Verdict::Halt)
}

/// The rewritten arguments or outcome of a call. The last edit is made of those before.
pub(super) fn edited(answers: &[Answer], target: EditTarget) -> Option<&Value> {
    let mut edits = answers.iter().flat_map(|answer| &answer.edits);
    edits.rfind(|edit| edit.target == target).map(|edit| &edit.value)
}

/// A rewritten outcome as text, for hosts that take nothing else: a text, or the texts of an MCP server's result.
pub(super) fn plain(outcome: &Value) -> Option<String> {
    if let Some(text) = outcome.as_str() {
        return Some(text.to_owned());
    }
    let parts = outcome.get("content")?.as_array()?;
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text")?.as_str()).collect();
    texts.map(|texts| texts.join("\n"))
}

/// What the model is told beside the verdict. What cannot be refused any more is told here.
pub(super) fn context(asked: &Inquiry, answers: &[Answer]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for answer in answers {
        parts.extend(answer.briefing.clone());
        parts.extend((asked.moment == Moment::Outcome && answer.verdict.refuses()).then(|| answer.shown()));
        parts.extend(answer.feedback.clone());
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// What the person is told, whatever becomes of the event.
pub(super) fn notices(answers: &[Answer]) -> Option<String> {
    for_person(answers.iter().flat_map(|answer| answer.notices.clone()).collect())
}

/// What the person is told at an allowed stop: also the head of the record, kept where the agent cannot change it, on
/// the person's screen.
pub(super) fn farewell(answers: &[Answer], with_head: bool) -> Option<String> {
    let mut told: Vec<String> = answers.iter().flat_map(|answer| answer.notices.clone()).collect();
    let head = answers.iter().rev().find_map(|answer| Some((answer.seq?, answer.hash?)));
    told.extend(head.filter(|_| with_head).map(|(seq, hash)| format!("record {seq}, head {}", hash.hex())));
    for_person(told)
}

fn for_person(lines: Vec<String>) -> Option<String> {
    (!lines.is_empty()).then(|| format!("jackline: {}", lines.join("\njackline: ")))
}

/// Puts a member into the part of an answer that several hosts name alike.
pub(super) fn put(answer: &mut Map<String, Value>, asked: &Inquiry, member: &str, value: Value) {
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert(member.to_owned(), value);
    }
}

/// The same for what the model and the person are told, where this event's answer may tell the model something.
pub(super) fn telling(asked: &Inquiry, answers: &[Answer], takes_context: bool) -> Map<String, Value> {
    let mut answer = telling_person(notices(answers));
    if let Some(context) = context(asked, answers).filter(|_| takes_context) {
        put(&mut answer, asked, "additionalContext", json!(context));
    }
    answer
}

/// An answer that only tells the person something, if anything.
pub(super) fn telling_person(told: Option<String>) -> Map<String, Value> {
    told.map(|told| ("systemMessage".to_owned(), json!(told))).into_iter().collect()
}

/// What a person is asked about a call.
pub(super) fn asking(mut answer: Map<String, Value>, asked: &Inquiry, reason: &str) -> Map<String, Value> {
    put(&mut answer, asked, "permissionDecision", json!("ask"));
    put(&mut answer, asked, "permissionDecisionReason", json!(reason));
    answer
}

/// A refusal in the members that several hosts name alike. A run cannot be ended by it: what follows is refused in turn.
pub(super) fn refusal(asked: &Inquiry, reason: &str) -> Reply {
    let answer = match asked.moment {
        Moment::Gate => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }}),
        _ => json!({ "decision": "block", "reason": reason }),
    };
    thrice(&answer, reason)
}

/// A refusal that holds even where its JSON is not taken: said there, on standard error, and by the exit code.
pub(super) fn thrice(answer: &Value, reason: &str) -> Reply {
    Reply { stdout: answer.to_string(), stderr: reason.to_owned(), exit: 2 }
}

/// An answer, or silence where there is nothing to say.
pub(super) fn reply(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
