//! Advice that a command prints: a text, or JSON with the parts of one.

use serde_json::{Map, Value};

use super::{Feedback, Observation};
use crate::audit;
use crate::definition::model::{Provider, Severity};
use crate::json;
use crate::ran::Ran;

/// Milliseconds that one command may take: the agent waits for it.
pub(crate) const COMMAND_MS_MAX: u64 = 2_000;
/// Milliseconds that all commands of one event may take together: hosts lose patience after ten seconds.
pub(crate) const COMMANDS_MS_MAX: u64 = 4_000;
/// Bytes of what a failed command complained about that are kept.
const COMPLAINT_BYTES_MAX: usize = 256;

/// The members that make an object advice rather than any other text.
const MEMBERS: [&str; 4] = ["summary", "severity", "observations", "suggestions"];

/// What a command said; `None` when that is nothing. What it leaves open, its provider's settings say.
///
/// # Errors
/// Why it is no advice.
pub(crate) fn advice(ran: &Ran, provider: &Provider) -> Result<Option<Feedback>, String> {
    if !ran.succeeded() {
        return Err(failure(ran));
    }
    let text = ran.stdout.trim();
    let given = match object(text)? {
        Some(fields) => structured(&fields, provider)?,
        None => Feedback {
            summary: text.to_owned(),
            severity: provider.severity,
            suggestions: if text.is_empty() { Vec::new() } else { provider.suggestions.clone() },
            observations: Vec::new(),
        },
    };
    Ok(Some(given).filter(|given| !given.is_empty()))
}

fn failure(ran: &Ran) -> String {
    let complaint = ran.stderr.trim().lines().next_back().unwrap_or_default();
    let complaint = audit::head(complaint, COMPLAINT_BYTES_MAX);
    if complaint.is_empty() { ran.exit.told() } else { format!("{}: {complaint}", ran.exit.told()) }
}

/// The advice as JSON, where it is some. An object without any of the members is a text like any other.
fn object(text: &str) -> Result<Option<Map<String, Value>>, String> {
    if !text.starts_with('{') {
        return Ok(None);
    }
    match json::decode(text.as_bytes()) {
        Ok(Value::Object(fields)) => Ok(Some(fields).filter(|it| MEMBERS.iter().any(|name| it.contains_key(*name)))),
        // What was meant as one and is broken, or was cut, is not shown to an agent.
        Err(fault) if text.contains("\"summary\"") => Err(format!("its JSON cannot be read: {fault}")),
        Ok(_) | Err(_) => Ok(None),
    }
}

fn structured(fields: &Map<String, Value>, provider: &Provider) -> Result<Feedback, String> {
    let severity = match fields.get("severity") {
        None | Some(Value::Null) => provider.severity,
        Some(named) => {
            named.as_str().and_then(Severity::parse).ok_or("`severity` is none of info, caution, warning")?
        }
    };
    let suggestions: Vec<String> = list(fields, "suggestions", |item| item.as_str().map(str::to_owned))?;
    Ok(Feedback {
        summary: match fields.get("summary") {
            None | Some(Value::Null) => String::new(),
            Some(summary) => summary.as_str().ok_or("`summary` is no text")?.trim().to_owned(),
        },
        severity,
        observations: list(fields, "observations", observation)?,
        suggestions: if suggestions.is_empty() { provider.suggestions.clone() } else { suggestions },
    })
}

/// Something noticed: a text, or an object with a category and a description.
fn observation(item: &Value) -> Option<Observation> {
    if let Some(text) = item.as_str() {
        return Some(Observation { category: String::new(), description: text.to_owned() });
    }
    let text = |member: &str| item.get(member)?.as_str().map(str::to_owned);
    Some(Observation { category: text("category").unwrap_or_default(), description: text("description")? })
}

fn list<T>(fields: &Map<String, Value>, name: &str, one: fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            items.iter().map(one).collect::<Option<Vec<T>>>().ok_or_else(|| format!("one of `{name}` has another form"))
        }
        Some(_) => Err(format!("`{name}` is no list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::model::{Advice, Trigger};
    use crate::ran::Exit;

    fn said(stdout: &str) -> Result<Option<Feedback>, String> {
        let provider = Provider::new(Advice::Command(vec!["x".into()]), Trigger::every_n_calls(1));
        let provider = provider.severity(Severity::Caution).suggest("usual");
        advice(&Ran { stdout: stdout.to_owned(), ..Ran::silent(Exit::Code(0)) }, &provider)
    }

    #[track_caller]
    fn check(stdout: &str, want: &Feedback) {
        assert_eq!(said(stdout), Ok(Some(want.clone())), "{stdout}");
    }

    #[test]
    fn a_text_is_the_summary() {
        let plain = |text: &str| Feedback::new(text).severity(Severity::Caution).suggest("usual");
        check(" slow\ndown \n", &plain("slow\ndown"));
        check("{\"a\": 1}", &plain("{\"a\": 1}"));
        check("{braces}", &plain("{braces}"));
        assert_eq!(said("\n \n"), Ok(None));
    }

    #[test]
    fn json_has_the_parts_of_advice() {
        check(
            r#"{"summary": "S", "severity": "warning", "observations": [{"category": "Pace", "description": "slow"}, "late"], "suggestions": ["go"]}"#,
            &Feedback::new("S").severity(Severity::Warning).observe("Pace", "slow").observe("", "late").suggest("go"),
        );
        check("{\"summary\": \"S\"}\n", &Feedback::new("S").severity(Severity::Caution).suggest("usual"));
        let silent = Provider::new(Advice::Command(vec!["x".into()]), Trigger::every_n_calls(1));
        let ran = Ran { stdout: "{\"summary\": \" \"}".to_owned(), ..Ran::silent(Exit::Code(0)) };
        assert_eq!(advice(&ran, &silent), Ok(None));
    }

    #[test]
    fn what_is_no_advice_is_a_fault() {
        for (stdout, want) in [
            (r#"{"summary": 1}"#, "`summary` is no text"),
            (r#"{"summary": "S", "severity": "loud"}"#, "`severity` is none of info, caution, warning"),
            (r#"{"summary": "S", "observations": "x"}"#, "`observations` is no list"),
            (r#"{"summary": "S", "observations": [{"category": "x"}]}"#, "one of `observations` has another form"),
            (r#"{"suggestions": [1]}"#, "one of `suggestions` has another form"),
        ] {
            assert_eq!(said(stdout), Err(want.to_owned()), "{stdout}");
        }
        assert!(said(r#"{"summary": "cut in the mid"#).is_err_and(|why| why.starts_with("its JSON cannot be read")));
        assert!(said(r#"{"summary": "S", "summary": "T"}"#).is_err(), "a key that stands twice");
    }

    #[test]
    fn a_failed_command_says_how_and_what_it_complained_about() {
        let provider = Provider::new(Advice::Command(vec!["x".into()]), Trigger::every_n_calls(1));
        let ran = Ran { stdout: "advice".into(), stderr: "a\nno such file\n".into(), ..Ran::silent(Exit::Code(3)) };
        assert_eq!(advice(&ran, &provider), Err("it exited with 3: no such file".to_owned()));
        assert_eq!(advice(&Ran::silent(Exit::TimedOut), &provider), Err("it took longer than it may".to_owned()));
    }
}
