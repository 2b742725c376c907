//! What differs between hosts: which program, how it is wired, and how it spells the tools that scenarios use.

use jackline_rehearsal::{Call, Claude, Client, Codex, Copilot, Gemini, OpenCode, Qwen, SUBAGENT, call, install};
use serde_json::{Value, json};

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
    /// The tool of an act and its arguments, in its words.
    pub(crate) spell: fn(&Act) -> Option<(&'static str, Value)>,
    /// The call by which an agent waits for a sub-agent, where starting one does not.
    pub(crate) wait: Option<fn(&str) -> Call>,
    /// The call by which a sub-agent ends, where it does not end by speaking.
    pub(crate) finish: Option<fn(&str) -> Call>,
    /// Scenarios that this host cannot obey, whatever it is answered, and why.
    pub(crate) cannot: &'static [(&'static str, &'static str)],
    /// The model for which it offers patches, where it does so only for some.
    pub(crate) patching: Option<&'static str>,
    /// Where another hook may stand and approve calls; of a host without this none can.
    pub(crate) approving: Option<Approving>,
    /// The file below the stage that lists the folders whose own hooks it runs, where it has such a list.
    pub(crate) folders: Option<&'static str>,
    /// Whether it stays up over several prompts. Elsewhere scenarios with more than one are not played.
    pub(crate) stays: bool,
    /// Whether all scenarios are played in every run, or only the smoke.
    pub(crate) in_full: bool,
}

/// A place for a hook that approves calls.
pub(crate) struct Approving {
    /// The file, below the stage.
    pub(crate) file: &'static str,
    /// What it calls the event before a call.
    pub(crate) event: &'static str,
    /// An entry that runs this command.
    pub(crate) hook: fn(&str) -> Value,
}

/// An entry in a group of its own.
fn grouped(command: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": command}]})
}

/// Every host that the kit can examine.
pub(crate) const RIGS: &[Rig] = &[CLAUDE, CODEX, OPENCODE, GEMINI, COPILOT, QWEN];

/// A file of the repository, as most tools want it.
fn whole(path: &str) -> String {
    format!("{{{{CWD}}}}/{path}")
}

/// A patch of one line of a file.
fn patch(path: &str, was: &str, content: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{was}\n+{content}\n*** End Patch")
}

/// A sub-agent's task.
fn task() -> String {
    format!("{SUBAGENT} work")
}

pub(crate) const CLAUDE: Rig = Rig {
    host: "claude",
    title: "Claude Code",
    version: install::CLAUDE,
    client: || Ok(Box::new(Claude { program: install::claude(install::CLAUDE)? })),
    init: &["init", "claude", "--scope", "local"],
    settings: "repo/.claude/settings.local.json",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("Bash", json!({"command": run}))),
        Act::Read { path, .. } => Some(("Read", json!({"file_path": whole(path)}))),
        Act::Write { path, content, .. } => Some(("Write", json!({"file_path": whole(path), "content": content}))),
        Act::Edit { path, was, content, .. } => {
            Some(("Edit", json!({"file_path": whole(path), "old_string": was, "new_string": content})))
        }
        Act::Note { text, .. } => Some(("mcp__notes__note", json!({"text": text}))),
        Act::Task { .. } => Some((
            "Agent",
            json!({"description": "work", "prompt": task(), "subagent_type": "general-purpose",
                   "run_in_background": false}),
        )),
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: None,
    finish: None,
    cannot: &[],
    patching: None,
    approving: Some(Approving { file: "repo/.claude/settings.json", event: "PreToolUse", hook: grouped }),
    folders: None,
    stays: false,
    in_full: true,
};

/// It has no tool that reads, and writes by the shell or, where it takes the model for one that can, by patches.
pub(crate) const CODEX: Rig = Rig {
    host: "codex",
    title: "Codex",
    version: install::CODEX.version,
    client: || Ok(Box::new(Codex(install::CODEX.scripted()?))),
    init: &["init", "codex", "--scope", "user"],
    settings: "home/.codex/hooks.json",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("exec_command", json!({"cmd": run}))),
        Act::Read { path, .. } => Some(("exec_command", json!({"cmd": format!("cat {path}")}))),
        Act::Write { path, content, .. } => {
            Some(("exec_command", json!({"cmd": format!("printf '%s' '{content}' > {path}")})))
        }
        Act::Edit { path, was, content, .. } => Some(("apply_patch", json!(patch(path, was, content)))),
        Act::Note { text, .. } => Some(("mcp__notes/note", json!({"text": text}))),
        Act::Task { .. } => Some(("multi_agent_v1/spawn_agent", json!({"message": task()}))),
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: Some(|name| {
        let agent = format!("{{{{{name}.agent_id}}}}");
        call("wait", "multi_agent_v1/wait_agent", json!({"targets": [agent], "timeout_ms": 60_000}))
    }),
    finish: None,
    cannot: &[],
    patching: Some("gpt-5.5"),
    approving: None,
    folders: None,
    stays: false,
    in_full: true,
};

/// Why it holds no stop.
const ENDED: &str = "`opencode run` has ended before what is open is said as the next prompt; the terminal interface and `opencode serve` stay up and are told it, as `held_while_it_stays` shows";

