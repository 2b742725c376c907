//! Words: quotes, escapes, and the places where something is expanded.

use super::{Fault, Parser, separates};
use crate::shell::tree::{Piece, RawWord};

/// What stands before the parenthesis of a pattern of alternatives.
const CHOOSING: [char; 5] = ['?', '*', '+', '@', '!'];

impl Parser {
    /// Whether no word begins here.
    pub(super) fn ends_word(&self) -> bool {
        self.peek().is_none_or(separates)
    }

    /// A word with at least one character.
    pub(super) fn word(&mut self) -> Result<RawWord, Fault> {
        let mut word = RawWord::default();
        let start = self.at;
        loop {
            if self.at_process() {
                self.at += 2;
                word.pieces.push(Piece::Process(self.substituted()?));
                continue;
            }
            if self.at_choice(&word) {
                self.choice(&mut word)?;
                continue;
            }
            if self.ends_word() {
                break;
            }
            self.piece(&mut word)?;
        }
        if self.at == start { Err(self.unexpected()) } else { Ok(word) }
    }

    fn piece(&mut self, word: &mut RawWord) -> Result<(), Fault> {
        match self.next() {
            Some('\'') => {
                let text = self.up_to('\'')?;
                word.pieces.push(Piece::Text { text, quoted: true });
            }
            Some('"') => {
                let pieces = self.quoted_text(Some('"'))?;
                // An empty pair of quotes is still a word.
                word.pieces.push(Piece::Text { text: String::new(), quoted: true });
                word.pieces.extend(pieces);
            }
            Some('\\') => match self.next() {
                Some('\n') => {}
                Some(c) => word.push_text(c, true),
                None => return Err("it ends in a backslash".to_owned()),
            },
            Some('$') => self.dollar(word, false)?,
            Some('`') => word.pieces.push(self.backquotes(false)?),
            Some(c) => word.push_text(c, false),
            None => {}
        }
        Ok(())
    }

    /// Whether a pattern of alternatives goes on here: `@(`, `!(`. With nothing inside it is the head of a function.
    fn at_choice(&self, word: &RawWord) -> bool {
        let Some(Piece::Text { text, quoted: false }) = word.pieces.last().filter(|_| self.peek() == Some('(')) else {
            return false;
        };
        let mut inside = self.chars.iter().skip(self.at + 1).skip_while(|c| matches!(c, ' ' | '\t'));
        text.ends_with(CHOOSING) && inside.next() != Some(&')')
    }

    /// The alternatives of a pattern; the character before it goes with them.
    fn choice(&mut self, word: &mut RawWord) -> Result<(), Fault> {
        let kind = match word.pieces.last_mut() {
            Some(Piece::Text { text, .. }) => text.pop(),
            _ => None,
        };
        let alternatives = self.deeper(Self::alternatives)?;
        word.pieces.push(Piece::Choice { kind: kind.unwrap_or('@'), alternatives });
        Ok(())
    }

    /// What stands between parentheses, apart at each `|`; a group inside is one more pattern.
    fn alternatives(&mut self) -> Result<Vec<RawWord>, Fault> {
        self.at += 1;
        let mut found = Vec::new();
        let mut word = RawWord::default();
        loop {
            if self.at_choice(&word) {
                self.choice(&mut word)?;
                continue;
            }
            if self.at_process() {
                self.at += 2;
                word.pieces.push(Piece::Process(self.substituted()?));
                continue;
            }
            match self.peek() {
                None => return Err("a pattern is not closed".to_owned()),
                Some('(') => {
                    let alternatives = self.deeper(Self::alternatives)?;
                    word.pieces.push(Piece::Choice { kind: '@', alternatives });
                }
                Some(c @ (')' | '|')) => {
                    self.at += 1;
                    found.push(std::mem::take(&mut word));
                    if c == ')' {
                        return Ok(found);
                    }
                }
                Some(_) => self.piece(&mut word)?,
            }
        }
    }

    /// Text up to a closing quote, in which nothing is special.
    pub(super) fn up_to(&mut self, close: char) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some(c) if c == close => return Ok(text),
                Some(c) => text.push(c),
                None => return Err("a quote is not closed".to_owned()),
            }
        }
    }

    /// Text in double quotes, or in a here-document (which has no closing quote).
    pub(super) fn quoted_text(&mut self, close: Option<char>) -> Result<Vec<Piece>, Fault> {
        let mut word = RawWord::default();
        loop {
            match self.next() {
                Some(c) if Some(c) == close => return Ok(word.pieces),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '\\')) => word.push_text(c, true),
                    Some('"') if close.is_some() => word.push_text('"', true),
                    Some(c) => {
                        word.push_text('\\', true);
                        word.push_text(c, true);
                    }
                    None => word.push_text('\\', true),
                },
                Some('$') => self.dollar(&mut word, true)?,
                Some('`') => word.pieces.push(self.backquotes(close.is_some())?),
                Some(c) => word.push_text(c, true),
                None if close.is_none() => return Ok(word.pieces),
                None => return Err("a quote is not closed".to_owned()),
            }
        }
    }
}

impl RawWord {
    /// Adds a character to the text piece that is being written.
    pub(in crate::shell) fn push_text(&mut self, c: char, as_quoted: bool) {
        if let Some(Piece::Text { text, quoted }) = self.pieces.last_mut()
            && *quoted == as_quoted
        {
            text.push(c);
            return;
        }
        self.pieces.push(Piece::Text { text: c.to_string(), quoted: as_quoted });
    }
}
