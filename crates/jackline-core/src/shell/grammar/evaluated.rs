//! What stands between brackets: arithmetic, indices, and what follows the name in `${…}`. Bash evaluates most of it, and
//! then runs what is substituted even in text that stands in single quotes.

use super::{Fault, Parser};
use crate::shell::tree::{Effect, Piece, RawWord};
use crate::shell::variables::assigned;

/// What single quotes between brackets mean.
#[derive(Debug, Clone, Copy)]
struct Within {
    /// All of it stands in double quotes.
    quoted: bool,
    /// It is evaluated as arithmetic.
    evaluated: bool,
}

impl Parser {
    /// Arithmetic between doubled parentheses; `None`, with nothing taken, when it is commands after all.
    ///
    /// In the head of a loop semicolons belong to it.
    pub(super) fn arithmetic(&mut self, in_loop: bool) -> Result<Option<Vec<RawWord>>, Fault> {
        let start = self.at;
        self.at += 2;
        let mut open = 0_u32;
        // Parentheses that only some shells count.
        let mut doubtful = false;
        let mut inside = RawWord::default();
        loop {
            match self.next() {
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                Some(')') if self.looking_at(")") && doubtful => {
                    return Err("arithmetic has parentheses in quotes".to_owned());
                }
                Some(')') if self.eat(")") => {
                    inside.pieces.extend(self.calculated(start));
                    return Ok(Some(vec![inside]));
                }
                // Commands, not numbers: `((a); (b))`, or a text that only looks like arithmetic.
                Some(')' | ';' | '\n' | '`') | None if !in_loop => {
                    self.at = start;
                    return Ok(None);
                }
                Some('\'') if self.quote_closes() => {
                    let pieces = self.quoted_number()?;
                    doubtful |= pieces.iter().any(|piece| has(piece, &['(', ')']));
                    inside.pieces.extend(pieces);
                }
                Some('\\') => doubtful |= self.next().is_some_and(|c| "()'\"".contains(c)),
                Some('$') if self.eat("'") => {
                    let text = self.escaped_text()?;
                    doubtful |= text.contains(['(', ')']);
                    inside.pieces.extend(self.evaluated_text(&text)?);
                }
                Some('$') => self.deeper(|parser| parser.dollar(&mut inside, true))?,
                Some('"') => inside.pieces.extend(self.double_quoted(true)?),
                Some(_) => {}
                None => return Err("arithmetic is not closed".to_owned()),
            }
        }
    }

    /// What the arithmetic sets that began at `start`.
    fn calculated(&self, start: usize) -> Option<Piece> {
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let names: Vec<String> = assigned(&text).map(str::to_owned).collect();
        (!names.is_empty()).then(|| does(Effect::Calculates(names)))
    }

    fn quote_closes(&self) -> bool {
        self.chars.iter().skip(self.at).any(|c| *c == '\'')
    }

    /// Text in single quotes that is evaluated all the same.
    fn quoted_number(&mut self) -> Result<Vec<Piece>, Fault> {
        let text = self.up_to('\'')?;
        self.evaluated_text(&text)
    }

    /// Refuses commands between doubled parentheses that bash takes for arithmetic, where that makes a difference: it runs
    /// what stands in single quotes.
    pub(super) fn no_arithmetic(&self, start: usize) -> Result<(), Fault> {
        let written = self.chars.get(start..self.at).unwrap_or_default();
        let doubled = written.starts_with(&['(', '(']) && written.ends_with(&[')', ')']);
        if doubled && written.contains(&'\'') && written.iter().any(|c| "$`\\".contains(*c)) {
            return Err("commands in doubled parentheses are arithmetic to some shells".to_owned());
        }
        Ok(())
    }

    /// What follows the `[` of an index, or of arithmetic in its old spelling, up to its bracket.
    pub(super) fn index(&mut self, quoted: bool) -> Result<Vec<RawWord>, Fault> {
        self.deeper(|parser| {
            let start = parser.at;
            let mut inside = RawWord::default();
            let mut open = 1_u32;
            while open > 0 {
                match parser.peek() {
                    Some('[') => open += 1,
                    Some(']') => open -= 1,
                    _ => {}
                }
                parser.part(&mut inside, Within { quoted, evaluated: true })?;
            }
            inside.pieces.extend(parser.calculated(start));
            Ok(vec![inside])
        })
    }

