//! The page for people: on a terminal, or as Markdown in which nothing that an agent wrote is markup.

use jackline_core::todos::Todo;
use jackline_core::todos::state::{By, State};

use super::{Review, SHOWN_MAX};
use crate::paint::Paint;
use crate::timeline::harmless;

/// Characters of a prompt or reason that are shown.
const TEXT_CHARS_MAX: usize = 300;

/// How a page is written.
#[derive(Clone, Copy)]
enum Style {
    Markdown,
    Terminal(Paint),
}

impl Style {
    fn heading(self, text: &str) -> String {
        match self {
            Self::Markdown => format!("\n## {text}\n\n"),
            Self::Terminal(paint) => format!("\n{}\n", paint.bold(text)),
        }
    }

    fn title(self, text: &str) -> String {
        match self {
            Self::Markdown => format!("# {text}\n\n"),
            Self::Terminal(paint) => format!("{}\n", paint.bold(text)),
        }
    }

    fn item(self, depth: usize, text: &str) -> String {
        format!("{:1$}- {text}\n", "", depth * 2)
    }

    /// A text that others wrote: one line, cut, and never markup.
    fn said(self, text: &str) -> String {
        let line = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let head: String = line.chars().take(TEXT_CHARS_MAX).collect();
        let cut = if head.len() < line.len() { "…" } else { "" };
        match self {
            Self::Terminal(_) => format!("{head}{cut}"),
            Self::Markdown => format!("{}{cut}", escaped(&head)),
        }
    }
}

/// Markdown and HTML without their meaning; also without mentions and references, which would notify people.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '!' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    // An address that is not written out is no link.
    out.replace("://", ":&#47;&#47;")
}

impl Review {
    /// The page as Markdown, fit for a pull request.
    pub(crate) fn markdown(&self) -> String {
        self.page(Style::Markdown)
    }

    /// The page for a terminal.
    pub(crate) fn human(&self, paint: Paint) -> String {
        self.page(Style::Terminal(paint))
    }

    fn page(&self, style: Style) -> String {
        let mut page = style.title(&format!("Session {}", style.said(&self.session)));
        page.push_str(&self.summary(style));
        page.push_str(&self.asked(style));
        page.push_str(&self.done(style));
        let (settled, open): (Vec<&Todo>, Vec<&Todo>) =
            self.state.todos.iter().partition(|todo| todo.state.is_settled());
        page.push_str(&self.todos(style, ("Proven", "nothing was proven"), &self.proven, &settled));
        page.push_str(&self.todos(style, ("Left open", "nothing is open"), &self.missing, &open));
        page.push_str(&self.facts(style));
        page.push_str(&self.refusals(style));
        page.push_str(&self.proof(style));
        page
    }

    fn summary(&self, style: Style) -> String {
        let time = |at: &str| at.get(..19).unwrap_or_default().replace('T', " ");
        let stopped = self.stopped.as_ref().map_or("it has not stopped", |end| end.how.as_str());
        let parked = self.stopped.as_ref().and_then(|end| end.parked.as_deref());
        let why = parked.map(|reason| format!(": {}", style.said(reason))).unwrap_or_default();
        let (todos, open) = (self.state.todos.len(), self.state.todos.open().count());
        let host = if self.host.is_empty() { String::new() } else { format!(" ({})", style.said(&self.host)) };
        [
            style.item(0, &format!("outcome: {}{why}", style.said(stopped))),
            style.item(0, &format!("todos: {} of {todos} settled, {open} open", todos - open)),
            style.item(0, &format!("from {} to {} UTC{host}", time(&self.began), time(&self.ended))),
            self.retired.map_or_else(String::new, |last| {
                style.item(0, &format!("records 1 to {last} were retired: what follows tells of those after them"))
            }),
        ]
        .concat()
    }

    fn asked(&self, style: Style) -> String {
        let mut part = style.heading("Asked");
        let told = self.prompts.iter().filter(|prompt| !prompt.trim().is_empty());
        part.push_str(&listed(style, told.map(|prompt| style.said(prompt)).collect(), "no prompt is on record"));
        part
    }

    fn done(&self, style: Style) -> String {
        let calls = &self.calls;
        let mut part = style.heading("Done");
        part.push_str(&style.item(
            0,
            &format!(
                "{} calls: {} succeeded, {} failed, {} refused",
                calls.requested, calls.succeeded, calls.failed, calls.refused
            ),
        ));
        let tools: Vec<String> =
            calls.tools.iter().map(|(tool, count)| format!("{} {count}", style.said(tool))).collect();
        if !tools.is_empty() {
            part.push_str(&style.item(0, &tools.join(", ")));
        }
        part.push_str(&style.item(0, &format!("files were written by {} of them", self.state.writes)));
        part
    }

