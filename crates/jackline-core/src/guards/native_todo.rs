//! The host's own todo tools: they replace or edit a list that nothing verifies. Where the owner wants none, none.

use super::{Context, observed};
use crate::code;
use crate::decision::Finding;
use crate::definition::model::Native;

const GUARD: &str = "native_todo";

/// Tools with which hosts keep todo lists, each with its host.
const TOOLS: &[(&str, &str)] = &[
    ("claude", "TodoWrite"),
    ("claude", "TaskCreate"),
    ("claude", "TaskUpdate"),
    ("codex", "update_plan"),
    ("gemini", "write_todos"),
    ("opencode", "todowrite"),
    ("qwen", "todo_write"),
    ("cursor", "TodoWrite"),
    ("vscode", "manage_todo_list"),
    ("copilot", "update_todo"),
];

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let (host, tool) = (context.event.host.as_deref(), context.view.call.tool.as_str());
    let is = |(of, name): &(&str, &str)| *name == tool && host.is_none_or(|host| host == *of);
    if !TOOLS.iter().any(is) {
        return Vec::new();
    }
    let denying =
        context.stack.layers.iter().filter(|layer| !layer.is_pack() && layer.model.todos.native == Native::Deny);
    let reason = format!("Tool '{tool}' keeps a todo list that nothing verifies, and the owner wants none.");
    let finding = Finding::deny(GUARD, code::TOOLS_NATIVE_TODO, reason).suggest("use the todos of Jackline");
    denying.map(|layer| observed(finding.clone(), layer)).collect()
}
