//! Paths as text: what a call touches and how a path is written, never what is on the disk.

use serde::{Deserialize, Serialize};

/// What a call does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Read,
    Write,
    Delete,
}

impl Role {
    /// Every role as definitions spell it.
    pub const NAMES: &'static [&'static str] = &["read", "write", "delete"];

    /// Reads the definition's spelling.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            "delete" => Some(Self::Delete),
            _ => None,
        }
    }

    /// Whether the path may be different afterwards.
    #[must_use]
    pub const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Delete)
    }
}

/// Directories that tools make and that are thrown away all day.
const GENERATED: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".gradle",
    "coverage",
    "htmlcov",
];

/// Whether a path is one of those directories, or lies in one.
#[must_use]
pub fn is_generated(path: &str) -> bool {
    path.split('/').any(|part| GENERATED.contains(&part))
}

/// Folds `.`, `..` and doubled slashes of a path by its text alone, keeping a leading `/`.
///
/// Only for globs and display: identity of a file is a probe's business, because links come before `..`.
#[must_use]
pub fn fold(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// `path` as seen from `dir`: itself when absolute, else joined and folded.
#[must_use]
pub fn join(dir: &str, path: &str) -> String {
    if path.starts_with('/') { fold(path) } else { fold(&format!("{dir}/{path}")) }
}

/// The part of `path` below `root`, if it is below it (`""` for the root itself).
#[must_use]
pub fn below<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let root = root.trim_end_matches('/');
    let rest = path.strip_prefix(root)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, want: &str) {
        assert_eq!(fold(path), want, "{path}");
    }

    #[test]
    fn folding_is_textual() {
        check("./a", "a");
        check("x/../a", "a");
        check("a//b/", "a/b");
        check("../a", "../a");
        check("/../a", "/a");
        check("/a/./b/..", "/a");
        check(".", "");
    }

    #[test]
    fn below_needs_a_whole_segment() {
        assert_eq!(below("/ws", "/ws/a"), Some("a"));
        assert_eq!(below("/ws", "/ws"), Some(""));
        assert_eq!(below("/ws", "/ws2/a"), None);
        assert_eq!(below("/", "/etc"), Some("etc"));
    }
}
