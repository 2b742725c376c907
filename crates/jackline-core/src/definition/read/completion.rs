//! `completion` of a validated tree to the model.

use super::super::model::{BLOCKS_MAX_DEFAULT, COMMAND_TIMEOUT_MS_MAX, Check, Command, Completion, When};
use super::super::yaml::{Entry, Node};
use super::{field, flag, items, named, text, texts, whole};
use crate::time::parse_duration_ms;

pub(super) fn read(entry: &Entry) -> Completion {
    let node = &entry.value;
    let blocks_max = whole(node.get("blocks_max")).and_then(|max| u32::try_from(max).ok());
    Completion {
        check: check(node),
        blocks_max: blocks_max.unwrap_or(BLOCKS_MAX_DEFAULT),
        subagents: flag(node.get("subagents")).unwrap_or_default(),
        when: named(node.get("when"), When::parse),
        line: entry.key_span.line,
    }
}

/// One that has no condition is a fault already; what stands in for it is never judged. Recursion is bounded by the
/// tree's depth.
fn check(node: &Node) -> Check {
    let several = |key: &str| items(node.get(key)).map(check).collect();
    if node.get("any").is_some() {
        return Check::Any(several("any"));
    }
    if node.get("files").is_some() {
        return Check::Files(texts(node.get("files")));
    }
    if let Some(name) = text(node.get("done")) {
        return Check::Done(name);
    }
    if node.get("todos").is_some() {
        return Check::Todos;
    }
    if node.get("file_policies").is_some() {
        return Check::FilePolicies;
    }
    match node.get("command") {
        Some(node) => Check::Command(command(node)),
        None => Check::All(several("all")),
    }
}

fn command(node: &Node) -> Command {
    let timeout = field(Some(node), "timeout").and_then(Node::text).and_then(parse_duration_ms);
    let timeout_ms = timeout.and_then(|timeout| u64::try_from(timeout).ok()).unwrap_or(COMMAND_TIMEOUT_MS_MAX);
    Command { run: texts(node.get("run")), timeout_ms }
}
