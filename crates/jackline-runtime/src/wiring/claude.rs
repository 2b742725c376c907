//! Claude Code's hooks: which events ask us, and what of its settings would leave a session unguarded.

mod known;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::hooks::{Form, HookEvent, Survey, Word, disabled};
use super::{CommandLine, Wiring as _};
use known::{Taken, taken};

/// The first version that honours `onFailure`; older ones let a call pass when its hook fails.
pub const ON_FAILURE_SINCE: (u64, u64, u64) = (2, 1, 295);

/// Every event that asks us. At a stop the host ignores `onFailure`.
pub const EVENTS: [HookEvent; 12] = [
    HookEvent::gate("PreToolUse"),
    HookEvent::other("PostToolUse"),
    HookEvent::other("PostToolUseFailure"),
    HookEvent::other("PostToolBatch"),
    HookEvent::other("UserPromptSubmit"),
    HookEvent::other("SessionStart"),
    HookEvent::other("SessionEnd"),
    HookEvent::stop("Stop"),
    HookEvent::other("SubagentStart"),
    HookEvent::stop("SubagentStop"),
    HookEvent::other("PreCompact"),
    HookEvent::gate("ConfigChange"),
];

/// How its settings name hooks.
pub const FORM: Form = Form {
    exec: true,
    on_failure: Some(("onFailure", Word::Text("block"))),
    marked: true,
    beside,
    ..Form::usual("claude", &EVENTS)
};

/// What the other settings do to our hooks.
fn beside(settings: &Value, survey: &mut Survey) {
    let judged = |wanted: Taken| {
        let beside = settings.as_object().into_iter().flatten().filter(|(key, _)| *key != "hooks");
        beside.filter(move |(key, value)| taken(key, value) == wanted).map(|(key, _)| key.clone())
    };
    survey.refused = judged(Taken::No).next();
    survey.doubtful = judged(Taken::NotKnown).collect();
    survey.switched_off = switched_off(settings);
    survey.managed_only = settings.get("allowManagedHooksOnly").is_some_and(|value| *value != Value::Bool(false));
}

/// The setting that switches every hook off, as a setting or as a variable.
fn switched_off(settings: &Value) -> Option<&'static str> {
    let is_given = |name: &&str| settings.get("env").is_some_and(|env| env.get(name).is_some());
    disabled(settings).or_else(|| SILENCING.iter().copied().find(is_given))
}

/// Variables with which the client runs no hooks.
const SILENCING: &[&str] = &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_RESTRICTED"];

/// Why these settings would leave a session unguarded, if they would.
///
/// A file that must hold our hooks must hold all of them, each such that nothing passes it unjudged, and nothing for
/// which the client may pass over it. A session that starts anew takes over what is refused here.
#[must_use]
pub fn breach(text: Option<&[u8]>, must_hold_our_hooks: bool) -> Option<String> {
    let survey = match FORM.survey(text.unwrap_or_default()) {
        Ok(survey) => survey,
        Err(fault) => return Some(fault.to_string()),
    };
    if let Some(setting) = survey.switched_off {
        return Some(format!("`{setting}` switches every hook off"));
    }
    if !must_hold_our_hooks {
        return None;
    }
    if let Some(key) = &survey.refused {
        return Some(format!("the client refuses `{key}` as it is, and passes over the whole file"));
    }
    if let Some(event) = survey.missing().first() {
        return Some(format!("Jackline's hook for `{event}` is gone"));
    }
    if let Some((entry, flaw)) = survey.open().next() {
        return Some(format!("Jackline's hook for `{}` {flaw}", entry.event));
    }
    let key = survey.doubtful.first()?;
    Some(format!("whether the client takes `{key}` is not known; if not, it passes over the whole file"))
}

/// Why these settings would have another program, or ours with other arguments, asked in place of this one.
#[must_use]
pub fn diverted(text: Option<&[u8]>, line: &CommandLine) -> Option<String> {
    let survey = FORM.survey(text.unwrap_or_default()).ok()?;
    let same = |other: &CommandLine| other.arguments == line.arguments && same_program(&other.program, &line.program);
    let other = survey.entries.iter().find(|entry| !same(&entry.line))?;
    Some(format!("Jackline's hook for `{}` runs something else than it did", other.event))
}

/// A program that is found by its name may be started by its path.
fn same_program(wired: &str, started: &str) -> bool {
    wired == started || !wired.contains('/') && Some(wired) == started.rsplit('/').next()
}
