//! The client's other settings, as far as they decide whether our hooks count at all.
//!
//! The client passes over a whole file, hooks included, in which a setting that it knows has a wrong form. Hooks of a
//! wrong form it leaves out one by one, and settings that it does not know it ignores; but which it knows, only it can
//! say. So a form is either known to be taken, known to be refused, or not known. Each row was tried on the client, or it
//! stands so in the schema of 2.1.325; of those no form is known to be refused.

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

/// What the schema says takes a text.
const TEXTS_OF_SCHEMA: &[&str] = &[
    "agent",
    "autoMemoryDirectory",
    "gcpAuthRefresh",
    "minimumVersion",
    "prUrlTemplate",
    "proxyAuthHelper",
    "timeZone",
    // One that is no choice of theirs is passed over alone.
    "editorMode",
    "effortLevel",
    "viewMode",
];

/// What the schema says takes yes or no.
const FLAGS_OF_SCHEMA: &[&str] = &[
    "autoCompactEnabled",
    "autoContinueAtUsageLimit",
    "autoDreamEnabled",
    "autoScrollEnabled",
    "autoUploadSessions",
    "awaySummaryEnabled",
    "bashEditDiffEnabled",
    "disableAgentView",
    "disableArtifact",
    "disableBundledSkills",
    "disableClaudeAiConnectors",
    "disableRemoteControl",
    "disableSkillShellExecution",
    "disableWorkflows",
    "emojiCompletionEnabled",
    "enableArtifact",
    "enableWorkflows",
    "enforceAvailableModels",
    "fastModePerSessionOptIn",
    "fileCheckpointingEnabled",
    "idleCompaction",
    "inputNeededNotifEnabled",
    "isolatePeerMachines",
    "promptSuggestionEnabled",
    "remoteControlAtStartup",
    "respondToBashCommands",
    "showClearContextOnPlanAccept",
    "showMessageTimestamps",
    "showThinkingSummaries",
    "switchModelsOnFlag",
    "syntaxHighlightingDisabled",
    "terminalTitleFromRename",
    "todoFeatureEnabled",
    "verbose",
    "wheelScrollAccelerationEnabled",
    "workflowKeywordTriggerEnabled",
];

/// What the schema says takes a list of texts.
const LISTS_OF_SCHEMA: &[&str] = &[
    "allowedHttpHookUrls",
    "claudeMdExcludes",
    "deniedModels",
    "fallbackModel",
    "httpHookAllowedEnvVars",
    "pluginSuggestionMarketplaces",
];

/// What the schema says takes one of these.
const CHOICES_OF_SCHEMA: &[(&str, &[&str])] = &[
    ("autoUpdatesChannel", &["latest", "stable", "rc"]),
    ("defaultShell", &["bash", "powershell"]),
    ("disableAutoMode", &["disable"]),
    ("tui", &["default", "fullscreen"]),
];

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
            "padding" => hoped(value.is_number()),
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
        _ => hoped(fits_schema(key, value)),
    }
}

/// Whether a setting has a form that the client's schema takes.
fn fits_schema(key: &str, value: &Value) -> bool {
    match key {
        _ if TEXTS_OF_SCHEMA.contains(&key) => value.is_string(),
        _ if FLAGS_OF_SCHEMA.contains(&key) => value.is_boolean(),
        _ if LISTS_OF_SCHEMA.contains(&key) => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        "extraKnownMarketplaces" => value.as_object().is_some_and(|all| all.values().all(is_marketplace)),
        "fileSuggestion" => value["type"] == "command" && value["command"].is_string(),
        "modelOverrides" => value.as_object().is_some_and(|all| all.values().all(Value::is_string)),
        _ => {
            CHOICES_OF_SCHEMA.iter().any(|(name, choices)| *name == key && choices.iter().any(|choice| value == choice))
        }
    }
}

/// Whether a place that plugins come from is one of those that need no address of a certain form.
fn is_marketplace(entry: &Value) -> bool {
    const KEYS: &[&str] = &["source", "autoUpdate"];
    let source = entry.get("source").unwrap_or(&Value::Null);
    let named = match source["source"].as_str() {
        Some("github") => &["source", "repo", "ref"][..],
        Some("directory" | "file") => &["source", "path"],
        _ => return false,
    };
    let within = |value: &Value, keys: &[&str]| {
        value.as_object().is_some_and(|members| members.keys().all(|key| keys.contains(&key.as_str())))
    };
    let told = named.get(1).is_some_and(|key| source[*key].is_string());
    let plain = source.as_object().into_iter().flatten().all(|(_, value)| value.is_string());
    told && plain
        && within(source, named)
        && within(entry, KEYS)
        && entry.get("autoUpdate").is_none_or(Value::is_boolean)
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
            ("disableSkillShellExecution", json!(true)),
            ("autoUpdatesChannel", json!("stable")),
            ("claudeMdExcludes", json!(["a"])),
            ("statusLine", json!({"type": "command", "command": "true", "padding": 0})),
            ("fileSuggestion", json!({"type": "command", "command": "true"})),
            ("extraKnownMarketplaces", json!({})),
            (
                "extraKnownMarketplaces",
                json!({"a": {"source": {"source": "github", "repo": "o/r"}, "autoUpdate": true}}),
            ),
            ("extraKnownMarketplaces", json!({"a": {"source": {"source": "directory", "path": "/p"}}})),
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
            ("disableSkillShellExecution", json!("true")),
            ("autoUpdatesChannel", json!("nightly")),
            ("fileSuggestion", json!("true")),
            ("extraKnownMarketplaces", json!({"a": {"source": {"source": "github"}}})),
            ("extraKnownMarketplaces", json!({"a": {"source": {"source": "github", "repo": "o/r", "path": 7}}})),
            ("extraKnownMarketplaces", json!({"a": {"source": {"source": "url", "url": "x"}}})),
            ("extraKnownMarketplaces", json!({"a": 7})),
        ] {
            check(key, &value, Taken::NotKnown);
        }
    }
}
