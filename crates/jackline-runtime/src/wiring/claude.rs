//! Claude Code's hooks: which events ask us, how an entry looks, adding and removing ours.
//!
//! An entry is ours when its program's file name is `jackline` and its arguments begin with `hook claude`, wherever that
//! program lies and however an older version wrote the rest.

mod known;
mod survey;
#[cfg(test)]
mod tests;

use jackline_core::definition::model::AgentCommands;
use jackline_core::stack::Stack;
use jackline_core::todos::{COMMAND_MS_MAX, STOP_MS_MAX};
use serde_json::{Value, json};

use super::edit::{Edits, Shape, fresh};
use super::spans::{self, Kind, Node};
use super::{CommandLine, Removed, SettingsFault};
use crate::files::{ACTIONS_MS_MAX, actions};

pub use survey::{Entry, Flaw, HOOK_S_MAX, Survey, breach, diverted, survey};

/// The first version that honours `onFailure`; older ones let a call pass when its hook fails.
pub const ON_FAILURE_SINCE: (u64, u64, u64) = (2, 1, 295);

/// Seconds until the host gives up on a hook: twice what the hook gives itself, so that it always gets to say no.
const TIMEOUT_S: u64 = 10;
/// Seconds for the end of a turn beside the commands that run there.
const STOP_TIMEOUT_S: u64 = 20;
/// Seconds a command may need beyond its time until it has ended.
const COMMAND_GRACE_S: u64 = 3;
/// Seconds for the end of a turn, however many commands there are: nobody waits longer than an hour.
const STOP_TIMEOUT_S_MAX: u64 = 3600;

/// How long the host waits for us where that hangs on the definitions in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// At the end of a turn.
    pub stop_s: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { stop_s: STOP_TIMEOUT_S }
    }
}

impl Timeouts {
    /// What these definitions need: at the end of a turn every command of theirs may run, one after another.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        let models = || stack.layers.iter().map(|layer| &layer.model);
        let completions = models().filter_map(|model| model.completion.as_ref());
        let commands = completions.flat_map(|completion| completion.check.commands());
        let required = models().flat_map(|model| &model.todos.require).flat_map(|required| &required.checks);
        let required = required.filter(|check| check.command().is_some()).map(|_| COMMAND_MS_MAX);
        let agents = models().any(|model| model.todos.agent_commands == Some(AgentCommands::Allow));
        let all = commands.map(|command| command.timeout_ms).chain(required).chain(agents.then_some(STOP_MS_MAX));
        let seconds: u64 = all.map(|ms| ms.div_ceil(1000) + COMMAND_GRACE_S).sum();
        Self { stop_s: (STOP_TIMEOUT_S + seconds + acting_s(stack)).min(STOP_TIMEOUT_S_MAX) }
    }

    fn of_event(self, asked: &Asked) -> u64 {
        if asked.stops { self.stop_s } else { TIMEOUT_S }
    }
}

/// Seconds for the commands of file policies, where there are any.
fn acting_s(stack: &Stack) -> u64 {
    let acts = actions::any(stack);
    if acts { ACTIONS_MS_MAX.div_ceil(1000) } else { 0 }
}

/// An event that asks us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    pub event: &'static str,
    /// Whether a failed hook must block: where passing would let something through. A person's prompt, a compaction or
    /// the end of a turn is not held up by a broken guard; the host ignores it at a stop anyway.
    pub gate: bool,
    /// Whether an agent wants to stop, where commands may run.
    pub stops: bool,
}

/// Every event that asks us.
pub const EVENTS: [Asked; 12] = [
    Asked { event: "PreToolUse", gate: true, stops: false },
    Asked { event: "PostToolUse", gate: false, stops: false },
    Asked { event: "PostToolUseFailure", gate: false, stops: false },
    Asked { event: "PostToolBatch", gate: false, stops: false },
    Asked { event: "UserPromptSubmit", gate: false, stops: false },
    Asked { event: "SessionStart", gate: false, stops: false },
    Asked { event: "SessionEnd", gate: false, stops: false },
    Asked { event: "Stop", gate: false, stops: true },
    Asked { event: "SubagentStart", gate: false, stops: false },
    Asked { event: "SubagentStop", gate: false, stops: true },
    Asked { event: "PreCompact", gate: false, stops: false },
    Asked { event: "ConfigChange", gate: true, stops: false },
];

impl Asked {
    /// Our group for this event; without a matcher it is asked for every tool.
    fn group(&self, line: &CommandLine, timeouts: Timeouts) -> Shape<'static> {
        let mut hook = vec![
            ("type", Shape::Leaf(json!("command"))),
            ("command", Shape::Leaf(json!(line.program))),
            ("args", Shape::Leaf(json!(line.arguments))),
            ("timeout", Shape::Leaf(json!(timeouts.of_event(self)))),
        ];
        if self.gate {
            hook.push(("onFailure", Shape::Leaf(json!("block"))));
        }
        // On one line, because a person reads twelve of them in a diff.
        Shape::Line(Box::new(Shape::Object(vec![("hooks", Shape::Array(vec![Shape::Object(hook)]))])))
    }
}