const OPENCODE: Rig = Rig {
    host: "opencode",
    title: "OpenCode",
    version: install::OPENCODE.version,
    client: || Ok(Box::new(OpenCode(install::OPENCODE.scripted()?))),
    init: &["init", "opencode", "--scope", "user"],
    settings: "home/.config/opencode/plugin/jackline.js",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("bash", json!({"command": run, "description": "x"}))),
        Act::Read { path, .. } => Some(("read", json!({"filePath": whole(path)}))),
        Act::Write { path, content, .. } => Some(("write", json!({"filePath": whole(path), "content": content}))),
        Act::Edit { path, was, content, .. } => {
            Some(("edit", json!({"filePath": whole(path), "oldString": was, "newString": content})))
        }
        Act::Note { text, .. } => Some(("notes_note", json!({"text": text}))),
        Act::Task { .. } => {
            Some(("task", json!({"description": "work", "prompt": task(), "subagent_type": "general"})))
        }
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: None,
    finish: None,
    cannot: &[
        ("composite_checker_all_must_pass", ENDED),
        ("never_for_ever", ENDED),
        ("task_completion_blocks_early_stop", ENDED),
    ],
    patching: None,
    approving: None,
    folders: None,
    stays: true,
    in_full: false,
};

pub(crate) const GEMINI: Rig = Rig {
    host: "gemini",
    title: "Gemini CLI",
    version: install::GEMINI.version,
    client: || Ok(Box::new(Gemini(install::GEMINI.scripted()?))),
    init: &["init", "gemini", "--scope", "user"],
    settings: "home/.gemini/settings.json",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("run_shell_command", json!({"command": run}))),
        Act::Read { path, .. } => Some(("read_file", json!({"file_path": path}))),
        Act::Write { path, content, .. } => Some(("write_file", json!({"file_path": path, "content": content}))),
        Act::Edit { path, was, content, .. } => Some((
            "replace",
            json!({"file_path": path, "old_string": was, "new_string": content, "instruction": "change it"}),
        )),
        Act::Note { text, .. } => Some(("mcp_notes_note", json!({"text": text}))),
        Act::Task { .. } => Some(("invoke_agent", json!({"agent_name": "generalist", "prompt": task()}))),
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: None,
    finish: Some(|text| call("finish", "complete_task", json!({"result": {"response": text}}))),
    cannot: &[],
    patching: None,
    approving: Some(Approving { file: "home/.gemini/settings.json", event: "BeforeTool", hook: grouped }),
    folders: None,
    stays: false,
    in_full: false,
};

pub(crate) const QWEN: Rig = Rig {
    host: "qwen",
    title: "Qwen Code",
    version: install::QWEN.version,
    client: || Ok(Box::new(Qwen(install::QWEN.scripted()?))),
    init: &["init", "qwen", "--scope", "user"],
    settings: "home/.qwen/settings.json",
    note: "mcp__notes__note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("run_shell_command", json!({"command": run, "is_background": false}))),
        Act::Read { path, .. } => Some(("read_file", json!({"file_path": whole(path)}))),
        Act::Write { path, content, .. } => Some(("write_file", json!({"file_path": whole(path), "content": content}))),
        Act::Edit { path, was, content, .. } => {
            Some(("edit", json!({"file_path": whole(path), "old_string": was, "new_string": content})))
        }
        Act::Note { text, .. } => Some(("mcp__notes__note", json!({"text": text}))),
        Act::Task { .. } => Some((
            "agent",
            json!({"description": "work", "prompt": task(), "subagent_type": "general-purpose",
                   "run_in_background": false}),
        )),
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: None,
    finish: None,
    cannot: &[("bounded_read", "the client rewrites neither a call nor what came of it")],
    patching: None,
    approving: Some(Approving { file: "home/.qwen/settings.json", event: "PreToolUse", hook: grouped }),
    folders: None,
    stays: false,
    in_full: false,
};

const COPILOT: Rig = Rig {
    host: "copilot",
    title: "Copilot CLI",
    version: install::COPILOT.version,
    client: || Ok(Box::new(Copilot { program: install::COPILOT.scripted()?, cache: install::COPILOT.cache()? })),
    init: &["init", "copilot", "--scope", "user"],
    settings: "home/.copilot/hooks/jackline.json",
    note: "notes-note",
    spell: |act| match act {
        Act::Shell { run, .. } => Some(("bash", json!({"command": run, "description": "x"}))),
        Act::Read { path, .. } => Some(("view", json!({"path": whole(path)}))),
        // What is there already it only edits.
        Act::Write { path, content, was: Some(was), .. } | Act::Edit { path, was, content, .. } => {
            Some(("edit", json!({"path": whole(path), "old_str": was, "new_str": content})))
        }
        Act::Write { path, content, .. } => Some(("create", json!({"path": whole(path), "file_text": content}))),
        Act::Note { text, .. } => Some(("notes-note", json!({"text": text}))),
        Act::Task { .. } => Some((
            "task",
            json!({"description": "work", "prompt": task(), "agent_type": "general-purpose", "name": "worker",
                   "mode": "sync"}),
        )),
        Act::Together(_) | Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => None,
    },
    wait: None,
    finish: None,
    cannot: &[("park", "the client does not tell what the agent said last")],
    patching: None,
    approving: Some(Approving {
        file: "home/.copilot/hooks/other.json",
        event: "preToolUse",
        hook: |command| json!({"type": "command", "bash": command}),
    }),
    folders: Some("home/.copilot/config.json"),
    stays: false,
    in_full: false,
};
