//! The client's other settings, as far as they decide whether our hooks count at all.
//!
//! The client passes over a whole file, hooks included, in which a setting that it knows has a wrong form. Hooks of a
//! wrong form it leaves out one by one, and settings that it does not know it ignores; but which it knows, only it can
//! say. So a form is either known to be taken, known to be refused, or not known. Each row was tried on the client.

use serde_json::Value;

/// What the client makes of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Taken {
    Yes,
    NotKnown,
    No,
}

const TEXTS: &[&str] = &[
    "$schema",
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "language",
    "model",
    "otelHeadersHelper",
    "outputStyle",
    "plansDirectory",
];

const FLAGS: &[&str] = &[
    "alwaysThinkingEnabled",
    "autoMemoryEnabled",
    "disableAllHooks",
    "enableAllProjectMcpServers",
    "fastMode",
    "includeCoAuthoredBy",
    "includeGitInstructions",
    "prefersReducedMotion",
    "respectGitignore",
    "showTurnDuration",
    "skipDangerousModePermissionPrompt",
    "skipWebFetchPreflight",
    "spinnerTipsEnabled",
    "terminalProgressBarEnabled",
];

const LISTS: &[&str] = &["availableModels", "companyAnnouncements", "disabledMcpjsonServers", "enabledMcpjsonServers"];

const MODES: &[&str] = &["acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"];

/// What the client makes of one setting beside `hooks`.
pub(super) fn taken(key: &str, value: &Value) -> Taken {
    match key {
        _ if TEXTS.contains(&key) => known(value.is_string()),
        _ if FLAGS.contains(&key) => known(value.is_boolean()),
        _ if LISTS.contains(&key) => hoped(value.as_array().is_some_and(|list| list.iter().all(Value::is_string))),
        "cleanupPeriodDays" => known(value.as_u64().is_some_and(|days| days > 0)),
        "env" => members(value, |_, value| hoped(value.is_string() || value.is_number() || value.is_boolean())),
        "permissions" => members(value, permission),
        "statusLine" => members(value, |key, value| match key {
            "type" => known(value == "command"),
            "command" => known(value.is_string()),
            _ => Taken::NotKnown,
        }),
        "attribution" => members(value, |key, value| match key {
            "commit" | "pr" => known(value.is_string()),
            _ => Taken::NotKnown,
        }),
        "enabledPlugins" => members(value, |_, value| hoped(value.is_boolean())),
        "sandbox" => {
            members(value, |key, value| if key == "enabled" { known(value.is_boolean()) } else { Taken::NotKnown })
        }
        _ => Taken::NotKnown,
    }
}

fn permission(key: &str, value: &Value) -> Taken {
    match key {
        "allow" | "deny" | "ask" | "additionalDirectories" => known(value.is_array()),
        "defaultMode" => known(value.as_str().is_some_and(|mode| MODES.contains(&mode))),
        "disableBypassPermissionsMode" => hoped(value == "disable"),
        _ => Taken::NotKnown,
    }
}

/// The worst of an object's members; what is no object is refused.
fn members(value: &Value, taken: impl Fn(&str, &Value) -> Taken) -> Taken {
    let Some(members) = value.as_object() else { return Taken::No };
    members.iter().map(|(key, value)| taken(key, value)).max().unwrap_or(Taken::Yes)
}

/// A form of which the client was seen to refuse any other.
fn known(fits: bool) -> Taken {
    if fits { Taken::Yes } else { Taken::No }
}

/// A form that the client was seen to take; others may be taken as well.
fn hoped(fits: bool) -> Taken {
    if fits { Taken::Yes } else { Taken::NotKnown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(key: &str, value: &Value, want: Taken) {
        assert_eq!(taken(key, value), want, "{key}: {value}");
    }

    #[test]
    fn forms_are_taken_refused_or_not_known() {
        for (key, value) in [
            ("model", json!("any")),
            ("disableAllHooks", json!(false)),
            ("enabledMcpjsonServers", json!(["a"])),
            ("cleanupPeriodDays", json!(30)),
            ("env", json!({"A": "x", "B": 1, "C": true})),
            ("permissions", json!({"allow": ["Bash(ls)", ""], "deny": [], "defaultMode": "plan"})),
            ("statusLine", json!({"type": "command", "command": "true"})),
            ("attribution", json!({"commit": "", "pr": "x"})),
            ("enabledPlugins", json!({"a@b": true})),
            ("sandbox", json!({"enabled": true})),
        ] {
            check(key, &value, Taken::Yes);
        }
        for (key, value) in [
            ("model", json!(7)),
            ("includeCoAuthoredBy", json!("x")),
            ("cleanupPeriodDays", json!(-1)),
            ("cleanupPeriodDays", json!(0)),
            ("cleanupPeriodDays", json!(1.5)),
            ("env", json!([])),
            ("permissions", json!(5)),
            ("permissions", json!({"allow": 7})),
            ("permissions", json!({"defaultMode": "bogus", "other": 1})),
            ("statusLine", json!({"type": "bogus"})),
            ("attribution", json!({"commit": 7})),
            ("sandbox", json!({"enabled": 7})),
        ] {
            check(key, &value, Taken::No);
        }
        for (key, value) in [
            ("somethingNew", json!({})),
            ("env", json!({"A": {}})),
            ("permissions", json!({"somethingNew": 5})),
            ("enabledPlugins", json!({"a@b": 7})),
        ] {
            check(key, &value, Taken::NotKnown);
        }
    }
}