    /// What stands in `${…}`, up to its brace: an index and an offset are evaluated, a default or a pattern is not.
    pub(super) fn modified(&mut self, quoted: bool) -> Result<Vec<RawWord>, Fault> {
        self.deeper(|parser| {
            let mut inside = RawWord::default();
            parser.subject();
            let mut open = 0_u32;
            while open > 0 || parser.peek() == Some('[') {
                match parser.peek() {
                    Some('[') => open += 1,
                    Some(']') => open -= 1,
                    Some('}') => break,
                    _ => {}
                }
                parser.part(&mut inside, Within { quoted, evaluated: true })?;
            }
            let evaluated = parser.peek() == Some(':') && !parser.peek_at(1).is_some_and(|c| "-=?+".contains(c));
            while parser.peek() != Some('}') {
                parser.part(&mut inside, Within { quoted, evaluated })?;
            }
            parser.at += 1;
            Ok(vec![inside])
        })
    }

    /// Skips what an expansion is of: a variable, or one of the shell's own.
    fn subject(&mut self) {
        while self.peek().is_some_and(|c| "!#".contains(c)) {
            self.at += 1;
        }
        let followed = matches!(self.peek_at(1), Some(':' | '['));
        if self.name().is_empty() && followed && self.peek().is_some_and(|c| "@*?$-".contains(c)) {
            self.at += 1;
        }
    }

    /// One part of what stands between brackets, with what is substituted in it.
    fn part(&mut self, inside: &mut RawWord, within: Within) -> Result<(), Fault> {
        let Within { quoted, evaluated } = within;
        if !quoted && self.at_process() {
            self.at += 2;
            inside.pieces.push(Piece::Process(self.substituted()?));
            return Ok(());
        }
        match self.next() {
            Some('\\') => {
                if self.next().is_some_and(|c| evaluated && "$`".contains(c)) {
                    inside.pieces.push(runs());
                }
            }
            Some('\'') if quoted => self.single_quoted()?,
            Some('\'') if evaluated => inside.pieces.extend(self.quoted_number()?),
            Some('\'') => drop(self.up_to('\'')?),
            Some('$') if !quoted && self.eat("'") => {
                let text = self.escaped_text()?;
                inside.pieces.extend(if evaluated { self.evaluated_text(&text)? } else { Vec::new() });
            }
            Some('"') => inside.pieces.extend(self.double_quoted(evaluated)?),
            Some('$') => self.dollar(inside, true)?,
            Some('`') => inside.pieces.push(self.backquotes(quoted)?),
            Some(_) => {}
            None => return Err("an expansion is not closed".to_owned()),
        }
        Ok(())
    }

    /// Skips single quotes inside double ones. Shells disagree whether they quote there, so they may hold nothing that
    /// this would matter for.
    fn single_quoted(&mut self) -> Result<(), Fault> {
        match self.up_to('\'')?.contains(['{', '}', '"', '$', '`', '\\']) {
            true => Err("a quote inside an expansion inside quotes".to_owned()),
            false => Ok(()),
        }
    }

    fn double_quoted(&mut self, evaluated: bool) -> Result<Vec<Piece>, Fault> {
        let pieces = self.quoted_text(Some('"'))?;
        Ok(if evaluated { marked(pieces) } else { pieces })
    }

    /// Quoted text that is evaluated: what is substituted in it is run all the same.
    fn evaluated_text(&mut self, text: &str) -> Result<Vec<Piece>, Fault> {
        let mut inner = Self::new(text);
        inner.depth = self.depth;
        inner.bodies = std::mem::take(&mut self.bodies);
        let pieces = inner.deeper(|inner| inner.quoted_text(None));
        self.bodies = inner.bodies;
        pieces.map(marked)
    }
}

/// Whether a piece is text with one of these characters.
fn has(piece: &Piece, chars: &[char]) -> bool {
    matches!(piece, Piece::Text { text, .. } if text.contains(chars))
}

/// Marks what may substitute something only once it is evaluated again.
fn marked(mut pieces: Vec<Piece>) -> Vec<Piece> {
    if pieces.iter().any(|piece| has(piece, &['$', '`'])) {
        pieces.push(runs());
    }
    pieces
}

/// What runs a command that is not read.
fn runs() -> Piece {
    does(Effect::Evaluates)
}

/// A piece that only has an effect.
fn does(effect: Effect) -> Piece {
    Piece::Other { written: String::new(), inside: Vec::new(), effect: Some(effect), quoted: true }
}
