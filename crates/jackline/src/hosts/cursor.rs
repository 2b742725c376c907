//! Cursor on this machine: its files of hooks, and what its documentation says it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::cursor::FORM;
use jackline_runtime::wiring::servers::Place;
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Host, Listed, Trial, WORKSPACE_FOLDER, basis, folder, told_to_deny};
use crate::error::CommandError;
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    program: Some("cursor-agent"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: None,
    managed: &["/etc/cursor/hooks.json", "/Library/Application Support/Cursor/hooks.json"],
    servers: Some(servers),
    wiring: &FORM,
    trust: None,
    basis: basis::CURSOR,
    at_broken: AtBroken::Unknown,
    at_failure: AtFailure::Passes {
        when: "its hook fails in a version that does not know `failClosed`, which is in our entries",
        remedy: "update it; stop a call of your own that the definition refuses, with the program moved away, to see",
    },
    at_missing: AtMissing::Blocks,
    folder: folder::always,
    silenced_by: &[],
    diverted_by: &[],
    beside: &[],
    also: Vec::new,
    extensions: |_| Vec::new(),
    open: || None,
    holes: &[
        (
            "Cursor: a stop cannot be held; what is open is said as the next message, five times at most, and not by its cloud agents",
            "look at `jackline sessions`, which says how a run ended",
        ),
        (
            "Cursor: inline completions (Tab) are not the agent's calls and are not judged",
            "switch them off for files that matter",
        ),
        (
            "Cursor: it may also run Claude Code's hooks of the project; then everything is judged twice",
            "switch third-party hooks off in its settings, or wire one of both",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "Shell", &json!({ "command": "true" })),
        harmless: |root| call(root, "Grep", &json!({ "pattern": "x" })),
        denies: told_to_deny,
        project: Some("CURSOR_PROJECT_DIR"),
        above: false,
    },
};

fn home() -> Option<PathBuf> {
    place::home().map(|home| home.join(".cursor"))
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(root.join(".cursor/hooks.json")),
        Scope::User | Scope::Local => home().map(|dir| dir.join("hooks.json")),
    }
}

/// It starts servers at the root of the file system, and puts the project's directory into their arguments.
fn servers(scope: Scope, root: &Path) -> Result<Listed<'_>, CommandError> {
    let dir = if scope == Scope::Project { Some(root.join(".cursor")) } else { home() };
    let file = dir.map(|dir| dir.join("mcp.json")).ok_or_else(|| HOST.homeless())?;
    Ok(Listed { file, place: Place::Top, workspace: Some(WORKSPACE_FOLDER) })
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "conversation_id": "jackline-doctor",
        "generation_id": "trial",
        "hook_event_name": "preToolUse",
        "workspace_roots": [root],
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "trial",
        "cwd": root,
    })
}
