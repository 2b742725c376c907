//! Gemini CLI on this machine: its settings files, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::gemini::FORM;
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Folder, Host, Trial, basis, folder as folders, told_to_deny};
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    program: Some("gemini"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: Some(&[]),
    managed: &["/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"],
    servers: None,
    wiring: &FORM,
    trust: None,
    basis: basis::GEMINI,
    at_broken: AtBroken::DoesNotStart,
    at_failure: AtFailure::Passes {
        when: "its hook hangs",
        remedy: "the hook answers by itself long before; keep the machine from being overloaded, or run the client in its sandbox",
    },
    at_missing: AtMissing::Blocks,
    folder,
    silenced_by: &[],
    diverted_by: &["JACKLINE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"],
    beside: &[],
    also: Vec::new,
    extensions: |_| Vec::new(),
    open: || None,
    holes: &[
        (
            "Gemini CLI: it hands variables of a project's `.env` on to hooks, and a cloned project may bring one along",
            "run `jackline doctor` in a new project first: it reads such files, and is red where one leads hooks elsewhere",
        ),
        (
            "Gemini CLI: in an editor (`gemini --acp`) the client runs no hooks before and after tools",
            "guard editors by the client's own policy files, or use it in a terminal",
        ),
        (
            "Gemini CLI: hooks of a project's settings run only in a folder that the client trusts",
            "wire the user's settings (`jackline init gemini --scope user`), or trust the folder",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "run_shell_command", &json!({ "command": "true" })),
        harmless: |root| call(root, "glob", &json!({ "pattern": "*" })),
        denies: told_to_deny,
        project: Some("GEMINI_PROJECT_DIR"),
        above: false,
    },
};

fn home() -> Option<PathBuf> {
    place::host_home("GEMINI_CLI_HOME", "").map(|home| home.join(".gemini"))
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => home().map(|dir| dir.join("settings.json")),
        Scope::Project => Some(root.join(".gemini/settings.json")),
        Scope::Local => None,
    }
}

/// It asks on a terminal and passes over what nobody trusted; a flag of one start is not ours to see.
fn folder(root: &Path) -> Folder {
    let home = || home().unwrap_or_default();
    let asks = folders::object(Some(home().join("settings.json")));
    let asks = asks.pointer("/security/folderTrust/enabled") != Some(&Value::Bool(false));
    let rules = folders::object(Some(home().join("trustedFolders.json")));
    if !asks || place::is_set("GEMINI_CLI_TRUST_WORKSPACE") || folders::ruled(&rules, root) == Some(true) {
        return Folder::Trusted;
    }
    Folder::Untrusted {
        why: format!("the folder is not trusted in `{}`", place::shown(&home().join("trustedFolders.json"))),
        remedy: "trust the folder in the client (`/permissions`), or wire your own settings (`jackline init gemini --scope user`)".to_owned(),
    }
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "jackline-doctor",
        "transcript_path": root.join("none.jsonl"),
        "cwd": root,
        "hook_event_name": "BeforeTool",
        "tool_name": tool,
        "tool_input": input,
    })
}
