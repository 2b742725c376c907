//! Qwen Code on this machine: its settings files, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::qwen::FORM;
use jackline_runtime::wiring::{Scope, Wiring};
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Host, SilencedBy, Trial, basis, folder, told_to_deny};
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "qwen",
    title: "Qwen Code",
    program: Some("qwen"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: Some(&[]),
    managed: &["/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"],
    servers: None,
    wiring: &FORM,
    trust: None,
    basis: basis::QWEN,
    at_broken: AtBroken::DoesNotStart,
    at_failure: AtFailure::Passes {
        when: "its hook hangs",
        remedy: "the hook answers by itself long before; keep the machine from being overloaded, or run the client in its sandbox",
    },
    at_missing: AtMissing::Blocks,
    folder: folder::always,
    silenced_by: &[SilencedBy::all("QWEN_CODE_SIMPLE"), SilencedBy::all("QWEN_CODE_SAFE_MODE")],
    diverted_by: &["JACKLINE_HOME"],
    beside: &[],
    also: || place::qwen_system().into_iter().map(|path| (path, &FORM as &dyn Wiring)).collect(),
    extensions: |_| Vec::new(),
    open: || None,
    holes: &[
        (
            "Qwen Code: it rewrites neither a call nor what came of it: `reads` and `outputs` bound nothing on this host",
            "offer bounded reads by our MCP server (`jackline mcp serve`)",
        ),
        (
            "Qwen Code: started with `--bare`, `--safe-mode`, `QWEN_CODE_SIMPLE` or `QWEN_CODE_SAFE_MODE` it runs no hooks; a cloned project's `.env` may set those",
            "start it yourself, without them, and run `jackline doctor` in a new project first: it reads such files",
        ),
        (
            "Qwen Code: it starts the servers that a project's `.mcp.json` names without a question, and an agent may write that file",
            "put `.mcp.json` under `protect` of a `paths` policy, and look at it in a cloned project",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "run_shell_command", &json!({ "command": "true", "is_background": false })),
        harmless: |root| call(root, "glob", &json!({ "pattern": "*" })),
        denies: told_to_deny,
        project: Some("QWEN_PROJECT_DIR"),
        above: false,
    },
};

fn home() -> Option<PathBuf> {
    place::host_home("QWEN_HOME", ".qwen")
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => home().map(|dir| dir.join("settings.json")),
        Scope::Project => Some(root.join(".qwen/settings.json")),
        Scope::Local => None,
    }
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "jackline-doctor",
        "transcript_path": root.join("none.jsonl"),
        "cwd": root,
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "toolu_trial",
        "tool_call_id": "call_trial",
    })
}
