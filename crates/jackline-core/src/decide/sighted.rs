//! A call that the host asked about comes by again, at a proxy on its way to the server, or at our own server: it is one
//! call.
//!
//! It was counted and judged, and a person may have agreed to it. What is added is what only this place knows: whether
//! the server offers the tool, and whether the arguments fit what the server says; and whether a path still leads where
//! it led when it was judged.

use super::excepted::{Lifted, lift};
use super::requested::{call_key, halted, rejected, unknown, validated};
use super::{placed, shown};
use crate::decision::{Decision, Step};
use crate::guards::{self, Context, schema};
use crate::listing::MCP_HOST;
use crate::session::{Change, Key, Open};

/// The call as it was let through before, where this one is on its way now.
///
/// A host that gives no id along is understood by order: the first of equal calls is meant.
///
/// INVARIANT: each call is sighted once at each place, after somebody else asked. Whoever asks twice at one place asks
/// for two calls: an agent whose host counts its calls from one again must not get any past the guards.
pub(super) fn first<'a>(context: &Context<'a>) -> Option<&'a Open> {
    let call = call_key(context.view.call).filter(|_| is_on_the_way(context))?;
    let (session, signature) = (context.session, context.signature.key);
    let unnamed = || session.unnamed(signature).filter(|_| context.view.call.own_id);
    session.awaited(call, signature, context.view.served).or_else(unnamed)
}

/// Whether a proxy or our own server tells of it.
fn is_on_the_way(context: &Context<'_>) -> bool {
    context.event.host.as_deref() == Some(MCP_HOST)
}

/// A call that was first asked for at such a place has been sighted there.
pub(super) fn mark(context: &Context<'_>, mut step: Step) -> Step {
    if let (Step::Done(decision), true) = (&mut step, is_on_the_way(context)) {
        decision.changes.extend(call_key(context.view.call).map(|call| sighting(context, call, false)));
    }
    step
}

fn sighting(context: &Context<'_>, call: Key, refused: bool) -> Change {
    let (signature, served) = (context.signature.key, context.view.served);
    Change::Sighted { call, signature, refused, served, paired: false }
}

pub(super) fn decide(context: &Context<'_>, first: &Open) -> Step {
    let mut wanted = schema::needs(context);
    wanted.extend(placed::needs(context));
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    let (findings, consulted) = guards::judge_again(context);
    let Lifted { mut findings, notes } = match lift(findings, context.session, context.event, context.facts) {
        Ok(lifted) => lifted,
        Err(probe) => return Step::Need(vec![probe]),
    };
    // After exceptions: what a person lets pass is what was judged.
    findings.extend(placed::judge(context, first.place));
    let mut decision = Decision { consulted, notes, ..Decision::merge(findings) };
    let refused = decision.verdict.refuses();
    decision.changes.extend(call_key(context.view.call).map(|call| {
        let paired = !first.is_named(call);
        let (signature, served) = (context.signature.key, context.view.served);
        Change::Sighted { call, signature, refused, served, paired }
    }));
    unknown(context, &mut decision);
    rejected(context, &mut decision);
    validated(context, &mut decision);
    shown::page(context, &mut decision);
    halted(context, &mut decision);
    Step::Done(Box::new(decision))
}
