//! Marks that agents' hosts leave: variables in the environment of what they start, and names of their processes.
//!
//! Tables only; who reads an environment or looks at processes is elsewhere.

/// One host: how its variables are told from those that people set for it.
struct Host {
    /// Names of programs, as processes and files have them.
    programs: &'static [&'static str],
    /// Packages whose files run in an interpreter.
    packages: &'static [&'static str],
    /// Variables that it sets for what it starts.
    variables: &'static [&'static str],
    /// How the names of its variables begin.
    prefixes: &'static [&'static str],
    /// How the names begin that people set in their own shell; those are no marks.
    settings: &'static [&'static str],
}

const HOSTS: &[Host] = &[
    Host {
        programs: &["claude", "claude-agent-acp", "claude-code-acp"],
        packages: &["@anthropic-ai/claude-code", "@anthropic-ai/claude-agent-sdk"],
        variables: &[
            "CLAUDECODE",
            "CLAUDE_PID",
            "CLAUDE_EFFORT",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_ENV_FILE",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_PLUGIN_DATA",
            "CLAUDE_AGENT_SDK_VERSION",
            "CLAUDE_JOB_DIR",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_EXECPATH",
            "CLAUDE_CODE_INVOKED_SKILLS",
            "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_SESSION_KIND",
        ],
        // Hundreds of others that begin with `CLAUDE_CODE_` are settings, which people export in their shell.
        prefixes: &["CLAUDE_CODE_MESSAGING_", "CLAUDE_CODE_REMOTE_SESSION_"],
        settings: &[],
    },
    Host {
        programs: &["codex"],
        packages: &["@openai/codex"],
        variables: &[],
        prefixes: &["CODEX_"],
        settings: &["CODEX_HOME", "CODEX_API_KEY", "CODEX_OSS_", "CODEX_SQLITE_HOME", "CODEX_CA_CERTIFICATE"],
    },
    Host {
        programs: &["gemini"],
        packages: &["@google/gemini-cli"],
        variables: &["GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR", "GEMINI_CWD"],
        prefixes: &["GEMINI_CLI_"],
        settings: &["GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_SYSTEM_", "GEMINI_CLI_IDE_"],
    },
    Host {
        programs: &["opencode"],
        packages: &["opencode-ai"],
        variables: &["OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE", "OPENCODE_BIN_PATH"],
        prefixes: &[],
        settings: &[],
    },
    Host {
        programs: &["qwen"],
        packages: &["@qwen-code/qwen-code"],
        variables: &["QWEN_CODE", "QWEN_SESSION_ID", "QWEN_PROJECT_DIR", "QWEN_CWD"],
        prefixes: &[],
        settings: &[],
    },
    Host {
        programs: &["cursor-agent"],
        packages: &[],
        variables: &["CURSOR_AGENT", "CURSOR_PROJECT_DIR"],
        prefixes: &[],
        settings: &[],
    },
    Host {
        programs: &["copilot"],
        packages: &["@github/copilot"],
        variables: &["COPILOT_CLI", "COPILOT_PROJECT_DIR", "COPILOT_HOOK_DIR", "COPILOT_AGENT_SESSION_ID"],
        prefixes: &[],
        settings: &[],
    },
];

/// Programs that run another program's text: its file is the first of their words that is no option.
const INTERPRETERS: &[&str] = &["node", "nodejs", "bun", "deno"];

/// Whether a variable of this name shows that a host started what has it.
pub(crate) fn is_mark(name: &str) -> bool {
    HOSTS.iter().any(|host| {
        let begins = |all: &[&str]| all.iter().any(|prefix| name.starts_with(prefix));
        host.variables.contains(&name) || begins(host.prefixes) && !begins(host.settings)
    })
}

/// The host that a process with these words is, if it is one.
pub(crate) fn host<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (program, rest) = words.split_first()?;
    if is_program(program) {
        return Some(base(program));
    }
    let interprets = INTERPRETERS.contains(&base(program));
    let file = rest.iter().find(|word| !word.starts_with('-')).filter(|_| interprets)?;
    (is_program(file) || is_of_package(file)).then(|| base(file))
}

fn is_program(path: &str) -> bool {
    HOSTS.iter().any(|host| host.programs.contains(&base(path)))
}

fn is_of_package(path: &str) -> bool {
    let mut packages = HOSTS.iter().flat_map(|host| host.packages);
    packages.any(|package| path.contains(&format!("/node_modules/{package}/")))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hosts_set_is_told_from_what_people_set() {
        for name in [
            "CLAUDECODE",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_MESSAGING_SOCKET",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_REMOTE_SESSION_ID",
            "CLAUDE_PID",
            "CLAUDE_PROJECT_DIR",
            "CODEX_THREAD_ID",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "GEMINI_CLI_NO_RELAUNCH",
            "GEMINI_SESSION_ID",
            "OPENCODE",
            "QWEN_CODE",
            "CURSOR_AGENT",
            "COPILOT_CLI",
        ] {
            assert!(is_mark(name), "{name}");
        }
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS",
            "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
            "CLAUDE_CODE_PLUGIN_CACHE_DIR",
            "CLAUDE_CODE_PERFORCE_MODE",
            "CODEX_HOME",
            "GEMINI_API_KEY",
            "GEMINI_CLI_HOME",
            "OPENCODE_CONFIG",
            "PATH",
        ] {
            assert!(!is_mark(name), "{name}");
        }
    }

    #[test]
    fn hosts_are_known_by_their_program_or_by_what_an_interpreter_runs() {
        for words in [
            &["claude"][..],
            &["/usr/local/bin/codex", "exec"],
            &["node", "/usr/local/bin/gemini"],
            &["node", "--max-old-space-size=1", "/x/node_modules/@anthropic-ai/claude-code/cli.js"],
            &["bun", "/x/node_modules/opencode-ai/bin/opencode.js"],
        ] {
            assert!(host(words).is_some(), "{words:?}");
        }
        for words in [&["bash"][..], &["vim", "claude"], &["node", "server.js", "claude"], &["cursor"], &[]] {
            assert!(host(words).is_none(), "{words:?}");
        }
    }
}
