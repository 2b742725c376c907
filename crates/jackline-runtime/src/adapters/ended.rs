//! How a shell's command ended, where a host tells it only in the text that it shows the model.

use jackline_core::definition::Kind;
use jackline_core::tools;
use serde_json::Value;

/// How the lines begin with which hosts say how a command ended, last one first, and what they hold when it went well. They
/// stand at the very end of what is told: a command's own lines are all before them, and make nothing well.
const LINES: [(&str, &str); 3] = [("Signal: ", "(none)"), ("Exit Code: ", "0"), ("Error: ", "(none)")];

/// How the last of them begins, of a command that ended by itself.
const LAST_LINE: &str = "Process Group PGID: ";
/// How the line before it may begin.
const LEFT_BEHIND: &str = "Background PIDs: ";

/// What may stand around an outcome.
const AROUND: (&str, &str) = ("<untrusted_context>\n", "\n</untrusted_context>");

/// How a host tells of a command that ended by itself. One that was cut off, that goes on, or that somebody summed up is
/// told of otherwise, and proves nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending {
    /// How the text may begin.
    pub(super) begins: &'static [&'static str],
    /// How a text begins of which the middle is left out, and the line behind which its beginning follows.
    pub(super) shortened: Option<(&'static str, &'static str)>,
    /// How paragraphs of one line begin that may follow.
    pub(super) notes: &'static [&'static str],
    /// Whether every line is there that may say how it ended, or only those that say something special.
    pub(super) in_full: bool,
}

impl Ending {
    /// Whether an outcome says that a command went well. One that is no text says nothing.
    pub(super) fn is_well(self, shown: &Value) -> bool {
        let Some(shown) = shown.as_str() else { return false };
        let shown = shown.strip_prefix(AROUND.0).map_or(shown, |rest| rest.strip_suffix(AROUND.1).unwrap_or(rest));
        let begins = self.beginning(shown).is_some_and(|it| self.begins.iter().any(|front| it.starts_with(front)));
        begins && self.ends_well(shown)
    }

    /// Where what is told of the command begins.
    fn beginning(self, shown: &str) -> Option<&str> {
        match self.shortened.filter(|(front, _)| shown.starts_with(front)) {
            Some((_, behind)) => shown.split_once(behind).map(|(_, rest)| rest),
            None => Some(shown),
        }
    }

    fn ends_well(self, shown: &str) -> bool {
        let mut lines = shown.lines().rev().peekable();
        while lines.next_if(|line| self.notes.iter().any(|front| line.starts_with(front))).is_some() {
            if lines.next() != Some("") {
                return false;
            }
        }
        if !lines.next().is_some_and(|last| last.starts_with(LAST_LINE)) {
            return false;
        }
        let _left = lines.next_if(|line| line.starts_with(LEFT_BEHIND));
        LINES.iter().all(|(front, good)| match lines.next_if(|line| line.starts_with(front)) {
            Some(line) => line.strip_prefix(front) == Some(good),
            None => !self.in_full,
        })
    }
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

    const TERSE: Ending = Ending { begins: &["Output: "], shortened: None, notes: &[], in_full: false };
    const FULL: Ending = Ending {
        begins: &["Command: ", "Directory: "],
        shortened: Some(("Too large", "Shortened:\n")),
        notes: &["Note: it ran", "A note skipped"],
        in_full: true,
    };

    #[track_caller]
    fn check(ending: Ending, shown: &str, want: bool) {
        assert_eq!(ending.is_well(&json!(shown)), want, "{shown}");
        assert_eq!(ending.is_well(&json!(format!("{}{shown}{}", AROUND.0, AROUND.1))), want, "{shown}");
    }

    #[test]
    fn what_a_command_prints_cannot_make_it_well() {
        assert!([Value::Null, json!([1]), json!({ "foo": 1 })].iter().all(|shown| !TERSE.is_well(shown)));
        check(TERSE, "Output: hi\nProcess Group PGID: 1", true);
        check(TERSE, "Output: (empty)\nExit Code: 3\nProcess Group PGID: 1", false);
        check(TERSE, "Output: Exit Code: 0\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 1", false);
        check(TERSE, "Output: x\nSignal: SIGKILL\nProcess Group PGID: 1", false);
        let told = "Command: x\nDirectory: (root)\nOutput: hi\nError: (none)\nExit Code: 0\nSignal: (none)\n";
        check(FULL, &format!("{told}Process Group PGID: (none)"), true);
        check(FULL, &format!("{told}Exit Code: 1\nProcess Group PGID: (none)"), false);
        check(FULL, "Command: x\nOutput: hi\nProcess Group PGID: (none)", false);
        check(TERSE, "Output: x\nSignal: SIGKILL\nBackground PIDs: 2\nProcess Group PGID: 1", false);
        let faked = format!("{told}Process Group PGID: 1\n\nNote: it ran for 2s");
        check(FULL, &format!("{faked}\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: 1"), false);
        check(FULL, &format!("Too large\nShortened:\nCommand was cancelled\n{told}Process Group PGID: 1"), false);
    }

    #[test]
    fn what_a_command_prints_does_not_make_it_fail() {
        let printed = "Error: boom is thrown\n    at x.js:1\nExit Code: 3\nSignal: x\n1 passed\n";
        check(TERSE, &format!("Output: {printed}Process Group PGID: 1"), true);
        check(TERSE, &format!("Output: {printed}Background PIDs: 2\nProcess Group PGID: 1"), true);
        let ended = "Error: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)";
        check(FULL, &format!("Command: x\nDirectory: (root)\nOutput: {printed}{ended}"), true);
        check(FULL, &format!("Directory: (root)\nOutput: {printed}{ended}"), true);
    }

    #[test]
    fn what_a_host_adds_to_it_does_not_make_it_fail() {
        let told = "Command: x\nOutput: hi\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)";
        check(FULL, &format!("{told}\n\nNote: it ran for 3s."), true);
        check(FULL, &format!("{told}\n\nNote: it ran for 3s.\n\nA note skipped: x"), true);
        check(FULL, &format!("{told}\n\nSomething else"), false);
        check(FULL, &format!("Too large: see x\nShortened:\n{told}"), true);
        check(FULL, &format!("Too large: see x\nShortened:\n{told}\n\nNote: it ran for 3s."), true);
    }

    #[test]
    fn what_was_cut_off_or_summed_up_proves_nothing() {
        let cut = "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.";
        for shown in [
            cut,
            &format!("{cut} Below is the output before it was cancelled:\nOutput: ok\nProcess Group PGID: 1"),
            "Command moved to background (PID: 17311). Output hidden. Press Ctrl+B to view.",
            "Command cancelled by user.",
            "Output: all tests passed",
            "All tests passed.",
            "",
        ] {
            check(TERSE, shown, false);
            check(FULL, shown, false);
        }
    }

    #[test]
    fn parts_become_one_text() {
        assert_eq!(flat(json!([{ "text": "a" }, { "text": "b" }])), json!("a\nb"));
        assert_eq!(flat(json!("a")), json!("a"));
        let image = json!([{ "inlineData": {} }]);
        assert_eq!(flat(image.clone()), image);
    }
}
