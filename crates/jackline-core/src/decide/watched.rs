//! An agent begins: which file policies will look at what it changed.

use super::Ground;
use crate::briefing::Watching;
use crate::files::memory::Step;
use crate::files::seen::{Ask, NAMES_TOLD_MAX, NOTED_MAX, Noted, Seen};
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
        if let Some(Fact::Files(Seen::Names { names, total, noted })) = ground.facts.get(probe) {
            watching.names.extend(names.iter().cloned());
            watching.total += total;
            watching.noted.extend(noted.iter().cloned());
        }
    }
    watching.names.truncate(NAMES_TOLD_MAX);
    if watching.noted.len() != watching.total || watching.total > NOTED_MAX {
        watching.noted.clear();
    }
    Ok(watching)
}

/// How many there are, where that is more than was known: that some are gone is told at a stop.
pub(super) fn counted(session: &Session, watching: &Watching) -> Option<Change> {
    let policies = watching.total;
    // What was known is held against what is there at a stop, however often an agent begins.
    let known = &session.files.noted;
    let is_new = |noted: &&Noted| known.iter().all(|known| known.file != noted.file);
    let mut noted: Vec<Noted> = known.iter().chain(watching.noted.iter().filter(is_new)).cloned().collect();
    noted.truncate(NOTED_MAX);
    (policies > session.files.policies).then_some(Change::Files { step: Step::Counted { policies, noted } })
}
