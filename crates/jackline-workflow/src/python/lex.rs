//! A source to tokens: lines and their joining, indentation, brackets, names and marks. Literals are taken elsewhere.

use jackline_core::definition::Span;

use super::cursor::{Cursor, is_line_end};
use super::token::{Kind, Token};
use super::{Unreadable, literal, number};

/// Open brackets, as many as Python itself takes.
const BRACKETS_MAX: usize = 200;
/// Levels of indentation, as many as Python itself takes; blocks are read by recursion.
pub(super) const INDENTS_MAX: usize = 100;
/// How a tab moves the indentation: to the next multiple.
const TAB_COLUMNS: usize = 8;

/// Marks of several characters, the longer ones first.
const LONG_MARKS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "==", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "@=", "**", "//", ">>", "<<",
];
/// Marks of one character.
const SHORT_MARKS: &str = "+-*/%&|^~<>()[]{},:;.=@";

/// Columns of an indentation, counted with tabs to eight and with tabs as one: both must agree on what is deeper.
type Indent = (usize, usize);

pub(super) struct Lexer<'a> {
    pub(super) cursor: Cursor<'a>,
    /// Brackets that are open, with their places.
    pub(super) open: Vec<(char, Span)>,
    /// Formatted texts that we are inside of.
    pub(super) formatted: usize,
    /// What stands in the fields of formatted texts, each by itself: it is code as well.
    pub(super) fields: Vec<Vec<Token<'a>>>,
    indents: Vec<Indent>,
    tokens: Vec<Token<'a>>,
}

