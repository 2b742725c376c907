//! A person speaks: halts are lifted, repetitions are counted anew, and where file policies compare to the prompt, how everything is now is kept.

use serde_json::{Value, json};

use super::{Ground, lifted};
use crate::completion::Stopped;
use crate::decision::{Decision, Note, Step};
use crate::files::evaluator::faulty;
use crate::files::memory::Step as Remembering;
use crate::files::seen::{Ask, Baseline, PolicyFault, Seen};
use crate::files::settings::{Folder, in_trees};
use crate::probe::{Fact, Probe};
use crate::session::{Change, Session};

pub(super) fn decide(ground: &Ground<'_>) -> Step {
    let mut decision = lifted(ground.session, "prompt");
    anew(ground.session, &mut decision);
    decision.changes.insert(0, Change::Prompted);
    if !is_unjudged(ground.session) {
        let asked: Vec<Probe> = folders(ground).iter().map(|folder| asks(ground, folder)).collect();
        let wanted = ground.unanswered(asked.clone());
        if !wanted.is_empty() {
            return Step::Need(wanted);
        }
        let seen: Vec<&Fact> = asked.iter().filter_map(|probe| ground.facts.get(probe)).collect();
        decision.changes.extend(kept(ground));
        decision.notes.extend(faulty(&seen.into_iter().filter_map(lost).collect::<Vec<_>>()));
    }
    super::done(decision)
}

/// What agents repeated until now, a person has seen: their windows start empty, and what was forbidden them for it is not
/// any more. One that is halted starts anew by that alone.
fn anew(session: &Session, decision: &mut Decision) {
    let running = session.memory.agents.iter().filter(|(_, agent)| agent.halted.is_none());
    for (name, agent) in running.filter(|(_, agent)| !agent.window.is_empty() || !agent.constraints.is_empty()) {
        decision.changes.push(Change::Anew { agent: name.clone() });
        decision.notes.extend(agent.constraints.iter().map(|constraint| Note {
            kind: "constraint.lapsed",
            before: constraint.to_value(),
            after: Value::Null,
            data: json!({ "by": "prompt" }),
        }));
    }
}

/// Whether what changed since the last prompt has still to be held against it: a firing waits, or something was done and no
/// stop judged since, because the person spoke before it came or nothing could be told. A later prompt settles neither.
fn is_unjudged(session: &Session) -> bool {
    let idle = session.budget.prompt.steps == 0;
    let judged = session.stopped.map_or(idle, |stopped| stopped != Stopped::Fault);
    let waits = session.files.outstanding().any(|kept| kept.prompt);
    waits || (session.files.baseline.is_some() && !judged)
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

/// The folders where the session is, and where it began: both are looked at when it stops.
fn folders(ground: &Ground<'_>) -> Vec<Folder> {
    let all = in_trees(ground.stack, ground.session).into_iter();
    all.filter(|folder| folder.root.is_none() || folder.tree.is_none()).collect()
}

fn asks(ground: &Ground<'_>, folder: &Folder) -> Probe {
    let (dir, root, at) = (folder.dir.clone(), folder.root.clone(), ground.event.at);
    Probe::Files { ask: Ask::Baseline { dir, root, at }.into() }
}

/// The baselines that are kept, one of each work tree. Without one the baseline before stands, from which more has changed.
fn kept(ground: &Ground<'_>) -> Vec<Change> {
    let mut baselines: Vec<Baseline> = Vec::new();
    for folder in folders(ground) {
        let Some(Fact::Files(Seen::Baseline(seen))) = ground.facts.get(&asks(ground, &folder)) else { continue };
        if !baselines.iter().any(|known| known.tree == folder.tree) {
            baselines.push(Baseline { tree: folder.tree, ..seen.clone() });
        }
    }
    baselines.into_iter().map(|baseline| Change::Files { step: Remembering::Baseline { baseline } }).collect()
}
