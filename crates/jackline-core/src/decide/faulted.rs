//! What follows from an event that nobody could judge: a call that was asked for counts, and one that is over may have done
//! anything.

use super::finished::in_background;
use super::requested::call_key;
use super::{in_context, sighted};
use crate::decision::{Decision, Finding};
use crate::event::{Body, Event};
use crate::guards::Context;
use crate::probe::Facts;
use crate::session::{Change, Session};
use crate::stack::Stack;

/// The decision about a call that could not be judged. It is refused where it is asked for; where it is over, the fault is
/// only told. Nothing for events that are about no call.
#[must_use]
pub fn faulted(stack: &Stack, session: &Session, event: &Event, fault: Finding) -> Option<Decision> {
    let facts = Facts::default();
    match &event.body {
        Body::CallRequested(call) => {
            let change = in_context(stack, session, event, (call, &facts), requested);
            Some(Decision { changes: vec![change], ..Decision::merge(vec![fault]) })
        }
        Body::CallFinished(call, outcome) => {
            let ended = |context: &Context<'_>| finished(context, outcome.background);
            Some(Decision { changes: in_context(stack, session, event, (call, &facts), ended), ..told(fault) })
        }
        _ => None,
    }
}

/// A call that was asked for. One that comes by a second time is the one that was let through before.
fn requested(context: &Context<'_>) -> Change {
    let (signature, call) = (context.signature.key, call_key(context.view.call));
    if let (Some(first), Some(call)) = (sighted::maker(context), call) {
        let paired = !first.is_named(call);
        return Change::Sighted { call, signature, refused: true, served: context.view.served, paired };
    }
    // A fault of ours says nothing about what the agent does: it must not look like a loop.
    let (agent, refused, feeds) = (context.event.agent().to_owned(), true, false);
    Change::Requested { agent, call, signature, refused, feeds, place: None }
}

/// A call that is over, and what it may have done.
fn finished(context: &Context<'_>, background: bool) -> Vec<Change> {
    let (agent, signature) = (context.event.agent().to_owned(), context.signature.key);
    let ended = Change::Finished { agent, call: call_key(context.view.call), signature };
    [vec![ended], at_large(background || in_background(context.view))].concat()
}

/// The decision about an outcome of which nothing could be read, not even whose it is.
#[must_use]
pub fn unread_outcome(fault: Finding) -> Decision {
    Decision { changes: at_large(true), ..told(fault) }
}

/// It may have written, changed whatever a check looks at, and go on doing so.
fn at_large(background: bool) -> Vec<Change> {
    vec![Change::Wrote, Change::Acted { background }]
}

/// The decision about what passes all the same: the fault is on record, and refuses nothing.
#[must_use]
pub fn told(fault: Finding) -> Decision {
    Decision::merge(vec![Finding { enforced: false, ..fault }])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::code;
    use crate::decide::decide;
    use crate::decision::Step;
    use crate::event;
    use crate::time::Timestamp;

    fn asked(host: &str) -> Event {
        let call = json!({ "id": "c1", "tool": "mcp__s__t", "args": {} });
        let event = json!({ "event": "call.requested", "session": "s", "host": host, "call": call });
        event::read(&event, Timestamp(0)).unwrap()
    }

    #[test]
    fn a_call_that_comes_by_a_second_time_is_one_call() {
        let (stack, mut session) = (Stack::default(), Session::default());
        let Step::Done(decision) = decide(&stack, &session, &asked("claude"), &Facts::default()) else { panic!() };
        session.apply(Timestamp(0), &decision.changes, &|_| None);
        let fault = Finding::fault("store", code::FAULT_STORE, "a reason");
        let decision = faulted(&stack, &session, &asked("mcp"), fault).unwrap();
        session.apply(Timestamp(0), &decision.changes, &|_| None);
        assert_eq!((session.steps, session.open.len()), (1, 1));
        assert!(session.open.iter().all(|open| open.refused));
    }
}
