//! A call that the host asked about comes by again, at a proxy on its way to the server, or at our own server: it is one
//! call.
//!
//! It was counted and judged, and a person may have agreed to it. What is added is what only this place knows: whether
//! the server offers the tool, and whether the arguments fit what the server says; whether a path still leads where it led
//! when it was judged; and where it leads as the server may see it.

use super::excepted::{Lifted, lift};
use super::requested::{call_key, halted, rejected, unknown, validated};
use super::{continued, placed, shown};
use crate::decision::{Decision, Finding, Step};
use crate::event::{Body, Event};
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
    let call = call_key(context.view.call).filter(|_| is_on_the_way(context.event))?;
    let (session, signature) = (context.session, context.signature.key);
    let unnamed = || session.unnamed(signature).filter(|_| context.view.call.own_id);
    session.awaited(call, signature, context.view.served).or_else(unnamed)
}

/// Whether a proxy or our own server tells of it.
pub(super) fn is_on_the_way(event: &Event) -> bool {
    event.host.as_deref() == Some(MCP_HOST)
}

/// The call that is told of, as it was asked for before: the one that comes by, or the one that is over.
pub(super) fn maker<'a>(context: &Context<'a>) -> Option<&'a Open> {
    if let Body::CallRequested(_) = &context.event.body {
        return continued::begun(context).or_else(|| first(context));
    }
    let call = call_key(context.view.call)?;
    context.session.open(context.event.agent(), Some(call), context.signature.key)
}

/// A call that was first asked for at such a place has been sighted there.
pub(super) fn mark(context: &Context<'_>, mut step: Step) -> Step {
    if let (Step::Done(decision), true) = (&mut step, is_on_the_way(context.event)) {
        decision.changes.extend(call_key(context.view.call).map(|call| sighting(context, call, false)));
    }
    step
}

fn sighting(context: &Context<'_>, call: Key, refused: bool) -> Change {
    let (signature, served) = (context.signature.key, context.view.served);
    Change::Sighted { call, signature, refused, served, paired: false }
}

/// Whether this place knows directories from which the server may see the call's paths. A hook knows none of them.
fn is_seen_from_elsewhere(context: &Context<'_>) -> bool {
    let elsewhere = context.view.call.dirs.iter().any(|dir| *dir != context.stack.root);
    elsewhere && context.view.other.is_none()
}

/// What is refused about files as they are seen from there. What was counted, and what a person agreed to, stays so.
fn found_elsewhere(context: &Context<'_>) -> Vec<Finding> {
    if !is_seen_from_elsewhere(context) {
        return Vec::new();
    }
    let of_files = |finding: &Finding| finding.verdict.refuses() && ["paths", "self"].contains(&finding.guard.as_str());
    guards::judge(context).0.into_iter().filter(of_files).collect()
}

pub(super) fn decide(context: &Context<'_>, first: &Open) -> Step {
    let mut wanted = if is_seen_from_elsewhere(context) { guards::needs(context) } else { schema::needs(context) };
    wanted.extend(placed::needs(context));
    if !wanted.is_empty() {
        return Step::Need(wanted);
    }
    let (mut findings, consulted) = guards::judge_again(context);
    findings.extend(found_elsewhere(context));
    let Lifted { mut findings, notes } = match lift(findings, context.session, context.event, context.facts) {
        Ok(lifted) => lifted,
        Err(probe) => return Step::Need(vec![probe]),
    };
    // After exceptions: what a person lets pass is what was judged.
    findings.extend(placed::judge(context, first.place));
    let mut decision = Decision { consulted, notes, again: true, ..Decision::merge(findings) };
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
