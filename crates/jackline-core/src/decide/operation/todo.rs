//! Todos are made, begun, listed; and settled by people.

use serde_json::{Value, json};

use super::{Ground, Outcome, Trouble, given, listed, refuse};
use crate::code;
use crate::decide::judged;
use crate::decision::{Decision, Note};
use crate::definition::model::AgentCommands;
use crate::operation::Operation;
use crate::probe::{Fact, Probe, Told};
use crate::ran::Scripts;
use crate::redact::Redactor;
use crate::session::Change;
use crate::stack::Layer;
use crate::todos::check::Check;
use crate::todos::id::Id;
use crate::todos::{
    Author, CHECKS_MAX, CONTENT_BYTES_MAX, PEOPLES_BYTES_MAX, PEOPLES_MAX, TODOS_BYTES_MAX, TODOS_MAX, Todo, Todos,
    required,
};

pub(super) fn create(ground: &Ground<'_>, operation: Operation, given: &Value) -> Outcome {
    let author = if operation == Operation::TodoAssign { Author::Human } else { Author::Agent };
    let content = given::text(given, "content", CONTENT_BYTES_MAX, &code::TODO_INVALID)?;
    let checks = given::list(given, "checks", CHECKS_MAX, &code::TODO_INVALID)?;
    let checks = checks.iter().map(|check| Check::read(check).map_err(invalid)).collect::<Result<Vec<_>, _>>()?;
    without_secrets(ground, &checks)?;
    let scripts = match author {
        Author::Agent => with_leave(ground, &checks).map(|()| Scripts::new())?,
        Author::Human | Author::Owner => bound(ground, &checks)?,
    };
    let missing = required::missing(ground.stack, ground.session, ground.event);
    let (known, at) = (ground.session.todos.len() + missing.len(), ground.session.now(ground.event.at));
    let id = Id::derive("todo", &ground.event.session, known as u64, at);
    let todo = Todo::new(id, content, author, checks, at).binding(scripts);
    room(&ground.session.todos, known, &todo)?;
    Ok(moved(required::created(&todo), todo, false))
}

fn invalid(why: String) -> Trouble {
    refuse(code::TODO_INVALID, format!("The todo has a check that cannot be used: {why}."), "correct the check")
}

/// Checks are kept as they are, so that they can be evaluated: what looks like a secret has no place in them.
fn without_secrets(ground: &Ground<'_>, checks: &[Check]) -> Result<(), Trouble> {
    let names = ground.stack.layers.iter().flat_map(|layer| layer.model.audit.redact.iter().map(String::as_str));
    let redactor = Redactor::new(names);
    match checks.iter().find(|check| redactor.value(&check.to_value()).1) {
        None => Ok(()),
        Some(check) => {
            let reason = format!("A check of type `{}` holds what looks like a secret.", check.name());
            Err(refuse(code::TODO_INVALID, reason, "leave the secret out: the check is kept in the log"))
        }
    }
}

/// What a person's checks run is the agent's judge: it is bound to what it contains now.
fn bound(ground: &Ground<'_>, checks: &[Check]) -> Result<Scripts, Trouble> {
    let commands: Vec<Vec<String>> = checks.iter().filter_map(|check| Some(check.command()?.to_vec())).collect();
    if commands.is_empty() {
        return Ok(Scripts::new());
    }
    let probe = Probe::Scripts { commands };
    match ground.facts.get(&probe) {
        None => Err(Trouble::Need(vec![probe])),
        Some(Fact::Told(Told::Scripts(scripts))) => Ok(scripts.clone()),
        Some(Fact::Unknown(why)) => {
            let reason = format!("What a check runs is bound to what it contains, and {why}.");
            Err(refuse(code::TODO_INVALID, reason, "write that file first, or use another check"))
        }
        Some(_) => Err(invalid("what it runs cannot be told".to_owned())),
    }
}

/// An agent's checks run programs and ask addresses only where the owner allows it, and do only what a call could.
fn with_leave(ground: &Ground<'_>, checks: &[Check]) -> Result<(), Trouble> {
    let mut wanted = Vec::new();
    for check in checks {
        if check.acts() && !agents_may(ground) {
            let reason =
                format!("Agents may not put `{}` checks into their todos (`todos.agent_commands`).", check.name());
            return Err(refuse(code::TODO_COMMAND_REFUSED, reason, "use other checks, or ask the owner for this one"));
        }
        match judged::judge(ground, check) {
            Err(probes) => wanted.extend(probes),
            Ok(None) => {}
            Ok(Some(finding)) => {
                let reason = format!("The check would be refused as a call: {}", finding.reason);
                return Err(refuse(code::TODO_COMMAND_REFUSED, reason, "use another check"));
            }
        }
    }
    if wanted.is_empty() { Ok(()) } else { Err(Trouble::Need(wanted)) }
}

