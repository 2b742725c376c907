//! An agent begins: which file policies will look at what it changed.

use super::Ground;
use crate::briefing::Watching;
use crate::files::memory::Step;
use crate::files::seen::{Ask, NAMES_TOLD_MAX, Seen};
use crate::files::settings::folders;
use crate::probe::{Fact, Probe};
use crate::session::{Change, Session};

/// The policies of every folder that counts and holds a stop.
///
/// # Errors
/// The questions that must be answered first.
pub(super) fn by_policies(ground: &Ground<'_>) -> Result<Watching, Vec<Probe>> {
    let counting = folders(ground.stack).into_iter().filter(|folder| !folder.observed);
    let asked: Vec<Probe> =
        counting.map(|folder| Probe::Files { ask: Ask::Names { dir: folder.dir }.into() }).collect();
    let wanted = ground.unanswered(asked.clone());
    if !wanted.is_empty() {
        return Err(wanted);
    }
    let mut watching = Watching::default();
    for probe in &asked {
        // What cannot be told now is told at the stop.
        if let Some(Fact::Files(Seen::Names { names, total })) = ground.facts.get(probe) {
            watching.names.extend(names.iter().cloned());
            watching.total += total;
        }
    }
    watching.names.truncate(NAMES_TOLD_MAX);
    Ok(watching)
}

/// How many there are, where that is more than was known: that some are gone is told at a stop.
pub(super) fn counted(session: &Session, watching: &Watching) -> Option<Change> {
    let policies = watching.total;
    (policies > session.files.policies).then_some(Change::Files { step: Step::Counted { policies } })
}
