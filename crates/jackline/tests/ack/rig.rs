//! What differs between hosts: which program, how it is wired, and how it spells the tools that scenarios use.

use jackline_rehearsal::{Call, Claude, Client, SUBAGENT, call, install};
use serde_json::json;

use super::scenario::Act;

/// One host under examination.
pub(crate) struct Rig {
    /// Its name on our command line.
    pub(crate) host: &'static str,
    pub(crate) title: &'static str,
    pub(crate) version: &'static str,
    /// The program, if it is installed.
    pub(crate) client: fn() -> Result<Box<dyn Client>, String>,
    /// What `jackline init` is told.
    pub(crate) init: &'static [&'static str],
    /// The file that holds our hooks then, below the stage.
    pub(crate) settings: &'static str,
    /// What it calls the tool `note` of the MCP server `notes`.
    pub(crate) note: &'static str,
    /// A call in its words; none if it has no such tool.
    pub(crate) spell: fn(&Act) -> Option<Call>,
    /// Scenarios that this host cannot obey, whatever it is answered, and why.
    pub(crate) cannot: &'static [(&'static str, &'static str)],
    /// Whether all scenarios are played in every run, or only the smoke.
    pub(crate) in_full: bool,
}

/// Every host that the kit can examine.
pub(crate) const RIGS: &[Rig] = &[CLAUDE];

pub(crate) const CLAUDE: Rig = Rig {
    host: "claude",
    title: "Claude Code",
    version: install::CLAUDE,
    client: || Ok(Box::new(Claude { program: install::claude(install::CLAUDE)? })),
    init: &["init", "claude", "--scope", "local"],
    settings: "repo/.claude/settings.local.json",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { name, run } => Some(call(name, "Bash", json!({"command": run}))),
        Act::Read { name, path } => Some(call(name, "Read", json!({"file_path": format!("{{{{CWD}}}}/{path}")}))),
        Act::Write { name, path, content } => {
            Some(call(name, "Write", json!({"file_path": format!("{{{{CWD}}}}/{path}"), "content": content})))
        }
        Act::Note { name, text } => Some(call(name, "mcp__notes__note", json!({"text": text}))),
        Act::Task { name, .. } => Some(call(
            name,
            "Agent",
            json!({"description": "work", "prompt": format!("{SUBAGENT} work"), "subagent_type": "general-purpose",
                   "run_in_background": false}),
        )),
        Act::Together(_) | Act::Say(_) | Act::Guard(_) => None,
    },
    cannot: &[],
    in_full: true,
};
