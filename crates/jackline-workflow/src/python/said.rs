//! What an expression says, as far as it is a text that is written down.

use std::collections::BTreeMap;

use jackline_core::definition::Span;

use super::block::{Statement, scope, split};
use super::token::{Kind, Token};

/// Bytes of a text that is kept: names are far shorter, and constants made of constants would double at every line.
const SAID_BYTES_MAX: usize = 1024;
/// Operators that change what a name stands for.
pub(super) const AUGMENTS: &[&str] =
    &["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "**=", "//=", ">>=", "<<="];
/// Keywords that choose among values, or make another kind of value.
const OPERATORS: &[&str] = &["if", "else", "or", "and", "not", "in", "is", "lambda", "await", "yield", "for"];

/// A text in the source: whole, or as much of its beginning as is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub text: String,
    /// Whether the rest is computed when the program runs.
    pub computed: bool,
    /// Where it stands.
    pub span: Span,
}

impl Said {
    /// The text, if all of it is known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        (!self.computed).then_some(self.text.as_str())
    }
}

/// Texts that a module gives a name once, and never again. That a function has a variable of the same name is not seen.
#[derive(Debug, Default)]
pub(super) struct Constants<'t> {
    /// `None` for a name that is bound more than once, or to something else.
    texts: BTreeMap<&'t str, Option<String>>,
}

