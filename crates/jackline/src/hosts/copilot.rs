//! Copilot CLI on this machine: its files of hooks, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::copilot::{FORM, SETTINGS};
use jackline_runtime::wiring::servers::Place;
use jackline_runtime::wiring::{Scope, Wiring, claude};
use serde_json::{Value, json};

use super::claude::PROJECT_SERVERS;
use super::folder::listing;
use super::{
    AtBroken, AtFailure, AtMissing, Folder, Host, Listed, STARTED_IN, Trial, basis, folder as folders, told_to_deny,
};
use crate::bounded::Answered;
use crate::error::CommandError;
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "copilot",
    title: "Copilot CLI",
    program: Some("copilot"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: Some(&[Scope::Project]),
    managed: &[],
    servers: Some(servers),
    wiring: &FORM,
    trust: None,
    basis: basis::COPILOT,
    at_broken: AtBroken::PassesOver,
    at_failure: AtFailure::Passes {
        when: "its hook hangs",
        remedy: "the hook answers by itself long before; keep the machine from being overloaded",
    },
    at_missing: AtMissing::Blocks,
    folder,
    silenced_by: &[],
    diverted_by: &[],
    beside: &[
        (".github/copilot/settings.json", &SETTINGS),
        (".github/copilot/settings.local.json", &SETTINGS),
        (".claude/settings.json", &claude::FORM),
        (".claude/settings.local.json", &claude::FORM),
    ],
    also,
    extensions,
    open: || None,
    holes: &[
        (
            "Copilot CLI: in a folder that it trusts it starts the servers that `.mcp.json` and `.github/mcp.json` name without a question, and in any folder those of `.github/lsp.json`; an agent may write those files",
            "put them under `protect` of a `paths` policy, and look at them in a cloned project",
        ),
        (
            "Copilot CLI: hooks of a project (`.github/hooks`) run only in a folder that the client trusts",
            "wire the user's hooks (`jackline init copilot --scope user`), or trust the folder",
        ),
        (
            "Copilot CLI: it does not tell what the agent said last, so an agent cannot park or promise in its last words",
            "let it park by our MCP server's tool `park` (`jackline init copilot --mcp`)",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "Bash", &json!({ "command": "true" })),
        harmless: |root| call(root, "Glob", &json!({ "pattern": "*" })),
        denies,
        project: Some("COPILOT_PROJECT_DIR"),
        above: true,
    },
};

fn home() -> Option<PathBuf> {
    place::host_home("COPILOT_HOME", ".copilot")
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::User => home().map(|dir| dir.join("hooks/jackline.json")),
        Scope::Project => Some(root.join(".github/hooks/jackline.json")),
        Scope::Local => None,
    }
}

/// Its settings at home, and every other file of hooks there.
fn also() -> Vec<(PathBuf, &'static dyn Wiring)> {
    let Some(home) = home() else { return Vec::new() };
    let own = file(Scope::User, &home);
    let hooks = listing(&home.join("hooks")).into_iter().filter(|path| Some(path) != own.as_ref());
    let hooks = hooks.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let hooks = hooks.map(|path| (path, &FORM as &dyn Wiring));
    let settings = ["settings.json", "config.json"].map(|name| (home.join(name), &SETTINGS as &dyn Wiring));
    settings.into_iter().chain(hooks).collect()
}

/// One directory each, with a file of this name in it.
fn extensions(root: &Path) -> Vec<PathBuf> {
    let dirs = [Some(root.join(".github/extensions")), home().map(|dir| dir.join("extensions"))];
    let found = dirs.into_iter().flatten().flat_map(|dir| listing(&dir));
    found.map(|dir| dir.join("extension.mjs")).filter(|file| file.is_file()).collect()
}

/// It starts servers where it was started itself. Of a project's lists it reads this one, and `.github/mcp.json` only
/// where this one is not.
fn servers(scope: Scope, root: &Path) -> Result<Listed<'_>, CommandError> {
    if scope == Scope::Project {
        return Ok(Listed { file: root.join(PROJECT_SERVERS), place: Place::Top, workspace: None });
    }
    let file = home().map(|dir| dir.join("mcp-config.json")).ok_or_else(|| HOST.homeless())?;
    Ok(Listed { file, place: Place::Top, workspace: Some(STARTED_IN) })
}

/// It asks on a terminal and passes over what nobody trusted; a flag of one start is not ours to see.
fn folder(root: &Path) -> Folder {
    let file = home().unwrap_or_default().join("config.json");
    let kept = folders::object(Some(file.clone()));
    if ["trustedFolders", "trusted_folders"].iter().any(|key| folders::listed(kept.get(*key), root)) {
        return Folder::Trusted;
    }
    Folder::Untrusted {
        why: format!("the folder is not among the trusted ones in `{}`", place::shown(&file)),
        remedy: "trust the folder when the client asks, or wire your own hooks (`jackline init copilot --scope user`)"
            .to_owned(),
    }
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": "PreToolUse",
        "session_id": "jackline-doctor",
        "cwd": root,
        "tool_name": tool,
        "tool_input": input,
    })
}

/// Of a refusal by the exit code alone the model is not told why.
fn denies(answered: &Answered) -> bool {
    let reply: Value = serde_json::from_str(&answered.stdout).unwrap_or_default();
    let decision = reply.get("permissionDecision").and_then(Value::as_str);
    decision == Some("deny") && told_to_deny(answered)
}
