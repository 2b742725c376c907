//! Calls in a row of tokens: what is called, and with which arguments.

use super::block::split;
use super::token::{Kind, Token};

/// Something that is called or decorates: `app.tool("name", description="…")`.
#[derive(Debug)]
pub(super) struct Call<'t> {
    /// The parts of the dotted name.
    pub(super) callee: Vec<&'t Token<'t>>,
    /// What stands between the brackets; empty when there are none.
    pub(super) arguments: &'t [Token<'t>],
}

impl<'t> Call<'t> {
    /// The call at the beginning of an expression, such as a decorator's; also without brackets.
    pub(super) fn leading(expression: &'t [Token<'t>]) -> Option<Self> {
        let dotted = expression.iter().enumerate().take_while(|(at, token)| match at % 2 {
            0 => token.kind == Kind::Name,
            _ => token.is_mark("."),
        });
        let end = dotted.count();
        let (callee, rest) = expression.split_at_checked(end)?;
        let callee: Vec<_> = callee.iter().step_by(2).collect();
        let arguments = if rest.first().is_some_and(|next| next.is_mark("(")) { enclosed(rest) } else { &[] };
        (!callee.is_empty()).then_some(Self { callee, arguments })
    }

    /// The call whose opening bracket stands at a place.
    pub(super) fn around(tokens: &'t [Token<'t>], bracket: usize) -> Option<Self> {
        let (before, rest) = tokens.split_at_checked(bracket)?;
        let mut callee = Vec::new();
        for (at, token) in before.iter().rev().enumerate() {
            match at % 2 {
                0 if token.kind == Kind::Name => callee.push(token),
                1 if token.is_mark(".") => {}
                _ => break,
            }
        }
        callee.reverse();
        (!callee.is_empty()).then(|| Self { callee, arguments: enclosed(rest) })
    }

    /// The dotted name as it is written.
    pub(super) fn name(&self) -> String {
        self.callee.iter().map(|part| part.text).collect::<Vec<_>>().join(".")
    }

    /// The last part of the dotted name.
    pub(super) fn last(&self) -> &'t str {
        self.callee.last().map_or("", |part| part.text)
    }

    /// The value of a keyword argument.
    pub(super) fn keyword(&self, name: &str) -> Option<&'t [Token<'t>]> {
        split(self.arguments, ",").find_map(|argument| match argument {
            [key, equals, value @ ..] if key.is_name(name) && equals.is_mark("=") => Some(value),
            _ => None,
        })
    }

    /// What is spread over the arguments behind a mark, `*` or `**`: the first.
    pub(super) fn spread(&self, mark: &str) -> Option<&'t [Token<'t>]> {
        split(self.arguments, ",").find_map(|argument| match argument {
            [star, value @ ..] if star.is_mark(mark) => Some(value),
            _ => None,
        })
    }

    /// The first argument, if it is given by position.
    pub(super) fn first(&self) -> Option<&'t [Token<'t>]> {
        let first = split(self.arguments, ",").next()?;
        let keyword = first.get(1).is_some_and(|second| second.is_mark("="));
        let spread = first.first().is_some_and(|token| token.is_mark("*") || token.is_mark("**"));
        (!first.is_empty() && !keyword && !spread).then_some(first)
    }
}

/// What stands in the first round brackets that are in no others: parameters, or the bases of a class.
pub(super) fn listed<'t>(head: &'t [Token<'t>]) -> &'t [Token<'t>] {
    let mut depth = 0;
    let open = head.iter().position(|token| {
        depth += token.deeper();
        depth == 1 && token.is_mark("(")
    });
    open.and_then(|open| head.get(open..)).map(enclosed).unwrap_or_default()
}

/// What stands between the bracket at the beginning and the one that closes it.
pub(super) fn enclosed<'t>(tokens: &'t [Token<'t>]) -> &'t [Token<'t>] {
    let mut depth = 0;
    let close = tokens.iter().position(|token| {
        depth += token.deeper();
        depth == 0
    });
    close.and_then(|close| tokens.get(1..close)).unwrap_or_default()
}
