//! Claude Code on this machine: its version, its settings files, and the command line that it shall run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use jackline_runtime::wiring::claude::ON_FAILURE_SINCE;
use jackline_runtime::wiring::servers::Place;
use jackline_runtime::wiring::{CommandLine, Scope};

use crate::error::CommandError;
use crate::{bounded, place};

/// Milliseconds for the client to say its version; it is a large program that may have to be read from disk.
const VERSION_MS_MAX: u64 = 10_000;

/// Settings of the machine's administrator, which no other can switch off.
const MANAGED: [&str; 2] =
    ["/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"];

/// A version of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u64, u64, u64);

impl Version {
    /// The first version in a text such as `2.1.325 (Claude Code)`.
    fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let mut parts = word.split(['.', '-', '+']).map(str::parse);
        let mut next = || parts.next().and_then(Result::ok);
        Some(Self(next()?, next()?, next()?))
    }

    /// Whether a failed hook blocks in it.
    pub(crate) fn honours_on_failure(self) -> bool {
        self >= Self::needed()
    }

    /// The first version in which a failed hook blocks.
    pub(crate) fn needed() -> Self {
        Self(ON_FAILURE_SINCE.0, ON_FAILURE_SINCE.1, ON_FAILURE_SINCE.2)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Asks a client for its version.
pub(crate) fn version(program: &Path) -> Result<Version, String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let answered = bounded::run(command, "", VERSION_MS_MAX)?;
    Version::parse(&answered.stdout).ok_or_else(|| "it does not say its version".to_owned())
}

/// The settings file of a scope.
pub(crate) fn settings_file(scope: Scope, root: &Path) -> Result<PathBuf, CommandError> {
    match scope {
        Scope::Local => Ok(root.join(".claude/settings.local.json")),
        Scope::Project => Ok(root.join(".claude/settings.json")),
        Scope::User => place::claude_home().map(|dir| dir.join("settings.json")).ok_or_else(|| {
            CommandError::input("there is no place for the user's settings").hint("set HOME or CLAUDE_CONFIG_DIR")
        }),
    }
}

/// The machine's settings, where there are any.
pub(crate) fn managed_files() -> Vec<PathBuf> {
    MANAGED.iter().map(PathBuf::from).filter(|file| file.exists()).collect()
}

/// What the client runs for every event. Paths are baked in, so that no variable of its environment leads elsewhere;
/// shared settings name none of this machine's.
pub(crate) fn line(scope: Scope, program: &Path, store: &Path, root: &Path) -> Result<CommandLine, CommandError> {
    let mut arguments = vec!["hook".to_owned(), "claude".to_owned()];
    if scope != Scope::Project {
        arguments.extend(["--store".to_owned(), text(store)?]);
    }
    if scope == Scope::Local {
        arguments.extend(["--root".to_owned(), text(root)?]);
    }
    arguments.extend(["--wired".to_owned(), scope.name().to_owned()]);
    let program = if scope == Scope::Project { "jackline".to_owned() } else { text(program)? };
    Ok(CommandLine { program, arguments })
}

/// Where Claude Code looks for MCP servers of a scope: the file, and where in it.
pub(crate) fn servers_file(scope: Scope, root: &Path) -> Result<(PathBuf, Place<'_>), CommandError> {
    let own = || {
        place::claude_servers().ok_or_else(|| {
            CommandError::input("there is no place for the user's MCP servers").hint("set HOME or CLAUDE_CONFIG_DIR")
        })
    };
    match scope {
        Scope::Local => Ok((own()?, Place::Project(named(root)?))),
        Scope::User => Ok((own()?, Place::Top)),
        Scope::Project => Ok((root.join(".mcp.json"), Place::Top)),
    }
}

/// What the client runs as our MCP server; baked in as for hooks.
pub(crate) fn server_line(
    scope: Scope,
    program: &Path,
    store: &Path,
    root: &Path,
) -> Result<CommandLine, CommandError> {
    let mut arguments = vec!["mcp".to_owned(), "serve".to_owned()];
    if scope != Scope::Project {
        arguments.extend(["--store".to_owned(), text(store)?]);
    }
    if scope == Scope::Local {
        arguments.extend(["--workspace".to_owned(), text(root)?]);
    }
    let program = if scope == Scope::Project { "jackline".to_owned() } else { text(program)? };
    Ok(CommandLine { program, arguments })
}

fn text(path: &Path) -> Result<String, CommandError> {
    named(path).map(str::to_owned)
}

fn named(path: &Path) -> Result<&str, CommandError> {
    path.to_str().ok_or_else(|| {
        CommandError::input(format!("`{}` is not UTF-8, and settings are", path.display()))
            .hint("name another place, or rename the directory")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, honours: Option<bool>) {
        assert_eq!(Version::parse(text).map(Version::honours_on_failure), honours, "{text}");
    }

    #[test]
    fn versions_are_told_apart() {
        check("2.1.325 (Claude Code)\n", Some(true));
        check("2.1.295", Some(true));
        check("2.1.197 (Claude Code)", Some(false));
        check("claude 2.2.0-beta.1", Some(true));
        check("10.0.0", Some(true));
        check("1.99.999", Some(false));
        check("2.1", None);
        check("oops", None);
        check("", None);
    }
}
