//! Operations on todos, facts and calls: each is answered with a result, or refused with its reason on record.

mod call;
mod claim;
mod fact;
mod given;
mod todo;
mod verify;

use serde_json::{Value, json};

use super::Ground;
use crate::code::Code;
use crate::decision::{Decision, Finding, Note, Step};
use crate::operation::Operation;
use crate::probe::Probe;
use crate::todos::Todo;

pub(super) use todo::agents_may;
pub(super) use verify::look_again;

/// What an operation comes to: a decision, or questions that must be answered first.
type Outcome = Result<Decision, Trouble>;

/// Why an operation did not come to its end.
enum Trouble {
    Need(Vec<Probe>),
    Refused(Box<Refusal>),
}

/// Why an operation is refused, and about which todo.
struct Refusal {
    code: Code,
    reason: String,
    next: String,
    todo: Option<Todo>,
}

pub(super) fn decide(ground: &Ground<'_>, operation: Operation, given: &Value) -> Step {
    let outcome = match operation {
        Operation::TodoCreate | Operation::TodoAssign => todo::create(ground, operation, given),
        Operation::TodoStart => todo::start(ground, given),
        Operation::TodoClaim => claim::claim(ground, given),
        Operation::TodoVerify => verify::verify(ground, given),
        Operation::TodoList => Ok(todo::list(ground)),
        Operation::TodoApprove | Operation::TodoReject | Operation::TodoWaive => todo::settle(ground, operation, given),
        Operation::FactRecord => fact::record(ground, given),
        Operation::FactRetract => fact::retract(ground, given),
        Operation::FactSummarise => fact::summarise(ground, given),
        Operation::FactList => Ok(listed(ground.session.statements.to_value())),
        Operation::CallsList => call::list(ground, given),
    };
    match outcome {
        Ok(decision) => Step::Done(Box::new(decision)),
        Err(Trouble::Need(probes)) => Step::Need(ground.unanswered(probes)),
        Err(Trouble::Refused(refusal)) => Step::Done(Box::new(refused(operation, *refusal))),
    }
}

/// The answer of an operation that changes nothing: no record is kept of it.
fn listed(result: Value) -> Decision {
    Decision { result: Some(result), passing: true, ..Decision::default() }
}

fn refused(operation: Operation, refusal: Refusal) -> Decision {
    let Refusal { code, reason, next, todo } = refusal;
    if operation.lists() {
        let finding = Finding::deny(operation.key(), code, reason).suggest(next);
        return Decision { passing: true, ..Decision::merge(vec![finding]) };
    }
    let kind = if operation.key() == "todo" { "todo.refused" } else { "fact.refused" };
    let before = todo.as_ref().map(Todo::to_value).unwrap_or_default();
    let data = json!({ "operation": operation.name(), "code": code, "reason": reason });
    let finding = Finding::deny(operation.key(), code, reason).suggest(next);
    let note = Note { kind, after: before.clone(), before, data };
    Decision { notes: vec![note], ..Decision::merge(vec![finding]) }
}

/// A refusal that is about no todo in particular.
fn refuse(code: Code, reason: impl Into<String>, next: impl Into<String>) -> Trouble {
    Trouble::Refused(Box::new(Refusal { code, reason: reason.into(), next: next.into(), todo: None }))
}

impl Trouble {
    /// The same, about this todo.
    fn about(self, todo: &Todo) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(Box::new(Refusal { todo: Some(todo.clone()), ..*refusal })),
            need @ Self::Need(_) => need,
        }
    }
}
