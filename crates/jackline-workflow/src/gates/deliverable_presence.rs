//! Gate `deliverable_presence`: every file that the plan declares is there, inside the run's directories, and not empty.

use super::outcome::Payload;
use super::{Facts, Gate, Outcome, Run, State, required};

pub(super) fn judge(run: &Run, facts: &Facts) -> Outcome {
    let Some((source, _)) = required::of(run) else {
        return Outcome::not_applicable(Gate::DeliverablePresence);
    };
    let mut payload = Payload { source: Some(source), ..Payload::default() };
    for (path, state) in &facts.declared {
        let finding = match state {
            State::There => continue,
            State::Empty => "is empty".to_owned(),
            State::Absent => "is not there".to_owned(),
            State::Nameless => "names no file".to_owned(),
            State::Outside => "is outside of the run's directories".to_owned(),
            State::Unknown(why) => format!("cannot be looked at: {why}"),
        };
        let list = if *state == State::Empty { &mut payload.empty } else { &mut payload.missing };
        list.push(path.clone());
        if !matches!(state, State::Nameless | State::Outside) {
            payload.makeable.push(path.clone());
        }
        payload.findings.push(format!("`{path}` {finding}"));
    }
    if facts.declared.is_empty() {
        payload.findings.push("the declared deliverables were not looked at".to_owned());
    }
    Outcome::of(Gate::DeliverablePresence, "declared deliverables are missing or empty", payload)
}
