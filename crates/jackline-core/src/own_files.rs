//! The files in a workspace that guard a session, as patterns of the shell's are held against them.
//!
//! Which file a plain path is, the runtime's probe says; its table names the same files, and a test there holds the
//! two together.

/// Files below the workspace root. A directory stands with the names that its files have, so that `*.log` is none.
pub const IN_WORKSPACE: &[&str] = &[
    "jackline.yaml",
    ".jackline",
    ".jackline/policies/*.md",
    ".deepwork",
    ".deepwork/policies/*.md",
    ".deepwork/rules/*.md",
    ".deepwork/config.yml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".opencode/plugin/*.js",
    ".opencode/plugin/*.ts",
    ".opencode/plugins/*.js",
    ".opencode/plugins/*.ts",
    ".github/hooks/*.json",
    ".cursor/hooks.json",
    ".windsurf/hooks.json",
    ".git/config",
    ".git/hooks",
    ".git/hooks/pre-commit",
    ".git/hooks/pre-push",
    ".git/hooks/commit-msg",
    ".git/hooks/post-commit",
    ".git/hooks/post-checkout",
];
