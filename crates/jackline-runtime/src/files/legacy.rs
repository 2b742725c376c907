//! Converts the older single file of policies, a list in YAML, into one file for each.

use std::path::Path;

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{self, Node};
use jackline_core::definition::{Fault, Faults};
use jackline_core::files::pattern::Pattern;
use jackline_core::files::policy::{POLICY_BYTES_MAX, Policy};
use serde_json::json;

use crate::probes::fingerprint::small;

/// The older file's name.
pub const LEGACY_FILE: &str = ".deepwork.policy.yml";
/// Bytes of an identifier: it is a file's name.
const ID_BYTES_MAX: usize = 80;
/// What an entry of the older file may say.
const KEYS: [&str; 6] = ["name", "trigger", "safety", "compare_to", "instructions", "instructions_file"];

/// A policy as its file will hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    pub id: String,
    pub text: String,
    /// What its owner should know.
    pub warning: Option<Fault>,
}

/// Converts all policies of the older file; files of instructions are named from `root`.
///
/// # Errors
/// Everything that cannot be converted: nothing is left out in silence.
pub fn convert(source: &str, root: &Path) -> Result<Vec<Converted>, Vec<Fault>> {
    let mut faults = Faults::default();
    let tree = yaml::read(source, &mut faults);
    let mut all: Vec<Converted> = Vec::new();
    match tree.as_ref().map(Node::items) {
        Some(items) if !items.is_empty() => {
            for node in items {
                match one(node, root, &all) {
                    Ok(converted) => all.push(converted),
                    Err(found) => found.into_iter().for_each(|fault| faults.push(fault)),
                }
            }
        }
        _ if faults.any_error() => {}
        _ => faults.push(Fault::error("it is no list of policies").help("each begins with `- name: …`")),
    }
    if faults.any_error() { Err(faults.into_sorted()) } else { Ok(all) }
}

fn one(node: &Node, root: &Path, before: &[Converted]) -> Result<Converted, Vec<Fault>> {
    let wrong = |fault: Fault| vec![fault.at(node.span)];
    if let Some(entry) = node.entries().iter().find(|entry| !KEYS.contains(&entry.key.as_str())) {
        return Err(vec![Fault::error(format!("unknown key {}", quoted(&entry.key))).at(entry.key_span)]);
    }
    let text = |key: &str| node.get(key).and_then(Node::text);
    let name = text("name").ok_or_else(|| wrong(Fault::error("a policy has no name")))?;
    let id =
        id(name).ok_or_else(|| wrong(Fault::error(format!("the name {} has no letter or digit", quoted(name)))))?;
    if before.iter().any(|other| other.id == id) {
        return Err(wrong(Fault::error(format!("two policies would be `{id}.md`")).help("rename one of them")));
    }
    let body = match (text("instructions"), text("instructions_file")) {
        (Some(body), None) => body.trim().to_owned(),
        (None, Some(file)) => instructions(root, file).map_err(wrong)?,
        _ => return Err(wrong(Fault::error("a policy has either `instructions` or `instructions_file`"))),
    };
    let line = |key: &str| node.get(key).map(|node| format!("{key}: {}\n", listed(node))).unwrap_or_default();
    let front = ["compare_to", "trigger", "safety"].map(line).concat();
    let text = format!("---\nname: {}\n{front}---\n{body}\n", json!(name));
    // What is written must be what is read.
    let policy = Policy::parse(&id, &text)
        .map_err(|found| found.into_iter().map(|fault| fault.at(node.span)).collect::<Vec<_>>())?;
    Ok(Converted { id, text, warning: rooted(&policy) })
}

/// That a pattern is told from the root here, or stops at `/`, where the older program had it match at any depth.
#[must_use]
pub fn rooted(policy: &Policy) -> Option<Fault> {
    let narrowed = |text| narrowed(text).map(|parts| (text, parts));
    let (pattern, (before, rest)) = policy.patterns().map(Pattern::text).find_map(narrowed)?;
    let message = match before {
        "" if !rest.contains('/') => format!("pattern {} matches files of the top directory only", quoted(pattern)),
        _ => format!("pattern {} matches no deeper than it says: `*` and `?` stop at `/`", quoted(pattern)),
    };
    Some(Fault::warning(message).help(format!("`{before}**/{rest}` matches at any depth, as it did before")))
}

