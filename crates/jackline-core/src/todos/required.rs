//! Todos that a definition requires: they are in every session that it judges, from its first record on.

use super::{Author, Todo};
use crate::decision::{Decision, Note};
use crate::definition::model::Required;
use crate::event::Event;
use crate::session::{Change, Session};
use crate::stack::{Layer, Stack};
use crate::todos::id::Id;
use serde_json::{Value, json};

/// Adds what the definitions in force require and the session does not have yet.
///
/// Also for a definition that changed within the session; what it requires no more stays.
pub(crate) fn add(decision: &mut Decision, stack: &Stack, session: &Session, event: &Event) {
    // INVARIANT: ahead of what the event itself changes, so that todos are in the order they were made.
    for (at, todo) in missing(stack, session, event).into_iter().enumerate() {
        decision.notes.insert(at, created(&todo));
        decision.changes.insert(at, Change::Todo { todo: Box::new(todo) });
    }
}

/// What is required and not there yet.
pub(crate) fn missing(stack: &Stack, session: &Session, event: &Event) -> Vec<Todo> {
    let mut missing: Vec<Todo> = Vec::new();
    for required in demanded(stack) {
        if session.todos.iter().chain(&missing).any(|todo| is(todo, required)) {
            continue;
        }
        let (made, at) = (session.todos.len() + missing.len(), session.now(event.at));
        let id = Id::derive("todo", &event.session, made as u64, at);
        missing.push(Todo::new(id, required.content.clone(), Author::Owner, required.checks.clone(), at));
    }
    missing
}

/// The layers that require this todo.
pub(crate) fn layers<'a>(stack: &'a Stack, todo: &'a Todo) -> impl Iterator<Item = &'a Layer> {
    own_layers(stack).filter(|layer| layer.model.todos.require.iter().any(|required| is(todo, required)))
}

/// The layers that speak for themselves: a pack speaks only through its policies.
pub(crate) fn own_layers(stack: &Stack) -> impl Iterator<Item = &Layer> {
    stack.layers.iter().filter(|layer| !layer.is_pack())
}

fn demanded(stack: &Stack) -> impl Iterator<Item = &Required> {
    own_layers(stack).flat_map(|layer| &layer.model.todos.require)
}

fn is(todo: &Todo, required: &Required) -> bool {
    todo.author == Author::Owner && todo.content == required.content && todo.checks == required.checks
}

/// The record of a todo that was made.
pub(crate) fn created(todo: &Todo) -> Note {
    Note { kind: "todo.created", before: Value::Null, after: todo.to_value(), data: json!({}) }
}
