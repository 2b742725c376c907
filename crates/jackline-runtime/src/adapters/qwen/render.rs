//! Answers, in the forms that Qwen Code obeys. Silence is "go on".

use jackline_core::decision::Verdict;
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
        Moment::Outcome | Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => {
            say(specific(asked, answers))
        }
    }
}

fn gate(asked: &Asked, answers: &[Answer]) -> Reply {
    let Some(strictest) = said::strictest(answers) else { return say(specific(asked, answers)) };
    if strictest.verdict == Verdict::Ask {
        let mut answer = specific(asked, answers);
        said::put(&mut answer, asked, "permissionDecision", json!("ask"));
        said::put(&mut answer, asked, "permissionDecisionReason", json!(strictest.shown()));
        return say(answer);
    }
    let told = said::context(asked, answers).map(|context| format!("\n\n{context}"));
    refusal(asked, &format!("{}{}", strictest.shown(), told.unwrap_or_default()))
}

/// A refusal that holds even where its JSON is not taken. A run cannot be ended: what follows is refused in turn.
fn refusal(asked: &Asked, reason: &str) -> Reply {
    let stdout = match asked.moment {
        Moment::Gate => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }}),
        _ => json!({ "decision": "block", "reason": reason }),
    };
    Reply { stdout: stdout.to_string(), stderr: reason.to_owned(), exit: 2 }
}

fn stop(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        return refusal(asked, &refused.shown());
    }
    let told = said::farewell(answers, asked.name == "Stop");
    say(told.map(|told| ("systemMessage".to_owned(), json!(told))).into_iter().collect())
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(context) = said::context(asked, answers) {
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
