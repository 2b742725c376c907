//! Tells whether a search found nothing, for search tools and for the usual programs in a shell.
//!
//! A search that failed has not found nothing: what carries an error is left alone.

use serde_json::Value;

use crate::call::View;
use crate::definition::Kind;
use crate::event::Outcome;
use crate::shell::{Command, Reading};

/// What the agent is told then.
pub const GUIDANCE: &str =
    "No matches found; try listing the directory, check alternate naming, or broaden the filters.";

/// Programs that end with status 1 when nothing matches.
const MATCHERS: &[&str] = &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"];
/// Programs that end with status 0 all the same.
const FINDERS: &[&str] = &["find", "fd", "fdfind"];
/// Flags with which a program prints nothing, or does something to what it finds.
const SILENT: &[&str] = &[
    "-q",
    "--quiet",
    "--silent",
    "-delete",
    "-exec",
    "-execdir",
    "-ok",
    "-okdir",
    "-x",
    "-X",
    "--exec",
    "--exec-batch",
];
/// Flags of git, before its command, that take the next word.
const GIT_VALUED: &[&str] = &["-C", "-c"];

/// Texts by which tools say that there is nothing.
const NOTHING: &[&str] = &["no matches found", "no files found", "no results found", "no matches", "no results"];
/// Members that hold or count what was found.
const RESULTS: &[&str] = &[
    "filenames",
    "files",
    "matches",
    "results",
    "content",
    "text",
    "stdout",
    "output",
    "numFiles",
    "numMatches",
    "numLines",
    "totalMatches",
    "totalLines",
    "count",
    "total",
];
/// Members that tell of an error.
const ERRORS: &[&str] = &["error", "stderr", "isError", "is_error", "interrupted"];
/// Members that hold a program's exit status.
const STATUS: &[&str] = &["exit_code", "exitCode", "returncode", "status"];

/// Whether a finished call was a search that found nothing.
#[must_use]
pub fn found_nothing(view: &View<'_>, outcome: &Outcome) -> bool {
    if outcome.background || view.call.args.get("offset").and_then(Value::as_u64).is_some_and(|offset| offset > 0) {
        return false;
    }
    match view.kind {
        Kind::Search => is_nothing(&outcome.output) && (outcome.ok || says_nothing(&outcome.output)),
        Kind::Shell => view.reading().and_then(search_of).is_some_and(|search| ended_empty(search, outcome)),
        _ => false,
    }
}

/// Kinds of programs that search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    Matches,
    Finds,
}

/// The search that a shell text is, if it is one and nothing besides.
fn search_of(reading: &Reading) -> Option<Search> {
    let mut programs = reading.commands.iter().filter(|command| command.program() != Some("cd"));
    let (only, more) = (programs.next()?, programs.next());
    let plain = more.is_none() && reading.opaque.is_none() && !reading.background && only.shown;
    let silent = only.words.iter().any(|word| SILENT.contains(&word.text.as_str()));
    if !plain || silent {
        return None;
    }
    match only.program()? {
        "git" => (git_command(only)? == "grep").then_some(Search::Matches),
        program if MATCHERS.contains(&program) => Some(Search::Matches),
        program if FINDERS.contains(&program) => Some(Search::Finds),
        _ => None,
    }
}

fn git_command(command: &Command) -> Option<&str> {
    let mut words = command.words.iter().skip(1).map(|word| word.text.as_str());
    loop {
        match words.next()? {
            flag if GIT_VALUED.contains(&flag) => drop(words.next()),
            flag if flag.starts_with('-') => {}
            command => return Some(command),
        }
    }
}

/// Whether a program printed nothing, and ended as it does when it finds nothing.
fn ended_empty(search: Search, outcome: &Outcome) -> bool {
    let (told, printed) = match &outcome.output {
        Value::String(text) => exit_line(text),
        Value::Object(fields) => (STATUS.iter().find_map(|member| fields.get(*member)?.as_i64()), ""),
        _ => return false,
    };
    let empty = match &outcome.output {
        Value::String(_) => printed.trim().is_empty(),
        output => is_nothing(output),
    };
    let ended = match told {
        Some(0) => true,
        Some(1) => search == Search::Matches,
        Some(_) => false,
        None => outcome.ok || search == Search::Matches,
    };
    empty && ended
}

/// The status that a text begins with (`Exit code 1`), and what comes after.
fn exit_line(text: &str) -> (Option<i64>, &str) {
    let Some(rest) = text.strip_prefix("Exit code ") else { return (None, text) };
    let (number, after) = rest.split_once('\n').unwrap_or((rest, ""));
    number.trim().parse().map_or((None, text), |status| (Some(status), after))
}

