//! The tokens of a source, each with its place.

use jackline_core::definition::Span;

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword.
    Name,
    Number,
    Literal(Literal),
    /// An operator, bracket or other mark.
    Mark,
    /// The end of a logical line.
    Newline,
    Indent,
    Dedent,
}

/// A token, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) span: Span,
}

impl Token<'_> {
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && self.text == name
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// How the depth of brackets changes here.
    pub(super) fn deeper(&self) -> isize {
        match (&self.kind, self.text) {
            (Kind::Mark, "(" | "[" | "{") => 1,
            (Kind::Mark, ")" | "]" | "}") => -1,
            _ => 0,
        }
    }
}

/// A text or bytes literal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Literal {
    /// The text, up to where it is computed.
    pub(super) value: String,
    /// Fields of a formatted text, and escapes we cannot read.
    pub(super) holes: Vec<Hole>,
    pub(super) bytes: bool,
}

/// A part of a text that is computed, and the text behind it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hole {
    /// What stands in it, if that is a name and nothing else.
    pub(super) name: Option<String>,
    pub(super) behind: String,
}

impl Literal {
    /// Adds a character.
    pub(super) fn push(&mut self, c: char) {
        match self.holes.last_mut() {
            _ if self.bytes => {}
            Some(hole) => hole.behind.push(c),
            None => self.value.push(c),
        }
    }

    /// Goes on behind something that is computed.
    pub(super) fn hole(&mut self, name: Option<String>) {
        self.holes.push(Hole { name, behind: String::new() });
    }
}
