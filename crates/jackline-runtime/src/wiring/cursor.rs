//! Cursor's hooks, as its documentation has them: which events ask us.

use super::hooks::{Form, HookEvent, Word};

/// Every event that asks us. Its older gates, one per kind of tool, would ask about the same calls once more.
pub const EVENTS: [HookEvent; 10] = [
    HookEvent::gate("preToolUse"),
    HookEvent::other("postToolUse"),
    HookEvent::other("postToolUseFailure"),
    HookEvent::other("beforeSubmitPrompt"),
    HookEvent::other("sessionStart"),
    HookEvent::other("sessionEnd"),
    HookEvent::stop("stop"),
    HookEvent::other("subagentStart"),
    HookEvent::stop("subagentStop"),
    HookEvent::other("preCompact"),
];

/// How its files of hooks name them.
pub const FORM: Form = Form {
    head: &[("version", 1)],
    grouped: false,
    typed: false,
    on_failure: Some(("failClosed", Word::Yes)),
    ..Form::usual("cursor", &EVENTS)
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::{CommandLine, Removed, Timeouts, Wiring as _};
    use serde_json::{Value, json};

    fn line() -> CommandLine {
        CommandLine::from_shell("/o/jackline hook cursor").unwrap()
    }

    #[test]
    fn a_file_of_hooks_has_a_version_and_entries_without_groups() {
        let text = FORM.add(None, &line(), Timeouts::default()).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["version"], 1);
        let gate = json!({ "command": "/o/jackline hook cursor", "timeout": 10, "failClosed": true });
        assert_eq!(value["hooks"]["preToolUse"], json!([gate]));
        assert_eq!(value["hooks"]["stop"], json!([{ "command": "/o/jackline hook cursor", "timeout": 3600 }]));
        let survey = FORM.survey(text.as_bytes()).unwrap();
        assert_eq!((survey.missing(), survey.open().count()), (vec![], 0));
        assert_eq!(FORM.remove(&text).unwrap(), Removed::All);
        let passing = text.replace(", \"failClosed\": true", "");
        assert_eq!(FORM.survey(passing.as_bytes()).unwrap().open().count(), 1);
    }

    #[test]
    fn hooks_of_others_stay() {
        for text in [
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"mine\" }\n    ]\n  }\n}\n",
            r#"{"version":1,"hooks":{"preToolUse":[{"command":"mine","matcher":"Shell"}],"afterFileEdit":[]}}"#,
            r#"{"version":1,"hooks":{}}"#,
        ] {
            let added = FORM.add(Some(text), &line(), Timeouts::default()).unwrap();
            assert_eq!(FORM.add(Some(&added), &line(), Timeouts::default()).unwrap(), added);
            assert!(FORM.survey(added.as_bytes()).unwrap().missing().is_empty());
            assert_eq!(FORM.remove(&added).unwrap(), Removed::Rest(text.to_owned()), "{added}");
        }
        assert!(FORM.add(Some("{\"hooks\": {\"stop\": [7]}}"), &line(), Timeouts::default()).is_err());
    }
}
