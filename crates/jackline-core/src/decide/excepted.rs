//! Exceptions: findings that a person lets pass keep their verdict and do not count.
//!
//! Asked for only when something refuses, so a call that is allowed pays nothing. Whatever a decision changes is
//! worked out from the findings as they stand after this, so what was lifted has no consequences.

use serde_json::{Value, json};

use crate::decision::{Finding, Note, Verdict};
use crate::event::Event;
use crate::exception::{Exception, Refusal, chosen};
use crate::probe::{Fact, Facts, Probe};
use crate::session::Session;

/// Findings after exceptions, with a note for each that was lifted.
pub(super) struct Lifted {
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<Note>,
}

/// Lifts what exceptions cover; or gives the question about them that must be answered first.
pub(super) fn lift(
    mut findings: Vec<Finding>,
    session: &Session,
    event: &Event,
    facts: &Facts,
) -> Result<Lifted, Probe> {
    let refusals = refusals(&findings);
    let granted = granted(facts);
    let now = session.now(event.at);
    if let Some(probe) = question(&refusals, &granted, event).filter(|probe| facts.get(probe).is_none()) {
        return Err(probe);
    }
    let counting = chosen(&granted, now, &refusals);
    let mut notes = Vec::new();
    for finding in findings.iter_mut().filter(|finding| refuses(finding)) {
        let refusal = Refusal::of(finding);
        let Some(exception) = counting.iter().find(|exception| exception.covers(&refusal)) else { continue };
        finding.enforced = false;
        finding.exception = Some(exception.id.clone());
        let note = used(exception, &refusal);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(Lifted { findings, notes })
}

/// The exceptions seen for this event. After a parallel commit there may be two answers: what was claimed for the
/// first stays claimed, so both count.
fn granted(facts: &Facts) -> Vec<Exception> {
    let seen = facts.iter().filter_map(|(_, fact)| match fact {
        Fact::Excepted(exceptions) => Some(exceptions),
        // Not knowing of an exception is having none.
        _ => None,
    });
    seen.flatten().cloned().collect()
}

fn refuses(finding: &Finding) -> bool {
    finding.weight() > Verdict::Allow
}

/// What refuses, each once, in an order that does not hang on that of the guards.
fn refusals(findings: &[Finding]) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = findings.iter().filter(|finding| refuses(finding)).map(Refusal::of).collect();
    refusals.sort_unstable();
    refusals.dedup();
    refusals
}

/// What is to be asked: about everything that refuses and is not covered yet.
fn question(refusals: &[Refusal], granted: &[Exception], event: &Event) -> Option<Probe> {
    let open = refusals.iter().filter(|refusal| !granted.iter().any(|exception| exception.covers(refusal)));
    let refusals: Vec<Refusal> = open.cloned().collect();
    // The event's own time, not the session's: it stays the same when the event is decided again.
    (!refusals.is_empty()).then_some(Probe::Exceptions { at: event.at, refusals })
}

fn used(exception: &Exception, refusal: &Refusal) -> Note {
    let data = json!({ "exception": exception, "finding": { "policy": refusal.policy, "code": refusal.code } });
    Note { kind: "exception.used", before: Value::Null, after: Value::Null, data }
}
