//! Which call may follow which: a call is denied until its prerequisites have succeeded in this session.

use crate::code;
use crate::decision::Finding;
use crate::definition::model::{CommandMatcher, Sequence};
use crate::done;
use crate::matcher::{Purpose, Subject};
use crate::probe::{Fact, Probe};
use crate::session::Done;

/// What to do when files changed after a prerequisite ran.
const RUN_AGAIN: &str = "run it again: files changed since";

pub(crate) fn needs(settings: &Sequence, subject: &Subject<'_>) -> Vec<Probe> {
    let waiting = settings.fresh
        && subject.facts.get(&Probe::WorkTree).is_none()
        && gated(settings, subject).any(|(_, needs)| {
            needs.iter().any(|name| {
                done::find(subject.session, subject.layer, name)
                    .is_some_and(|done| done.tree.is_some() && done.writes == subject.session.writes)
            })
        });
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
    let mut outdated = false;
    for need in needs {
        match done::find(subject.session, subject.layer, need) {
            None => missing.push(need),
            Some(done) if settings.fresh && !is_fresh(done, subject) => {
                missing.push(need);
                outdated = true;
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
    let finding = if outdated { finding.suggest(RUN_AGAIN) } else { finding };
    Some(missing.iter().filter_map(|need| how_to(subject, need)).fold(finding, Finding::suggest))
}

/// How a step is done, where its matcher says it in plain words. The owner's pattern is shown as it stands.
fn how_to(subject: &Subject<'_>, need: &str) -> Option<String> {
    let step = subject.layer.step(need)?;
    let commands = match step.matcher.command.as_ref()? {
        CommandMatcher::Glob(globs) => globs.join("` or `"),
        CommandMatcher::Parts(parts) => {
            parts.program.iter().chain(&parts.args).map(String::as_str).collect::<Vec<_>>().join(" ")
        }
    };
    (!commands.is_empty()).then(|| format!("{need}: run `{commands}`, as a command of its own"))
}

/// Whether nothing was written since: no recorded write, and the work tree as it was where it is known.
fn is_fresh(done: &Done, subject: &Subject<'_>) -> bool {
    if done.writes != subject.session.writes {
        return false;
    }
    let Some(then) = done.tree else { return true };
    match subject.facts.get(&Probe::WorkTree) {
        Some(Fact::Content(Some(now))) => *now == then,
        // The repository is gone: the tree cannot be what it was.
        Some(
            Fact::Content(None)
            | Fact::Absent
            | Fact::Identity(_)
            | Fact::Schema(_)
            | Fact::Usage(_)
            | Fact::Told(_)
            | Fact::Ran(_)
            | Fact::Excepted(_)
            | Fact::Rego(_)
            | Fact::Unknown(_),
        )
        | None => false,
    }
}
