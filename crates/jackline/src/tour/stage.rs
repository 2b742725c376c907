//! How the tour is shown: in the order in which it happens, at a pace that can be read, as wide as the terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};
use std::thread;
use std::time::Duration;

use jackline_core::decision::Verdict;

use super::told::Told;
use crate::error::CommandError;
use crate::paint::Paint;
use crate::{interrupt, place, screen, timeline};

/// Between what the agent wants and what it is told: long enough to read the one before the other.
const BEAT_MS: u64 = 250;
/// Columns of a page; wider texts are hard to read.
const WIDTH_COLUMNS_MAX: usize = 100;
/// Columns that a terminal is taken to have at least; below, words are cut by the terminal itself.
const WIDTH_COLUMNS_MIN: usize = 40;
/// Columns for what the agent wants; its verdict stands behind them.
const SUBJECT_COLUMNS: usize = 38;
/// Columns that both need side by side; on a narrower terminal the verdict goes below.
const BESIDE_COLUMNS_MIN: usize = 78;
/// Columns that what belongs to a step is set in by.
const BELOW_COLUMNS: usize = 6;
/// Digits of a hash that tell it from another at a glance.
const HASH_DIGITS: usize = 12;
/// Digits of a whole hash.
const WHOLE_HASH_DIGITS: usize = 64;

pub(super) struct Stage {
    paint: Paint,
    beat: Duration,
    columns: usize,
    /// Whether a line waits for its verdict.
    open: Cell<bool>,
}

impl Stage {
    /// The stage on standard output; pauses are for people who watch.
    pub(super) fn new(fast: bool) -> Self {
        let watched = io::stdout().is_terminal() && !fast;
        let columns = place::columns().unwrap_or(WIDTH_COLUMNS_MAX).clamp(WIDTH_COLUMNS_MIN, WIDTH_COLUMNS_MAX);
        let beat = Duration::from_millis(if watched { BEAT_MS } else { 0 });
        Self { paint: Paint::for_stdout(), beat, columns, open: Cell::new(false) }
    }

    /// A pause; whoever wants to break off is heard here.
    fn pause(&self) -> Result<(), CommandError> {
        thread::sleep(self.beat);
        if interrupt::asked() { Err(broken_off()) } else { Ok(()) }
    }

    /// After an error: what is said next begins on a line of its own.
    pub(super) fn leave(&self) {
        if self.open.get() {
            // The error itself is what is told.
            drop(screen::line(""));
        }
    }

    pub(super) fn heading(&self, text: &str) -> Result<(), CommandError> {
        self.pause()?;
        screen::line(&format!("\n{}", self.paint.bold(text)))?;
        self.pause()
    }

    /// Running text.
    pub(super) fn text(&self, text: &str) -> Result<(), CommandError> {
        self.wrapped(text, 0, str::to_owned)
    }

    /// A remark below a step.
    pub(super) fn remark(&self, text: &str) -> Result<(), CommandError> {
        self.wrapped(text, BELOW_COLUMNS, |line| self.paint.dim(line))
    }

    /// Lines as they are, set in.
    pub(super) fn quote(&self, text: &str) -> Result<(), CommandError> {
        for line in text.lines() {
            screen::line(&format!("   {}", self.paint.dim(line)))?;
        }
        Ok(())
    }

    /// What the agent wants; the line stays open until the verdict is there.
    pub(super) fn wants(&self, subject: &str) -> Result<(), CommandError> {
        let subject = if self.columns < BESIDE_COLUMNS_MIN {
            format!("   {subject}\n{:BELOW_COLUMNS$}", "")
        } else {
            format!("   {subject:<SUBJECT_COLUMNS$}  ")
        };
        self.open.set(true);
        screen::show(&subject)?;
        self.pause()
    }

    /// The verdict, behind what was wanted.
    pub(super) fn verdict(&self, verdict: Verdict, what: &str) -> Result<(), CommandError> {
        let mark = if verdict == Verdict::Allow { "✓" } else { "✗" };
        Ok(screen::show(&self.paint.verdict(verdict, &format!("{mark} {what}")))?)
    }

    /// Ends the line, with what followed from the verdict.
    pub(super) fn effect(&self, text: &str) -> Result<(), CommandError> {
        self.open.set(false);
        let end = if text.is_empty() { String::new() } else { format!("  {}", self.paint.dim(text)) };
        Ok(screen::line(&end)?)
    }

    /// What the agent is shown of a refusal; and what is true of the world, behind the last line.
    pub(super) fn refusal(&self, told: &Told, state: Option<&str>) -> Result<(), CommandError> {
        let last = told.shown.len().saturating_sub(1);
        for (at, line) in told.shown.iter().enumerate() {
            match state.filter(|_| at == last) {
                Some(state) => self.wrapped(&format!("{line}  ({state})"), BELOW_COLUMNS, str::to_owned)?,
                None => self.wrapped(line, BELOW_COLUMNS, str::to_owned)?,
            }
        }
        self.pause()
    }

    fn wrapped(&self, text: &str, indent: usize, style: impl Fn(&str) -> String) -> Result<(), CommandError> {
        for line in wrap(&shortened(&timeline::harmless(text)), self.columns.saturating_sub(indent)) {
            screen::line(&format!("{:indent$}{}", "", style(&line)))?;
        }
        Ok(())
    }
}

/// What a person who breaks off is told.
pub(super) fn broken_off() -> CommandError {
    CommandError::found("the tour was broken off")
}

/// The text in lines of at most so many characters, broken between words.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The text with its hashes cut to what the eye compares.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let end = if run == 0 { first.len_utf8() } else { run };
        let (head, tail) = rest.split_at(end);
        match head.get(..HASH_DIGITS).filter(|_| run == WHOLE_HASH_DIGITS) {
            Some(digits) => short.extend([digits, "…"]),
            None => short.push_str(head),
        }
        rest = tail;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two", 3), ["one", "two"]);
        assert_eq!(wrap("→ überlang", 2), ["→", "überlang"]);
    }

    #[test]
    fn whole_hashes_are_shortened_and_nothing_else() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(shortened(&format!("head `{hash}`, dead beef")), "head `0123456789ab…`, dead beef");
        assert_eq!(shortened(&format!("{hash}0")), format!("{hash}0"));
    }
}
