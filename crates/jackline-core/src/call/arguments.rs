//! What a call's arguments hold: its shell text, the directory it names, and its paths.

use std::borrow::Cow;

use serde_json::Value;

use crate::tools::{COMMAND_ARGUMENTS, Tool};

/// Arguments that name a directory, for shell tools of which it is not known whether they heed one.
const DIRECTORY_ARGUMENTS: &[&str] = &["workdir", "cwd", "directory", "dir_path", "working_directory"];

/// Arguments that were written down as a text are arguments.
pub(super) fn decoded(args: &Value) -> Cow<'_, Value> {
    let inner = args.as_str().and_then(|text| serde_json::from_str(text).ok());
    inner.filter(Value::is_object).map_or(Cow::Borrowed(args), Cow::Owned)
}

/// Arguments that name a program, where its words stand in an argument of their own.
const PROGRAM_ARGUMENTS: &[&str] = &["program", "executable", "binary", "exe", "bin", "file"];

/// Arguments that hold the words of a command which another argument begins.
const WORDS_BESIDE: &[&str] = &["args", "arguments", "argv", "parameters", "params"];

/// What a tool that nobody knows may run: its shell text with the words beside it, or a program with its words.
pub(super) fn suspected_text(args: &Value) -> Option<String> {
    let args = &*decoded(args);
    let beside = || {
        let lists = WORDS_BESIDE.iter().filter_map(|name| args.get(name));
        lists.filter_map(|list| words(list, &|word| quote(word))).find(|text| !text.is_empty())
    };
    let program = || PROGRAM_ARGUMENTS.iter().find_map(|name| args.get(name)?.as_str()).map(str::to_owned);
    match (command_text(args, None), beside()) {
        (Some(text), Some(rest)) if text != rest => Some(format!("{text} {rest}")),
        (Some(text), _) => Some(text),
        (None, Some(rest)) => Some(program().map_or(rest.clone(), |program| format!("{} {rest}", quote(&program)))),
        (None, None) => None,
    }
}

/// The shell text of a call: a string, or an argument list quoted back into one.
pub(super) fn command_text(args: &Value, argument: Option<&str>) -> Option<String> {
    let args = &*decoded(args);
    if let Value::String(text) = args {
        return Some(text.clone());
    }
    let names = argument.into_iter().chain(COMMAND_ARGUMENTS.iter().copied());
    names.filter_map(|name| Some((name, member(args, name)?))).find_map(|(name, value)| {
        let text = words(value, &|word| quote(word))?;
        // What is a part of something bigger has its words beside it. They are quoted only where they have to be.
        let beside = name.rsplit_once('.').and_then(|(front, _)| member(args, front)?.get("args"));
        let lenient = |word: &str| if word.contains(char::is_whitespace) { quote(word) } else { word.to_owned() };
        let rest = beside.and_then(|beside| words(beside, &lenient));
        Some(rest.map_or(text.clone(), |rest| format!("{text} {rest}")))
    })
}

fn words(value: &Value, written: &dyn Fn(&str) -> String) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            words.iter().map(|word| word.as_str().map(written)).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
        }
        _ => None,
    }
}

fn member<'a>(args: &'a Value, name: &str) -> Option<&'a Value> {
    name.split('.').try_fold(args, |value, part| value.get(part))
}

/// The directories in which a shell's call may run, beside the agent's own: `None` is that one. A host that has no
/// such argument does not heed it, and then it only misleads us; of a tool that is not the host's own nobody knows.
pub(super) fn directories<'a>(args: &'a Value, native: Option<&Tool>) -> Vec<Option<&'a str>> {
    let named = |name: &str| args.get(name)?.as_str().filter(|dir| !dir.is_empty());
    match native {
        Some(row) => vec![row.directory.and_then(named)],
        None => {
            let usual = DIRECTORY_ARGUMENTS.iter().filter_map(|name| named(name)).map(Some);
            usual.chain([None]).collect()
        }
    }
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Every string found at `name` (`a`, `a.b`, `a[].b`); a list of strings counts without brackets too.
pub(super) fn strings_at(value: &Value, name: &str, found: &mut impl FnMut(&str)) {
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    };
    let Some(inner) = value.get(first.trim_end_matches("[]")) else { return };
    let mut visit = |value: &Value| match (rest, value) {
        (Some(rest), value) => strings_at(value, rest, found),
        (None, Value::String(text)) => found(text),
        (None, _) => {}
    };
    match inner {
        Value::Array(items) => items.iter().for_each(visit),
        inner => visit(inner),
    }
}
