//! What guards a session: the one place that names the files of a workspace that an agent may not change.
//!
//! Which file a plain path is, the runtime's probe says; the tables beside it are for texts that name a file without a
//! plain path: patterns of the shell's, directories copied whole, programs that we do not know.

/// What a file is, for reason texts.
pub mod label {
    pub const CLAUDE: &str = "Claude Code's settings";
    pub const CODEX: &str = "Codex's settings";
    pub const COPILOT: &str = "Copilot's settings";
    pub const CURSOR: &str = "Cursor's settings";
    pub const GEMINI: &str = "Gemini CLI's settings";
    pub const OPENCODE: &str = "OpenCode's settings";
    pub const QWEN: &str = "Qwen Code's settings";
    pub const GIT: &str = "git's settings";
    pub const WINDSURF: &str = "Windsurf's hooks";
    pub const HOST: &str = "the host's settings";
    pub const SERVERS: &str = "the list of servers that names Jackline's own";
    pub const POLICIES: &str = "Jackline's policies";
    pub const DEFINITION: &str = "the definition";
    pub const CHECK: &str = "a file that a todo's check runs";
    pub const SETTINGS: &str = "Jackline's settings";
    pub const PROGRAM: &str = "Jackline's program";
}

use label::{CLAUDE, CODEX, COPILOT, CURSOR, DEFINITION, GEMINI, OPENCODE, POLICIES, QWEN, WINDSURF};

/// Files and directories below the workspace root, git's apart, with what they are.
pub const IN_WORKSPACE: &[(&str, &str)] = &[
    ("jackline.yaml", DEFINITION),
    (".jackline", POLICIES),
    (".deepwork", POLICIES),
    (".claude/settings.json", CLAUDE),
    (".claude/settings.local.json", CLAUDE),
    // Prompts that it submits later, as if a person had.
    (".claude/scheduled_tasks.json", CLAUDE),
    (".codex/config.toml", CODEX),
    (".codex/hooks.json", CODEX),
    (".gemini/settings.json", GEMINI),
    // Variables that a host reads there may switch its hooks off; an extension starts programs beside them.
    (".gemini/.env", GEMINI),
    (".gemini/extensions", GEMINI),
    (".qwen/settings.json", QWEN),
    (".qwen/.env", QWEN),
    (".qwen/extensions", QWEN),
    ("opencode.json", OPENCODE),
    ("opencode.jsonc", OPENCODE),
    (".opencode/opencode.json", OPENCODE),
    (".opencode/opencode.jsonc", OPENCODE),
    // Settings of its terminal interface, which name plugins too.
    ("tui.json", OPENCODE),
    ("tui.jsonc", OPENCODE),
    (".opencode/tui.json", OPENCODE),
    (".opencode/tui.jsonc", OPENCODE),
    (".opencode/plugin", OPENCODE),
    (".opencode/plugins", OPENCODE),
    // Code that runs in the host itself, beside our plugin.
    (".opencode/tool", OPENCODE),
    (".opencode/tools", OPENCODE),
    (".opencode/package.json", OPENCODE),
    (".github/hooks", COPILOT),
    // Programs that it starts, and that may answer beside our hooks.
    (".github/extensions", COPILOT),
    (".github/copilot/settings.json", COPILOT),
    (".github/copilot/settings.local.json", COPILOT),
    (".cursor/hooks.json", CURSOR),
    (".windsurf/hooks.json", WINDSURF),
];

/// A file of variables, which some hosts read; who asks knows whether it counts.
pub(crate) const VARIABLES: &str = ".env";

/// What makes git run something, in a workspace that is a repository.
const IN_GIT: [&str; 2] = [".git/config", ".git/hooks"];

/// All of them, for a directory that is copied over the workspace.
pub(crate) fn in_workspace() -> impl Iterator<Item = &'static str> {
    IN_WORKSPACE.iter().map(|(path, _)| *path).chain(IN_GIT)
}

/// All of them in any directory, as patterns: a host that is started there has its settings there.
#[must_use]
pub fn anywhere() -> Vec<String> {
    let below = |path: &str| [format!("**/{path}"), format!("**/{path}/**")];
    in_workspace().chain([".mcp.json"]).flat_map(below).collect()
}

