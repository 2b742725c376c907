//! A person speaks: halts are lifted, and where file policies compare to the prompt, how everything is now is kept.

use super::{Ground, lifted};
use crate::decision::Step;
use crate::files::memory::Step as Remembering;
use crate::files::seen::{Ask, Seen};
use crate::files::settings::folders;
use crate::probe::{Fact, Probe};
use crate::session::Change;

pub(super) fn decide(ground: &Ground<'_>) -> Step {
    let mut decision = lifted(ground.session, "prompt");
    decision.changes.insert(0, Change::Prompted);
    // A firing that waits is still held against the prompt it came from: a later one does not settle it.
    if !ground.session.files.outstanding().any(|kept| kept.prompt) {
        let asked = asks(ground);
        let wanted = ground.unanswered(asked.clone());
        if !wanted.is_empty() {
            return Step::Need(wanted);
        }
        let baseline = asked.iter().find_map(|probe| match ground.facts.get(probe) {
            Some(Fact::Files(Seen::Baseline(baseline))) => Some(baseline.clone()),
            // Without one the baseline before stands, from which more has changed.
            _ => None,
        });
        decision.changes.extend(baseline.map(|baseline| Change::Files { step: Remembering::Baseline { baseline } }));
    }
    super::done(decision)
}

fn asks(ground: &Ground<'_>) -> Vec<Probe> {
    let at = ground.event.at;
    folders(ground.stack)
        .into_iter()
        .map(|folder| Probe::Files { ask: Ask::Baseline { dir: folder.dir, at }.into() })
        .collect()
}
