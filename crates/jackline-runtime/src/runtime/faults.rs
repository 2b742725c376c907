//! What becomes of an event that could not be carried to its decision, and what is kept of it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use jackline_core::completion::Stopped;
use jackline_core::decide::{faulted, told, unread_outcome};
use jackline_core::decision::{Decision, Finding, Note};
use jackline_core::event::{Body, Event};
use jackline_core::json::canonical;
use jackline_core::probe::Facts;
use jackline_core::redact::Redactor;
use jackline_core::session::{Change, Pin, Session};
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use serde_json::{Value, json};

use super::redacted::plainly_named;
use super::{Fault, Judging, Runtime, redactor, refusal, stops};
use crate::adapters::{Inquiry, Message, Moment};
use crate::answer::Answer;
use crate::definitions::{DefinitionFault, Standing};
use crate::probes::{Ground, WorkspaceProber};
use crate::store::{StoreFault, Sync};

/// Times that a record of a fault is tried again because another process committed in between. It is owed to nobody: its
/// event is refused all the same.
const TRIES_MAX: u32 = 16;

impl Runtime {
    /// A fault of ours blocks a stop once and then lets it through, both on record where the store can be used: a
    /// broken guard must not keep an agent running for ever. Whether it blocked before is in the session; where that
    /// cannot be read, the host's own mark of a held stop tells.
    pub(super) fn stop_at_fault(&self, message: &Message, fault: &Fault) -> Option<Answer> {
        let Body::StopRequested(ask) = &message.event.body else { return None };
        let kept = leaves_the_store(fault).then(|| {
            self.keep_fault(message, |_, session| {
                let faulted = session.agent(message.event.agent()).is_some_and(|agent| agent.faulted);
                Some(at_fault(&message.event, refusal(fault), faulted))
            })
        });
        Some(kept.flatten().unwrap_or_else(|| {
            let decision = at_fault(&message.event, refusal(fault), ask.again);
            let notices = stops::notice(&decision).into_iter().collect();
            Answer { notices, ..Answer::unkept(decision) }
        }))
    }

    /// A call that could not be judged is on record where the store can be used: one that is asked for counts as a step, and
    /// one that is over may have written.
    pub(super) fn call_at_fault(&self, message: &Message, fault: &Fault) -> Option<Answer> {
        let about_call = matches!(message.event.body, Body::CallRequested(_) | Body::CallFinished(..));
        (about_call && leaves_the_store(fault))
            .then(|| self.keep_fault(message, |stack, session| faulted(stack, session, &message.event, refusal(fault))))
            .flatten()
    }

    /// Refuses a message that could not be read, on record where it says whose it is: a call counts, and an outcome may have
    /// been anything's.
    #[cold]
    pub(super) fn refuse_unread(&self, seen: Option<Message>, asked: &Inquiry, finding: Finding) -> Answer {
        let kept = seen.and_then(|message| {
            self.keep_fault(&message, |stack, session| {
                let called = faulted(stack, session, &message.event, finding.clone());
                let otherwise = if asked.moment == Moment::Outcome { unread_outcome } else { told };
                called.or_else(|| Some(otherwise(finding.clone())))
            })
        });
        // An outcome is over, and what else could not be read the host is told of as ever.
        kept.filter(|_| asked.moment == Moment::Gate).unwrap_or_else(|| Answer::refusal(finding))
    }

    /// Keeps what is decided about an event that no definition judged. What failed before may fail again here; then there is
    /// no record. Nor is there one where nobody declared anything.
    pub(super) fn keep_fault(
        &self,
        message: &Message,
        decide: impl Fn(&Stack, &Session) -> Option<Decision>,
    ) -> Option<Answer> {
        let kept = || {
            for _ in 0..TRIES_MAX {
                let held = self.load(&message.event.session).ok()?;
                let pin = held.session.pin.as_ref();
                let secrets = self.secrets(pin, message.event.definition.as_deref())?;
                let message = recorded(message, secrets.as_ref());
                let judging = self.bare(pin, secrets);
                let decision = decide(judging.stack(), &held.session)?;
                if let Ok(answer) = self.commit(&message, &judging, held, decision, &Facts::default()).ok()? {
                    return Some(answer);
                }
            }
            None
        };
        catch_unwind(AssertUnwindSafe(kept)).ok().flatten()
    }

