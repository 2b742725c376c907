//! Expansions: variables, parameters, commands, arithmetic. What is substituted inside any of them is read too.

use super::{Fault, Parser};
use crate::shell::tree::{Effect, List, Part, Piece, RawWord};
use crate::shell::words::CALCULATED;

/// Characters of the number of an array's element, with room for what ends it.
const INDEX_CHARS_MAX: usize = 8;

impl Parser {
    /// What follows a `$`.
    pub(super) fn dollar(&mut self, word: &mut RawWord, quoted: bool) -> Result<(), Fault> {
        match self.peek() {
            Some('(') => {
                let piece = self.dollar_parenthesis(quoted)?;
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
            Some(c) if c.is_ascii_digit() || "@*".contains(c) => {
                self.at += 1;
                word.pieces.push(Piece::argument(&c.to_string(), quoted));
            }
            Some(c @ ('#' | '?' | '$' | '!')) => {
                self.at += 1;
                word.pieces.push(Piece::Variable { name: c.to_string(), quoted });
            }
            Some('-') => {
                self.at += 1;
                word.pieces.push(Piece::other("$-", Vec::new()));
            }
            // Zsh splits, globs or tests a variable this way; other shells take it for text, which nobody writes.
            Some('=' | '~' | '^' | '+') if self.peek_at(1).is_some_and(|c| c == '_' || c.is_ascii_alphabetic()) => {
                self.at += 1;
                let name = self.name();
                word.pieces.push(Piece::other(format!("$={name}"), Vec::new()));
            }
            Some('[') => {
                // The old spelling of arithmetic.
                self.at += 1;
                let inside = self.index(quoted)?;
                word.pieces.push(Piece::other("$[…]", inside));
            }
            _ => word.push_text('$', quoted),
        }
        Ok(())
    }

    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| *c == '_' || c.is_ascii_alphanumeric()) {
            name.push(c);
            self.at += 1;
        }
        name
    }

    /// `$(…)` or `$((…))`.
    fn dollar_parenthesis(&mut self, quoted: bool) -> Result<Piece, Fault> {
        let start = self.at;
        if self.looking_at("((")
            && let Some(inside) = self.deeper(|parser| parser.arithmetic(false))?
        {
            return Ok(Piece::other(CALCULATED, inside));
        }
        self.at += 1;
        let list = self.substituted()?;
        self.no_arithmetic(start)?;
        Ok(Piece::Command { list, quoted })
    }

    /// The list inside `$(`, `<(` or `>(`, up to its parenthesis.
    pub(super) fn substituted(&mut self) -> Result<List, Fault> {
        let list = self.list(&[])?;
        if self.eat(")") { Ok(list) } else { Err("a substitution is not closed".to_owned()) }
    }

    /// A command in backquotes: unescaped once, then read as a text of its own.
    pub(super) fn backquotes(&mut self, in_quotes: bool) -> Result<Piece, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some('"') if in_quotes => text.push('"'),
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
            if whole {
                list.map(|list| Piece::Command { list, quoted: in_quotes })
            } else {
                Err("a backquoted command is broken".to_owned())
            }
        })
    }

    /// `${…}`: a plain variable, or anything more, with what is substituted inside.
    fn parameter(&mut self, quoted: bool) -> Result<Piece, Fault> {
        self.at += 1;
        if self.peek().is_some_and(|c| c == '|' || c.is_ascii_whitespace()) {
            // Newer shells run what is in it, others refuse it.
            return Err("`${` stands before commands, where `$(…)` would do".to_owned());
        }
        let start = self.at;
        let name = self.name();
        if !name.is_empty() && self.eat("}") {
            return Ok(plain(name, quoted));
        }
        if let Some(piece) = self.elements(&name, quoted) {
            return Ok(piece);
        }
        if let Some(end) = self.leaves_as_is(&name) {
            self.at = end;
            return Ok(plain(name, quoted));
        }
        let assigns = !name.is_empty() && (self.looking_at("=") || self.looking_at(":="));
        self.at = start;
        let inside = self.modified(quoted)?;
        let written = format!("${{{name}…}}");
        let runs = self.chars.get(start..self.at).is_some_and(runs_value);
        let element = || {
            let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
            text.strip_prefix(&name)
                .is_some_and(|rest| rest.starts_with('[') && (rest.contains("]=") || rest.contains("]:=")))
        };
        let assigns = assigns || !name.is_empty() && element();
        let effect = match (assigns, runs) {
            (true, _) => Some(Effect::Assigns(name)),
            (false, true) => Some(Effect::Runs),
            (false, false) => None,
        };
        // `"${NAME[@]}"` is as many words as the array has.
        let several = self.chars.get(start..self.at).is_some_and(|chars| chars.contains(&'@'));
        Ok(Piece::Other { written, inside, effect, quoted: quoted && !several })
    }

    /// Elements of an array and nothing more: `NAME[@]}`; and the arguments, `@}`.
    fn elements(&mut self, name: &str, quoted: bool) -> Option<Piece> {
        if name.is_empty() {
            let argument = self.peek().filter(|c| "@*".contains(*c))?;
            let closes = self.peek_at(1) == Some('}');
            self.at += if closes { 2 } else { 0 };
            return closes.then(|| Piece::argument(&argument.to_string(), quoted));
        }
        let rest = self.chars.iter().skip(self.at + 1).take(INDEX_CHARS_MAX);
        let index: String = rest.take_while(|c| **c != ']').collect();
        let part = match index.as_str() {
            "@" => Part::Each,
            "*" => Part::Joined,
            digits if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) => Part::One,
            _ => return None,
        };
        let written = format!("${{{name}…}}");
        let closes = self.looking_at(&format!("[{index}]}}"));
        self.at += if closes { index.len() + "[]}".len() } else { 0 };
        closes.then(|| Piece::Elements { name: name.to_owned(), part, written, quoted })
    }

    /// Where an expansion ends that gives the variable's value or nothing at all: `${NAME:?why}`; and for the
    /// directories that the shell knows, `${HOME%/}`.
    fn leaves_as_is(&self, name: &str) -> Option<usize> {
        let rest = self.chars.get(self.at..).filter(|_| !name.is_empty())?;
        let end = rest.iter().position(|c| *c == '}')?;
        let inside = rest.get(..end)?;
        let plain = !inside.iter().any(|c| "$`\\\"'{<>".contains(*c));
        let insists = inside.starts_with(&['?']) || inside.starts_with(&[':', '?']);
        let trims = inside == ['%', '/'] && matches!(name, "HOME" | "PWD");
        (plain && insists || trims).then_some(self.at + end + 1)
    }

    /// `$'…'`: text with escapes.
    pub(super) fn escaped_text(&mut self) -> Result<String, Fault> {
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

/// The value of a variable, or the argument of that number, as it is.
fn plain(name: String, quoted: bool) -> Piece {
    let number = name.chars().all(|c| c.is_ascii_digit());
    if number { Piece::argument(&name, quoted) } else { Piece::Variable { name, quoted } }
}

/// Whether an expansion runs what the value of its variable substitutes: `${NAME@P}`, and by a flag of zsh's.
fn runs_value(inside: &[char]) -> bool {
    let flags = inside.strip_prefix(&['(']).and_then(|rest| rest.split(|c| *c == ')').next());
    inside.ends_with(&['@', 'P', '}']) || flags.is_some_and(|flags| flags.iter().any(|flag| "e%".contains(*flag)))
}
