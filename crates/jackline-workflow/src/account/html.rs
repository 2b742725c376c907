//! An account as one page of HTML: the picture, and tables. It loads nothing and runs nothing.

use std::fmt::Write as _;

use super::{Account, Outcome, duration, number, size, spent, svg};
use crate::visible::{escaped, visible};

/// Rows of one table; the JSON form has them all.
const ROWS_MAX: usize = 5_000;
/// Characters of a text of an agent's.
const TEXT_CHARS_MAX: usize = 2_000;

const STYLE: &str = "\
body{font:14px/1.5 system-ui,sans-serif;color:#1f2328;background:#ffffff;max-width:1000px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em .6em;border-bottom:1px solid #d1d9e0;vertical-align:top}
td{overflow-wrap:anywhere}h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}.muted,th{color:#59636e}
.failed,.bad,.rejected{color:#a40e26}.done,.passed{color:#1a7f37}.warned,.open{color:#7d4e00}svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#3d444d}.muted,th{color:#9198a1}
.failed,.bad,.rejected{color:#ffa198}.done,.passed{color:#3fb950}.warned,.open{color:#e3b341}}
";

/// A table: its title, its heads, its rows; a row's first member is its class.
type Table = (&'static str, &'static [&'static str], Vec<(&'static str, Vec<String>)>);

impl Account {
    /// As a page by itself.
    #[must_use]
    pub fn to_html(&self) -> String {
        let title = shown(&format!("{}: {}", self.workflow, self.standing()));
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>\n{STYLE}{}</style>\n</head>\n<body>\n",
            svg::STYLE
        );
        let _ = writeln!(text, "<h1>{}</h1>", shown(&self.workflow));
        let end = format!("{}, took {}", self.standing(), duration(self.elapsed_ms));
        let _ = writeln!(text, "<p class=\"{}\">{}</p>", self.class(), shown(&end));
        let _ = writeln!(text, "<p class=\"muted\">run {}, began {}</p>", shown(&self.run), shown(&self.began));
        if !self.task.is_empty() {
            let _ = writeln!(text, "<p>{}</p>", shown(&self.task));
        }
        text.push_str(&self.picture(false));
        for table in [self.gate_table(), self.budget_table(), self.file_table(), self.step_table(), self.moment_table()]
        {
            draw(&mut text, table);
        }
        if self.left_out > 0 {
            let _ =
                writeln!(text, "<p class=\"muted\">and {} more steps, events and gates in the log</p>", self.left_out);
        }
        text.push_str("</body>\n</html>\n");
        text
    }

    fn gate_table(&self) -> Table {
        let rows = self.gates.iter().map(|gate| {
            let word = if gate.passed { "passed" } else { "rejected" };
            let told = gate.reason.iter().chain(&gate.findings).cloned().collect::<Vec<_>>().join("; ");
            (word, vec![duration(gate.at_ms), gate.gate.clone(), word.to_owned(), told])
        });
        ("Gates", &["at", "gate", "verdict", "why"], rows.collect())
    }

    fn budget_table(&self) -> Table {
        let row = |name: &str, used: String, limit: String| ("", vec![name.to_owned(), used, limit]);
        let budgets = self.budgets.iter();
        let budgets = budgets.map(|one| row(&one.name, number(one.used), one.limit.map(number).unwrap_or_default()));
        let models = spent(&self.usage).map(|spent| row("tokens and cost", spent, String::new()));
        ("Budgets and cost", &["what", "used", "limit"], budgets.chain(models).collect())
    }

    fn file_table(&self) -> Table {
        let rows = self.deliverables.iter().map(|file| ("", vec![file.path.clone(), size(file.bytes)]));
        ("Deliverables", &["file", "size"], rows.collect())
    }

    fn step_table(&self) -> Table {
        let rows = self.steps.iter().map(|step| {
            let class = if step.outcome == Outcome::Skipped { "muted" } else { step.outcome.word() };
            let took = step.to_ms.map(|to| duration(to.saturating_sub(step.from_ms))).unwrap_or_default();
            let (at, note) = (duration(step.from_ms), step.note.clone().unwrap_or_default());
            (class, vec![at, step.agent.clone(), step.outcome.word().to_owned(), took, step.attempt.to_string(), note])
        });
        ("Work", &["at", "agent", "outcome", "took", "try", "note"], rows.collect())
    }

    fn moment_table(&self) -> Table {
        let rows = self.moments.iter().map(|moment| {
            let class = if moment.bad { "bad" } else { "" };
            (class, vec![duration(moment.at_ms), moment.kind.clone(), moment.text.clone()])
        });
        ("Events", &["at", "what", "text"], rows.collect())
    }
}

fn draw(text: &mut String, (title, heads, rows): Table) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(text, "<h2>{title}</h2>\n<table>\n<tr>");
    heads.iter().for_each(|head| text.push_str(&format!("<th>{head}</th>")));
    text.push_str("</tr>\n");
    let more = rows.len().saturating_sub(ROWS_MAX);
    for (class, cells) in rows.into_iter().take(ROWS_MAX) {
        let _ = write!(text, "<tr class=\"{class}\">");
        cells.iter().for_each(|cell| text.push_str(&format!("<td>{}</td>", shown(cell))));
        text.push_str("</tr>\n");
    }
    text.push_str("</table>\n");
    if more > 0 {
        let _ = writeln!(text, "<p class=\"muted\">and {more} more</p>");
    }
}

/// A text that others wrote: cut, visible, and no markup.
fn shown(text: &str) -> String {
    let head: String = text.chars().take(TEXT_CHARS_MAX).collect();
    escaped(&visible(&head))
}
