//! What a host's settings say about us: which events ask, how well, and what would leave a session unguarded.

use serde_json::Value;
use thiserror::Error;

use super::{Form, HookEvent};
use crate::wiring::shield;
use crate::wiring::spans::{blank, settings};
use crate::wiring::{CommandLine, SettingsFault, comments};

/// Seconds that a hook may take by itself; a shorter timeout cuts it off before it can say no.
const HOOK_S_MIN: f64 = 6.0;
/// Seconds that a hung hook may hold an agent up before people think that the host hangs.
pub const HOOK_S_MAX: f64 = 120.0;

/// What some editors put in front of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What settings say about us.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Survey {
    /// Every event that should ask us.
    pub events: &'static [HookEvent],
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
    /// How many hooks of others are asked before a call.
    pub others: usize,
}

/// The setting by which several clients switch every hook off. It counts unless it is `false`: what they make of other
/// values is not to be guessed.
pub(in crate::wiring) fn disabled(settings: &Value) -> Option<&'static str> {
    const SETTING: &str = "disableAllHooks";
    settings.get(SETTING).is_some_and(|value| *value != Value::Bool(false)).then_some(SETTING)
}

/// One entry of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub event: String,
    pub line: CommandLine,
    pub timeout_s: Option<f64>,
    /// Whether an agent wants to stop then.
    pub stops: bool,
    pub flaws: Vec<Flaw>,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Flaw {
    #[error("runs in a shell instead of by `args`")]
    Shell,
    #[error("does not refuse by itself when our program is missing or fails, and the call passes then")]
    Bare,
    #[error("does more than run us")]
    More,
    #[error("lacks `env`, so a startup file of the user's shell may answer in its place")]
    StartupFiles,
    #[error("lacks `{0}`, so a failed hook lets the call pass")]
    PassesOnFailure(String),
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
    #[error("has a `{0}` of a form that the client may refuse, and it leaves the hook out then")]
    Misshapen(String),
    #[error("is not as this version writes it")]
    Altered,
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
        self.events.iter().map(|asked| asked.event).filter(|event| !asks(event)).collect()
    }

    /// Entries through which something may pass, with the first reason.
    pub fn open(&self) -> impl Iterator<Item = (&Entry, &Flaw)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.flaws.iter().find(|flaw| flaw.fails_open())?)))
    }
}

pub(super) fn survey(form: &Form, text: &[u8]) -> Result<Survey, SettingsFault> {
    let mut survey = Survey { events: form.events, ..Survey::default() };
    if blank(text) {
        return Ok(survey);
    }
    if !form.marked && text.starts_with(BYTE_ORDER_MARK) {
        return Err(SettingsFault::ByteOrderMark);
    }
    let settings = match std::str::from_utf8(text) {
        Ok(text) if form.comments => settings(comments::blanked(text).as_bytes())?,
        _ => settings(text)?,
    };
    (form.beside)(&settings, &mut survey);
    let Some(hooks) = settings.get("hooks") else { return Ok(survey) };
    let hooks = hooks.as_object().ok_or_else(|| wrong("hooks".to_owned(), "an object"))?;
    for (event, list) in hooks {
        // Some clients spell an event in two ways.
        let gates = form.events.iter().any(|asked| asked.gate && asked.event.eq_ignore_ascii_case(event));
        for (group, hook) in hooks_of(form, event, list)? {
            let ours = entry(form, event, group, hook);
            survey.others += usize::from(gates && ours.is_none());
            survey.entries.extend(ours);
        }
    }
    Ok(survey)
}

/// The hooks of an event with their groups. One wrong form and the host refuses the whole file.
fn hooks_of<'a>(form: &Form, event: &str, list: &'a Value) -> Result<Vec<(&'a Value, &'a Value)>, SettingsFault> {
    let list = list.as_array().ok_or_else(|| wrong(format!("hooks.{event}"), "an array"))?;
    if !form.grouped {
        let all = list.iter().all(Value::is_object);
        return if all { Ok(list.iter().map(|hook| (hook, hook)).collect()) } else { Err(no_object(event, "[]")) };
    }
    let mut found = Vec::new();
    for group in list {
        let hooks = group.get("hooks").and_then(Value::as_array);
        let hooks = hooks.ok_or_else(|| wrong(format!("hooks.{event}[].hooks"), "an array"))?;
        if !hooks.iter().all(Value::is_object) {
            return Err(no_object(event, "[].hooks[]"));
        }
        found.extend(hooks.iter().map(|hook| (group, hook)));
    }
    Ok(found)
}

fn no_object(event: &str, below: &str) -> SettingsFault {
    wrong(format!("hooks.{event}{below}"), "an object")
}

fn wrong(place: String, wanted: &'static str) -> SettingsFault {
    SettingsFault::WrongType { place, wanted }
}

