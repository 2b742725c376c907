//! Answers, in the forms that Qwen Code obeys. Silence is "go on".

use jackline_core::decision::Verdict;

use crate::adapters::{Inquiry, Moment, Reply, said};
use crate::answer::Answer;

pub(super) fn render(asked: &Inquiry, answers: &[Answer]) -> Reply {
    if let Some(reply) = said::at_fault(asked, answers, said::refusal) {
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
        Some(strictest) => said::refusal(asked, &said::reason(asked, strictest, answers)),
    }
}

fn stop(asked: &Inquiry, answers: &[Answer]) -> Reply {
    match said::refused(answers) {
        Some(refused) => said::refusal(asked, &refused.shown()),
        None => said::reply(said::telling_person(said::farewell(answers, asked.name == "Stop"))),
    }
}
