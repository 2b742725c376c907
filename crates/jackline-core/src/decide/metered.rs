//! What a host's transcript says was used, learned before anything is judged, so that a budget counts all of it.
//!
//! Only where a limit on tokens or cost is declared: elsewhere the transcript is not touched.

use crate::code;
use crate::decision::{Finding, Verdict};
use crate::event::{Body, Event};
use crate::guards::budget;
use crate::probe::{Fact, Facts, Probe};
use crate::session::{Change, Session};
use crate::stack::Stack;

/// What is known of the usage before an event is judged.
pub(super) enum Metered {
    /// There is nothing to learn.
    Off,
    Need(Probe),
    Read(Vec<Change>, Option<Finding>),
}

pub(super) fn meter(stack: &Stack, session: &Session, event: &Event, facts: &Facts) -> Metered {
    let limits = |limits: &crate::definition::model::Limits| limits.tokens.is_some() || limits.cost_usd.is_some();
    let Some(file) = &event.transcript else { return Metered::Off };
    if !stack.layers.iter().any(|layer| limits(&layer.model.limits)) {
        return Metered::Off;
    }
    let mark = session.transcript(file).cloned();
    // What stood in it before the session began was used by another one.
    let from_end = session.pin.is_none();
    let probe = Probe::Usage { file: file.clone(), mark, from_end };
    match facts.get(&probe) {
        None => Metered::Need(probe),
        Some(Fact::Usage(seen)) => {
            let known = session.transcript(file) == Some(&seen.mark) && !session.budget.unmetered;
            let change = Change::Metered { file: file.clone(), usage: seen.clone() };
            Metered::Read(if known { Vec::new() } else { vec![change] }, None)
        }
        // A host writes it once there is something to write.
        Some(Fact::Absent) if matches!(event.body, Body::SessionStarted { .. } | Body::PromptSubmitted { .. }) => {
            Metered::Read(Vec::new(), None)
        }
        Some(Fact::Absent) => unmetered(session, "it is not there"),
        Some(Fact::Unknown(why)) => unmetered(session, why),
        Some(_) => unmetered(session, "it was not looked at"),
    }
}

/// Said once, until it can be read again: to refuse every call for it would make the host unusable.
fn unmetered(session: &Session, why: &str) -> Metered {
    if session.budget.unmetered {
        return Metered::Read(Vec::new(), None);
    }
    let reason = format!("What was used cannot be told from the host's transcript: {why}.");
    let finding = Finding::deny(budget::GUARD, code::BUDGET_UNMETERED, reason).verdict(Verdict::Allow);
    Metered::Read(vec![Change::Unmetered], Some(finding))
}
