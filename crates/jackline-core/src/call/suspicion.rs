//! What a call may do to what guards us when nothing is known of its tool: whatever its arguments name, at any depth, may
//! be written, and whatever text they hold may be run.

use serde_json::Value;

use super::arguments::strings_at;
use crate::own_files::{PARTS, ends_in_directory};
use crate::patch;
use crate::tools::PATH_ARGUMENTS;

/// Arguments that hold a program in some language.
const CODE_ARGUMENTS: &[&str] = &["code", "script", "source", "program", "expression"];

/// Arguments whose lists are the words of a command, of which each may be a text that a shell runs.
const WORDS_ARGUMENTS: &[&str] = &["argv", "args", "arguments", "cmd", "command", "commands"];

/// Arguments that say what something is about, not which file it is.
const ABOUT: &[&str] = &[
    "about",
    "body",
    "comment",
    "content",
    "description",
    "keyword",
    "keywords",
    "libraryName",
    "message",
    "note",
    "notes",
    "pattern",
    "prompt",
    "q",
    "query",
    "question",
    "regex",
    "search",
    "subject",
    "summary",
    "term",
    "terms",
    "text",
    "thought",
    "title",
    "topic",
];

/// What a tool's name begins with that reads, looks for or tells something.
const READING: &[&str] = &[
    "ask", "browse", "describe", "explain", "fetch", "find", "get", "list", "lookup", "query", "read", "resolve",
    "search", "show", "view",
];

/// Words in a tool's name that say that it changes something, too.
const WRITING: &[&str] = &[
    "and", "create", "delete", "download", "edit", "move", "remove", "replace", "save", "set", "store", "update",
    "write",
];

/// Arguments of those that read which say what is read.
const READ: &[&str] = &[
    "absolute_path",
    "file",
    "filePath",
    "file_path",
    "filename",
    "filepath",
    "files",
    "notebook_path",
    "path",
    "paths",
    "ref",
    "uri",
    "uris",
    "url",
    "urls",
];

/// Words in a tool's name that say that what it is given may be gone, or be elsewhere, afterwards.
const TAKING: &[&str] = &[
    "clean", "clear", "delete", "destroy", "erase", "link", "move", "mv", "prune", "purge", "remove", "rename", "rm",
    "rmdir", "symlink", "trash", "unlink", "wipe",
];

/// Arguments of those that say what is taken away, besides the usual ones.
const TAKEN: &[&str] = &[
    "directory",
    "dir",
    "folder",
    "from",
    "item",
    "items",
    "oldPath",
    "old_path",
    "source",
    "sources",
    "src",
    "target",
];

/// Whether the name of a tool that nobody knows says that it takes things away.
pub(crate) fn takes_by_name(tool: &str) -> bool {
    let own = tool.rsplit("__").next().unwrap_or(tool);
    // Words are told apart by marks, or by capitals.
    let broken: String = own
        .chars()
        .flat_map(|c| c.is_ascii_uppercase().then_some('_').into_iter().chain([c.to_ascii_lowercase()]))
        .collect();
    broken.split(['_', '-', '.', '/']).any(|word| TAKING.contains(&word))
}

/// Whether the name of a server's tool says that it reads.
fn reads_by_name(tool: &str) -> bool {
    let own = tool.strip_prefix("mcp__").and_then(|rest| rest.rsplit("__").next()).unwrap_or_default();
    let end = own.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(own.len());
    let words: Vec<&str> = own.split(['_', '-']).collect();
    // Who gets something may put it somewhere.
    let writes = |word: &&str| WRITING.contains(word);
    own.get(..end).is_some_and(|first| READING.contains(&first)) && !words.iter().any(writes)
}