    /// What takes secrets out: `Some(None)` where the definitions cannot tell what is one, and nothing where there are none.
    fn secrets(&self, pin: Option<&Pin>, named: Option<&str>) -> Option<Option<Redactor>> {
        // It may be what failed before.
        match catch_unwind(AssertUnwindSafe(|| self.definitions.stack(pin, named))) {
            Ok(Ok(standing)) => Some(Some(redactor(&standing.stack))),
            Ok(Err(DefinitionFault::Missing(_))) => None,
            Ok(Err(_)) | Err(_) => Some(None),
        }
    }

    /// What keeps a record where no definition judges. What one says of secrets holds all the same.
    fn bare(&self, pin: Option<&Pin>, secrets: Option<Redactor>) -> Judging {
        let ground = || Ground {
            root: "/".into(),
            first_root: None,
            home: None,
            own: Vec::new(),
            instructing: Vec::new(),
            schemas: Default::default(),
        };
        Judging {
            scripts: BTreeSet::new(),
            redactor: secrets.unwrap_or_else(|| Redactor::new([])),
            standing: Standing::default().into(),
            adapted: Some(Stack { root: self.definitions.root(pin).unwrap_or_default(), ..Stack::default() }),
            prober: LazyLock::new(Box::new(move || WorkspaceProber::new(ground()))),
            sync: Sync::Full,
        }
    }
}

/// Members of an event, and of its call, that say who did what; all others hold what was done it with.
const SAID: &[&str] =
    &["event", "session", "at", "agent", "host", "native", "name", "call", "id", "tool", "unreadable"];

/// A message as it is recorded: in its names no secret is left, and where nobody knows what else is one, only names are.
fn recorded(message: &Message, secrets: Option<&Redactor>) -> Message {
    let builtin = Redactor::new([]);
    let mut kept = plainly_named(message, secrets.unwrap_or(&builtin)).unwrap_or_else(|| message.clone());
    kept.partial = true;
    if secrets.is_none() {
        let withheld = Digest::of(&canonical(&kept.raw)).hex();
        only_names(&mut kept.raw);
        if let Value::Object(raw) = &mut kept.raw {
            raw.insert("withheld".to_owned(), json!({ "sha256": withheld }));
        }
    }
    kept
}

fn only_names(raw: &mut Value) {
    let Value::Object(members) = raw else { return };
    members.retain(|member, _| SAID.contains(&member.as_str()));
    if let Some(Value::Object(call)) = members.get_mut("call") {
        call.retain(|member, _| SAID.contains(&member.as_str()));
    }
}

/// Whether a fault leaves the store to be written. One that others hold was waited for already, and where nobody declared
/// anything nothing is kept.
fn leaves_the_store(fault: &Fault) -> bool {
    !matches!(
        fault,
        Fault::Busy | Fault::Store(StoreFault::Locked { .. }) | Fault::Definition(DefinitionFault::Missing(_))
    )
}

fn at_fault(event: &Event, finding: Finding, blocked_before: bool) -> Decision {
    let agent = event.agent().to_owned();
    if !blocked_before {
        let changes = vec![Change::StopBlocked { agent, fault: true }];
        return Decision { changes, ..Decision::merge(vec![finding]) };
    }
    let stopped = Stopped::Fault;
    let data = json!({ "stopped": stopped, "reason": stopped.reason() });
    Decision {
        changes: vec![Change::Stopped { agent, stopped, parked: None }],
        notes: vec![Note { kind: "stop.decided", before: Value::Null, after: Value::Null, data }],
        data: Some(("stopped", json!(stopped))),
        ..Decision::merge(vec![Finding { enforced: false, ..finding }])
    }
}
