//! OpenCode on this machine: where its plugins lie, and what it does.

use std::path::{Path, PathBuf};

use jackline_runtime::wiring::Scope;
use jackline_runtime::wiring::opencode::FORM;
use serde_json::{Value, json};

use super::{AtBroken, AtFailure, AtMissing, Host, SilencedBy, Trial, basis, folder};
use crate::bounded::Answered;
use crate::place;

/// Its row.
pub(crate) const HOST: Host = Host {
    name: "opencode",
    title: "OpenCode",
    program: Some("opencode"),
    home,
    scopes: &[Scope::User, Scope::Project],
    file,
    shares_trees: false,
    below: Some(&[Scope::Project]),
    managed: &[],
    servers: None,
    wiring: &FORM,
    trust: None,
    basis: basis::OPENCODE,
    at_broken: AtBroken::PassesOver,
    at_failure: AtFailure::Passes {
        when: "our plugin is not loaded: its file is gone or broken, or the client was started with `--pure` or `OPENCODE_PURE`; once it is loaded, a call whose hook is missing, crashes or hangs is refused",
        remedy: "run `jackline doctor` now and then; keep `permission` in its settings at `ask` for what matters as the second fence",
    },
    at_missing: AtMissing::Blocks,
    folder: folder::always,
    silenced_by: &[
        SilencedBy::all("OPENCODE_PURE"),
        SilencedBy { variable: "OPENCODE_DISABLE_PROJECT_CONFIG", only_in: Some(Scope::Project), unless_absent: false },
    ],
    diverted_by: &[],
    beside: &[],
    also: Vec::new,
    extensions: |_| Vec::new(),
    open: fetched,
    holes: &[
        (
            "OpenCode: a stop cannot be held; what is open is said as the next prompt, and `opencode run` has ended by then",
            "use the terminal interface or `opencode serve` where a stop must be held",
        ),
        (
            "OpenCode: of a call that fails by itself, other than a shell's command, the end is not told; it stays open and proves nothing",
            "nothing passes by that; `jackline log` shows such calls without an end",
        ),
    ],
    trial: Trial {
        shell: |root| call(root, "bash", &json!({ "command": "true" })),
        harmless: |root| call(root, "glob", &json!({ "pattern": "*" })),
        denies,
        project: None,
        above: false,
    },
};

fn home() -> Option<PathBuf> {
    place::user_settings().map(|dir| dir.join("opencode"))
}

/// Of an organisation that a person logged into it fetches settings, and merges them with theirs.
fn fetched() -> Option<(&'static str, &'static str)> {
    let kept = folder::object(place::user_data().map(|dir| dir.join("opencode/auth.json")));
    let fetches = |entry: &Value| entry.get("type").is_some_and(|kind| kind == "wellknown");
    kept.as_object()?.values().any(fetches).then_some((
        "OpenCode fetches settings, plugins among them, from an address in its `auth.json` when it starts",
        "see whose it is; take it out by `opencode auth logout` unless you trust them",
    ))
}

fn file(scope: Scope, root: &Path) -> Option<PathBuf> {
    match scope {
        Scope::Project => Some(root.join(".opencode/plugin/jackline.js")),
        Scope::User | Scope::Local => home().map(|dir| dir.join("plugin/jackline.js")),
    }
}

fn call(root: &Path, tool: &str, args: &Value) -> Value {
    json!({
        "hook": "tool.execute.before",
        "session": "jackline-doctor",
        "cwd": root,
        "servers": [],
        "input": { "tool": tool, "callID": "call_trial" },
        "args": args,
    })
}

fn denies(answered: &Answered) -> bool {
    let reply: Value = serde_json::from_str(&answered.stdout).unwrap_or_default();
    answered.code == Some(0) && reply.get("deny").and_then(Value::as_str).is_some_and(|reason| !reason.is_empty())
}
