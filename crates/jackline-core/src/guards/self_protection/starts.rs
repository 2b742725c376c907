//! Hosts that an agent starts from its shell: not so that nobody guards what they do.

use crate::shell::{Command, Word};

/// What starts a host without what guards it.
struct Host {
    /// Its programs, and the packages that they come in.
    programs: &'static [&'static str],
    /// Options with which it asks nobody; behind a blank, the value with which they do.
    options: &'static [&'static str],
    /// Variables with which it asks nobody, or looks for its settings elsewhere.
    variables: &'static [&'static str],
}

const HOSTS: &[Host] = &[
    Host {
        programs: &["claude", "claude-code"],
        options: &["--bare", "--safe-mode", "--setting-sources", "--settings disableAllHooks"],
        variables: &["CLAUDE_CODE_SIMPLE", "CLAUDE_CONFIG_DIR"],
    },
    Host {
        programs: &["codex"],
        options: &["--disable hooks", "-c features.hooks", "-c hooks", "--config features.hooks", "--config hooks"],
        variables: &["CODEX_HOME"],
    },
    Host { programs: &["copilot"], options: &[], variables: &["COPILOT_HOME"] },
    Host {
        programs: &["gemini", "gemini-cli"],
        options: &["--acp", "--experimental-acp"],
        variables: &["GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"],
    },
    Host {
        programs: &["opencode", "opencode-ai"],
        options: &["--pure"],
        variables: &[
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_CONTENT",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_PURE",
            "XDG_CONFIG_HOME",
        ],
    },
    Host {
        programs: &["qwen", "qwen-code"],
        options: &["--bare", "--safe-mode"],
        variables: &["QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE", "QWEN_CODE_SYSTEM_SETTINGS_PATH", "QWEN_HOME"],
    },
];

/// Settings of every host lie below it.
const HOME: &str = "HOME";

/// Words with which a host only tells something.
const TELLING: &[&str] = &["--help", "--version", "-h", "-v", "-V"];

/// The host that a command starts without what guards it, and what takes that away.
pub(super) fn unguarded(command: &Command) -> Option<(&str, String)> {
    // `codex@latest` of a package runner.
    let program = command.program()?.split('@').next().unwrap_or_default();
    let host = HOSTS.iter().find(|host| host.programs.contains(&program))?;
    let arguments = command.words.get(1..).unwrap_or_default();
    if arguments.iter().any(|word| TELLING.contains(&word.text.as_str())) {
        return None;
    }
    let variable =
        command.env.iter().map(|(name, _)| name.as_str()).find(|name| host.variables.contains(name) || *name == HOME);
    let option = || host.options.iter().find(|option| has(arguments, option)).copied();
    variable.or_else(option).map(|what| (program, what.to_owned()))
}

/// Whether an option stands among the words, with its value where it counts only with that.
fn has(arguments: &[Word], option: &str) -> bool {
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    arguments.iter().enumerate().any(|(at, word)| {
        let joined = word.text.strip_prefix(name).and_then(|rest| rest.strip_prefix('='));
        let next = (word.text == name).then(|| arguments.get(at + 1).map_or("", |word| word.text.as_str()));
        joined.or(next).is_some_and(|given| given.contains(value))
    })
}
