//! Patterns of alternatives: the words that `@(a|b)c` and its kin may match, as plainer patterns that match no less.

use super::tree::{Piece, RawWord};
use super::words::written;

/// Words that alternatives may stand for; beyond it the word counts as unknown.
const CHOICES_MAX: usize = 64;

/// The words that alternatives stand for; nothing when there are none.
pub(super) fn expand(raw: &RawWord) -> Option<Vec<RawWord>> {
    if !raw.pieces.iter().any(is_choice) {
        return None;
    }
    let mut done = Vec::new();
    let mut waiting = vec![raw.clone()];
    while let Some(next) = waiting.pop() {
        match first(&next) {
            Some(words) => waiting.extend(words.into_iter().rev()),
            None => done.push(next),
        }
        if waiting.len() + done.len() > CHOICES_MAX {
            return Some(vec![RawWord { pieces: vec![Piece::other(written(raw), Vec::new())] }]);
        }
    }
    Some(done)
}

const fn is_choice(piece: &Piece) -> bool {
    matches!(piece, Piece::Choice { .. })
}

/// The words that the first choice stands for; nothing when there is none.
fn first(raw: &RawWord) -> Option<Vec<RawWord>> {
    let at = raw.pieces.iter().position(is_choice)?;
    let (before, rest) = raw.pieces.split_at_checked(at)?;
    let (Piece::Choice { kind, alternatives }, after) = rest.split_first()? else { return None };
    let word = |inside: &[Piece]| RawWord { pieces: [before, inside, after].concat() };
    Some(plainly(*kind, alternatives).iter().map(|inside| word(inside)).collect())
}

/// What a choice may match. Some take an alternative more than once; one that is negated takes anything, and so does one
/// after a wildcard, which some shells read by itself. A name that is hidden has its dot in an alternative.
fn plainly(kind: char, alternatives: &[RawWord]) -> Vec<Vec<Piece>> {
    let anything = || vec![Piece::Text { text: "*".to_owned(), quoted: false }];
    let alone = |word: &RawWord| word.pieces.clone();
    let begun = |word: &RawWord| [word.pieces.clone(), anything()].concat();
    match kind {
        '@' => alternatives.iter().map(alone).collect(),
        '+' => alternatives.iter().map(begun).collect(),
        '!' => vec![anything()],
        _ => std::iter::once(anything()).chain(alternatives.iter().map(begun)).collect(),
    }
}