/// A pattern in front of its first segment with a wildcard, and from there on; nothing where `**` leads to each of them.
fn narrowed(text: &str) -> Option<(&str, &str)> {
    let (mut at, mut deep) = (0, false);
    for segment in text.split('/') {
        if !deep && segment != "**" && has_wildcard(segment) {
            return text.split_at_checked(at);
        }
        (at, deep) = (at + segment.len() + 1, segment == "**");
    }
    None
}

/// Whether `*` or `?` stands in it, as such: not in a variable, and not escaped.
fn has_wildcard(segment: &str) -> bool {
    let (mut depth, mut chars) = (0_usize, segment.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '*' | '?' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

fn instructions(root: &Path, file: &str) -> Result<String, Fault> {
    let inside = !file.starts_with('/') && !file.split('/').any(|part| part == "..");
    let bytes = inside.then(|| small(&root.join(file), POLICY_BYTES_MAX as u64)).flatten();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(|text| text.trim().to_owned()).ok_or_else(|| Fault::error(format!("{} cannot be read", quoted(file))))
}

/// A text or a list of them, as JSON, which YAML reads.
fn listed(node: &Node) -> String {
    match node.text() {
        Some(text) => json!(text).to_string(),
        None => json!(node.items().iter().filter_map(Node::text).collect::<Vec<_>>()).to_string(),
    }
}

/// A name as a file's name: words of letters and digits, with dashes between.
#[must_use]
pub fn id(name: &str) -> Option<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let id = words.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    let id = jackline_core::audit::head(&id, ID_BYTES_MAX).trim_end_matches('-').to_owned();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_file_becomes_one_for_each() {
        let source = "- name: \"README Accuracy\"\n  trigger: \"src/**/*\"\n  safety: [README.md, \"docs/**\"]\n  \
                      instructions: |\n    Please verify README.md is accurate.\n";
        let all = convert(source, Path::new("/")).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].id, "readme-accuracy");
        assert_eq!(
            all[0].text,
            "---\nname: \"README Accuracy\"\ntrigger: \"src/**/*\"\nsafety: [\"README.md\",\"docs/**\"]\n---\nPlease verify \
             README.md is accurate.\n"
        );
    }

    #[test]
    fn what_stops_at_a_slash_here_is_found() {
        for (pattern, want) in [
            ("*.py", Some(("", "*.py"))),
            ("src/*.py", Some(("src/", "*.py"))),
            ("src/a?.py", Some(("src/", "a?.py"))),
            ("src/*/x.py", Some(("src/", "*/x.py"))),
            ("src/**/x/*.py", Some(("src/**/x/", "*.py"))),
            ("src/**/*.py", None),
            ("src/**", None),
            ("**/test_*.py", None),
            ("src/{*}/{**x}.py", None),
            ("src/\\*.py", None),
            ("README.md", None),
        ] {
            assert_eq!(narrowed(pattern), want, "{pattern}");
        }
    }

    #[track_caller]
    fn check(source: &str, want: &str) {
        let faults = convert(source, Path::new("/nowhere")).unwrap_err();
        assert!(faults.iter().any(|fault| fault.message.contains(want)), "{source}: {faults:?}");
    }

    #[test]
    fn what_cannot_be_converted_is_told() {
        check("", "no list");
        check("a: b", "no list");
        check("- trigger: a\n  instructions: b", "no name");
        check("- name: x\n  trigger: a", "either `instructions`");
        check("- name: x\n  triger: a\n  instructions: b", "unknown key `triger`");
        check("- name: x\n  trigger: a{b\n  instructions: b", "unclosed brace");
        check("- {name: x, trigger: a, instructions: b}\n- {name: X, trigger: a, instructions: b}", "two policies");
        check("- {name: x, trigger: a, instructions_file: ../b}", "cannot be read");
    }
}
