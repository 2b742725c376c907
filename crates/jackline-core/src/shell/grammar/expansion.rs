//! Expansions: variables, parameters, commands, arithmetic. What is substituted inside any of them is read too.

use super::{Fault, Parser};
use crate::shell::tree::{List, Piece, RawWord};

impl Parser {
    /// What follows a `$`.
    pub(super) fn dollar(&mut self, word: &mut RawWord, quoted: bool) -> Result<(), Fault> {
        match self.peek() {
            Some('(') => {
                let piece = self.dollar_parenthesis()?;
                word.pieces.push(piece);
            }
            Some('{') => {
                let piece = self.parameter(quoted)?;
                word.pieces.push(piece);
            }
            Some('\'') if !quoted => {
                self.at += 1;
                let text = self.escaped_text()?;
                word.pieces.push(Piece::Text { text, quoted: true });
            }
            Some('"') if !quoted => {
                self.at += 1;
                let pieces = self.quoted_text(Some('"'))?;
                word.pieces.extend(pieces);
            }
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let name = self.name();
                word.pieces.push(Piece::Variable { name, quoted });
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                word.pieces.push(Piece::Other { written: format!("${c}"), inside: Vec::new() });
            }
            Some('[') => {
                // The old spelling of arithmetic.
                self.at += 1;
                let inside = self.bracketed(']')?;
                word.pieces.push(Piece::Other { written: "$[…]".to_owned(), inside });
            }
            _ => word.push_text('$', quoted),
        }
        Ok(())
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| *c == '_' || c.is_ascii_alphanumeric()) {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// `$(…)` or `$((…))`.
    fn dollar_parenthesis(&mut self) -> Result<Piece, Fault> {
        if self.looking_at("((")
            && let Some(inside) = self.deeper(|parser| parser.arithmetic(false))?
        {
            return Ok(Piece::Other { written: "$((…))".to_owned(), inside });
        }
        self.at += 1;
        self.substituted().map(Piece::Command)
    }

    /// The list inside `$(`, `<(` or `>(`, up to its parenthesis.
    pub(super) fn substituted(&mut self) -> Result<List, Fault> {
        let list = self.list(&[])?;
        if self.eat(")") { Ok(list) } else { Err("a substitution is not closed".to_owned()) }
    }

    /// A command in backquotes: unescaped once, then read as a text of its own.
    pub(super) fn backquotes(&mut self) -> Result<Piece, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some(c) => text.extend(['\\', c]),
                    None => return Err("a backquote is not closed".to_owned()),
                },
                Some(c) => text.push(c),
                None => return Err("a backquote is not closed".to_owned()),
            }
        }
        self.deeper(|parser| {
            let mut inner = Self::new(&text);
            inner.depth = parser.depth;
            inner.bodies = std::mem::take(&mut parser.bodies);
            let list = inner.list(&[]);
            let whole = inner.at_end() && inner.pending.is_empty();
            parser.bodies = inner.bodies;
            if whole { list.map(Piece::Command) } else { Err("a backquoted command is broken".to_owned()) }
        })
    }

    /// Arithmetic between doubled parentheses; `None`, with nothing taken, when it is commands after all.
    ///
    /// In the head of a loop semicolons belong to it.
    pub(super) fn arithmetic(&mut self, in_loop: bool) -> Result<Option<Vec<RawWord>>, Fault> {
        let start = self.at;
        self.at += 2;
        let mut open = 0_u32;
        let mut inside = RawWord::default();
        loop {
            match self.next() {
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                Some(')') if self.eat(")") => return Ok(Some(vec![inside])),
                // Commands, not numbers: `((a); (b))`, or a text that only looks like arithmetic.
                Some(')' | ';' | '\n' | '\'' | '`') | None if !in_loop => {
                    self.at = start;
                    return Ok(None);
                }
                Some('$') => self.deeper(|parser| parser.dollar(&mut inside, true))?,
                Some('"') => inside.pieces.extend(self.quoted_text(Some('"'))?),
                Some(_) => {}
                None => return Err("arithmetic is not closed".to_owned()),
            }
        }
    }

    /// `${…}`: a plain variable, or anything more, with what is substituted inside.
    fn parameter(&mut self, quoted: bool) -> Result<Piece, Fault> {
        self.at += 1;
        let start = self.at;
        let name = self.name();
        if !name.is_empty() && self.eat("}") {
            return Ok(Piece::Variable { name, quoted });
        }
        self.at = start;
        let inside = self.bracketed('}')?;
        Ok(Piece::Other { written: format!("${{{name}…}}"), inside })
    }

    /// Text up to a closing bracket, quotes and expansions inside it respected.
    fn bracketed(&mut self, close: char) -> Result<Vec<RawWord>, Fault> {
        self.deeper(|parser| {
            let mut inside = RawWord::default();
            loop {
                match parser.next() {
                    Some(c) if c == close => return Ok(vec![inside]),
                    Some('\\') => parser.at += 1,
                    Some('\'') if close == '}' => {
                        // Inside double quotes a lone quote is text; then there is no second one before the brace.
                        let rest = parser.chars.get(parser.at..).unwrap_or_default();
                        let quote = rest.iter().position(|c| *c == '\'');
                        let brace = rest.iter().position(|c| *c == '}');
                        if let Some(quote) = quote.filter(|quote| brace.is_none_or(|brace| *quote < brace)) {
                            parser.at += quote + 1;
                        }
                    }
                    Some('"') => inside.pieces.extend(parser.quoted_text(Some('"'))?),
                    Some('$') => parser.dollar(&mut inside, true)?,
                    Some('`') => inside.pieces.push(parser.backquotes()?),
                    Some(_) => {}
                    None => return Err("an expansion is not closed".to_owned()),
                }
            }
        })
    }

    /// `$'…'`: text with escapes.
    fn escaped_text(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('\'') => return Ok(text),
                Some('\\') => self.escape(&mut text)?,
                Some(c) => text.push(c),
                None => return Err("a quote is not closed".to_owned()),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let c = self.next().ok_or("a quote is not closed")?;
        text.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.byte(16, 2)?,
            'u' => self.code(16, 4)?,
            'U' => self.code(16, 8)?,
            '0'..='7' => {
                self.at -= 1;
                self.byte(8, 3)?
            }
            'c' => self.next().map_or('\u{0}', |c| char::from(u8::try_from(c).unwrap_or_default() & 0x1f)),
            c => c,
        });
        Ok(())
    }

    /// A byte by number; one beyond ASCII is part of a character that only its neighbours complete.
    fn byte(&mut self, radix: u32, digits: usize) -> Result<char, Fault> {
        self.code(radix, digits)
            .and_then(|c| if c.is_ascii() { Ok(c) } else { Err("an escape is no character".to_owned()) })
    }

    fn code(&mut self, radix: u32, digits: usize) -> Result<char, Fault> {
        let mut value = 0_u32;
        let mut taken = 0;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)).filter(|_| taken < digits) {
            value = value.saturating_mul(radix).saturating_add(digit);
            self.at += 1;
            taken += 1;
        }
        char::from_u32(value).filter(|c| taken > 0 && *c != '\0').ok_or_else(|| "an escape is no character".to_owned())
    }
}