/// The paths that a call names: those in the usual arguments, those of a patch, and every text that may be one of ours. What
/// a tool that reads by its name is to read is none of them.
pub(crate) fn paths(tool: &str, args: &Value) -> Vec<String> {
    let reads = reads_by_name(tool);
    let is_read = |name: &str| reads && READ.contains(&name);
    let mut found: Vec<String> = Vec::new();
    let taken = TAKEN.iter().filter(|_| takes_by_name(tool));
    for name in PATH_ARGUMENTS.iter().filter(|name| !is_read(name)).chain(taken) {
        strings_at(args, name, &mut |text| found.extend((!is_address(text)).then(|| text.to_owned())));
    }
    each_text(None, args, &mut |name, text| {
        let about = name.is_some_and(|name| ABOUT.contains(&name) || is_read(name));
        if patch::is_one(text) || !about && patch::is_diff(text) {
            found.extend(patch::files(text).into_iter().map(|(path, _)| path));
        } else if !about && !is_address(text) && may_be_ours(text) && !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    });
    if !reads {
        named_apart(args, &mut found);
    }
    found
}

/// The programs that a call may have run.
pub(crate) fn programs(args: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    each_text(None, args, &mut |name, text| {
        // A word that is one of ours by itself is a path, which may be told more of.
        let is_command = |name: &str| WORDS_ARGUMENTS.contains(&name) && text.contains(char::is_whitespace);
        if name.is_some_and(|name| CODE_ARGUMENTS.contains(&name) || is_command(name)) {
            found.push(text);
        }
    });
    found
}