/// Whether an outcome holds results, and none. Recursion is bounded: events nest only so deep.
fn is_nothing(output: &Value) -> bool {
    match output {
        Value::String(text) => text.trim().is_empty() || says_nothing(output),
        Value::Array(items) => items.iter().all(is_nothing),
        Value::Object(fields) => {
            let fault = ERRORS.iter().any(|member| fields.get(*member).is_some_and(|value| !is_blank(value)));
            let mut results = RESULTS.iter().filter_map(|member| fields.get(*member)).peekable();
            !fault && results.peek().is_some() && results.all(|result| is_blank(result) || is_nothing(result))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(true) | Value::Object(_) => false,
    }
}

/// Whether a text says in words that there is nothing.
fn says_nothing(output: &Value) -> bool {
    let Value::String(text) = output else { return false };
    let text = text.trim().to_ascii_lowercase();
    let says =
        |words: &&str| text.strip_prefix(*words).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ']));
    !text.contains('\n') && NOTHING.iter().any(says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Call;
    use serde_json::json;

    fn nothing(tool: &str, args: Value, outcome: &Outcome) -> bool {
        let call = Call::new(tool, args);
        found_nothing(&View::new(&call, None, "/ws", None), outcome)
    }

    #[track_caller]
    fn check(output: Value, want: bool) {
        assert_eq!(nothing("Grep", json!({"pattern": "x"}), &Outcome::new(true, output.clone())), want, "{output}");
    }

    #[test]
    fn empty_results_have_many_shapes() {
        for empty in [
            json!([]),
            json!(""),
            json!(" \n"),
            json!({"numFiles": 0}),
            json!({"filenames": []}),
            json!("No files found"),
            json!("No matches found."),
            json!("No matches found for pattern \"x\" in path \".\""),
            json!([{"type": "text", "text": "No matches found"}]),
            json!({"mode": "content", "numFiles": 0, "filenames": [], "content": "", "numLines": 0}),
            json!({"filenames": [], "durationMs": 4, "numFiles": 0, "truncated": false, "totalMatches": 0}),
        ] {
            check(empty, true);
        }
    }

    #[test]
    fn results_and_errors_are_not_nothing() {
        for other in [
            json!(["a:1"]),
            json!("a:1"),
            json!("no matches found\nbut this"),
            json!({"mode": "content", "numFiles": 0, "filenames": [], "content": "a:1:x", "numLines": 1}),
            json!({"filenames": [], "error": "no such directory"}),
            json!({"durationMs": 3}),
            json!(null),
            json!(0),
        ] {
            check(other, false);
        }
        assert!(!nothing("Grep", json!({}), &Outcome::new(false, json!(""))));
        assert!(!nothing("Grep", json!({"offset": 20}), &Outcome::new(true, json!(""))), "the end of a longer list");
        assert!(!nothing("Read", json!({}), &Outcome::new(true, json!(""))));
    }

    #[track_caller]
    fn check_shell(command: &str, ok: bool, output: Value, want: bool) {
        let found = nothing("Bash", json!({ "command": command }), &Outcome::new(ok, output.clone()));
        assert_eq!(found, want, "{command} {output}");
    }

    #[test]
    fn searches_in_a_shell_are_recognised() {
        let empty = json!({"stdout": "", "stderr": "", "interrupted": false});
        for command in
            ["rg foo src", "grep -rn foo . 2>/dev/null", "find . -name '*.x'", "cd src && fd x", "git -C a grep foo"]
        {
            check_shell(command, true, empty.clone(), true);
        }
        for command in [
            "ls",
            "rg foo | head",
            "grep foo a; make",
            "grep -q foo a",
            "rg foo > out",
            "find . -delete",
            "git log",
            "rg foo &",
        ] {
            check_shell(command, true, empty.clone(), false);
        }
        check_shell("rg foo", true, json!({"stdout": "a:1:foo", "stderr": ""}), false);
        check_shell("rg foo", true, json!({"stdout": "", "stderr": "rg: a: No such file"}), false);
    }

    #[test]
    fn a_status_of_one_means_nothing_only_where_it_does() {
        check_shell("grep foo a", false, json!("Exit code 1"), true);
        check_shell("grep foo a", false, json!("Exit code 1\ngrep: a: Is a directory"), false);
        check_shell("grep foo a", false, json!("Exit code 2"), false);
        check_shell("grep foo a", false, json!({"stdout": "", "stderr": "", "exit_code": 1}), true);
        check_shell("grep foo a", false, json!({"stdout": "", "stderr": "", "interrupted": true}), false);
        check_shell("find a", false, json!("Exit code 1"), false);
        check_shell("grep foo a", false, json!(null), false);
    }
}
