//! Texts that only ask: a question about a file, in a person's words, handed to a program that we do not know, as one that
//! talks to a model. No shell and no interpreter does anything with such a text.
//!
//! Only what begins with a word of asking, holds nothing that a program's text is made of and no word for a change counts;
//! everything else may be run.

use super::{files, wrappers};

/// Words with which people begin to ask. None is a program that changes anything.
const ASKING: &[&str] = &[
    "analyse",
    "analyze",
    "are",
    "can",
    "compare",
    "could",
    "describe",
    "discuss",
    "do",
    "does",
    "explain",
    "how",
    "is",
    "list",
    "outline",
    "please",
    "read",
    "review",
    "should",
    "show",
    "summarise",
    "summarize",
    "tell",
    "understand",
    "what",
    "what's",
    "when",
    "where",
    "which",
    "who",
    "why",
    "would",
];

/// Words with which people ask for a change.
const CHANGING: &[&str] = &[
    "add",
    "allow",
    "alter",
    "append",
    "apply",
    "change",
    "clear",
    "comment",
    "copy",
    "create",
    "delete",
    "disable",
    "drop",
    "edit",
    "empty",
    "enable",
    "erase",
    "execute",
    "fix",
    "insert",
    "loosen",
    "make",
    "modify",
    "move",
    "overwrite",
    "put",
    "relax",
    "remove",
    "rename",
    "replace",
    "reset",
    "restore",
    "revert",
    "rewrite",
    "run",
    "save",
    "set",
    "strip",
    "swap",
    "switch",
    "take",
    "turn",
    "update",
    "weaken",
    "wipe",
    "write",
];

/// Whether a text only asks.
pub(super) fn asks(text: &str) -> bool {
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches([',', '.', ':', '?', '!']));
    let first = words.next().map(str::to_ascii_lowercase);
    first.is_some_and(|first| ASKING.contains(&first.as_str()))
        && is_plain(text.trim())
        && words.all(|word| !may_change(word))
}

/// Whether nothing stands in a text that a program's text is made of; an apostrophe within a word is none of it.
fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " -_./~,:?!'".contains(c);
    let quotes = text.split(' ').any(|word| word.starts_with('\'') || word.ends_with('\''));
    text.chars().all(plain) && !quotes
}

/// Whether a word is an option, the way to a program, a program that changes something or runs others, or asks for it.
fn may_change(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let program = files::changes(&lower) || wrappers::is_wrapper(&lower) || wrappers::is_interpreter(&lower);
    let path = ["-", "./", "../"].iter().any(|beginning| word.starts_with(beginning));
    path || program || CHANGING.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_ask_and_everything_else_may_be_run() {
        for text in [
            "explain jackline.yaml",
            "What does jackline.yaml say about .claude/settings.json?",
            "what's in ~/.claude/settings.json, and why",
            "summarise the rules in jackline.yaml\n",
            "tell me how hooks in /etc/jackline/jackline.yaml work",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "rm jackline.yaml",
            "evil jackline.yaml",
            "explain jackline.yaml; rm it",
            "explain jackline.yaml\nrm jackline.yaml",
            "please delete jackline.yaml",
            "please run sed on jackline.yaml",
            "please Remove: jackline.yaml",
            "explain jackline.yaml > jackline.yaml",
            "do ./evil jackline.yaml",
            "list -delete jackline.yaml",
            "tell bash about jackline.yaml",
            "what 'jackline.yaml' is",
            "explain $(x) jackline.yaml",
            "is open(jackline.yaml)",
            "what sudo does to jackline.yaml",
            "",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