/// Files of which an object names the directory and the name apart, where that is one of ours: `{folder: .claude, name: x.json}`.
fn named_apart(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| named_apart(item, found)),
        Value::Object(fields) => {
            let texts = || fields.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
            let named = || texts().filter(|(name, _)| !ABOUT.contains(name)).map(|(_, text)| text);
            let is_name =
                |text: &&str| text.contains('.') && !text.contains(['/', '\\']) && !text.contains(char::is_whitespace);
            for dir in named().filter(|text| ends_in_directory(text.trim_end_matches('/')) && !is_address(text)) {
                let files = named().filter(is_name).filter(|name| *name != dir);
                found.extend(files.map(|name| format!("{}/{name}", dir.trim_end_matches('/'))));
            }
            fields.values().for_each(|value| named_apart(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a text is a path with a name in it that one of our files has. Prose that mentions one is none.
fn may_be_ours(text: &str) -> bool {
    let named = |part: &str| PARTS.iter().any(|own| own.eq_ignore_ascii_case(part));
    !text.contains('\n') && text.split(['/', '\\']).any(named)
}

/// Whether a text is the address of something that is no file here.
fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https"))
}

/// Every text at any depth, with the name of the argument that it is in.
fn each_text<'a>(name: Option<&'a str>, value: &'a Value, found: &mut impl FnMut(Option<&'a str>, &'a str)) {
    match value {
        Value::String(text) => found(name, text),
        Value::Array(items) => items.iter().for_each(|item| each_text(name, item, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| each_text(Some(name), value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::View;
    use super::*;
    use crate::event::Call;
    use serde_json::json;

    #[test]
    fn what_may_be_ours_is_found_at_any_depth_and_prose_is_not() {
        let args =
            json!({"operations": [{"target": "a/jackline.yaml"}], "args": ["rm", "jackline.yaml"], "to": "b.txt"});
        assert_eq!(paths("t", &args), ["jackline.yaml", "a/jackline.yaml"]);
        let prose = json!({"body": "we should change jackline.yaml", "repo": "me/project", "title": "settings"});
        assert!(paths("t", &prose).is_empty());
        assert!(paths("t", &json!({"query": "jackline.yaml", "pattern": ".claude/settings.json"})).is_empty());
        assert_eq!(paths("t", &json!({"to": "/my work/jackline.yaml"})), ["/my work/jackline.yaml"]);
        assert!(
            paths("t", &json!({"q": "jackline.yaml", "keywords": [".claude"], "question": "jackline.yaml"})).is_empty()
        );
        assert!(
            paths("t", &json!({"url": "https://a.b/c/jackline.yaml", "to": "HTTP://a.b/.claude/settings.json"}))
                .is_empty()
        );
        assert_eq!(paths("t", &json!({"uri": "file:///a/jackline.yaml"})).len(), 1);
        assert_eq!(paths("t", &json!({"path": "anything", "deep": {"filename": "other"}})), ["anything"]);
    }

    #[test]
    fn some_names_say_that_a_tool_reads() {
        for tool in ["mcp__github__get_file_contents", "mcp__x__search", "mcp__context7__resolve-library-id"] {
            assert!(reads_by_name(tool), "{tool}");
        }
        for tool in ["mcp__x__get_and_save", "mcp__x__settle", "mcp__x__find-replace", "get_file", "mcp__get__put"] {
            assert!(!reads_by_name(tool), "{tool}");
        }
        let args = json!({"path": "jackline.yaml", "url": ".claude", "output": ".claude/settings.json"});
        assert_eq!(paths("mcp__x__fetch", &args), [".claude/settings.json"]);
        assert_eq!(paths("mcp__x__put", &args).len(), 4);
    }

    #[test]
    fn a_diff_names_its_files_unless_it_is_talked_about() {
        let diff = "--- a/jackline.yaml\n+++ b/jackline.yaml\n@@ -1 +1 @@\n-a\n+b\n";
        for name in ["patch", "diff", "changes"] {
            assert!(paths("mcp__x__apply", &json!({ name: diff })).contains(&"jackline.yaml".to_owned()), "{name}");
        }
        assert!(paths("mcp__x__comment", &json!({ "body": diff })).is_empty());
        assert!(paths("mcp__x__apply", &json!({ "patch": "a list:\n--- one\n--- two\n" })).is_empty());
    }

    #[test]
    fn some_names_say_that_a_tool_takes_things_away() {
        for tool in ["mcp__fs__delete", "mcp__fs__move_file", "removeDirectory", "mcp__x__git-clean", "rm"] {
            assert!(takes_by_name(tool), "{tool}");
        }
        for tool in ["mcp__fs__write_file", "mcp__x__form", "mcp__remove__add", "remover", "confirm"] {
            assert!(!takes_by_name(tool), "{tool}");
        }
    }

    #[test]
    fn programs_are_found_by_their_argument() {
        let args = json!({"cells": [{"code": "open('x')"}], "text": "no program"});
        assert_eq!(programs(&args), ["open('x')"]);
        assert_eq!(programs(&json!({"argv": ["sh", "-c", "rm -rf .claude"]})), ["rm -rf .claude"]);
    }

    #[test]
    fn a_directory_of_ours_and_a_name_are_a_file() {
        let apart = json!({"folder": "a/.claude/", "name": "settings.local.json", "text": "b.json", "mode": "w"});
        assert_eq!(paths("t", &apart), ["a/.claude/", "settings.local.json", "a/.claude/settings.local.json"]);
        assert_eq!(paths("t", &json!({"folder": "src", "name": "a.json"})), Vec::<String>::new());
    }

    #[test]
    fn what_an_unknown_tool_names_is_suspected() {
        let suspected = |args: Value| -> Vec<String> {
            let call = Call::new("newest_tool", args);
            View::new(&call, Some("vscode"), "/ws", None).suspected.into_iter().map(|touch| touch.path).collect()
        };
        assert_eq!(suspected(json!({"filePath": "a"})), ["a"]);
        assert_eq!(suspected(json!({"command": "rm a"})), ["a"]);
        assert_eq!(suspected(json!("*** Begin Patch\n*** Delete File: a\n*** End Patch")), ["a"]);
        assert!(suspected(json!({"text": "a"})).is_empty());
        for words in [
            json!({"command": "rm", "args": ["a"]}),
            json!({"program": "rm", "args": "a"}),
            json!({"argv": ["rm", "a"]}),
            json!({"executable": "rm", "arguments": ["-f", "a"]}),
        ] {
            assert_eq!(suspected(words.clone()), ["a"], "{words}");
        }
    }
}
