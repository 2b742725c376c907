//! A person speaks: halts are lifted, and where file policies compare to the prompt, how everything is now is kept.

use super::{Ground, lifted};
use crate::decision::Step;
use crate::files::evaluator::faulty;
use crate::files::memory::Step as Remembering;
use crate::files::seen::{Ask, Baseline, PolicyFault, Seen};
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
        let seen: Vec<&Fact> = asked.iter().filter_map(|probe| ground.facts.get(probe)).collect();
        let baseline = seen.iter().find_map(|fact| match fact {
            Fact::Files(Seen::Baseline(baseline)) => Some(baseline.clone()),
            // Without one the baseline before stands, from which more has changed.
            _ => None,
        });
        decision.changes.extend(baseline.map(|baseline| Change::Files { step: Remembering::Baseline { baseline } }));
        decision.notes.extend(faulty(&seen.into_iter().filter_map(lost).collect::<Vec<_>>()));
    }
    super::done(decision)
}

/// A baseline that is not, or not wholly, kept: whoever relies on it should know.
fn lost(fact: &Fact) -> Option<PolicyFault> {
    let message = match fact {
        Fact::Unknown(why) => format!("how everything was at this prompt could not be kept: {why}"),
        Fact::Files(Seen::Baseline(Baseline { unkept: Some(why), .. })) => {
            format!("how everything was at this prompt could not be kept, and all that is not committed counts: {why}")
        }
        _ => return None,
    };
    let (file, help) = ("compare_to: prompt".to_owned(), None);
    Some(PolicyFault { file, line: 1, message, help, warning: true })
}

fn asks(ground: &Ground<'_>) -> Vec<Probe> {
    let at = ground.event.at;
    folders(ground.stack)
        .into_iter()
        .map(|folder| Probe::Files { ask: Ask::Baseline { dir: folder.dir, at }.into() })
        .collect()
}
