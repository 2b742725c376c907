//! Tokens to statements in blocks. A statement is only what stands on its line; what it means is asked elsewhere.

use super::Unreadable;
use super::token::{Kind, Token};

/// Keywords of statements that have a block. `match` always has it on lines of its own, so it needs no row.
const COMPOUND: &[&str] =
    &["if", "elif", "else", "for", "while", "try", "except", "finally", "with", "def", "class", "async"];

/// A statement, without the colon and the block behind it.
#[derive(Debug)]
pub(super) struct Statement<'t> {
    pub(super) head: &'t [Token<'t>],
    pub(super) body: Vec<Statement<'t>>,
}

impl<'t> Statement<'t> {
    /// The token at a place of the head.
    pub(super) fn token(&self, at: usize) -> Option<&'t Token<'t>> {
        self.head.get(at)
    }

    /// Whether the statement begins with a name or keyword.
    pub(super) fn begins(&self, name: &str) -> bool {
        self.token(0).is_some_and(|token| token.is_name(name))
    }

    /// The name behind `def` (and `async def`) or `class`, if this is such a definition.
    pub(super) fn defines(&self, keyword: &str) -> Option<&'t Token<'t>> {
        let at = usize::from(self.begins("async"));
        let name = self.token(at + 1).filter(|token| token.kind == Kind::Name)?;
        self.token(at).filter(|token| token.is_name(keyword)).map(|_| name)
    }

    /// Whether this is a decorator.
    pub(super) fn decorates(&self) -> bool {
        self.token(0).is_some_and(|token| token.is_mark("@"))
    }
}

/// Visits the statements of one scope, those in its conditions and loops too, each with the ones before it in its block.
pub(super) fn scope<'s, 't>(
    statements: &'s [Statement<'t>],
    visit: &mut impl FnMut(&'s [Statement<'t>], &'s Statement<'t>),
) {
    for (at, statement) in statements.iter().enumerate() {
        visit(statements.get(..at).unwrap_or_default(), statement);
        if statement.defines("def").or_else(|| statement.defines("class")).is_none() {
            scope(&statement.body, visit);
        }
    }
}

/// Reads all statements of a source.
pub(super) fn read<'t>(tokens: &'t [Token<'t>]) -> Result<Vec<Statement<'t>>, Unreadable> {
    let mut reader = Reader { rest: tokens };
    reader.block()
}

struct Reader<'t> {
    rest: &'t [Token<'t>],
}

impl<'t> Reader<'t> {
    /// The statements up to the end of the block. Recursion is as deep as indentation, which the lexer bounds.
    fn block(&mut self) -> Result<Vec<Statement<'t>>, Unreadable> {
        let mut statements = Vec::new();
        while let Some(first) = self.rest.first() {
            match first.kind {
                Kind::Dedent => {
                    self.advance(1);
                    break;
                }
                Kind::Indent => return Err(complaint(first, "a line is indented for no reason")),
                _ => self.line(&mut statements)?,
            }
        }
        Ok(statements)
    }

    /// One logical line: a statement with its block, or several between semicolons.
    fn line(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<(), Unreadable> {
        let end = self.rest.iter().position(|token| token.kind == Kind::Newline).unwrap_or(self.rest.len());
        let (line, _) = self.rest.split_at(end);
        self.advance(end + 1);
        if let Some((colon, head)) = line.split_last()
            && colon.is_mark(":")
        {
            let body = self.indented(colon)?;
            statements.push(Statement { head, body });
            return Ok(());
        }
        match header(line) {
            Some((head, body)) => statements.push(Statement { head, body: simple(body) }),
            None => statements.extend(simple(line)),
        }
        Ok(())
    }

    fn indented(&mut self, colon: &Token<'_>) -> Result<Vec<Statement<'t>>, Unreadable> {
        if !self.rest.first().is_some_and(|token| token.kind == Kind::Indent) {
            return Err(complaint(colon, "an indented block is missing behind `:`"));
        }
        self.advance(1);
        self.block()
    }

    fn advance(&mut self, by: usize) {
        self.rest = self.rest.get(by..).unwrap_or_default();
    }
}

fn complaint(token: &Token<'_>, message: &str) -> Unreadable {
    Unreadable { message: message.to_owned(), span: token.span }
}

/// Splits a line whose block stands on it (`def f(): return 1`).
fn header<'t>(line: &'t [Token<'t>]) -> Option<(&'t [Token<'t>], &'t [Token<'t>])> {
    let first = line.first().filter(|first| first.kind == Kind::Name)?;
    let case = first.text == "case" && !line.get(1).is_some_and(|second| second.is_mark(":"));
    if !case && !COMPOUND.contains(&first.text) {
        return None;
    }
    let (head, rest) = line.split_at(colon(line)?);
    Some((head, rest.get(1..).unwrap_or_default()))
}

/// The first colon outside of brackets that belongs to no `lambda`.
fn colon(line: &[Token<'_>]) -> Option<usize> {
    let (mut depth, mut lambdas) = (0, 0);
    line.iter().position(|token| {
        depth += token.deeper();
        lambdas += usize::from(depth == 0 && token.is_name("lambda"));
        if depth != 0 || !token.is_mark(":") {
            return false;
        }
        let own = lambdas == 0;
        lambdas = lambdas.saturating_sub(1);
        own
    })
}

/// Statements between semicolons.
fn simple<'t>(line: &'t [Token<'t>]) -> Vec<Statement<'t>> {
    split(line, ";").map(|head| Statement { head, body: Vec::new() }).filter(|found| !found.head.is_empty()).collect()
}

/// The parts between marks that stand outside of brackets.
pub(super) fn split<'t>(tokens: &'t [Token<'t>], mark: &'t str) -> impl Iterator<Item = &'t [Token<'t>]> {
    let mut depth = 0;
    tokens.split(move |token| {
        depth += token.deeper();
        depth == 0 && token.is_mark(mark)
    })
}
