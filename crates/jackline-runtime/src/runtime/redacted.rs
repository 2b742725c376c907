//! Decisions without secrets: what of them is kept or told beside the event, which is redacted where it is recorded.

use std::borrow::Cow;
use std::sync::Arc;

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
    // What findings are told by together is one text, which the decision says too where they speak.
    let mut known: Option<(Arc<str>, Arc<str>)> = None;
    let mut redacted = |text: &Arc<str>| match &known {
        Some((before, after)) if before == text => Arc::clone(after),
        _ => {
            let after: Arc<str> = match redactor.text(text) {
                (Cow::Owned(redacted), _) => redacted.into(),
                (Cow::Borrowed(_), _) => Arc::clone(text),
            };
            known = Some((Arc::clone(text), Arc::clone(&after)));
            after
        }
    };
    for finding in decision.findings.iter_mut().filter(|finding| about(&finding.code)) {
        if let (Cow::Owned(redacted), _) = redactor.text(&finding.reason) {
            finding.reason = redacted;
        }
        finding.together = finding.together.as_ref().map(&mut redacted);
    }
    if let Some(reason) = decision.reason.as_mut().filter(|_| decision.code.as_ref().is_some_and(about)) {
        *reason = redacted(&Arc::from(reason.as_str())).as_ref().to_owned();
    }
    if let (Some(result), Body::PoliciesChecked { .. }) = (&mut decision.result, &event.body) {
        redactor.redact(result);
    }
}
