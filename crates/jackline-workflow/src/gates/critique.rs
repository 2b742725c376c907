//! Gate `critique`: the mean of the latest scores is high enough. Without any score there is nothing to judge.

use super::outcome::Payload;
use super::score::{reaches, score_of};
use super::{Gate, Outcome, Run};

pub(super) fn judge(run: &Run) -> Outcome {
    let critique = &run.critique;
    if !critique.enabled || critique.scores.is_empty() {
        return Outcome::not_applicable(Gate::Critique);
    }
    let scores: Option<Vec<f64>> = critique.scores.iter().map(score_of).collect();
    let Some(scores) = scores else {
        let findings = vec!["a critique's score is no number from 0 to 1".to_owned()];
        return Outcome::rejected(
            Gate::Critique,
            "the critique cannot be read",
            Payload { findings, ..Payload::default() },
        );
    };
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let payload = Payload { score: Some(mean), ..Payload::default() };
    let wanted = critique.min_score_to_complete;
    if reaches(mean, wanted) {
        return Outcome::passed(Gate::Critique, payload);
    }
    let finding = format!("the mean of {} critique scores is {mean:.2}, and {wanted} is needed", scores.len());
    let payload = Payload { findings: vec![finding], ..payload };
    Outcome::rejected(Gate::Critique, "critics find the work too weak", payload)
}
