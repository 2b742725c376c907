//! Decisions without secrets: what of them is kept or told beside the event, which is redacted where it is recorded.

use std::borrow::Cow;

use jackline_core::code;
use jackline_core::decision::Decision;
use jackline_core::event::{Body, Event};
use jackline_core::redact::Redactor;
use jackline_core::session::Change;

use crate::adapters::Message;

/// A message whose event has no secrets in its names; nothing when it has none as it is.
pub(super) fn plainly_named(message: &Message, redactor: &Redactor) -> Option<Message> {
    Some(Message { event: redactor.event(&message.event)?, ..message.clone() })
}

/// Changes go into the log and, folded, into the state as they are: secrets leave them before either.
pub(super) fn redact_changes(decision: &mut Decision, redactor: &Redactor) {
    for text in decision.changes.iter_mut().flat_map(Change::shown_texts) {
        if let (Cow::Owned(redacted), _) = redactor.text(text) {
            *text = redacted;
        }
    }
}

/// What is told of file policies names files and repeats what their owners wrote: secrets leave it too.
pub(super) fn redact_policies(decision: &mut Decision, event: &Event, redactor: &Redactor) {
    let about = |code: &code::Code| *code == code::FILES_OUTSTANDING || *code == code::COMPLETION_INCOMPLETE;
    let of_findings = decision.findings.iter_mut().filter(|finding| about(&finding.code));
    let texts = of_findings.map(|finding| &mut finding.reason);
    for text in texts.chain(decision.reason.as_mut().filter(|_| decision.code.as_ref().is_some_and(about))) {
        if let (Cow::Owned(redacted), _) = redactor.text(text) {
            *text = redacted;
        }
    }
    if let (Some(result), Body::PoliciesChecked { .. }) = (&mut decision.result, &event.body) {
        redactor.redact(result);
    }
}