    fn facts(&self, style: Style) -> String {
        let facts = self.state.statements.iter().map(|statement| {
            let sources: Vec<String> = statement.sources.iter().map(|source| style.said(source)).collect();
            format!("{} (from {})", style.said(&statement.text), sources.join(", "))
        });
        let mut part = style.heading("Facts");
        part.push_str(&listed(style, facts.collect(), "none were recorded"));
        part
    }

    fn refusals(&self, style: Style) -> String {
        let mut part = style.heading("Refused");
        let refused = self.refused.iter().map(|refused| {
            let times = if refused.count > 1 { format!(", {} times", refused.count) } else { String::new() };
            format!("{}: {} (record {}{times})", style.said(&refused.code), style.said(&refused.reason), refused.seq)
        });
        part.push_str(&listed(style, refused.collect(), "nothing was refused"));
        if !self.exceptions.is_empty() {
            part.push_str(&style.heading("Let pass by a person"));
            part.push_str(&listed(style, self.exceptions.iter().map(|used| style.said(used)).collect(), ""));
        }
        part
    }

    /// What `completion` says, then the todos.
    fn todos(&self, style: Style, (title, none): (&str, &str), told: &[String], todos: &[&Todo]) -> String {
        let mut part = style.heading(title);
        if told.is_empty() && todos.is_empty() {
            part.push_str(&style.item(0, none));
        }
        told.iter().for_each(|told| part.push_str(&style.item(0, &style.said(told))));
        todos.iter().for_each(|todo| part.push_str(&self.todo(style, todo)));
        part
    }

    fn todo(&self, style: Style, todo: &Todo) -> String {
        let mut part = one(style, todo);
        if let Some(said) = self.explanations.get(todo.id.as_str()).filter(|said| !said.is_empty()) {
            part.push_str(&style.item(1, &format!("the agent says: {}", style.said(said))));
        }
        if let Some(rejection) = &todo.rejection {
            let (by, why) = (style.said(&rejection.consent.by), style.said(&rejection.consent.reason));
            part.push_str(&style.item(1, &format!("sent back by {by} ({why})")));
        }
        part
    }

    fn proof(&self, style: Style) -> String {
        let mut part = style.heading("Record");
        part.push_str(&style.item(0, &format!("{} records, head {}", self.head.seq, self.head.hash.hex())));
        part
    }
}

fn listed(style: Style, items: Vec<String>, none: &str) -> String {
    if items.is_empty() {
        return style.item(0, none);
    }
    let more = items.len().saturating_sub(SHOWN_MAX);
    let mut part: String = items.iter().take(SHOWN_MAX).map(|item| style.item(0, item)).collect();
    if more > 0 {
        part.push_str(&style.item(0, &format!("and {more} more")));
    }
    part
}

fn one(style: Style, todo: &Todo) -> String {
    let mut part = style.item(0, &format!("{}: {}", settled_by(style, todo), style.said(&todo.content)));
    for (at, check) in todo.checks.iter().enumerate() {
        let told = todo.results.get(at).map(|result| result.message.clone());
        let told = told.unwrap_or_else(|| format!("not evaluated: {} {}", check.name(), check.subject()));
        part.push_str(&style.item(1, &style.said(&told)));
    }
    for piece in todo.state.evidence() {
        part.push_str(&style.item(1, &format!("evidence: {}", style.said(&piece.told()))));
    }
    part
}

/// How far a todo is, and by whose word; whose checks they are is said where they are the agent's own.
fn settled_by(style: Style, todo: &Todo) -> String {
    let own = if todo.author.name() == "agent" { ", checks by the agent" } else { "" };
    match &todo.state {
        State::Verified(verified) => match verified.by() {
            By::Runtime(_) => format!("verified by its checks{own}"),
            By::Human(consent) => {
                format!("approved by {} ({})", style.said(&consent.by), style.said(&consent.reason))
            }
        },
        State::Waived(_) => {
            let consent = todo.state.consent();
            let said =
                consent.map(|consent| format!(" by {} ({})", style.said(&consent.by), style.said(&consent.reason)));
            format!("waived{}", said.unwrap_or_default())
        }
        state => state.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_others_wrote_is_markup() {
        let text = "<img src=x> [a](http://x) `b` @dev #1 **c**\n# d | e";
        let said = Style::Markdown.said(text);
        for markup in ["<img", "](", "http://", " @dev", " #1", "**c**", "\n", " | "] {
            assert!(!said.contains(markup), "{markup}: {said}");
        }
        assert_eq!(Style::Markdown.said("a\u{202e}b\u{1b}c"), "a b c", "nor does it turn the line around");
        assert_eq!(Style::Markdown.said("plain words, 3.5 - fine"), "plain words, 3.5 - fine");
    }
}