impl<'t> Constants<'t> {
    /// The constants among the statements of a module.
    pub(super) fn of(statements: &[Statement<'t>]) -> Self {
        let mut constants = Self::default();
        scope(statements, &mut |_, statement| constants.learn(statement));
        constants
    }

    fn learn(&mut self, statement: &Statement<'t>) {
        if let [name, mark, ..] = statement.head
            && mark.kind == Kind::Mark
            && AUGMENTS.contains(&mark.text)
        {
            self.texts.insert(name.text, None);
        }
        let Some((targets, value)) = assignment(statement) else { return };
        let known = self.read(value).and_then(|said| said.known().map(str::to_owned));
        for name in targets.into_iter().filter_map(plain) {
            self.texts.entry(name).and_modify(|text| *text = None).or_insert_with(|| known.clone());
        }
    }

    /// The text that an expression says; `None` for an empty one.
    pub(super) fn read(&self, expression: &[Token<'_>]) -> Option<Said> {
        let (first, last) = (expression.first()?, expression.last()?);
        let mut said = Said { text: String::new(), computed: false, span: Span { end: last.span.end, ..first.span } };
        let mut rest = bound_value(bare(expression));
        if !is_sum(rest) {
            return Some(Said { computed: true, ..said });
        }
        let mut operand = true;
        while let Some((token, behind)) = rest.split_first() {
            if token.is_mark("%") && !operand {
                let (term, after) = term(behind);
                self.fill(term, &mut said);
                rest = after;
            } else {
                self.step(token, behind, operand, &mut said);
                rest = behind;
            }
            if said.computed {
                break;
            }
            operand = token.is_mark("+");
        }
        bound(&mut said);
        Some(said)
    }

    /// Every text that an expression may come to: of `a if x else b` and `a or b`, either.
    pub(super) fn readings(&self, expression: &[Token<'_>]) -> Vec<Said> {
        alternatives(bound_value(bare(expression))).into_iter().filter_map(|one| self.read(one)).collect()
    }

    /// Puts the values of a term into the fields of a text: `"%s.x" % name`. What is not known ends it.
    fn fill(&self, term: &[Token<'_>], said: &mut Said) {
        let values: Vec<Option<Said>> = split(bare(term), ",").map(|value| self.read(value)).collect();
        let mut values = values.into_iter().flatten();
        let template = std::mem::take(&mut said.text);
        let mut rest = template.as_str();
        while let Some((before, behind)) = rest.split_once('%') {
            said.text.push_str(before);
            let value = values.next().filter(|value| !value.computed);
            let Some((value, behind)) = value.zip(behind.strip_prefix('s')) else {
                said.computed = true;
                return;
            };
            said.text.push_str(&value.text);
            rest = behind;
        }
        said.text.push_str(rest);
        said.computed = said.text.len() > SAID_BYTES_MAX;
    }

    /// Adds what one token says.
    fn step(&self, token: &Token<'_>, behind: &[Token<'_>], operand: bool, said: &mut Said) {
        let next = behind.first();
        match &token.kind {
            Kind::Literal(literal) if !literal.bytes => {
                said.text.push_str(&literal.value);
                for hole in &literal.holes {
                    let known = hole.name.as_ref().and_then(|name| self.texts.get(name.as_str())?.as_deref());
                    let Some(known) = known else {
                        said.computed = true;
                        return;
                    };
                    said.text.push_str(known);
                    said.text.push_str(&hole.behind);
                }
                said.computed = said.text.len() > SAID_BYTES_MAX;
            }
            Kind::Name if operand && !next.is_some_and(|next| next.is_mark(".") || next.deeper() > 0) => {
                let known = self.texts.get(token.text).and_then(Option::as_deref);
                said.text.push_str(known.unwrap_or_default());
                said.computed = known.is_none() || said.text.len() > SAID_BYTES_MAX;
            }
            Kind::Mark if token.text == "+" && !operand => {}
            // `"web.{}".format(name)` begins as it is written.
            Kind::Mark if token.text == "." && next.is_some_and(|next| next.is_name("format")) => cut(said, '{'),
            // A term that is computed leaves what stands before it as it is; a method may change it.
            _ if operand => said.computed = true,
            _ => {
                said.text.clear();
                said.computed = true;
            }
        }
    }
}

/// Whether an expression is built of terms and `+`: then its beginning is the beginning of its first term.
fn is_sum(expression: &[Token<'_>]) -> bool {
    let mut depth = 0;
    expression.iter().all(|token| {
        let outside = depth == 0 && token.deeper() == 0;
        depth += token.deeper();
        !outside
            || match token.kind {
                Kind::Name => !OPERATORS.contains(&token.text),
                Kind::Mark => matches!(token.text, "+" | "%" | "."),
                _ => true,
            }
    })
}

/// The value of `name := value`.
fn bound_value<'t>(expression: &'t [Token<'t>]) -> &'t [Token<'t>] {
    match expression {
        [name, mark, value @ ..] if name.kind == Kind::Name && mark.is_mark(":=") => value,
        _ => expression,
    }
}

/// The term behind an operator, and what stands behind the term.
fn term<'t>(tokens: &'t [Token<'t>]) -> (&'t [Token<'t>], &'t [Token<'t>]) {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += token.deeper();
        depth == 0 && (token.is_mark("+") || token.is_mark("%"))
    });
    tokens.split_at(end.unwrap_or(tokens.len()))
}

/// The values that an expression chooses among; itself, when it chooses among none.
fn alternatives<'t>(mut expression: &'t [Token<'t>]) -> Vec<&'t [Token<'t>]> {
    let outside = |tokens: &'t [Token<'t>], words: &[&str]| {
        let mut depth = 0;
        tokens.iter().position(|token| {
            depth += token.deeper();
            depth == 0 && token.kind == Kind::Name && words.contains(&token.text)
        })
    };
    let mut found = Vec::new();
    while let Some(at) = outside(expression, &["if", "or", "lambda"]) {
        let (value, rest) = expression.split_at(at);
        let skipped = match rest.first() {
            Some(word) if word.is_name("or") => 1,
            Some(word) if word.is_name("if") => outside(rest, &["else"]).map_or(rest.len(), |at| at + 1),
            _ => return vec![expression],
        };
        found.push(value);
        expression = rest.get(skipped..).unwrap_or_default();
    }
    found.push(expression);
    found
}

/// Shortens what grew too long.
fn bound(said: &mut Said) {
    if said.text.len() > SAID_BYTES_MAX {
        let end = (0..=SAID_BYTES_MAX).rev().find(|end| said.text.is_char_boundary(*end));
        said.text.truncate(end.unwrap_or_default());
    }
}

fn cut(said: &mut Said, at: char) {
    let end = said.text.find(at).unwrap_or(said.text.len());
    said.text.truncate(end);
    said.computed = true;
}

/// An expression without the brackets around it.
fn bare<'t>(mut expression: &'t [Token<'t>]) -> &'t [Token<'t>] {
    while let [first, inner @ .., last] = expression
        && first.is_mark("(")
        && last.is_mark(")")
        && balanced(inner)
    {
        expression = inner;
    }
    expression
}

/// Whether no bracket is closed that was opened before.
fn balanced(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0;
    tokens.iter().all(|token| {
        depth += token.deeper();
        depth >= 0
    })
}

/// The name that a target is, if it is nothing else.
pub(super) fn plain<'t>(target: &'t [Token<'t>]) -> Option<&'t str> {
    match target {
        [name] if name.kind == Kind::Name => Some(name.text),
        _ => None,
    }
}

/// The targets and the value of an assignment, annotations left out.
pub(super) fn assignment<'t>(statement: &Statement<'t>) -> Option<(Vec<&'t [Token<'t>]>, &'t [Token<'t>])> {
    let mut parts: Vec<_> = split(statement.head, "=").collect();
    let value = parts.pop().filter(|_| !parts.is_empty())?;
    let targets = parts.into_iter().map(|target| split(target, ":").next().unwrap_or(target)).collect();
    Some((targets, value))
}
