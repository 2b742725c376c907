//! What follows from an event that nobody could judge: a call that was asked for counts, and one that is over may have done
//! anything.

use super::in_context;
use super::requested::call_key;
use crate::decision::{Decision, Finding};
use crate::event::{Body, Call, Event};
use crate::probe::Facts;
use crate::session::{Change, Session};
use crate::stack::Stack;

/// The decision about a call that could not be judged. It is refused where it is asked for; where it is over, the fault is
/// only told. Nothing for events that are about no call.
#[must_use]
pub fn faulted(stack: &Stack, session: &Session, event: &Event, fault: Finding) -> Option<Decision> {
    let signature =
        |call: &Call| in_context(stack, session, event, (call, &Facts::default()), |context| context.signature.key);
    let agent = event.agent().to_owned();
    match &event.body {
        Body::CallRequested(call) => {
            // A fault of ours says nothing about what the agent does: it must not look like a loop.
            let (refused, feeds) = (true, false);
            let (signature, call) = (signature(call), call_key(call));
            let changes = vec![Change::Requested { agent, call, signature, refused, feeds, place: None }];
            Some(Decision { changes, ..Decision::merge(vec![fault]) })
        }
        Body::CallFinished(call, _) => {
            let ended = Change::Finished { agent, call: call_key(call), signature: signature(call) };
            Some(Decision { changes: [vec![ended], at_large()].concat(), ..told(fault) })
        }
        _ => None,
    }
}

/// The decision about an outcome of which nothing could be read, not even whose it is.
#[must_use]
pub fn unread_outcome(fault: Finding) -> Decision {
    Decision { changes: at_large(), ..told(fault) }
}

/// It may have written, and changed whatever a check looks at.
fn at_large() -> Vec<Change> {
    vec![Change::Wrote, Change::Acted { background: false }]
}

fn told(fault: Finding) -> Decision {
    Decision::merge(vec![Finding { enforced: false, ..fault }])
}
