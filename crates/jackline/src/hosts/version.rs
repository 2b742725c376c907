//! Versions of hosts, as they say them.

use std::fmt;
use std::path::Path;
use std::process::Command;

use crate::bounded;

/// Milliseconds for a host to say its version; it is a large program that may have to be read from disk.
const VERSION_MS_MAX: u64 = 10_000;

/// A version of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u64, pub(crate) u64, pub(crate) u64);

impl Version {
    /// The first version in a text such as `2.1.325 (Claude Code)`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            word.starts_with(|c: char| c.is_ascii_digit()).then_some(word)
        })?;
        let mut parts = word.split(['.', '-', '+']).map(str::parse);
        let mut next = || parts.next().and_then(Result::ok);
        Some(Self(next()?, next()?, next()?))
    }

    /// Asks a host for its version.
    pub(crate) fn of(program: &Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command.arg("--version");
        let answered = bounded::run(command, "", VERSION_MS_MAX)?;
        Self::parse(&answered.stdout).ok_or_else(|| "it does not say its version".to_owned())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<Version>) {
        assert_eq!(Version::parse(text), want, "{text}");
    }

    #[test]
    fn versions_are_found_and_ordered() {
        check("2.1.325 (Claude Code)\n", Some(Version(2, 1, 325)));
        check("codex-cli 0.166.0", Some(Version(0, 166, 0)));
        check("claude v2.2.0-beta.1", Some(Version(2, 2, 0)));
        check("2.1", None);
        check("oops", None);
        check("", None);
        assert!(Version(2, 1, 295) < Version(2, 1, 325) && Version(1, 99, 999) < Version(2, 1, 295));
        assert!(Version(10, 0, 0) > Version(2, 1, 295));
    }
}