/// The settings with our entries in them, and everything else as it was; a missing or empty file becomes a new one.
///
/// Entries of ours that look different are replaced. Adding twice changes nothing.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads.
pub fn add(text: Option<&str>, line: &CommandLine, timeouts: Timeouts) -> Result<String, SettingsFault> {
    let Some(text) = text else { return Ok(format!("{}\n", fresh("hooks", &all(line, timeouts)))) };
    if spans::blank(text.as_bytes()) {
        return Ok(format!("{}{text}", fresh("hooks", &all(line, timeouts))));
    }
    if let Some(key) = survey(text.as_bytes())?.refused {
        return Err(SettingsFault::Refused(key));
    }
    match remove(text)? {
        _ if holds_exactly(text, line, timeouts)? => Ok(text.to_owned()),
        Removed::Nothing => insert(text, line, timeouts),
        Removed::Rest(rest) => add(Some(&rest), line, timeouts),
        Removed::All => add(None, line, timeouts),
    }
}

/// The settings without our entries. Containers that were made for them go too.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads.
pub fn remove(text: &str) -> Result<Removed, SettingsFault> {
    if spans::blank(text.as_bytes()) {
        return Ok(Removed::Nothing);
    }
    let (root, _) = spans::read(text)?;
    let Some(hooks) = hooks(&root)? else { return Ok(Removed::Nothing) };
    let mut edits = Edits::new(text, &root);
    let mut found = false;
    let mut gone = Vec::new();
    for item in &hooks.items {
        let (any, whole) = remove_event(text, &mut edits, item.key.as_deref().unwrap_or_default(), &item.node)?;
        found |= any;
        gone.push(whole);
    }
    if !found {
        return Ok(Removed::Nothing);
    }
    if !edits.emptied(hooks, &gone) {
        return Ok(Removed::Rest(edits.done()));
    }
    Ok(edits.left(&root, "hooks"))
}

/// Takes our entries out of one event; whether there were any, and whether the event goes as a whole.
fn remove_event(text: &str, edits: &mut Edits<'_>, event: &str, groups: &Node) -> Result<(bool, bool), SettingsFault> {
    let mut gone = Vec::new();
    let mut found = false;
    for group in &groups_of(event, groups)?.items {
        let Some(entries) = group.node.member("hooks").filter(|entries| entries.kind == Kind::Array) else {
            gone.push(false);
            continue;
        };
        let ours: Vec<bool> = entries.items.iter().map(|item| survey::is_ours(&item.node.value(text))).collect();
        let any = ours.contains(&true);
        let whole = any && ours.iter().all(|ours| *ours);
        if any && !whole {
            edits.drop_items(entries, &ours);
        }
        found |= any;
        gone.push(whole);
    }
    let whole = gone.contains(&true) && edits.emptied(groups, &gone);
    Ok((found, whole))
}

fn insert(text: &str, line: &CommandLine, timeouts: Timeouts) -> Result<String, SettingsFault> {
    let (root, _) = spans::read(text)?;
    let mut edits = Edits::new(text, &root);
    let Some(hooks) = hooks(&root)? else {
        edits.add_members(&root, &[("hooks", all(line, timeouts))]);
        return Ok(edits.done());
    };
    let mut missing = Vec::new();
    for asked in &EVENTS {
        match hooks.member(asked.event) {
            Some(groups) => edits.add_element(groups_of(asked.event, groups)?, &asked.group(line, timeouts)),
            None => missing.push((asked.event, Shape::Array(vec![asked.group(line, timeouts)]))),
        }
    }
    edits.add_members(hooks, &missing);
    Ok(edits.done())
}

fn all(line: &CommandLine, timeouts: Timeouts) -> Shape<'static> {
    Shape::Object(EVENTS.iter().map(|asked| (asked.event, Shape::Array(vec![asked.group(line, timeouts)]))).collect())
}

fn hooks(root: &Node) -> Result<Option<&Node>, SettingsFault> {
    let wrong = || SettingsFault::WrongType { place: "hooks".to_owned(), wanted: "an object" };
    match root.member("hooks") {
        Some(hooks) if hooks.kind != Kind::Object => Err(wrong()),
        hooks => Ok(hooks),
    }
}

fn groups_of<'a>(event: &str, groups: &'a Node) -> Result<&'a Node, SettingsFault> {
    let wrong = || SettingsFault::WrongType { place: format!("hooks.{event}"), wanted: "an array" };
    if groups.kind == Kind::Array { Ok(groups) } else { Err(wrong()) }
}

/// Whether our entries stand there as they would be written now, once each, and no other of ours.
fn holds_exactly(text: &str, line: &CommandLine, timeouts: Timeouts) -> Result<bool, SettingsFault> {
    let settings = spans::settings(text.as_bytes())?;
    let groups = |event: &str| settings.pointer("/hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
    let once = |asked: &Asked| {
        let wanted = asked.group(line, timeouts).value();
        groups(asked.event).is_some_and(|groups| groups.iter().filter(|group| **group == wanted).count() == 1)
    };
    Ok(EVENTS.iter().all(once) && survey(text.as_bytes())?.entries.len() == EVENTS.len())
}
