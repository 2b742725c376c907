//! Walks a source by character. It never goes back, so reading takes time in proportion to the source.

use jackline_core::definition::Span;

use super::Unreadable;

#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at, line: 1, column: 1 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes one character. The end of a line, however it is written, is one `\n`.
    pub(super) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.column = self.column.saturating_add(1);
        if c == '\r' && self.peek() == Some('\n') {
            self.at += 1;
        }
        if c != '\n' && c != '\r' {
            return Some(c);
        }
        self.line = self.line.saturating_add(1);
        self.column = 1;
        Some('\n')
    }

    /// Takes one character if it is this one.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.bump();
        }
        there
    }

    /// Takes as many bytes as a mark has.
    pub(super) fn skip(&mut self, mark: &str) {
        for _ in mark.chars() {
            self.bump();
        }
    }

    pub(super) fn take_while(&mut self, keep: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&keep) {
            self.bump();
        }
    }

    /// The text since an earlier place.
    pub(super) fn since(&self, start: Span) -> &'a str {
        self.source.get(start.start..self.at).unwrap_or_default()
    }

    /// An empty place here.
    pub(super) const fn here(&self) -> Span {
        Span { start: self.at, end: self.at, line: self.line, column: self.column }
    }

    /// The place from an earlier one to here.
    pub(super) const fn until_here(&self, start: Span) -> Span {
        Span { end: self.at, ..start }
    }

    /// A complaint about this place.
    pub(super) fn complain(&self, start: Span, message: impl Into<String>) -> Unreadable {
        Unreadable { message: message.into(), span: self.until_here(start) }
    }
}

/// Whether a character ends a line.
pub(super) const fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}
