//! OpenCode's plugin: it starts no hooks, so a file of its own asks our program. Generated whole, and known by its head.

use serde_json::{Value, json};

use super::hooks::{Entry, Flaw, HookEvent, Survey};
use super::{CommandLine, Removed, SETTINGS_BYTES_MAX, SettingsFault, TIMEOUT_S, Timeouts, Wiring};

/// The plugin, with nothing to start in it.
const PLUGIN: &str = include_str!("opencode/plugin.js");
/// How a file of ours begins.
const HEAD: &str = "// Jackline's plugin for OpenCode";
/// The line that says what is started, and the one that says how long it is waited for.
const LINE: &str = "const LINE = ";
const SECONDS: &str = "const SECONDS = ";

/// What its file says.
pub const FORM: Plugin = Plugin;

/// A plugin that is a file of our own.
#[derive(Debug, Clone, Copy)]
pub struct Plugin;

/// Every event about which the plugin asks.
pub const EVENTS: [HookEvent; 6] = [
    HookEvent::gate("tool.execute.before"),
    HookEvent::other("tool.execute.after"),
    HookEvent::other("chat.message"),
    HookEvent::other("session.created"),
    HookEvent::stop("session.idle"),
    HookEvent::other("session.deleted"),
];

impl Wiring for Plugin {
    fn add(&self, text: Option<&str>, line: &CommandLine, timeouts: Timeouts) -> Result<String, SettingsFault> {
        match text {
            Some(text) if !text.trim().is_empty() && !text.starts_with(HEAD) => Err(SettingsFault::NotOurs),
            _ => Ok(written(line, timeouts.stop_s)),
        }
    }

    fn remove(&self, text: &str) -> Result<Removed, SettingsFault> {
        Ok(if text.starts_with(HEAD) { Removed::All } else { Removed::Nothing })
    }

    fn survey(&self, text: &[u8]) -> Result<Survey, SettingsFault> {
        if text.len() > SETTINGS_BYTES_MAX {
            return Err(SettingsFault::TooLarge { bytes: text.len(), most: SETTINGS_BYTES_MAX });
        }
        let text = String::from_utf8_lossy(text);
        let mut survey = Survey { events: &EVENTS, ..Survey::default() };
        if let Some(line) = Some(&text).filter(|text| text.starts_with(HEAD)).and_then(|text| started(text)) {
            survey.entries = entries(&text, &line);
        }
        Ok(survey)
    }
}

fn written(line: &CommandLine, stop_s: u64) -> String {
    let words: Vec<&str> = std::iter::once(&line.program).chain(&line.arguments).map(String::as_str).collect();
    let seconds = format!("{SECONDS}{{ \"gate\": {TIMEOUT_S}, \"stop\": {stop_s} }}");
    let mut lines = PLUGIN.lines().map(|own| match own {
        own if own.starts_with(LINE) => format!("{LINE}{}", json!(words)),
        own if own.starts_with(SECONDS) => seconds.clone(),
        own => own.to_owned(),
    });
    let mut text = String::with_capacity(PLUGIN.len());
    lines.by_ref().for_each(|line| text.extend([line.as_str(), "\n"]));
    text
}

fn after<'a>(text: &'a str, front: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(front))
}

fn started(text: &str) -> Option<CommandLine> {
    let words: Vec<String> = serde_json::from_str(after(text, LINE)?).ok()?;
    let mut words = words.into_iter();
    let line = CommandLine { program: words.next()?, arguments: words.collect() };
    Some(line).filter(|line| line.asks_for("opencode"))
}

/// One entry per event; a file that differs from what is written today in anything but what it starts may do anything.
fn entries(text: &str, line: &CommandLine) -> Vec<Entry> {
    let seconds: Value = after(text, SECONDS).and_then(|said| serde_json::from_str(said).ok()).unwrap_or_default();
    let stop_s = seconds.get("stop").and_then(Value::as_u64).unwrap_or_default();
    let altered = written(line, stop_s) != *text;
    let flaws = || if altered { vec![Flaw::Altered] } else { Vec::new() };
    let wait = |asked: &HookEvent| if asked.stops { stop_s as f64 } else { TIMEOUT_S as f64 };
    let entry = |asked: &HookEvent| Entry {
        event: asked.event.to_owned(),
        line: line.clone(),
        timeout_s: Some(wait(asked)),
        stops: asked.stops,
        flaws: flaws(),
    };
    EVENTS.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> CommandLine {
        CommandLine::from_shell("'/o p/jackline' hook opencode --store /s").unwrap()
    }

    #[test]
    fn the_file_is_ours_alone_and_goes_as_it_came() {
        let text = FORM.add(None, &line(), Timeouts { stop_s: 33 }).unwrap();
        assert!(text.contains("const LINE = [\"/o p/jackline\",\"hook\",\"opencode\",\"--store\",\"/s\"]\n"), "{text}");
        assert!(text.contains("const SECONDS = { \"gate\": 10, \"stop\": 33 }\n"));
        assert_eq!(FORM.add(Some(&text), &line(), Timeouts { stop_s: 33 }).unwrap(), text);
        assert_eq!(FORM.remove(&text).unwrap(), Removed::All);
        let survey = FORM.survey(text.as_bytes()).unwrap();
        assert_eq!((survey.missing(), survey.open().count()), (vec![], 0));
        assert!(survey.entries.iter().all(|entry| entry.line == line()));
    }

    #[test]
    fn the_program_is_started_where_the_host_was() {
        assert!(PLUGIN.contains("return ask(message, directory, seconds)"), "a package has its own definition");
        assert!(PLUGIN.contains("{ cwd, stdio:") && !PLUGIN.contains("worktree"), "the repository's top is not it");
    }

    #[test]
    fn what_is_not_ours_is_left_alone_and_what_was_changed_is_told() {
        let other = "export const Other = async () => ({})\n";
        assert_eq!(FORM.add(Some(other), &line(), Timeouts::default()), Err(SettingsFault::NotOurs));
        assert_eq!(FORM.remove(other).unwrap(), Removed::Nothing);
        assert!(FORM.survey(other.as_bytes()).unwrap().entries.is_empty());
        let text = FORM.add(None, &line(), Timeouts::default()).unwrap();
        let tampered = text.replace("throw new Error(answer.deny)", "return");
        assert_ne!(tampered, text);
        assert_eq!(FORM.survey(tampered.as_bytes()).unwrap().open().count(), EVENTS.len());
        let elsewhere = text.replace("\"opencode\"", "\"claude\"");
        assert!(FORM.survey(elsewhere.as_bytes()).unwrap().entries.is_empty());
    }
}