/// The same as patterns of the shell's are held against them: a directory stands with the names that its files have,
/// so that `*.log` is none of them.
pub(crate) const EXPANDED: &[&str] = &[
    "jackline.yaml",
    ".jackline",
    ".jackline/policies/*.md",
    ".deepwork",
    ".deepwork/policies/*.md",
    ".deepwork/rules/*.md",
    ".deepwork/config.yml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/scheduled_tasks.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".gemini/.env",
    ".gemini/extensions",
    ".qwen/settings.json",
    ".qwen/.env",
    ".qwen/extensions",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    "tui.json",
    "tui.jsonc",
    ".opencode/tui.json",
    ".opencode/tui.jsonc",
    ".opencode/plugin/*.js",
    ".opencode/plugin/*.ts",
    ".opencode/plugins/*.js",
    ".opencode/plugins/*.ts",
    ".opencode/tool/*.js",
    ".opencode/tool/*.ts",
    ".opencode/tools/*.js",
    ".opencode/tools/*.ts",
    ".opencode/package.json",
    ".github/hooks/*.json",
    ".github/extensions/*/extension.mjs",
    ".github/copilot/settings.json",
    ".github/copilot/settings.local.json",
    ".cursor/hooks.json",
    ".windsurf/hooks.json",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/mcp.json",
    ".git/config",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".git/hooks/pre-push",
    ".git/hooks/commit-msg",
    ".git/hooks/post-commit",
    ".git/hooks/post-checkout",
];

/// Directories of hosts' that hold one of them and little else that a workspace needs: who takes such a directory away,
/// locks it or puts another in its place does that to the settings in it.
pub const DIRECTORIES: &[&str] = &[".claude", ".codex", ".gemini", ".qwen", ".opencode", ".cursor", ".windsurf"];

/// Whether a path ends in one of those directories.
pub(crate) fn ends_in_directory(path: &str) -> bool {
    let last = path.split('/').rfind(|part| !matches!(*part, "" | "."));
    last.is_some_and(|last| DIRECTORIES.iter().any(|own| own.eq_ignore_ascii_case(last)))
}

/// Parts of their paths; a program that we do not know is asked about only for those.
pub(crate) const PARTS: &[&str] = &[
    "jackline.yaml",
    "jackline",
    ".jackline",
    ".deepwork",
    ".claude",
    "settings.json",
    "settings.local.json",
    "scheduled_tasks.json",
    ".codex",
    "config.toml",
    "hooks.json",
    ".gemini",
    ".qwen",
    "opencode.json",
    "opencode.jsonc",
    ".opencode",
    "tui.json",
    "tui.jsonc",
    "auth.json",
    ".copilot",
    ".cursor",
    ".windsurf",
    ".mcp.json",
    "mcp.json",
    ".claude.json",
    "hooks",
    "extensions",
    ".git",
    "config",
    "config.worktree",
    ".gitconfig",
];

/// Words that name what is protected, for a last look at text whose writes cannot be told.
pub(crate) const MENTIONS: &[&str] = &[
    "jackline.yaml",
    ".jackline",
    ".deepwork",
    ".claude/settings",
    ".claude/daemon",
    "settings.local.json",
    "scheduled_tasks.json",
    "disableAllHooks",
    ".codex/",
    ".gemini/settings",
    ".qwen/settings",
    ".gemini/extensions",
    ".qwen/extensions",
    ".opencode/tool",
    ".opencode/plugin",
    "opencode/auth.json",
    "QWEN_CODE_SIMPLE",
    "QWEN_CODE_SAFE_MODE",
    ".cursor/hooks",
    ".github/hooks",
    ".github/extensions",
    ".github/copilot",
    ".copilot/hooks",
    ".copilot/extensions",
    ".copilot/settings",
    ".copilot/config",
    "features.hooks",
    ".git/hooks",
    ".git/config",
    ".gitconfig",
    "JACKLINE_",
];

/// Directories and files in them that name what is protected when a text names both.
pub(crate) const MENTIONS_APART: &[(&str, &str)] = &[
    (".claude", "settings"),
    (".claude", "shell-snapshots"),
    (".claude", "session-env"),
    (".claude/skills", ".claude-plugin"),
    (".claude/skills", "hooks.json"),
    (".codex", "config.toml"),
    (".codex", "hooks.json"),
    (".gemini", "settings"),
    (".qwen", "settings"),
    (".git", "hooks"),
    (".git", "config"),
    (".cursor", "hooks"),
    (".github", "hooks"),
    (".github", "extensions"),
    (".copilot", "hooks"),
    (".copilot", "extensions"),
    (".copilot", "settings.json"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_held_against_patterns_too() {
        for path in in_workspace() {
            let below = format!("{path}/");
            let covered = EXPANDED.iter().any(|ours| *ours == path || ours.starts_with(&below));
            assert!(covered, "{path} is in one table only");
            assert!(path.split('/').any(|part| PARTS.contains(&part)), "{path} has no part that is known");
        }
    }
}
