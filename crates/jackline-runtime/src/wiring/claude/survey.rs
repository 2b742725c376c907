//! What Claude Code's settings say about us: which events ask, how well, and what would leave a session unguarded.

use serde_json::Value;
use thiserror::Error;

use super::EVENTS;
use super::known::{Taken, taken};
use crate::wiring::spans::{blank, settings};
use crate::wiring::{CommandLine, SettingsFault};

/// Seconds that a hook may take by itself; a shorter timeout cuts it off before it can say no.
const HOOK_S_MIN: f64 = 6.0;
/// Seconds that a hung hook may hold an agent up before people think that the host hangs.
pub const HOOK_S_MAX: f64 = 120.0;

/// What settings say about us.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Survey {
    /// The setting that switches every hook off, as it is written.
    pub switched_off: Option<&'static str>,
    /// Whether only hooks of the machine's own settings run; counts only there.
    pub managed_only: bool,
    /// The first setting for which the client passes over the whole file, hooks included.
    pub refused: Option<String>,
    /// Settings of which it is not known whether the client does.
    pub doubtful: Vec<String>,
    /// Our entries, by event.
    pub entries: Vec<Entry>,
}

/// One entry of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub event: String,
    pub line: CommandLine,
    pub timeout_s: Option<f64>,
    pub flaws: Vec<Flaw>,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Flaw {
    #[error("runs in a shell instead of by `args`")]
    Shell,
    #[error("lacks `onFailure: \"block\"`, so a failed hook lets the call pass")]
    PassesOnFailure,
    #[error("has no `timeout`, so a hung hook holds the agent up for minutes")]
    NoTimeout,
    #[error("has a `timeout` of {0} s, less than the hook may take")]
    ShortTimeout(f64),
    #[error("has a `timeout` of {0} s, so a hung hook holds the agent up that long")]
    LongTimeout(f64),
    #[error("is asked only for some calls (`{0}`)")]
    Filtered(&'static str),
    #[error("runs in the background (`{0}`), where its answer is ignored")]
    Background(&'static str),
}

impl Flaw {
    /// Whether something may pass unjudged because of it.
    #[must_use]
    pub fn fails_open(&self) -> bool {
        !matches!(self, Self::NoTimeout | Self::LongTimeout(_))
    }
}

impl Survey {
    /// Events that should ask us and do not.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let asks = |event: &str| self.entries.iter().any(|entry| entry.event == event);
        EVENTS.iter().map(|asked| asked.event).filter(|event| !asks(event)).collect()
    }

    /// Entries through which something may pass, with the first reason.
    pub fn open(&self) -> impl Iterator<Item = (&Entry, &Flaw)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.flaws.iter().find(|flaw| flaw.fails_open())?)))
    }
}

/// What a settings text says about us; an empty one says nothing.
///
/// # Errors
/// When it cannot be read as the host reads it.
pub fn survey(text: &[u8]) -> Result<Survey, SettingsFault> {
    if blank(text) {
        return Ok(Survey::default());
    }
    let settings = settings(text)?;
    let managed_only = settings.get("allowManagedHooksOnly").is_some_and(|value| *value != Value::Bool(false));
    let judged = |wanted: Taken| {
        let beside = settings.as_object().into_iter().flatten().filter(|(key, _)| *key != "hooks");
        beside.filter(move |(key, value)| taken(key, value) == wanted).map(|(key, _)| key.clone())
    };
    let (refused, doubtful) = (judged(Taken::No).next(), judged(Taken::NotKnown).collect());
    let switched_off = switched_off(&settings);
    let mut survey = Survey { switched_off, managed_only, refused, doubtful, entries: Vec::new() };
    let Some(hooks) = settings.get("hooks") else { return Ok(survey) };
    let hooks = hooks.as_object().ok_or_else(|| wrong("hooks".to_owned(), "an object"))?;
    for (event, groups) in hooks {
        for (group, hook) in hooks_of(event, groups)? {
            survey.entries.extend(entry(event, group, hook));
        }
    }
    Ok(survey)
}

/// Why these settings would leave a session unguarded, if they would.
///
/// A file that must hold our hooks must hold all of them, each such that nothing passes it unjudged, and nothing for
/// which the client may pass over it. A session that starts anew takes over what is refused here.
#[must_use]
pub fn breach(text: Option<&[u8]>, must_hold_our_hooks: bool) -> Option<String> {
    let survey = match survey(text.unwrap_or_default()) {
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
    let survey = survey(text.unwrap_or_default()).ok()?;
    let same = |other: &CommandLine| other.arguments == line.arguments && same_program(&other.program, &line.program);
    let other = survey.entries.iter().find(|entry| !same(&entry.line))?;
    Some(format!("Jackline's hook for `{}` runs something else than it did", other.event))
}

/// A program that is found by its name may be started by its path.
fn same_program(wired: &str, started: &str) -> bool {
    wired == started || !wired.contains('/') && Some(wired) == started.rsplit('/').next()
}

/// `disableAllHooks` counts unless it is `false`: what the host makes of other values is not to be guessed.
fn switched_off(settings: &Value) -> Option<&'static str> {
    let disabled = settings.get("disableAllHooks").is_some_and(|value| *value != Value::Bool(false));
    let simple = settings.get("env").and_then(|env| env.get("CLAUDE_CODE_SIMPLE")).is_some();
    if disabled { Some("disableAllHooks") } else { simple.then_some("CLAUDE_CODE_SIMPLE") }
}

