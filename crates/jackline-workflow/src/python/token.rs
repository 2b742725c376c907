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
    /// Whether a field of a formatted text, or an escape we cannot read, cuts the value short.
    pub(super) computed: bool,
    pub(super) bytes: bool,
}

impl Literal {
    /// Adds a character, unless the value ended before it.
    pub(super) fn push(&mut self, c: char) {
        if !self.computed && !self.bytes {
            self.value.push(c);
        }
    }
}
