//! How a shell's command ended, where a host tells it only in the text that it shows the model.

use jackline_core::definition::Kind;
use jackline_core::tools;
use serde_json::Value;

/// How lines begin that say how a command ended, and what they hold when it went well. A line that the command itself
/// printed can make it count as failed, never as having gone well.
const LINES: [(&str, &str); 3] = [("Exit Code: ", "0"), ("Signal: ", "(none)"), ("Error: ", "(none)")];

/// Whether the lines of an outcome say that a command went well; a host leaves those out that say nothing special. An
/// outcome that is no text says nothing.
pub(super) fn well(shown: &Value) -> bool {
    let Some(shown) = shown.as_str() else { return false };
    let fails =
        |line: &str| LINES.iter().any(|(front, good)| line.strip_prefix(front).is_some_and(|rest| rest != *good));
    !shown.lines().any(fails)
}

/// Whether a tool of a host runs a shell's command.
pub(super) fn is_shell(host: &str, tool: &str) -> bool {
    tools::lookup(Some(host), tool).is_some_and(|tool| tool.kind == Kind::Shell)
}

/// Whether a call is one of a host's shell.
pub(super) fn is_shells(host: &str, call: &Value) -> bool {
    call.get("tool").and_then(Value::as_str).is_some_and(|tool| is_shell(host, tool))
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

    fn went(shown: &str) -> bool {
        well(&json!(shown))
    }

    #[test]
    fn what_a_command_prints_cannot_make_it_well() {
        assert!(!well(&Value::Null) && !well(&json!([1])) && !well(&json!({ "foo": 1 })));
        assert!(went("Output: hi\nProcess Group PGID: 1"));
        assert!(went("Command: x\nOutput: hi\nError: (none)\nExit Code: 0\nSignal: (none)"));
        assert!(!went("Output: (empty)\nExit Code: 3"));
        assert!(!went("Output: Exit Code: 0\nExit Code: 0\nExit Code: 1"));
        assert!(!went("Signal: SIGKILL") && !went("Error: spawn failed"));
    }

    #[test]
    fn parts_become_one_text() {
        assert_eq!(flat(json!([{ "text": "a" }, { "text": "b" }])), json!("a\nb"));
        assert_eq!(flat(json!("a")), json!("a"));
        let image = json!([{ "inlineData": {} }]);
        assert_eq!(flat(image.clone()), image);
    }
}
