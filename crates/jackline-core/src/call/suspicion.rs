//! What a call may do to what guards us when nothing is known of its tool: whatever its arguments name, at any depth, may
//! be written, and whatever text they hold may be run.

use serde_json::Value;

use super::arguments::strings_at;
use crate::own_files::PARTS;
use crate::patch;
use crate::tools::PATH_ARGUMENTS;

/// Arguments that hold a program in some language.
const CODE_ARGUMENTS: &[&str] = &["code", "script", "source", "program", "expression"];

/// The paths that a call names: those in the usual arguments, those of a patch, and every text that may be one of ours.
pub(crate) fn paths(args: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in PATH_ARGUMENTS {
        strings_at(args, name, &mut |text| found.push(text.to_owned()));
    }
    each_text(None, args, &mut |_, text| {
        if patch::is_one(text) {
            found.extend(patch::files(text).into_iter().map(|(path, _)| path));
        } else if may_be_ours(text) && !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    });
    found
}

/// The programs that a call may have run.
pub(crate) fn programs(args: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    each_text(None, args, &mut |name, text| {
        if name.is_some_and(|name| CODE_ARGUMENTS.contains(&name)) {
            found.push(text);
        }
    });
    found
}

/// Whether a text is a path with a name in it that one of our files has. Prose that mentions one is none.
fn may_be_ours(text: &str) -> bool {
    let named = |part: &str| PARTS.iter().any(|own| own.eq_ignore_ascii_case(part));
    !text.contains(char::is_whitespace) && text.split(['/', '\\']).any(named)
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
        assert_eq!(paths(&args), ["jackline.yaml", "a/jackline.yaml"]);
        let prose = json!({"body": "we should change jackline.yaml", "repo": "me/project", "title": "settings"});
        assert!(paths(&prose).is_empty());
        assert_eq!(paths(&json!({"path": "anything", "deep": {"filename": "other"}})), ["anything"]);
    }

    #[test]
    fn programs_are_found_by_their_argument() {
        let args = json!({"cells": [{"code": "open('x')"}], "text": "no program"});
        assert_eq!(programs(&args), ["open('x')"]);
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
    }
}
