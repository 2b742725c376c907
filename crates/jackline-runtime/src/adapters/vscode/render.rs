//! Answers, in the forms of VS Code's documentation. Silence is "go on".

use jackline_core::decision::{EditTarget, Verdict};
use serde_json::{Map, Value, json};

use crate::adapters::{Asked, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(fault) = said::fault(asked, answers) {
        return if asked.moment.blocks_on_fault() { refusal(asked, &fault.shown()) } else { Reply::default() };
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Outcome | Moment::Start => say(specific(asked, answers)),
        // Of a prompt's answer nothing reaches the model.
        Moment::Prompt | Moment::Settings | Moment::Passing => notified(answers),
    }
}

fn gate(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    match said::strictest(answers) {
        Some(strictest) if strictest.verdict == Verdict::Ask => {
            put(&mut answer, asked, "permissionDecision", json!("ask"));
            put(&mut answer, asked, "permissionDecisionReason", json!(strictest.shown()));
        }
        Some(strictest) => {
            let context = said::context(asked, answers).map(|context| format!("\n\n{context}"));
            return refusal(asked, &format!("{}{}", strictest.shown(), context.unwrap_or_default()));
        }
        None => {
            if let Some(args) = said::edited(answers, EditTarget::Args) {
                put(&mut answer, asked, "updatedInput", args.clone());
            }
        }
    }
    say(answer)
}

/// Said three times: the decision of a stop stands below `hookSpecificOutput` here, and the exit code speaks for all.
fn refusal(asked: &Asked, reason: &str) -> Reply {
    let stdout = match asked.moment {
        Moment::Gate => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }}),
        _ => json!({ "decision": "block", "reason": reason, "hookSpecificOutput": {
            "hookEventName": asked.name, "decision": "block", "reason": reason,
        }}),
    };
    Reply { stdout: stdout.to_string(), stderr: reason.to_owned(), exit: 2 }
}

fn stop(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        return refusal(asked, &said::held(refused));
    }
    let told = said::farewell(answers, asked.name == "Stop");
    say(Map::from_iter(told.map(|told| ("systemMessage".to_owned(), json!(told)))))
}

fn put(answer: &mut Map<String, Value>, asked: &Asked, member: &str, value: Value) {
    let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
    if let Value::Object(specific) = specific {
        specific.insert(member.to_owned(), value);
    }
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(context) = said::context(asked, answers) {
        put(&mut answer, asked, "additionalContext", json!(context));
    }
    if let Some(told) = said::notices(answers) {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    answer
}

fn notified(answers: &[Answer]) -> Reply {
    say(Map::from_iter(said::notices(answers).map(|told| ("systemMessage".to_owned(), json!(told)))))
}

fn say(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
