//! Answers, in the forms that Copilot CLI obeys. Silence is "go on".

use jackline_core::decision::{EditTarget, Verdict};
use serde_json::{Map, Value, json};

use crate::adapters::{Inquiry, Late, Moment, Reply, said};
use crate::answer::Answer;

/// What is printed when a gate's deadline is over: of a refusal by the exit code alone the model is not told why.
pub(super) const LATE: Late = Late {
    stdout: concat!(
        r#"{"permissionDecision":"deny","permissionDecisionReason":"#,
        r#""Jackline could not decide: it took longer than its deadline. Run `jackline doctor`."}"#
    ),
    ..Late::PLAIN
};

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(reply) = said::at_fault(asked, answers, refusal) {
        return reply;
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Outcome => outcome(asked, answers),
        Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => said::reply(specific(asked, answers)),
    }
}

fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    match said::strictest(answers) {
        None => {
            let edited = said::edited(answers, EditTarget::Args);
            answer.extend(edited.map(|value| ("modifiedArgs".to_owned(), value.clone())));
            said::reply(answer)
        }
        Some(strictest) if strictest.verdict == Verdict::Ask => {
            answer.extend(permission("ask", &strictest.shown()));
            said::reply(answer)
        }
        Some(strictest) => refusal(asked, &said::reason(asked, strictest, answers)),
    }
}

/// A refusal that holds even where its JSON is not taken. A run cannot be ended: what follows is refused in turn.
fn refusal(asked: &Inquiry, reason: &str) -> Reply {
    if asked.moment != Moment::Gate {
        return Reply::said(json!({ "decision": "block", "reason": reason }).to_string());
    }
    said::thrice(&Value::Object(permission("deny", reason)), reason)
}

fn permission(decision: &str, reason: &str) -> Map<String, Value> {
    let members = [("permissionDecision", decision), ("permissionDecisionReason", reason)];
    members.map(|(name, text)| (name.to_owned(), json!(text))).into_iter().collect()
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(refused) = said::refused(answers) {
        return refusal(asked, &said::held(refused));
    }
    Reply::default()
}

/// What cannot be refused any more is told instead; a cut outcome takes the place of the whole.
fn outcome(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let mut answer = specific(asked, answers);
    if let Some(shown) = said::edited(answers, EditTarget::Output).and_then(Value::as_str) {
        let whole = json!({ "resultType": "success", "textResultForLlm": shown });
        answer.insert("modifiedResult".to_owned(), whole);
    }
    said::reply(answer)
}

/// The context that the model is given. Its answers have all their members at the top.
fn specific(asked: &Inquiry, answers: &[Answer]) -> Map<String, Value> {
    let context = said::context(asked, answers);
    context.map(|context| ("additionalContext".to_owned(), json!(context))).into_iter().collect()
}
