//! A call goes on: its server wanted to know something first, and the client comes back with it.
//!
//! It is the same call, so it is not counted again; and what a person agreed to is not asked about again. All else is
//! judged anew: the server does something more now, the definition may be another, and time has passed.

use super::excepted::{Lifted, lift};
use super::requested::{call_key, halted, halted_once, rejected, spent, unknown, validated};
use super::{placed, shown, sighted};
use crate::decision::{Decision, Finding, Step, Verdict};
use crate::guards::{self, Context};
use crate::session::{Change, Open};

/// The call that goes on: one that was let through where this is told of, and that has not finished.
///
/// INVARIANT: only who let it through and saw its server ask may say so. To anybody else it is a new call.
pub(super) fn begun<'a>(context: &Context<'a>) -> Option<&'a Open> {
    context.view.call.continued.as_ref().filter(|told| told.known && sighted::is_on_the_way(context.event))?;
    let call = call_key(context.view.call)?;
    let same = |open: &&Open| open.is_named(call) && open.signature == context.signature.key;
    let mut open = context.session.open.iter().filter(same);
    // Where one id stands for several calls, which one is meant cannot be told.
    open.next().filter(|first| first.sighted && !first.refused && !first.ended && open.next().is_none())
}

pub(super) fn decide(context: &Context<'_>, begun: &Open) -> Step {
    let mut wanted = guards::needs(context);
    wanted.extend(placed::needs(context).filter(|probe| !wanted.contains(probe)));
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    let (mut findings, consulted) = guards::judge_on(context);
    if context.view.call.continued.as_ref().is_some_and(|told| told.agreed) {
        findings.iter_mut().for_each(agree);
    }
    let Lifted { mut findings, notes } = match lift(findings, context.session, context.event, context.facts) {
        Ok(lifted) => lifted,
        Err(probe) => return Step::Need(vec![probe]),
    };
    halted_once(context, &mut findings);
    findings.extend(placed::judge(context, begun.place));
    let mut decision = Decision { consulted, notes, again: true, ..Decision::merge(findings) };
    // Nobody can be asked here. An outcome of what does not go on earns nothing.
    let refused = decision.verdict > Verdict::Allow;
    let (signature, served) = (context.signature.key, context.view.served);
    let sighted = |call| Change::Sighted { call, signature, refused, served, paired: false };
    decision.changes.extend(call_key(context.view.call).map(sighted));
    unknown(context, &mut decision);
    rejected(context, &mut decision);
    validated(context, &mut decision);
    spent(context, &mut decision);
    shown::page(context, &mut decision);
    halted(context, &mut decision);
    Step::Done(Box::new(decision))
}

/// A question that was answered when the call began stays on record, and is none any more.
fn agree(finding: &mut Finding) {
    if finding.verdict == Verdict::Ask {
        finding.enforced = false;
    }
}
