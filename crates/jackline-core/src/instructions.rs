//! Files that tell a host's agents what to do: agents, skills, commands. An agent may write them; but some keys of their front
//! matter have the host run something beside our hooks.

use std::borrow::Cow;

use crate::definition::{Faults, yaml};

/// Directories of such files, in a project or at home.
pub const DIRECTORIES: &[&str] = &[
    ".claude/agents",
    ".claude/skills",
    ".claude/commands",
    ".qwen/agents",
    ".qwen/skills",
    ".qwen/commands",
    ".github/agents",
    ".github/skills",
    ".copilot/agents",
    ".copilot/skills",
];

/// Keys of their front matter with which a host runs hooks of theirs, which may rewrite a call that was judged, or an agent
/// that asks no hook.
const KEYS: &[&str] = &["hooks", "executor"];

/// The line around front matter.
const FENCE: &str = "---";

/// Bytes of front matter that are read as such; real ones have a few hundred.
const FRONT_BYTES_MAX: usize = 16 * 1024;

/// Whether a path is such a file, or lies beside one.
#[must_use]
pub fn is_one(path: &str) -> bool {
    let path = format!("/{path}");
    DIRECTORIES.iter().any(|dir| path.match_indices(dir).any(|(at, _)| is_part(&path, at, dir.len())))
}

fn is_part(path: &str, at: usize, bytes: usize) -> bool {
    let before = path.get(..at).unwrap_or_default().ends_with('/');
    before && path.get(at + bytes..).unwrap_or_default().starts_with('/')
}

/// The key by which a file of this text brings something along that a host runs.
#[must_use]
pub fn brings(text: &str) -> Option<&'static str> {
    let front = front_of(text)?;
    let mut faults = Faults::default();
    let read = Some(front).filter(|front| front.len() <= FRONT_BYTES_MAX).and_then(|it| yaml::read(it, &mut faults));
    match read {
        Some(node) => KEYS.iter().find(|key| node.get(key).is_some()).copied(),
        // What we cannot read a host may.
        None => mentions(front),
    }
}

/// The same for a part of such a file, or for a shell's text that writes one.
#[must_use]
pub fn mentions(text: &str) -> Option<&'static str> {
    KEYS.iter().find(|key| text.match_indices(**key).any(|(at, _)| is_key(text, at, key.len()))).copied()
}

/// The same for a JSON text, as a plugin among skills has it.
#[must_use]
pub fn mentions_in_json(text: &str) -> Option<&'static str> {
    let text = unescaped(text);
    let named = |key: &&&str| text.match_indices(**key).any(|(at, _)| is_quoted(&text, at, key.len()));
    KEYS.iter().find(named).copied()
}

/// Whether a word stands in quotes, as far as the text goes: a part of a file may begin or end within them.
fn is_quoted(text: &str, at: usize, bytes: usize) -> bool {
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + bytes..).unwrap_or_default());
    (before.is_empty() || before.ends_with('"')) && (after.is_empty() || after.starts_with('"'))
}

/// A text with the letters that JSON spells by their number, whether it is JSON as a whole or a part of it.
fn unescaped(text: &str) -> Cow<'_, str> {
    let mut parts = text.split("\\u");
    let first = parts.next().unwrap_or_default();
    let mut plain = Cow::Borrowed(first);
    for part in parts {
        let letter = part.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        match letter {
            Some(letter) => plain.to_mut().push(letter),
            None => plain.to_mut().push_str("\\u"),
        }
        plain.to_mut().push_str(if letter.is_some() { part.get(4..).unwrap_or_default() } else { part });
    }
    plain
}

/// Whether a word at the beginning of a line, or of what a shell prints as one, is a key.
fn is_key(text: &str, at: usize, bytes: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches(['"', '\'']);
    let after = text.get(at + bytes..).unwrap_or_default().trim_start_matches(['"', '\'', ' ', '\\']);
    let begins = before.is_empty() || before.ends_with(['\n', '\r']) || before.ends_with("\\n");
    let quoted = before.len() < at;
    after.starts_with(':') && (begins || quoted && before.ends_with([' ', '=']))
}

/// The front matter of a text, where it begins with one; one that does not end goes on to its end.
fn front_of(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    let rest = text.trim_start().strip_prefix(FENCE)?;
    let begin = rest.find('\n').filter(|at| rest.get(..*at).is_some_and(|line| line.trim().is_empty()))? + 1;
    let rest = rest.get(begin..)?;
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            break;
        }
        end += line.len();
    }
    rest.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_directory() {
        for path in ["/ws/.claude/agents/a.md", ".claude/skills/x/SKILL.md", "/ws/a/.qwen/agents/b.md"] {
            assert!(is_one(path), "{path}");
        }
        for path in ["/ws/claude/agents/a.md", "/ws/x.claude/agents/a.md", "/ws/.claude/agents", "/ws/.claude/x.md"] {
            assert!(!is_one(path), "{path}");
        }
    }

    #[test]
    fn front_matter_may_bring_hooks() {
        for text in [
            "---\nname: a\nhooks:\n  PreToolUse: []\n---\nbody",
            "---\n{name: a, hooks: {}}\n---\n",
            "---\n\"hoo\\x6bs\": {}\n---\n",
            "\u{feff}---\nhooks: {}",
            "---\n: {\nhooks: {}\n---\n",
        ] {
            assert_eq!(brings(text), Some("hooks"), "{text}");
        }
        assert_eq!(brings("---\nname: a\nexecutor:\n  kind: acp\n---\n"), Some("executor"));
        for text in ["---\nname: hooks\n---\nhooks:\n", "hooks: x", "---\nname: a\nmeta:\n  hooks: x\n---\n", ""] {
            assert_eq!(brings(text), None, "{text}");
        }
    }

    #[test]
    fn json_may_bring_them_however_it_spells_them() {
        for text in [r#"{"hooks": {}}"#, r#"{"name": "a", "\u0068ooks": "./h.json"}"#, r#"{"hooks": "#] {
            assert_eq!(mentions_in_json(text), Some("hooks"), "{text}");
        }
        let parts = [
            r#""\u0068oo\u006Bs": "./h.json","#,
            r#"{"a": 1, "a": 2, "\u0068ooks": {}}"#,
            "hooks",
            "\\u0068ooks",
            "hooks\": {",
        ];
        for text in parts {
            assert_eq!(mentions_in_json(text), Some("hooks"), "{text}");
        }
        for text in [r#"{"name": "a"}"#, r#"{"name": "the hooks"}"#, r#"{"\u0068ook": 1}"#, r#"{"a": "\u00"}"#] {
            assert_eq!(mentions_in_json(text), None, "{text}");
        }
    }

    #[test]
    fn a_part_may_add_them() {
        for text in ["hooks:\n  PreToolUse:", "name: a\nhooks: {}", "\"hooks\": x", "printf '---\\nhooks: x'"] {
            assert_eq!(mentions(text), Some("hooks"), "{text}");
        }
        for text in ["React hooks: a guide", "    hooks:\n      - id: x", "git hooks", "the hooks"] {
            assert_eq!(mentions(text), None, "{text}");
        }
    }
}
