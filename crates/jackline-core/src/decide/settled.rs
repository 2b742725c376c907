//! The host says that a call is over. Most finished long ago; one that was never asked for is counted now.
//!
//! Hosts refuse some calls by themselves (no such tool, arguments that do not fit) and never ask us. Nothing ran, so
//! policies about files and order have nothing to say, but an agent that keeps trying is in a loop all the same.

use super::advised;
use super::effect;
use super::requested::{call_key, weigh};
use crate::decision::{Decision, Step};
use crate::guards::{self, Context};
use crate::session::Change;

pub(super) fn decide(context: &Context<'_>) -> Step {
    let call = call_key(context.view.call);
    if context.session.finished(call) {
        return Step::Done(Box::new(Decision { passing: true, ..Decision::default() }));
    }
    let open = context.session.open(context.event.agent(), call, context.signature.key);
    let decision =
        if open.is_some() { Ok(Decision::default()) } else { weigh(context, guards::judge_unasked(context)) };
    let mut decision = match decision {
        Ok(decision) => decision,
        Err(probe) => return Step::Need(vec![probe]),
    };
    decision.changes.push(Change::Finished {
        agent: context.event.agent().to_owned(),
        call,
        signature: context.signature.key,
    });
    if open.is_some_and(|open| !open.refused) {
        effect::count(context, false, &mut decision);
    }
    // One that was refused was counted then.
    if open.is_some_and(|open| open.refused) {
        super::done(decision)
    } else {
        advised::tell(context, Some(false), decision)
    }
}
