//! VS Code's agent hooks: the project's file, and what the documentation says of them.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::servers::Place;
use jackline_runtime::wiring::vscode::FORM;
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Host, Listed, Trial, WORKSPACE_FOLDER, basis, folder, told_to_deny};
use crate::error::CommandError;

/// Its row. It has no program that is asked and no directory that only it has: whoever wants it wired names it.
pub(crate) const HOST: Host = Host {
    name: "vscode",
    title: "VS Code",
    program: None,
    home: || None,
    scopes: &[Scope::Project],
    file,
    shares_trees: false,
    below: None,
    managed: &[],
    servers: Some(servers),
    wiring: &FORM,
    trust: None,
    basis: basis::VSCODE,
    at_broken: AtBroken::Unknown,
    at_failure: AtFailure::Passes {
        when: "its hook is missing or empty, crashes or hangs",
        remedy: "run `jackline doctor` now and then; keep its own approvals of tools on as the second fence",
    },
    at_missing: AtMissing::Passes,
    folder: folder::always,
    silenced_by: &[],
    diverted_by: &[],
    beside: &[],
    also: Vec::new,
    extensions: |_| Vec::new(),
    open: || None,
    holes: &[
        (
            "VS Code: `run_task` is refused: `.vscode/tasks.json` says what it runs, and an agent may write that",
            "let the agent run the command itself; or protect that file and declare the tool (`tools: {declare: {run_task: {kind: other}}}`)",
        ),
        (
            "VS Code: agent hooks are a preview that an organization may have switched off, and run only in a trusted workspace",
            "try a call that your definition refuses, and look at `jackline log`",
        ),
        (
            "VS Code: Copilot CLI reads the same directory of hooks; with both wired for the project, everything is judged twice there",
            "wire Copilot CLI for yourself (`jackline init copilot --scope user`), or only one of both",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "run_in_terminal", &json!({ "command": "true" })),
        harmless: |root| call(root, "file_search", &json!({ "query": "x" })),
        denies: told_to_deny,
        project: None,
        above: false,
    },
};

fn file(_: Scope, root: &Path) -> Option<PathBuf> {
    Some(root.join(".github/hooks/jackline-vscode.json"))
}

fn servers(_: Scope, root: &Path) -> Result<Listed<'_>, CommandError> {
    Ok(Listed { file: root.join(".vscode/mcp.json"), place: Place::Editor, workspace: Some(WORKSPACE_FOLDER) })
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": root,
        "sessionId": "jackline-doctor",
        "hookEventName": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "trial",
    })
}