/// A source in tokens.
pub(super) struct Tokens<'a> {
    pub(super) code: Vec<Token<'a>>,
    /// What stands in the fields of formatted texts.
    pub(super) fields: Vec<Vec<Token<'a>>>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let (open, indents, tokens) = (Vec::new(), vec![(0, 0)], Vec::new());
        Self { cursor: Cursor::new(source), open, formatted: 0, fields: Vec::new(), indents, tokens }
    }

    /// All tokens; every line that is not blank ends in a `Newline`, every `Indent` has its `Dedent`.
    pub(super) fn run(mut self) -> Result<Tokens<'a>, Unreadable> {
        while self.cursor.peek().is_some() {
            self.line()?;
        }
        if let Some((bracket, span)) = self.open.first() {
            return Err(Unreadable { message: format!("`{bracket}` is never closed"), span: *span });
        }
        let here = self.cursor.here();
        self.dedent_to((0, 0), here)?;
        Ok(Tokens { code: self.tokens, fields: self.fields })
    }

    /// One logical line, with the indentation in front of it.
    fn line(&mut self) -> Result<(), Unreadable> {
        let start = self.cursor.here();
        let indent = self.indentation()?;
        match self.cursor.peek() {
            None => return Ok(()),
            Some('#') => self.comment(),
            Some(_) => {}
        }
        if self.cursor.peek().is_some_and(is_line_end) {
            self.cursor.bump();
            return Ok(());
        }
        if self.cursor.peek().is_some() {
            self.indent_to(indent, start)?;
            self.words()?;
        }
        Ok(())
    }

    /// The blanks that a line begins with. A joined line has the indentation of its first.
    fn indentation(&mut self) -> Result<Indent, Unreadable> {
        let (mut wide, mut narrow) = (0, 0);
        let mut first = None;
        loop {
            match self.cursor.peek() {
                Some(' ') => (wide, narrow) = (wide + 1, narrow + 1),
                Some('\t') => (wide, narrow) = ((wide / TAB_COLUMNS + 1) * TAB_COLUMNS, narrow + 1),
                Some('\u{c}') => (wide, narrow) = (0, 0),
                Some('\\') => {
                    self.join()?;
                    first.get_or_insert((wide, narrow));
                    continue;
                }
                _ => return Ok(first.unwrap_or((wide, narrow))),
            }
            self.cursor.bump();
        }
    }

    fn indent_to(&mut self, indent: Indent, start: Span) -> Result<(), Unreadable> {
        let last = self.indents.last().copied().unwrap_or_default();
        if indent.0 < last.0 {
            return self.dedent_to(indent, start);
        }
        if (indent.0 > last.0) != (indent.1 > last.1) {
            return Err(self.cursor.complain(start, "tabs and blanks are mixed in the indentation"));
        }
        if indent.0 > last.0 {
            if self.indents.len() > INDENTS_MAX {
                return Err(self.cursor.complain(start, format!("more than {INDENTS_MAX} levels of indentation")));
            }
            self.indents.push(indent);
            self.push(Kind::Indent, start);
        }
        Ok(())
    }

    fn dedent_to(&mut self, indent: Indent, start: Span) -> Result<(), Unreadable> {
        while self.indents.last().is_some_and(|last| last.0 > indent.0) {
            self.indents.pop();
            let here = self.cursor.here();
            self.push(Kind::Dedent, here);
        }
        match self.indents.last() {
            Some(last) if last.0 != indent.0 => {
                Err(self.cursor.complain(start, "the indentation fits no line before it"))
            }
            Some(last) if last.1 != indent.1 => {
                Err(self.cursor.complain(start, "tabs and blanks are mixed in the indentation"))
            }
            _ => Ok(()),
        }
    }

    /// The tokens up to the end of a logical line.
    fn words(&mut self) -> Result<(), Unreadable> {
        loop {
            self.blanks()?;
            let start = self.cursor.here();
            match self.cursor.peek() {
                None => break,
                Some(c) if is_line_end(c) => {
                    self.cursor.bump();
                    if self.open.is_empty() {
                        self.newline(start);
                        return Ok(());
                    }
                }
                Some(_) => {
                    let kind = self.word()?;
                    self.push(kind, start);
                }
            }
        }
        let here = self.cursor.here();
        self.newline(here);
        Ok(())
    }

    /// Ends a line, unless it consists of nothing but joined blank ones.
    fn newline(&mut self, start: Span) {
        if self.tokens.last().is_some_and(|last| !matches!(last.kind, Kind::Newline | Kind::Dedent)) {
            self.push(Kind::Newline, start);
        }
    }

    /// Blanks between tokens: comments and joined lines too.
    pub(super) fn blanks(&mut self) -> Result<(), Unreadable> {
        loop {
            match self.cursor.peek() {
                Some(' ' | '\t' | '\u{c}') => {
                    self.cursor.bump();
                }
                Some('#') => self.comment(),
                Some('\\') => self.join()?,
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) {
        self.cursor.take_while(|c| !is_line_end(c));
    }

    /// A backslash at the end of a line.
    fn join(&mut self) -> Result<(), Unreadable> {
        let start = self.cursor.here();
        self.cursor.bump();
        match self.cursor.peek() {
            Some(c) if is_line_end(c) => {
                self.cursor.bump();
                Ok(())
            }
            _ => Err(self.cursor.complain(start, "a backslash that ends no line")),
        }
    }

    /// Takes one token, and says what it was.
    pub(super) fn word(&mut self) -> Result<Kind, Unreadable> {
        let start = self.cursor.here();
        match self.cursor.peek() {
            Some('"' | '\'') => Ok(Kind::Literal(literal::take(self, "")?)),
            Some(c) if starts_name(c) => self.name(start),
            Some(c) if c.is_ascii_digit() => Ok(self.number()),
            Some('.') if self.cursor.second().is_some_and(|c| c.is_ascii_digit()) => Ok(self.number()),
            _ => self.mark(start),
        }
    }

    /// A name; or the prefix of a literal, and the literal.
    fn name(&mut self, start: Span) -> Result<Kind, Unreadable> {
        self.cursor.take_while(continues_name);
        let name = self.cursor.since(start);
        if matches!(self.cursor.peek(), Some('"' | '\'')) && literal::is_prefix(name) {
            return Ok(Kind::Literal(literal::take(self, name)?));
        }
        Ok(Kind::Name)
    }

    fn number(&mut self) -> Kind {
        number::take(&mut self.cursor);
        Kind::Number
    }

    fn mark(&mut self, start: Span) -> Result<Kind, Unreadable> {
        if let Some(mark) = LONG_MARKS.iter().find(|mark| self.cursor.starts_with(mark)) {
            self.cursor.skip(mark);
            return Ok(Kind::Mark);
        }
        let Some(c) = self.cursor.bump() else {
            return Err(self.cursor.complain(start, "the file ends too early"));
        };
        if !SHORT_MARKS.contains(c) {
            return Err(self.cursor.complain(start, format!("`{}` means nothing here", c.escape_debug())));
        }
        self.bracket(c, start).map(|()| Kind::Mark)
    }

    fn bracket(&mut self, c: char, start: Span) -> Result<(), Unreadable> {
        let opening = match c {
            '(' | '[' | '{' => {
                self.open.push((c, self.cursor.until_here(start)));
                let many = self.open.len() > BRACKETS_MAX;
                let complaint = || self.cursor.complain(start, format!("more than {BRACKETS_MAX} open brackets"));
                return if many { Err(complaint()) } else { Ok(()) };
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => return Ok(()),
        };
        match self.open.pop() {
            Some((open, _)) if open == opening => Ok(()),
            Some((open, span)) => {
                let message = format!("`{c}` does not close `{open}` of line {}", span.line);
                Err(self.cursor.complain(start, message))
            }
            None => Err(self.cursor.complain(start, format!("`{c}` closes nothing"))),
        }
    }

    fn push(&mut self, kind: Kind, start: Span) {
        let text = if matches!(kind, Kind::Indent | Kind::Dedent) { "" } else { self.cursor.since(start) };
        self.tokens.push(Token { kind, text, span: self.cursor.until_here(start) });
    }
}

const fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || is_letter_beyond_ascii(c)
}

const fn continues_name(c: char) -> bool {
    starts_name(c) || c.is_ascii_digit()
}

/// Wider than Python's own tables, which only decide what it refuses; blanks and punctuation are no letters.
const fn is_letter_beyond_ascii(c: char) -> bool {
    !c.is_ascii() && c > '\u{a9}' && !matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{3004}' | '\u{feff}')
}
