//! The played session: events, one per line, and the decision each is expected to get.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// One event and what must become of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    /// The event as it is sent.
    pub(crate) sent: String,
    pub(crate) event: Value,
    pub(crate) want: Want,
}

/// The expected verdict, and the code that goes with it unless it is `allow`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) verdict: String,
    pub(crate) code: Option<String>,
}

/// Reads `events.jsonl` and `expected.txt` of an example; they must have as many lines.
pub(crate) fn read(example: &Path) -> Result<Vec<Line>, String> {
    let open = |name: &str| {
        let path = example.join(name);
        fs::read_to_string(&path).map_err(|fault| format!("`{}` cannot be read: {fault}", path.display()))
    };
    pair(&open("events.jsonl")?, &open("expected.txt")?)
}

fn pair(events: &str, expected: &str) -> Result<Vec<Line>, String> {
    let events: Vec<&str> = events.lines().filter(|line| !line.trim().is_empty()).collect();
    let wants: Vec<Want> = expected.lines().map(str::trim).filter(|line| is_said(line)).map(want).collect();
    if events.len() != wants.len() {
        return Err(format!("{} events but {} expected decisions", events.len(), wants.len()));
    }
    events.into_iter().zip(wants).map(|(sent, want)| line(sent, want)).collect()
}

fn is_said(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn want(line: &str) -> Want {
    let mut words = line.split_whitespace().map(str::to_owned);
    Want { verdict: words.next().unwrap_or_default(), code: words.next() }
}

fn line(sent: &str, want: Want) -> Result<Line, String> {
    let event = serde_json::from_str(sent).map_err(|fault| format!("an event is no JSON: {fault}: {sent}"))?;
    Ok(Line { sent: sent.to_owned(), event, want })
}

impl Want {
    /// Whether a decision is the expected one.
    pub(crate) fn holds(&self, decision: &Value) -> bool {
        let said = |member: &str| decision.get(member).and_then(Value::as_str);
        said("verdict") == Some(&self.verdict) && said("code") == self.code.as_deref()
    }
}

/// What an event is about, in a few words.
pub(crate) fn subject(event: &Value) -> String {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let what = ["path", "command", "query", "q", "pattern"].iter().map(|name| text(&format!("/call/args/{name}")));
    let what = what.into_iter().find(|what| !what.is_empty()).unwrap_or_default();
    let subject = match text("/event") {
        "call.requested" => format!("{} {what}", text("/call/tool")),
        "call.finished" => format!("{} {what} finished", text("/call/tool")),
        name => name.to_owned(),
    };
    subject.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_and_expectations_are_paired() {
        let lines = pair("{\"event\":\"a\"}\n\n{\"event\":\"b\"}\n", "# said\nallow\n  deny a/b \n").unwrap();
        let wants: Vec<_> = lines.iter().map(|line| (line.want.verdict.as_str(), line.want.code.as_deref())).collect();
        assert_eq!(wants, [("allow", None), ("deny", Some("a/b"))]);
        assert!(pair("{}\n", "").is_err() && pair("{", "allow").is_err());
    }

    #[test]
    fn verdict_and_code_must_both_fit() {
        let want = want("deny a/b");
        assert!(want.holds(&json!({"verdict": "deny", "code": "a/b"})));
        assert!(!want.holds(&json!({"verdict": "deny", "code": "a/c"})));
        assert!(!want.holds(&json!({"verdict": "allow", "code": null})));
        assert!(!super::want("allow").holds(&json!({"verdict": "allow", "code": "a/b"})));
        assert!(super::want("allow").holds(&json!({"verdict": "allow", "code": null})));
    }

    #[test]
    fn subjects_are_short() {
        let call = json!({"tool": "write_file", "args": {"path": "a.txt"}});
        assert_eq!(subject(&json!({"event": "call.requested", "call": call})), "write_file a.txt");
        assert_eq!(subject(&json!({"event": "call.finished", "call": call})), "write_file a.txt finished");
        assert_eq!(subject(&json!({"event": "stop.requested"})), "stop.requested");
    }
}
