//! Answers, in the forms that Qwen Code obeys. Silence is "go on".

use jackline_core::decision::Verdict;
use serde_json::json;

use crate::adapters::{Inquiry, Late, Moment, Reply, said};
use crate::answer::Answer;

/// What is said when a gate's deadline is over, such that no other hook's consent lifts it: as [`refusal`] says it.
pub(super) const LATE: Late = Late {
    stdout: "",
    stderr: concat!(
        r#"{"continue":false,"#,
        r#""stopReason":"Jackline could not decide: it took longer than its deadline. Run `jackline doctor`.","#,
        r#""decision":"deny","#,
        r#""reason":"Jackline could not decide: it took longer than its deadline. Run `jackline doctor`.","#,
        r#""hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"#,
        r#""Jackline could not decide: it took longer than its deadline. Run `jackline doctor`."}}"#,
    ),
};

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(reply) = said::at_fault(asked, answers, refusal) {
        return reply;
    }
    match asked.moment {
        Moment::Gate => gate(asked, answers),
        Moment::Stop { .. } => stop(asked, answers),
        Moment::Outcome | Moment::Start | Moment::Prompt | Moment::Settings | Moment::Passing => {
            said::reply(said::telling(asked, answers, true))
        }
    }
}

fn gate(asked: &Inquiry, answers: &[Answer]) -> Reply {
    let told = said::telling(asked, answers, true);
    match said::strictest(answers) {
        None => said::reply(told),
        Some(strictest) if strictest.verdict == Verdict::Ask => {
            said::reply(said::asking(told, asked, &strictest.shown()))
        }
        Some(strictest) => refusal(asked, &said::reason(asked, strictest, answers)),
    }
}

/// A refusal. Of several hooks' answers about a call the client takes the last `permissionDecision`, so another one's `allow`
/// would stand in the place of ours; `continue: false` it takes from any, and ends nothing but the call by it. What is
/// refused by the exit code it reads from standard error alone.
fn refusal(asked: &Inquiry, reason: &str) -> Reply {
    if asked.moment != Moment::Gate {
        return said::refusal(asked, reason);
    }
    let answer = json!({
        "continue": false,
        "stopReason": reason,
        "decision": "deny",
        "reason": reason,
        "hookSpecificOutput": {
            "hookEventName": asked.name, "permissionDecision": "deny", "permissionDecisionReason": reason,
        },
    });
    said::thrice(&answer, &answer.to_string())
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    match said::refused(answers) {
        Some(refused) => refusal(asked, &refused.shown()),
        None => said::reply(said::telling_person(said::farewell(answers, asked.name == "Stop"))),
    }
}