/// The hooks of an event with their groups. One wrong form and the host refuses the whole file.
fn hooks_of<'a>(event: &str, groups: &'a Value) -> Result<Vec<(&'a Value, &'a Value)>, SettingsFault> {
    let groups = groups.as_array().ok_or_else(|| wrong(format!("hooks.{event}"), "an array"))?;
    let mut found = Vec::new();
    for group in groups {
        let hooks = group.get("hooks").and_then(Value::as_array);
        let hooks = hooks.ok_or_else(|| wrong(format!("hooks.{event}[].hooks"), "an array"))?;
        if !hooks.iter().all(Value::is_object) {
            return Err(wrong(format!("hooks.{event}[].hooks[]"), "an object"));
        }
        found.extend(hooks.iter().map(|hook| (group, hook)));
    }
    Ok(found)
}

fn wrong(place: String, wanted: &'static str) -> SettingsFault {
    SettingsFault::WrongType { place, wanted }
}

/// Whether a hook is one of ours.
pub(super) fn is_ours(hook: &Value) -> bool {
    command_line(hook).is_some_and(|(line, _)| runs_us(&line))
}

fn runs_us(line: &CommandLine) -> bool {
    let name = line.program.rsplit(['/', '\\']).next().unwrap_or_default();
    let ours = name == "jackline" || name == "jackline.exe";
    ours && line.arguments.first().is_some_and(|word| word == "hook")
        && line.arguments.get(1).is_some_and(|word| word == "claude")
}

/// What a hook runs, and whether without a shell. A shell's words are told apart by spaces: enough to know ours.
fn command_line(hook: &Value) -> Option<(CommandLine, bool)> {
    let command = hook.get("command")?.as_str()?;
    if let Some(arguments) = hook.get("args") {
        let arguments = arguments.as_array()?.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect();
        return Some((CommandLine { program: command.to_owned(), arguments }, true));
    }
    let mut words = command.split_ascii_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned());
    Some((CommandLine { program: words.next()?, arguments: words.collect() }, false))
}

fn entry(event: &str, group: &Value, hook: &Value) -> Option<Entry> {
    let (line, exec) = command_line(hook).filter(|(line, _)| runs_us(line))?;
    let gate = EVENTS.iter().any(|asked| asked.event == event && asked.gate);
    let mut flaws = Vec::new();
    if !exec {
        flaws.push(Flaw::Shell);
    }
    if gate && hook.get("onFailure").and_then(Value::as_str) != Some("block") {
        flaws.push(Flaw::PassesOnFailure);
    }
    let timeout_s = hook.get("timeout").and_then(Value::as_f64);
    let stops = EVENTS.iter().any(|asked| asked.event == event && asked.stops);
    flaws.extend(timeout(timeout_s, stops));
    flaws.extend(filters(group, hook));
    let truthy = |key: &&str| hook.get(*key).is_some_and(|value| *value != Value::Bool(false));
    flaws.extend(["async", "asyncRewake"].into_iter().filter(truthy).map(Flaw::Background));
    Some(Entry { event: event.to_owned(), line, timeout_s, flaws })
}

/// How long a stop may wait hangs on the commands that run there, which the settings do not tell.
fn timeout(seconds: Option<f64>, stops: bool) -> Option<Flaw> {
    match seconds {
        None => Some(Flaw::NoTimeout),
        Some(seconds) if seconds < HOOK_S_MIN => Some(Flaw::ShortTimeout(seconds)),
        Some(seconds) if seconds > HOOK_S_MAX && !stops => Some(Flaw::LongTimeout(seconds)),
        Some(_) => None,
    }
}

/// What keeps a hook from being asked for every call.
fn filters(group: &Value, hook: &Value) -> Option<Flaw> {
    let matches_all = match group.get("matcher") {
        None => true,
        Some(matcher) => matcher.as_str().is_some_and(|matcher| matcher.is_empty() || matcher == "*"),
    };
    if !matches_all {
        return Some(Flaw::Filtered("matcher"));
    }
    if hook.get("type").and_then(Value::as_str) != Some("command") {
        return Some(Flaw::Filtered("type"));
    }
    ["if", "once"].into_iter().find(|key| hook.get(*key).is_some()).map(Flaw::Filtered)
}
