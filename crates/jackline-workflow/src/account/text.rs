//! An account on a terminal: plain lines, the same with and without colours.

use std::fmt::Write as _;

use super::{Account, Gate, Moment, Step, duration, number, size, spent};
use crate::work::brief;

/// Lines of the timeline that are shown; the other forms have them all.
const LINES_MAX: usize = 500;
/// Characters of a text of an agent's.
const TEXT_CHARS_MAX: usize = 160;
/// Findings shown of one gate.
const FINDINGS_MAX: usize = 5;

impl Account {
    /// For people.
    #[must_use]
    pub fn human(&self) -> String {
        let mut text = String::new();
        let name = brief(&self.workflow, TEXT_CHARS_MAX);
        let (run, standing) = (brief(&self.run, TEXT_CHARS_MAX), brief(&self.standing(), TEXT_CHARS_MAX));
        let _ = writeln!(text, "run {run} of {name}: {standing}");
        let _ = writeln!(text, "began {}, took {}", brief(&self.began, TEXT_CHARS_MAX), duration(self.elapsed_ms));
        if !self.task.is_empty() {
            let _ = writeln!(text, "task: {}", brief(&self.task, TEXT_CHARS_MAX));
        }
        section(&mut text, "timeline", self.timeline());
        section(&mut text, "gates", self.gates.iter().flat_map(gate).collect());
        let budgets = self.budgets.iter().map(|budget| {
            let (name, used) = (brief(&budget.name, TEXT_CHARS_MAX), number(budget.used));
            let limit = budget.limit.map(|limit| format!(" of {}", number(limit))).unwrap_or_default();
            format!("{name:<24} {used}{limit}")
        });
        section(&mut text, "budgets", budgets.collect());
        section(&mut text, "used", spent(&self.usage).into_iter().collect());
        let files = self.deliverables.iter();
        let files = files.map(|file| format!("{} ({})", brief(&file.path, TEXT_CHARS_MAX), size(file.bytes)));
        section(&mut text, "deliverables", files.collect());
        text
    }

    /// Steps and moments in the order of time.
    fn timeline(&self) -> Vec<String> {
        let steps = self.steps.iter().map(|one| (one.from_ms, step(one)));
        let moments = self.moments.iter().map(|one| (one.at_ms, moment(one)));
        let mut lines: Vec<(u64, String)> = steps.chain(moments).collect();
        lines.sort_by_key(|(at, _)| *at);
        let more = lines.len().saturating_sub(LINES_MAX) as u64 + self.left_out;
        let shown = lines.into_iter().take(LINES_MAX).map(|(at, line)| format!("{:>12}  {line}", duration(at)));
        shown.chain((more > 0).then(|| format!("and {more} more"))).collect()
    }
}

fn section(text: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
}

fn step(step: &Step) -> String {
    let took = step.to_ms.map(|to| format!(", {}", duration(to.saturating_sub(step.from_ms)))).unwrap_or_default();
    let again = if step.attempt > 1 { format!(", try {}", step.attempt) } else { String::new() };
    let note = step.note.as_ref().map(|note| format!(": {}", brief(note, TEXT_CHARS_MAX))).unwrap_or_default();
    format!("{} {}{took}{again}{note}", brief(&step.agent, TEXT_CHARS_MAX), step.outcome.word())
}

fn moment(moment: &Moment) -> String {
    let mark = if moment.bad { "! " } else { "" };
    let told =
        if moment.text.is_empty() { String::new() } else { format!(": {}", brief(&moment.text, TEXT_CHARS_MAX)) };
    format!("{mark}{}{told}", brief(&moment.kind, TEXT_CHARS_MAX))
}

fn gate(gate: &Gate) -> Vec<String> {
    let word = if gate.passed { "passed" } else { "rejected" };
    let reason = gate.reason.as_ref().map(|reason| format!(": {}", brief(reason, TEXT_CHARS_MAX))).unwrap_or_default();
    let mut lines = vec![format!("{:>12}  {word} {}{reason}", duration(gate.at_ms), brief(&gate.gate, TEXT_CHARS_MAX))];
    let findings = gate.findings.iter().take(FINDINGS_MAX);
    lines.extend(findings.map(|finding| format!("{:>12}  - {}", "", brief(finding, TEXT_CHARS_MAX))));
    lines
}
