//! Codex's hooks: which events ask us. Whether it runs them hangs on its trust, which is kept elsewhere.

mod config;
mod placed;
pub mod trust;

use super::SettingsFault;
use super::hooks::{Form, HookEvent};
use super::shield::Shield;

/// Every event that asks us. One that has nothing to say is not asked for: each costs the agent a process.
pub const EVENTS: [HookEvent; 9] = [
    HookEvent::gate("PreToolUse"),
    HookEvent::other("PostToolUse"),
    HookEvent::other("UserPromptSubmit"),
    HookEvent::other("SessionStart"),
    HookEvent::other("SessionEnd"),
    HookEvent::stop("Stop"),
    HookEvent::other("SubagentStart"),
    HookEvent::stop("SubagentStop"),
    HookEvent::other("PreCompact"),
];

/// How its files of hooks name them.
pub const FORM: Form = Form { shield: Some(Shield::Plain), ..Form::usual("codex", &EVENTS) };

/// How far Codex trusts a project, by its directory; nothing where nobody was asked. `text` is its `config.toml`.
///
/// # Errors
/// When it cannot be read as Codex reads it.
pub fn trust_level(text: &str, project: &str) -> Result<Option<String>, SettingsFault> {
    Ok(config::Config::read(text)?.trust_level(project))
}

/// Whether Codex gives programs a terminal to which its agent may write later. `text` is its `config.toml`.
///
/// # Errors
/// When it cannot be read as Codex reads it.
pub fn has_terminal(text: &str) -> Result<bool, SettingsFault> {
    Ok(config::Config::read(text)?.has_terminal())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Flaw, Removed, Timeouts, Wiring as _};
    use serde_json::{Value, json};

    #[test]
    fn an_entry_is_a_shells_text_and_goes_as_it_came() {
        let line = CommandLine::from_shell("/o/jackline hook codex --store '/a b'").unwrap();
        let text = FORM.add(None, &line, Timeouts::default()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let hook = json!({ "type": "command", "command": "/o/jackline hook codex --store '/a b'", "timeout": 10 });
        assert_eq!(value["hooks"]["PostToolUse"], json!([{ "hooks": [hook] }]));
        let gate = value["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
        assert!(
            gate.starts_with("/bin/sh -c '") && gate.ends_with("' /o/jackline hook codex --store '/a b'"),
            "{gate}"
        );
        assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["timeout"], 3600);
        let survey = FORM.survey(text.as_bytes()).unwrap();
        assert_eq!((survey.missing(), survey.open().count()), (vec![], 0));
        assert!(survey.entries.iter().all(|entry| entry.line == line));
        assert_eq!(FORM.remove(&text).unwrap(), Removed::All);
        let wrapped = text.replace("/o/jackline hook", "true && /o/jackline hook");
        let survey = FORM.survey(wrapped.as_bytes()).unwrap();
        assert_eq!(
            survey.open().map(|(entry, flaw)| (entry.event.as_str(), flaw)).collect::<Vec<_>>(),
            [("PreToolUse", &Flaw::More)]
        );
        let bare = text.replace(gate.replace('"', "\\\"").as_str(), "/o/jackline hook codex --store '/a b'");
        let survey = FORM.survey(bare.as_bytes()).unwrap();
        assert_eq!(
            survey.open().map(|(entry, flaw)| (entry.event.as_str(), flaw)).collect::<Vec<_>>(),
            [("PreToolUse", &Flaw::Bare)]
        );
        assert_eq!(FORM.add(Some(&bare), &line, Timeouts::default()).unwrap(), text, "it is renewed in its place");
        let more = text.replace(" '/a b'\"", " '/a b' || true\"");
        assert_eq!(FORM.survey(more.as_bytes()).unwrap().open().count(), EVENTS.len());
    }
}
