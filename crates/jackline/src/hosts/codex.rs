//! Codex on this machine: its files of hooks, where it keeps trust in them, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::codex::{FORM, has_terminal, trust, trust_level};
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Folder, Host, Settings, Trial, Trusting, basis, listing, told_to_deny};
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "codex",
    title: "Codex",
    program: Some("codex"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: Some(&[Scope::Project]),
    managed: &[],
    servers: None,
    wiring: &FORM,
    trust: Some(Trusting { how: &trust::TRUST, file: trusting, beside: ".codex/config.toml", layers }),
    basis: basis::CODEX,
    at_broken: AtBroken::PassesOver,
    at_failure: AtFailure::Passes {
        when: "its hook hangs, and without a word",
        remedy: "the hook answers by itself long before; keep `sandbox_mode` at `workspace-write` or stricter as the second fence",
    },
    at_missing: AtMissing::Blocks,
    folder,
    silenced_by: &[],
    diverted_by: &[
        "BASH_ENV",
        "HOME",
        "JACKLINE_HOME",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PATH",
        "SHELL",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ],
    beside: &[],
    also: Vec::new,
    extensions: |_| Vec::new(),
    open: terminal,
    holes: &[
        (
            "Codex: how a patch in a shell's text (`apply_patch <<EOF`) or a command that goes on running ended is not told; such calls stay open and prove nothing",
            "have patches made by the `apply_patch` tool, and let tests run to their end in one call",
        ),
        (
            "Codex: hooks do not run when it is started with `--disable hooks`, and a project's own only once the project is trusted",
            "start it yourself, without that; wire it in your own settings (`--scope user`)",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "Bash", &json!({ "command": "true" })),
        harmless: |root| call(root, "update_plan", &json!({ "plan": [] })),
        denies: told_to_deny,
        project: None,
        above: false,
    },
};

fn home() -> Option<PathBuf> {
    place::host_home_followed("CODEX_HOME", ".codex")
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(root.join(".codex/hooks.json")),
        Scope::User | Scope::Local => home().map(|dir| dir.join("hooks.json")),
    }
}

/// Where a person's trust is kept, whichever file of hooks it is in.
fn trusting() -> Option<PathBuf> {
    home().map(|dir| dir.join("config.toml"))
}

/// Profiles: each a file of its own beside it.
fn layers() -> Vec<PathBuf> {
    let named = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with(".config.toml"));
    home().map(|dir| listing(&dir)).unwrap_or_default().into_iter().filter(named).collect()
}

/// Programs that are known to wait for what they do are refused, and no list of those is ever whole.
fn terminal() -> Option<(&'static str, &'static str)> {
    let text = Settings::read(trusting()?).ok().and_then(|settings| settings.text).unwrap_or_default();
    has_terminal(&text).unwrap_or(true).then_some((
        "Codex gives programs a terminal, and what its agent writes to one that runs (`write_stdin`) is not told to hooks; programs that are known to wait for that are refused (`shell/interactive`)",
        "put `unified_exec_tty = false` under `[features]` in its `config.toml`: then there is no such terminal",
    ))
}

/// It passes over the hooks of a project that is not to be trusted. Of one of which nothing is said it asks on a terminal,
/// and runs them otherwise.
fn folder(root: &Path) -> Folder {
    let file = trusting().unwrap_or_default();
    let text = Settings::read(file.clone()).ok().and_then(|settings| settings.text).unwrap_or_default();
    let shown = place::shown(&file);
    let remedy =
        "trust the project when Codex asks, or wire your own hooks (`jackline init codex --scope user`)".to_owned();
    match trust_level(&text, &root.display().to_string()) {
        Ok(Some(level)) if level == "trusted" => Folder::Trusted,
        Ok(None) => Folder::Unsaid { why: format!("`{shown}` does not say whether the project is trusted"), remedy },
        Ok(Some(_)) | Err(_) => Folder::Untrusted { why: format!("the project is not trusted in `{shown}`"), remedy },
    }
}

fn call(root: &Path, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "jackline-doctor",
        "turn_id": "trial",
        "transcript_path": root.join("none.jsonl"),
        "cwd": root,
        "hook_event_name": "PreToolUse",
        "model": "none",
        "permission_mode": "default",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": "call_trial",
    })
}
