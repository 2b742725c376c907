//! How a shell's command ended, where a host tells it only in the text that it shows the model, and where it ran.

use std::path::Path;

use jackline_core::definition::Kind;
use jackline_core::tools;
use serde_json::Value;

use super::native::Fields;

/// How lines begin that say how a command ended, and what they hold when it went well. A line that the command itself
/// printed can make it count as failed, never as having gone well.
const LINES: [(&str, &str); 3] = [("Exit Code: ", "0"), ("Signal: ", "(none)"), ("Error: ", "(none)")];

/// Whether the lines of an outcome say that a command went well; a host leaves those out that say nothing special.
pub(super) fn well(shown: &str) -> bool {
    let fails =
        |line: &str| LINES.iter().any(|(front, good)| line.strip_prefix(front).is_some_and(|rest| rest != *good));
    !shown.lines().any(fails)
}

/// Whether a tool of a host runs a shell's command.
pub(super) fn is_shell(host: &str, tool: &str) -> bool {
    tools::lookup(Some(host), tool).is_some_and(|tool| tool.kind == Kind::Shell)
}

/// A call's own directory takes the place of the agent's.
pub(super) fn moved(common: &mut Fields, args: &Value, member: &str) {
    let Some(dir) = args.get(member).and_then(Value::as_str).filter(|dir| !dir.is_empty()) else { return };
    let from = common.get("cwd").and_then(Value::as_str).unwrap_or_default();
    let to = Path::new(from).join(dir);
    common.insert("cwd".to_owned(), Value::from(to.to_string_lossy().into_owned()));
}

/// The texts of an outcome as one: a text, or parts that are all text; anything else as it is.
pub(super) fn flat(shown: Value) -> Value {
    let Value::Array(parts) = &shown else { return shown };
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text")?.as_str()).collect();
    texts.map_or(shown.clone(), |texts| Value::from(texts.join("\n")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_command_prints_cannot_make_it_well() {
        assert!(well("Output: hi\nProcess Group PGID: 1"));
        assert!(well("Command: x\nOutput: hi\nError: (none)\nExit Code: 0\nSignal: (none)"));
        assert!(!well("Output: (empty)\nExit Code: 3"));
        assert!(!well("Output: Exit Code: 0\nExit Code: 0\nExit Code: 1"));
        assert!(!well("Signal: SIGKILL") && !well("Error: spawn failed"));
    }

    #[test]
    fn a_calls_directory_is_seen_from_the_agents() {
        let check = |dir: Value, want: &str| {
            let mut common = Fields::from_iter([("cwd".to_owned(), json!("/repo"))]);
            moved(&mut common, &json!({ "dir_path": dir }), "dir_path");
            assert_eq!(common["cwd"], want);
        };
        check(json!("sub"), "/repo/sub");
        check(json!("/etc"), "/etc");
        check(json!(""), "/repo");
        check(json!(7), "/repo");
    }

    #[test]
    fn parts_become_one_text() {
        assert_eq!(flat(json!([{ "text": "a" }, { "text": "b" }])), json!("a\nb"));
        assert_eq!(flat(json!("a")), json!("a"));
        let image = json!([{ "inlineData": {} }]);
        assert_eq!(flat(image.clone()), image);
    }
}
