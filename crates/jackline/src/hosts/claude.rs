//! Claude Code on this machine: its settings files, its servers, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::claude::FORM;
use jackline_runtime::wiring::servers::Place;
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Host, Listed, SilencedBy, Trial, basis, folder, plugins, text};
use crate::bounded::Answered;
use crate::error::CommandError;
use crate::place;

/// Where a project lists servers for several hosts.
pub(super) const PROJECT_SERVERS: &str = ".mcp.json";

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "claude",
    title: "Claude Code",
    program: Some("claude"),
    home,
    scopes: &Scope::ALL,
    file,
    shares_trees: true,
    below: Some(&[Scope::Local]),
    managed: &[
        "/etc/claude-code/managed-settings.json",
        "/etc/claude-code/managed-settings.d",
        "/Library/Application Support/ClaudeCode/managed-settings.json",
        "/Library/Application Support/ClaudeCode/managed-settings.d",
    ],
    servers: Some(servers),
    wiring: &FORM,
    trust: None,
    basis: basis::CLAUDE,
    at_broken: AtBroken::PassesOver,
    at_failure: AtFailure::Blocks { but: "its hook prints something that is no answer, and ends well" },
    at_missing: AtMissing::Blocks,
    folder: folder::always,
    silenced_by: &[
        SilencedBy::switch("CLAUDE_CODE_SIMPLE"),
        SilencedBy::switch("CLAUDE_CODE_SAFE_MODE"),
        SilencedBy::switch("CLAUDE_CODE_RESTRICTED"),
    ],
    diverted_by: &[],
    beside: &[],
    also: Vec::new,
    extensions: plugins::hooked,
    open: || None,
    holes: &[
        (
            "a client started with `--bare`, `--safe-mode`, `--restricted`, `--setting-sources`, `CLAUDE_CODE_SIMPLE=1`, `CLAUDE_CODE_SAFE_MODE=1` or `CLAUDE_CODE_RESTRICTED=1` runs no hooks",
            "start it yourself, without them; for other people's machines, wire it in managed settings",
        ),
        (
            "shell texts inside skills and `.claude/commands` run without a hook; only the call of the skill is seen",
            "put `\"disableSkillShellExecution\": true` into the client's settings, or protect those directories by a `paths` policy",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "Bash", &json!({ "command": "true" })),
        harmless: |root| call(root, "Glob", &json!({ "pattern": "*" })),
        denies,
        project: Some("CLAUDE_PROJECT_DIR"),
        above: false,
    },
};

pub(super) fn home() -> Option<PathBuf> {
    place::host_home("CLAUDE_CONFIG_DIR", ".claude")
}

pub(super) fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::Local => Some(root.join(".claude/settings.local.json")),
        Scope::Project => Some(root.join(".claude/settings.json")),
        Scope::User => home().map(|dir| dir.join("settings.json")),
    }
}

fn servers(scope: Scope, root: &Path) -> Result<Listed<'_>, CommandError> {
    let own = || {
        place::claude_servers().ok_or_else(|| {
            CommandError::input("there is no place for the user's MCP servers").hint("set HOME or CLAUDE_CONFIG_DIR")
        })
    };
    let (file, place) = match scope {
        Scope::Local => (own()?, Place::Project(text(root)?)),
        Scope::User => (own()?, Place::Top),
        Scope::Project => (root.join(PROJECT_SERVERS), Place::Top),
    };
    Ok(Listed { file, place, workspace: None })
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "jackline-doctor",
        "transcript_path": root.join("none.jsonl"),
        "cwd": root,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "toolu_trial",
    })
}

fn denies(answered: &Answered) -> bool {
    let reply: Value = serde_json::from_str(&answered.stdout).unwrap_or_default();
    let decision = reply.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    decision == Some("deny") && answered.code == Some(0)
}