/// Whether a hook is one of ours.
pub(in crate::wiring) fn is_ours(form: &Form, hook: &Value) -> bool {
    started(form, hook).is_some()
}

/// How a hook is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Exec,
    Shell,
    /// By a shell that refuses where it fails.
    Shielded,
    /// By a shell that does something else as well.
    More,
}

/// What a hook of ours runs. Of a shell's text that does more, the words are told apart by spaces: enough to know ours.
fn started(form: &Form, hook: &Value) -> Option<(CommandLine, Run)> {
    let command = hook.get(form.command)?.as_str()?;
    let (line, run) = if let Some(arguments) = hook.get("args") {
        let arguments = arguments.as_array()?.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect();
        (CommandLine { program: command.to_owned(), arguments }, Run::Exec)
    } else if let Some(line) = CommandLine::from_shell(command) {
        match (shield::behind(&line, form.shield), shield::within(&line, form.host)) {
            (Some(behind), _) => (behind, Run::Shielded),
            (None, Some(within)) => (within, Run::More),
            (None, None) => (line, Run::Shell),
        }
    } else {
        let mut words = command.split_ascii_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned());
        let line = CommandLine { program: words.next()?, arguments: words.collect() };
        (shield::within(&line, form.host).unwrap_or(line), Run::More)
    };
    Some((line, run)).filter(|(line, _)| line.asks_for(form.host))
}

fn entry(form: &Form, event: &str, group: &Value, hook: &Value) -> Option<Entry> {
    let (line, run) = started(form, hook)?;
    let asked = form.events.iter().find(|asked| asked.event == event);
    let stops = asked.is_some_and(|asked| asked.stops);
    let gates = asked.is_some_and(|asked| asked.gate);
    let mut flaws = Vec::new();
    match run {
        Run::Shell if form.shield.is_some() && gates => flaws.push(Flaw::Bare),
        Run::Shell | Run::Shielded if form.exec => flaws.push(Flaw::Shell),
        Run::Shielded if !gates => flaws.push(Flaw::More),
        Run::Exec | Run::Shell | Run::Shielded => {}
        Run::More => flaws.push(if form.exec { Flaw::Shell } else { Flaw::More }),
    }
    if gates {
        flaws.extend(passes_on_failure(form, hook));
    }
    let given = |(name, value): &(&str, &str)| hook.get("env").and_then(|env| env.get(name)?.as_str()) == Some(*value);
    flaws.extend((!form.env.iter().all(given)).then_some(Flaw::StartupFiles));
    let timeout_s = hook.get(form.timeout.0).and_then(Value::as_f64).map(|units| units / form.timeout.1 as f64);
    let misshapen = misshapen(form, hook);
    if misshapen.as_deref() != Some(form.timeout.0) {
        flaws.extend(timeout(timeout_s, stops));
    }
    flaws.extend(misshapen.map(Flaw::Misshapen));
    flaws.extend(filters(form, group, hook));
    let truthy = |key: &&str| hook.get(*key).is_some_and(|value| *value != Value::Bool(false));
    flaws.extend(["async", "asyncRewake"].into_iter().filter(truthy).map(Flaw::Background));
    Some(Entry { event: event.to_owned(), line, timeout_s, stops, flaws })
}

/// What a person may have added to a hook, or changed: its forms are those that clients know.
fn misshapen(form: &Form, hook: &Value) -> Option<String> {
    const TEXTS: [&str; 3] = ["statusMessage", "name", "description"];
    const SHELLS: [&str; 2] = ["bash", "powershell"];
    let fits = |key: &str, value: &Value| match key {
        _ if key == form.timeout.0 => value.is_number(),
        "shell" => value.as_str().is_some_and(|shell| SHELLS.contains(&shell)),
        _ => !TEXTS.contains(&key) || value.is_string(),
    };
    let members = hook.as_object()?;
    members.iter().find(|(key, value)| !fits(key, value)).map(|(key, _)| key.clone())
}

fn passes_on_failure(form: &Form, hook: &Value) -> Option<Flaw> {
    let (key, value) = form.on_failure?;
    let wanted = value.value();
    (hook.get(key) != Some(&wanted)).then(|| Flaw::PassesOnFailure(format!("{key}: {wanted}")))
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
fn filters(form: &Form, group: &Value, hook: &Value) -> Option<Flaw> {
    let matches_all = match group.get("matcher") {
        None => true,
        Some(matcher) => matcher.as_str().is_some_and(|matcher| matcher.is_empty() || matcher == "*"),
    };
    if !matches_all {
        return Some(Flaw::Filtered("matcher"));
    }
    if form.typed && hook.get("type").and_then(Value::as_str) != Some("command") {
        return Some(Flaw::Filtered("type"));
    }
    ["if", "once"].into_iter().find(|key| hook.get(*key).is_some()).map(Flaw::Filtered)
}
