//! Answers, in the forms that Codex obeys. Silence is "go on".

use jackline_core::decision::EditTarget;
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
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => say(specific(asked, answers)),
    }
}

/// What is asked of a person elsewhere is refused: the client knows no asking, and runs the call instead.
fn gate(asked: &Asked, answers: &[Answer]) -> Reply {
    if let Some(strictest) = said::strictest(answers) {
        // Of an answer that refuses, the model is shown the reason alone.
        let told = said::context(asked, answers).map(|context| format!("\n\n{context}"));
        return refusal(asked, &format!("{}{}", strictest.shown(), told.unwrap_or_default()));
    }
    let mut answer = specific(asked, answers);
    // A rewritten call is an approved one here; so only where nobody would be asked about it.
    if let Some(value) = said::edited(answers, EditTarget::Args).filter(|_| asked.unasked) {
        let specific = answer.entry("hookSpecificOutput").or_insert_with(|| json!({ "hookEventName": asked.name }));
        if let Value::Object(specific) = specific {
            specific.insert("permissionDecision".to_owned(), json!("allow"));
            specific.insert("updatedInput".to_owned(), value.clone());
        }
    }
    say(answer)
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
    let mut answer = Map::new();
    if let Some(told) = said::farewell(answers, asked.name == "Stop") {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    say(answer)
}

/// What cannot be refused any more is told instead; a cut outcome takes the place of the whole.
fn outcome(asked: &Asked, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(said::plain) {
        answer.insert("decision".to_owned(), json!("block"));
        answer.insert("reason".to_owned(), json!(shown));
    }
    say(answer)
}

/// The context that the model is given, and what the person is told.
fn specific(asked: &Asked, answers: &[Answer]) -> Map<String, Value> {
    let mut answer = Map::new();
    if let Some(context) = said::context(asked, answers).filter(|_| takes_context(&asked.name)) {
        let specific = json!({ "hookEventName": asked.name, "additionalContext": context });
        answer.insert("hookSpecificOutput".to_owned(), specific);
    }
    if let Some(told) = said::notices(answers) {
        answer.insert("systemMessage".to_owned(), json!(told));
    }
    answer
}

/// Events whose answers may hold context; another's is dropped as a whole.
fn takes_context(name: &str) -> bool {
    matches!(name, "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "SessionStart" | "SubagentStart")
}

fn say(answer: Map<String, Value>) -> Reply {
    if answer.is_empty() { Reply::default() } else { Reply::said(Value::Object(answer).to_string()) }
}
