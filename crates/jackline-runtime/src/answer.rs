//! A decision together with the record that keeps it: what a surface sends back.

use jackline_core::audit;
use jackline_core::code::{self, Code};
use jackline_core::decision::{Decision, Edit, EditTarget, Finding, Stop, Verdict};
use jackline_core::sha::Digest;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Bytes that an agent is shown at once; hosts put longer texts aside and show their beginning only.
const SHOWN_BYTES_MAX: usize = 8 * 1024;

/// What one event is answered with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub verdict: Verdict,
    pub code: Option<Code>,
    pub reason: Option<String>,
    pub findings: Vec<Finding>,
    pub feedback: Option<String>,
    /// What an agent that begins is told about the guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub briefing: Option<String>,
    /// What the person should know, told when a session begins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    pub edits: Vec<Edit>,
    pub constraint: Option<Value>,
    pub emitted: Vec<Value>,
    pub stop: Option<Stop>,
    /// What an operation on todos, facts or calls answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The call was asked for before, somewhere else, and let through.
    #[serde(skip)]
    pub again: bool,
    /// How the run ended, when the agent may stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Value>,
    /// The number of the decision's record; absent when nothing was kept.
    pub seq: Option<u64>,
    #[serde(serialize_with = "as_hex")]
    pub hash: Option<Digest>,
}

impl Answer {
    /// The answer of a decision whose record is `seq` with `hash`.
    #[must_use]
    pub fn kept(decision: Decision, seq: u64, hash: Digest) -> Self {
        Self { seq: Some(seq), hash: Some(hash), ..Self::unkept(decision) }
    }

    /// The answer of a decision that has no record.
    #[must_use]
    pub fn unkept(decision: Decision) -> Self {
        Self {
            verdict: decision.verdict,
            code: decision.code,
            reason: decision.reason,
            findings: decision.findings,
            feedback: decision.feedback,
            briefing: decision.briefing,
            notices: Vec::new(),
            edits: decision.edits,
            constraint: decision.constraint,
            emitted: decision.emitted,
            stop: decision.stop,
            result: decision.result,
            again: decision.again,
            stopped: decision.data.filter(|(key, _)| *key == "stopped").map(|(_, stopped)| stopped),
            seq: None,
            hash: None,
        }
    }

    /// A refusal that was decided without any guard.
    #[must_use]
    pub fn refusal(finding: Finding) -> Self {
        Self::unkept(Decision::merge(vec![finding]))
    }

    /// Whether it refuses because *we* could not decide, or could not keep what was decided.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.verdict.refuses() && self.code.as_ref().is_some_and(Code::is_fault)
    }

    /// What arguments or outcome become, where they are rewritten. The last edit is made of those before.
    #[must_use]
    pub fn edit(&self, target: EditTarget) -> Option<&Edit> {
        self.edits.iter().rev().find(|edit| edit.target == target)
    }

    /// What to do next, as the text says it too.
    #[must_use]
    pub fn suggestions(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for next in self.speaking().flat_map(next_of) {
            if !all.contains(&next) {
                all.push(next);
            }
        }
        all
    }

    fn speaking(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.weight() > Verdict::Allow)
    }

    /// Where a person can look: what was not kept cannot be explained, but doctor may know why we failed.
    fn where_to_look(&self) -> &'static str {
        match self.seq {
            Some(_) => "; a person can look with `jackline explain last`",
            None if self.is_fault() => "; a person can look with `jackline doctor`",
            None => "",
        }
    }

    /// What the agent is shown: every reason that refuses or asks, what to do next, and where a person can look.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut lines: Vec<String> = self.reason.clone().into_iter().collect();
        let mut before: Option<&str> = None;
        for shown in self.speaking().map(Finding::shown) {
            // What is told together stands at each of many findings.
            let same = before.is_some_and(|before| std::ptr::eq(before, shown));
            if !same && !lines.iter().any(|line| line == shown) {
                lines.push(shown.to_owned());
            }
            before = Some(shown);
        }
        let suggested = |finding: &Finding| {
            // Of a tool that there is not, the names nearest to it are suggested.
            let named = finding.code == code::TOOLS_UNKNOWN && !finding.suggestions.is_empty();
            let line =
                |next: &String| if named { format!("→ did you mean `{next}`?") } else { format!("→ {next}") };
            next_of(finding).iter().map(line).collect::<Vec<_>>()
        };
        for next in self.speaking().flat_map(suggested) {
            if !lines.contains(&next) {
                lines.push(next);
            }
        }
        if let Some(code) = &self.code {
            lines.push(format!("[jackline: {code}{}]", self.where_to_look()));
        }
        cut(&lines.join("\n"), SHOWN_BYTES_MAX)
    }

    /// The answer on one line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and maps with string keys: there is nothing in it that JSON cannot say.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a finding says is to be done; else what the reference says of its code.
fn next_of(finding: &Finding) -> Vec<String> {
    match finding.suggestions.as_slice() {
        [] => code::remedy(finding.code.as_str()).map(advice).into_iter().collect(),
        suggestions => suggestions.to_vec(),
    }
}

/// What the reference says is to be done, told as a suggestion.
fn advice(remedy: &str) -> String {
    let mut letters = remedy.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    format!("{}{}", first.map(String::from).unwrap_or_default(), letters.as_str())
}

fn cut(text: &str, bytes_max: usize) -> String {
    let head = audit::head(text, bytes_max);
    if head.len() < text.len() { format!("{head}…") } else { head.to_owned() }
}

fn as_hex<S: Serializer>(hash: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match hash {
        Some(hash) => serializer.serialize_some(&hash.hex()),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(finding: Finding, want: &str) {
        let answer = Answer { seq: Some(1), ..Answer::refusal(finding) };
        assert_eq!(answer.shown(), format!("{want}; a person can look with `jackline explain last`]"));
    }

    #[test]
    fn every_refusal_says_what_to_do_next() {
        let by_rule = || Finding::deny("rule", Code::rule("x"), "no");
        check(
            by_rule(),
            "no\n→ make another call, as the rule's reason says; the owner may change the rule\n[jackline: rule/x",
        );
        check(by_rule().suggest("ask"), "no\n→ ask\n[jackline: rule/x");
        let halted = Finding::deny("halted", code::RUN_HALTED, "It is over.");
        check(
            halted,
            "It is over.\n→ stop and report; a person's next prompt lifts it, or `jackline session resume`\n[jackline: run/halted",
        );
        let unknown = Finding::deny("unknown_tool", code::TOOLS_UNKNOWN, "There is none.");
        let remedy = "call a tool that there is; the owner may declare it under `tools.declare`";
        check(unknown, &format!("There is none.\n→ {remedy}\n[jackline: tools/unknown"));
    }
}
