//! The hook's reply, understood as Claude Code's client understands it.

use std::process::Output;

use jackline_core::decision::Verdict;
use serde_json::Value;

use crate::error::CommandError;

/// What the last line of a refusal begins with: the code, and where a person can look.
const CODE_LINE: &str = "[jackline: ";

/// What the client makes of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) verdict: Verdict,
    pub(super) code: Option<String>,
    /// What the agent is shown, without the line that names the code.
    pub(super) shown: Vec<String>,
    /// What the person is shown.
    pub(super) notice: Option<String>,
}

impl Told {
    /// Reads a reply. One that the client would not understand is an error: with some settings it would let it pass.
    pub(super) fn read(output: &Output) -> Result<Self, CommandError> {
        match output.status.code() {
            Some(0) if output.stdout.is_empty() => Ok(Self::refusal(Verdict::Allow, "", None)),
            Some(0) => serde_json::from_slice(&output.stdout)
                .map(|reply| Self::said(&reply))
                .map_err(|fault| CommandError::internal(format!("the hook's reply is no JSON: {fault}"))),
            Some(2) => Ok(Self::refusal(Verdict::Deny, &String::from_utf8_lossy(&output.stderr), None)),
            _ => Err(CommandError::internal(format!("the hook ended with {}", output.status))),
        }
    }

    fn said(reply: &Value) -> Self {
        let text = |pointer: &str| reply.pointer(pointer).and_then(Value::as_str);
        let notice = text("/systemMessage").map(str::to_owned);
        let asked = text("/hookSpecificOutput/permissionDecision");
        let verdict = match (asked, text("/decision")) {
            (Some("deny"), _) | (_, Some("block")) => Verdict::Deny,
            (Some("ask"), _) => Verdict::Ask,
            _ => Verdict::Allow,
        };
        let reason = text("/hookSpecificOutput/permissionDecisionReason").or_else(|| text("/reason"));
        Self::refusal(verdict, reason.unwrap_or_default(), notice)
    }

    fn refusal(verdict: Verdict, reason: &str, notice: Option<String>) -> Self {
        let (named, shown): (Vec<&str>, Vec<&str>) = reason.lines().partition(|line| line.starts_with(CODE_LINE));
        let code = named.iter().find_map(|line| line.strip_prefix(CODE_LINE)?.split([';', ']']).next());
        let shown = shown.into_iter().map(str::to_owned).collect();
        Self { verdict, code: code.map(str::to_owned), shown, notice }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn output(exit: i32, stdout: &str, stderr: &str) -> Output {
        Output { status: ExitStatus::from_raw(exit << 8), stdout: stdout.into(), stderr: stderr.into() }
    }

    #[track_caller]
    fn check(exit: i32, stdout: &str, stderr: &str, want: (Verdict, Option<&str>, &[&str])) {
        let told = Told::read(&output(exit, stdout, stderr)).unwrap();
        let shown: Vec<&str> = told.shown.iter().map(String::as_str).collect();
        assert_eq!((told.verdict, told.code.as_deref(), shown.as_slice()), want);
    }

    #[test]
    fn replies_are_read_as_the_client_reads_them() {
        check(0, "", "", (Verdict::Allow, None, &[]));
        check(0, r#"{"systemMessage":"x"}"#, "", (Verdict::Allow, None, &[]));
        let reason = r#""No.\n→ do that\n[jackline: a/b; a person can look]""#;
        let specific = |decision: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"permissionDecision":"{decision}","permissionDecisionReason":{reason}}}}}"#
            )
        };
        check(0, &specific("deny"), "", (Verdict::Deny, Some("a/b"), &["No.", "→ do that"]));
        check(0, &specific("ask"), "", (Verdict::Ask, Some("a/b"), &["No.", "→ do that"]));
        check(0, r#"{"decision":"block","reason":"Go on."}"#, "", (Verdict::Deny, None, &["Go on."]));
        check(2, "", "No.\n[jackline: fault/store]\n", (Verdict::Deny, Some("fault/store"), &["No."]));
    }

    #[test]
    fn what_the_client_would_let_pass_is_an_error() {
        assert!(Told::read(&output(1, "", "")).is_err());
        assert!(Told::read(&output(0, "no JSON", "")).is_err());
    }
}
