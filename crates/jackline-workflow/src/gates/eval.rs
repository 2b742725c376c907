//! Gate `eval`: an evaluation that is enabled has a score, and it is high enough.

use super::outcome::{Action, Payload};
use super::score::{reaches, score_of};
use super::{Gate, Outcome, Run};

pub(super) fn judge(run: &Run) -> Outcome {
    let evaluation = &run.evaluation;
    if !evaluation.enabled {
        return Outcome::not_applicable(Gate::Eval);
    }
    let Some(score) = score_of(&evaluation.score) else {
        let findings = told("the evaluation is enabled and has no score from 0 to 1".to_owned(), run);
        let payload = Payload { findings, action: Some(Action::RetryWithRepair), ..Payload::default() };
        return Outcome::rejected(Gate::Eval, "the run was not evaluated", payload);
    };
    let (retry, fail) = (evaluation.thresholds.retry, evaluation.thresholds.fail);
    let payload = Payload { score: Some(score), ..Payload::default() };
    if reaches(score, retry) {
        return Outcome::passed(Gate::Eval, payload);
    }
    let (action, wanted) =
        if reaches(score, fail) { (Action::RetryWithRepair, retry) } else { (Action::FailWorkflow, fail) };
    let findings = told(format!("the evaluation score is {score:.2}, below {wanted}"), run);
    let payload = Payload { findings, action: Some(action), ..payload };
    Outcome::rejected(Gate::Eval, "the evaluation score is too low", payload)
}

/// What is wrong with the score, and what keeps it down.
fn told(score: String, run: &Run) -> Vec<String> {
    std::iter::once(score).chain(run.evaluation.findings.iter().cloned()).collect()
}