/// Someone who is trusted allows it, and nobody forbids it.
pub(in crate::decide) fn agents_may(ground: &Ground<'_>) -> bool {
    let said = || required::own_layers(ground.stack);
    let says = |layer: &Layer, what: AgentCommands| layer.model.todos.agent_commands == Some(what);
    said().any(|layer| layer.trusted && says(layer, AgentCommands::Allow))
        && !said().any(|layer| says(layer, AgentCommands::Deny))
}

/// Whether there is room for what a todo has become.
pub(super) fn room(todos: &Todos, known: usize, todo: &Todo) -> Result<(), Trouble> {
    let others: usize = todos.iter().filter(|other| other.id != todo.id).map(Todo::bytes).sum();
    let is_new = todos.get(&todo.id).is_none();
    let (todos_max, bytes_max) = match todo.author {
        Author::Agent => (TODOS_MAX, TODOS_BYTES_MAX),
        Author::Owner | Author::Human => (TODOS_MAX + PEOPLES_MAX, TODOS_BYTES_MAX + PEOPLES_BYTES_MAX),
    };
    let full = if is_new && known >= todos_max {
        Some(format!("This session has {known} todos, and there is room for {todos_max}."))
    } else if others + todo.bytes() > bytes_max {
        Some(format!("The todos of this session would take more than {bytes_max} bytes."))
    } else {
        None
    };
    full.map_or(Ok(()), |reason| {
        Err(refuse(code::TODO_FULL, reason, "work on the todos that are there, and say less in each"))
    })
}

pub(super) fn start(ground: &Ground<'_>, given: &Value) -> Outcome {
    let todo = given::todo(ground, given)?;
    let started = todo.started(ground.session.now(ground.event.at), ground.session.steps);
    let started = started.ok_or_else(|| illegal(todo, "started", "pending"))?;
    Ok(moved(changed("todo.started", todo, &started, json!({})), started, false))
}

pub(super) fn list(ground: &Ground<'_>) -> Decision {
    let missing = required::missing(ground.stack, ground.session, ground.event);
    let mut all = ground.session.todos.clone();
    missing.iter().for_each(|todo| all.keep(todo));
    // What is required is made with the first look at it, and what is made is recorded.
    Decision { passing: missing.is_empty(), ..listed(all.to_value()) }
}

pub(super) fn settle(ground: &Ground<'_>, operation: Operation, given: &Value) -> Outcome {
    let todo = given::todo(ground, given)?;
    let consent = given::consent(given).map_err(|trouble| trouble.about(todo))?;
    let (at, step) = (ground.session.now(ground.event.at), ground.session.steps);
    let data = json!({ "reason": consent.reason, "by": consent.by });
    let (kind, next, wanted) = match operation {
        Operation::TodoApprove => ("todo.verified", todo.approved(at, consent), "claimed or needs_human"),
        Operation::TodoReject => ("todo.rejected", todo.rejected(at, step, consent), "claimed or needs_human"),
        _ => ("todo.waived", todo.waived(at, consent), "not settled"),
    };
    let verb = kind.strip_prefix("todo.").unwrap_or(kind);
    let next = next.ok_or_else(|| illegal(todo, verb, wanted))?;
    Ok(moved(changed(kind, todo, &next, data), next, false))
}

/// A transition that the todo's state does not have.
pub(super) fn illegal(todo: &Todo, verb: &str, wanted: &str) -> Trouble {
    let reason = format!("A todo that is {} cannot be {verb}: it must be {wanted}.", todo.state.name());
    refuse(code::TODO_INVALID_TRANSITION, reason, todo.state.next()).about(todo)
}

/// The record of a todo that is another one now.
pub(super) fn changed(kind: &'static str, before: &Todo, after: &Todo, data: Value) -> Note {
    Note { kind, before: before.to_value(), after: after.to_value(), data }
}

/// A decision that makes the todo what it is now.
pub(super) fn moved(note: Note, todo: Todo, with_results: bool) -> Decision {
    let result = Some(todo.answer(with_results));
    let changes = vec![Change::Todo { todo: Box::new(todo) }];
    Decision { notes: vec![note], changes, result, ..Decision::default() }
}
