//! File policies at a stop: what is outstanding holds it, unless a definition places them in a composition of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Failure, Ground, Holds, Open};
use crate::code;
use crate::decision::Finding;
use crate::definition::model::{BLOCKS_MAX_DEFAULT, Completion};
use crate::files::GUARD;
use crate::files::evaluator::{Evaluated, Evaluator, Outstanding};
use crate::files::settings::counting;
use crate::files::text::{self, Section};
use crate::hosts::stops_held_max;
use crate::probe::Probe;

/// What is outstanding at this stop; nothing where nobody judges it. `idle` says why no command is run.
pub(crate) fn evaluate(ground: &Ground<'_>, idle: Option<&'static str>) -> Result<Evaluated, Vec<Probe>> {
    if ground.event.agent.is_some() && !completions(ground).any(|completion| completion.subagents) {
        return Ok(Evaluated::default());
    }
    let Ground { stack, session, event, facts, ask, .. } = *ground;
    let message = ask.message.as_deref();
    let evaluated = Evaluator { stack, session, event, facts, message, base: None, idle }.evaluate()?;
    Ok(Evaluated { stops: Some(stops_held(ground)), ..evaluated })
}

/// How many stops are held from this one on, while something is outstanding.
fn stops_held(ground: &Ground<'_>) -> u32 {
    let Ground { session, event, .. } = *ground;
    let most = blocks_max(ground).min().unwrap_or(BLOCKS_MAX_DEFAULT);
    let blocked = session.agent(event.agent()).map_or(0, |agent| agent.blocks);
    stops_held_max(event.host.as_deref(), most).saturating_sub(blocked)
}

/// How many stops each definition has held in a row.
fn blocks_max<'a>(ground: &Ground<'a>) -> impl Iterator<Item = u32> + use<'a> {
    // A project's few blocks are not those of a folder that somebody else named.
    let unsaid = counting(ground.stack).iter().any(|layer| layer.model.completion.is_none());
    let said = completions(ground).map(|completion| completion.blocks_max);
    said.chain(unsaid.then_some(BLOCKS_MAX_DEFAULT))
}

/// What holds the stop.
pub(super) fn open(ground: &Ground<'_>) -> Vec<Open> {
    let Some(files) = ground.files else { return Vec::new() };
    let holds = Holds::Blocks(blocks_max(ground).max().unwrap_or(BLOCKS_MAX_DEFAULT));
    let outstanding = findings(files, |open| !open.placed).into_iter().map(|finding| Open { finding, holds });
    let unclear = files.unclear.as_ref().filter(|_| !files.placed);
    let told = |why: &String| Finding { enforced: !files.observed, ..fault(why) };
    let unclear = unclear.map(|why| Open { finding: told(why), holds: Holds::Once });
    outstanding.chain(unclear).collect()
}

/// Whether no policy is outstanding, as a check of a composition.
pub(super) fn check(ground: &Ground<'_>) -> Option<Failure> {
    let files = ground.files?;
    let told = |text: String| Some(Failure { text, next: Vec::new() });
    match &files.unclear {
        Some(why) => told(format!("File policies could not be judged: {why}.")),
        None => shown(files.outstanding.iter().filter(|open| !open.observed), files).and_then(told),
    }
}

/// A finding for each outstanding policy of these. Those that count are told together, by one text.
pub(crate) fn findings(files: &Evaluated, these: impl Fn(&Outstanding) -> bool) -> Vec<Finding> {
    let finding = |open: &Outstanding| {
        let finding = Finding::deny(GUARD, code::FILES_OUTSTANDING, open.section.text.clone());
        // Policies of two folders or work trees may be called alike: the file tells them apart.
        let path = Some(open.firing.place());
        Finding { policy: open.entry.policy_name.clone(), enforced: !open.observed, path, ..finding }
    };
    let mut all: Vec<Finding> = files.outstanding.iter().filter(|open| these(open)).map(finding).collect();
    tell(&mut all, files);
    all
}

/// Has the findings that still count be told together, as all that is outstanding; what was lifted says only its own.
pub(crate) fn tell(findings: &mut [Finding], files: &Evaluated) {
    let counts = |finding: &Finding| finding.enforced && finding.code == code::FILES_OUTSTANDING;
    let counting: BTreeSet<(&str, Option<&str>)> = findings
        .iter()
        .filter(|finding| counts(finding))
        .map(|finding| (finding.policy.as_str(), finding.path.as_deref()))
        .collect();
    let is_told =
        |open: &&Outstanding| counting.contains(&(open.entry.policy_name.as_str(), Some(open.firing.place().as_str())));
    let Some(whole) = shown(files.outstanding.iter().filter(is_told), files).map(Arc::<str>::from) else { return };
    for finding in findings.iter_mut().filter(|finding| finding.code == code::FILES_OUTSTANDING) {
        finding.together = finding.enforced.then(|| Arc::clone(&whole));
    }
}

/// The text for what is outstanding, if anything is.
pub(crate) fn shown<'a>(open: impl Iterator<Item = &'a Outstanding>, files: &Evaluated) -> Option<String> {
    let sections: Vec<Section> = open.map(|open| open.section.clone()).collect();
    (!sections.is_empty()).then(|| text::whole(&sections, files.individual, files.stops))
}

pub(crate) fn fault(why: &str) -> Finding {
    Finding::fault(GUARD, code::FAULT_PROBE, &format!("the file policies could not be judged: {why}"))
}

fn completions<'a>(ground: &Ground<'a>) -> impl Iterator<Item = &'a Completion> + use<'a> {
    ground.stack.layers.iter().filter_map(|layer| layer.model.completion.as_ref())
}
