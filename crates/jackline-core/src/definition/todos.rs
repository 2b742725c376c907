//! The key `todos`: reads it, says whether it can be used, and what a change of it loosens.

use super::fault::{Fault, Faults};
use super::model::{AgentCommands, Model, Native, Required, Todos};
use super::read::tree;
use super::yaml::Node;
use crate::redact::Redactor;
use crate::todos::check::Check;
use crate::todos::{CHECKS_MAX, CONTENT_BYTES_MAX};

/// Todos that one definition may require: each is in the state of every session.
const REQUIRED_MAX: usize = 16;

pub(super) fn read(node: Option<&Node>, faults: &mut Faults) -> Todos {
    let named = |key: &str| node.and_then(|node| node.get(key)).and_then(Node::text);
    let require = node.and_then(|node| node.get("require")).map(Node::items).unwrap_or_default();
    Todos {
        agent_commands: named("agent_commands").and_then(AgentCommands::parse),
        native: named("native").and_then(Native::parse).unwrap_or_default(),
        require: require.iter().map(|node| required(node, faults)).collect(),
    }
}

fn required(node: &Node, faults: &mut Faults) -> Required {
    let checks = node.get("checks").map(Node::items).unwrap_or_default();
    Required {
        content: node.get("content").and_then(Node::text).unwrap_or_default().to_owned(),
        checks: checks.iter().filter_map(|check| one(check, faults)).collect(),
    }
}

fn one(node: &Node, faults: &mut Faults) -> Option<Check> {
    if faults.error_inside(&node.span) {
        return None;
    }
    match Check::read(&tree(node)?) {
        Ok(check) => Some(check),
        Err(why) => {
            faults.push(Fault::error(why).at(node.span));
            None
        }
    }
}

/// What makes required todos unusable, with the item it belongs to.
pub(super) fn check(model: &Model, root: Option<&Node>, faults: &mut Faults) {
    let items = root.and_then(|root| root.get("todos")?.get("require")).map(Node::items).unwrap_or_default();
    let require = &model.todos.require;
    for (index, required) in require.iter().enumerate() {
        let twice = require.iter().take(index).any(|other| other == required);
        for message in unusable(required).into_iter().chain(twice.then_some("a todo is required twice".to_owned())) {
            let fault = Fault::error(message);
            faults.push(match items.get(index) {
                Some(node) => fault.at(node.span),
                None => fault,
            });
        }
    }
    if require.len() > REQUIRED_MAX {
        faults.push(Fault::error(format!("`todos.require` has more than {REQUIRED_MAX} todos")));
    }
}

fn unusable(required: &Required) -> Vec<String> {
    let mut found = Vec::new();
    if required.content.trim().is_empty() {
        found.push("a required todo has no content".to_owned());
    }
    if required.content.len() > CONTENT_BYTES_MAX {
        found.push(format!("a todo's content is longer than {CONTENT_BYTES_MAX} bytes"));
    }
    if required.checks.len() > CHECKS_MAX {
        found.push(format!("a todo has more than {CHECKS_MAX} checks"));
    }
    found.extend(required.checks.iter().filter_map(|check| Check::read(&check.to_value()).err()));
    let fields: serde_json::Value = required.checks.iter().map(Check::to_value).collect();
    let redactor = Redactor::new([]);
    if redactor.value(&fields).1 || redactor.text(&required.content).1 {
        found.push("a required todo holds what looks like a secret, and every session would keep it".to_owned());
    }
    found
}

/// Todos that are required no more, and what agents may do that they might not.
pub(super) fn loosenings(old: &Model, new: &Model) -> Vec<String> {
    let (before, after) = (&old.todos, &new.todos);
    let gone = before.require.iter().filter(|required| !after.require.contains(required));
    let mut found: Vec<String> = gone.map(|gone| format!("todos.require lost {:?}", gone.content)).collect();
    let allows = |todos: &Todos| todos.agent_commands == Some(AgentCommands::Allow);
    // Silence leaves it to others, and one who spoke against it is heard no more.
    let quiet = before.agent_commands.is_some() && after.agent_commands.is_none();
    if !allows(before) && (allows(after) || quiet) {
        found.push("todos.agent_commands loosened".to_owned());
    }
    if after.native < before.native {
        found.push("todos.native loosened".to_owned());
    }
    found
}

/// The wider definition's settings where the narrower one says nothing of its own.
pub(super) fn said(wider: &Model, narrower: &Model) -> Todos {
    Todos {
        agent_commands: narrower.todos.agent_commands.or(wider.todos.agent_commands),
        native: if narrower.todos.native == Native::default() { wider.todos.native } else { narrower.todos.native },
        require: wider.todos.require.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn model(text: &str) -> Model {
        parse(&format!("jackline: 1\n{text}\n"), &[]).expect("fine").model
    }

    #[track_caller]
    fn refused(text: &str, want: &str) {
        let faults = parse(&format!("jackline: 1\n{text}\n"), &[]).expect_err("must be refused");
        assert!(faults.iter().any(|fault| fault.message.contains(want)), "{faults:?}");
    }

    #[test]
    fn required_todos_are_read_with_their_checks() {
        let todos = model("todos: { agent_commands: allow, native: deny, require: [ { content: a, checks: [ { file_exists: x }, { git_clean: {} } ] } ] }").todos;
        assert_eq!((todos.agent_commands, todos.native), (Some(AgentCommands::Allow), Native::Deny));
        assert_eq!(todos.require[0].checks, [Check::FileExists("x".into()), Check::GitClean {}]);
    }

    #[test]
    fn what_cannot_be_used_is_a_fault() {
        refused("todos: { require: [ { content: a, checks: [ { command_exit_zero: [] } ] } ] }", "");
        refused("todos: { require: [ { content: ' ' } ] }", "has no content");
        refused("todos: { require: [ { content: a }, { content: a } ] }", "required twice");
        refused(
            "todos: { require: [ { content: a, checks: [ { http_status: { url: 'ftp://x' } } ] } ] }",
            "http or https",
        );
        let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
        refused(
            &format!(
                "todos: {{ require: [ {{ content: a, checks: [ {{ command_exit_zero: [curl, {token}] }} ] }} ] }}"
            ),
            "secret",
        );
    }

    #[track_caller]
    fn check_change(old: &str, new: &str, want: &[&str]) {
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} to {new}");
    }

    #[test]
    fn what_a_change_loosens_is_named() {
        let one = "todos: { require: [ { content: a, checks: [ { file_exists: x } ] } ] }";
        check_change(one, "", &["todos.require lost \"a\""]);
        check_change(one, "todos: { require: [ { content: a } ] }", &["todos.require lost \"a\""]);
        check_change("", one, &[]);
        check_change("", "todos: { agent_commands: allow }", &["todos.agent_commands loosened"]);
        check_change("todos: { agent_commands: deny }", "", &["todos.agent_commands loosened"]);
        check_change("todos: { agent_commands: allow }", "todos: { agent_commands: deny }", &[]);
        check_change("todos: { native: deny }", "", &["todos.native loosened"]);
    }
}
