//! Which call may follow which: a call is denied until its prerequisites have succeeded in this session.

use crate::call::Touch;
use crate::code;
use crate::decision::Finding;
use crate::definition::model::Sequence;
use crate::done;
use crate::matcher::{Purpose, Subject};
use crate::probe::{Fact, Probe};
use crate::shell::ShellText;

/// What to do where a text changes files and goes on to what is gated.
const CHANGE_APART: &str = "it changes files itself: do that in a call before, and run it again after that";

pub(crate) fn needs(settings: &Sequence, subject: &Subject<'_>) -> Vec<Probe> {
    let waits = |name: &String| {
        done::find(subject.session, subject.layer, name)
            .is_some_and(|done| done::wants_tree(done, subject.session, subject.facts))
    };
    let waiting = settings.fresh && gated(settings, subject).any(|(_, needs)| needs.iter().any(waits));
    waiting.then_some(Probe::WorkTree).into_iter().collect()
}

pub(crate) fn judge(settings: &Sequence, subject: &Subject<'_>) -> Vec<Finding> {
    gated(settings, subject).filter_map(|(name, needs)| judge_one(settings, subject, name, needs)).collect()
}

/// The entries whose key this call is.
fn gated<'a>(settings: &'a Sequence, subject: &'a Subject<'_>) -> impl Iterator<Item = (&'a str, &'a [String])> {
    let entries = settings.requires.iter().map(|(name, needs)| (name.as_str(), needs.as_slice()));
    entries.filter(|(name, _)| subject.is_named(name, Purpose::Restrict))
}

fn judge_one(settings: &Sequence, subject: &Subject<'_>, name: &str, needs: &[String]) -> Option<Finding> {
    let mut missing: Vec<&str> = Vec::new();
    let mut outdated = None;
    for need in needs {
        match done::find(subject.session, subject.layer, need) {
            None => missing.push(need),
            Some(_) if settings.fresh && changes_besides(subject) => {
                missing.push(need);
                outdated = Some(CHANGE_APART);
            }
            Some(done) if settings.fresh && !done::is_fresh(done, subject.session, subject.facts) => {
                missing.push(need);
                outdated = Some(done::RUN_AGAIN);
            }
            Some(_) => {}
        }
    }
    missing.sort_unstable();
    missing.dedup();
    if missing.is_empty() {
        return None;
    }
    let named = if subject.layer.step(name).is_some() { name } else { &subject.view.call.tool };
    let reason = format!("Tool '{named}' requires: {}", missing.join(", "));
    let finding = Finding::deny("sequence", code::SEQUENCE_MISSING, reason);
    let finding = outdated.into_iter().fold(finding, Finding::suggest);
    Some(missing.iter().filter_map(|need| done::how_to(subject.layer, need)).fold(finding, Finding::suggest))
}

/// Whether the text changes files of the workspace besides what is gated in it: those were others when the prerequisite ran.
fn changes_besides(subject: &Subject<'_>) -> bool {
    let Some(ShellText::Reading(reading)) = &subject.view.shell else { return false };
    let is_inside = |touch: &Touch| match subject.facts.get(&touch.probe()) {
        Some(Fact::Identity(identity)) => identity.place().is_some(),
        _ => true,
    };
    let mut changed = subject.view.touches.iter().filter(|touch| touch.role.changes() && touch.is_plain());
    reading.commands.len() > 1 && changed.any(is_inside)
}
