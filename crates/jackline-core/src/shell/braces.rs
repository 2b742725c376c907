//! Braces: the words that `a{b,c}d` and `{1..3}` stand for, whatever else the word holds between them.

use super::tree::{Piece, RawWord};
use super::words::written;

/// Words that a brace may expand to; beyond it the word counts as unknown.
const BRACES_MAX: usize = 64;
/// Characters and pieces of a word with braces that are looked at, since looking is quadratic; people write a hundred.
const ATOMS_MAX: usize = 1024;

/// A character that stands unquoted, or anything else: only the first kind can be a brace, a comma or a range.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Atom {
    Char(char),
    Piece(Piece),
}

/// The words that braces stand for; one that is not known when there are too many.
pub(super) fn expand(raw: &RawWord) -> Vec<RawWord> {
    let braced = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains('{'));
    if !raw.pieces.iter().any(braced) {
        return vec![raw.clone()];
    }
    match alternatives(atoms(raw)) {
        Some(words) => words.into_iter().map(word).collect(),
        None => vec![RawWord { pieces: vec![Piece::other(written(raw), Vec::new())] }],
    }
}

fn atoms(raw: &RawWord) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for piece in &raw.pieces {
        match piece {
            Piece::Text { text, quoted: false } => atoms.extend(text.chars().map(Atom::Char)),
            piece => atoms.push(Atom::Piece(piece.clone())),
        }
    }
    atoms
}

fn word(atoms: Vec<Atom>) -> RawWord {
    let mut word = RawWord::default();
    for atom in atoms {
        match atom {
            Atom::Char(c) => word.push_text(c, false),
            Atom::Piece(piece) => word.pieces.push(piece),
        }
    }
    word
}

fn alternatives(atoms: Vec<Atom>) -> Option<Vec<Vec<Atom>>> {
    if atoms.len() > ATOMS_MAX {
        return None;
    }
    let mut done = Vec::new();
    let mut waiting = vec![atoms];
    while let Some(atoms) = waiting.pop() {
        match first_brace(&atoms)? {
            Some(parts) => waiting.extend(parts.into_iter().rev()),
            None => done.push(atoms),
        }
        if waiting.len() + done.len() > BRACES_MAX {
            return None;
        }
    }
    Some(done)
}

/// The words that the first brace stands for; nothing when there is no brace, `None` when they are too many.
fn first_brace(atoms: &[Atom]) -> Option<Option<Vec<Vec<Atom>>>> {
    let opens = atoms.iter().enumerate().filter(|(_, atom)| **atom == Atom::Char('{'));
    for (open, _) in opens {
        let rest = atoms.get(open + 1..)?;
        let Some((parts, close)) = parts(rest)? else { continue };
        let (before, after) = (atoms.get(..open)?, rest.get(close + 1..)?);
        return Some(Some(parts.iter().map(|part| [before, part, after].concat()).collect()));
    }
    Some(None)
}

/// What stands for the brace that was just opened, and where it closes.
fn parts(rest: &[Atom]) -> Option<Option<(Vec<Vec<Atom>>, usize)>> {
    let mut depth = 0_usize;
    let mut found = vec![Vec::new()];
    for (at, atom) in rest.iter().enumerate() {
        match atom {
            Atom::Char('}') if depth == 0 => {
                let parts = if found.len() > 1 { Some(found) } else { range(rest.get(..at)?)? };
                return Some(parts.map(|parts| (parts, at)));
            }
            Atom::Char(',') if depth == 0 => {
                found.push(Vec::new());
                continue;
            }
            Atom::Char('{') => depth += 1,
            Atom::Char('}') => depth -= 1,
            Atom::Char(_) | Atom::Piece(_) => {}
        }
        found.last_mut()?.push(atom.clone());
    }
    Some(None)
}

/// `1..3`, `a..e`, `1..9..2`; nothing when it is no range, `None` when it is too long.
fn range(inside: &[Atom]) -> Option<Option<Vec<Vec<Atom>>>> {
    let text: Option<String> =
        inside.iter().map(|atom| if let Atom::Char(c) = atom { Some(*c) } else { None }).collect();
    let Some(text) = text else { return Some(None) };
    let ends: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match ends.as_slice() {
        [from, to] => (*from, *to, 1),
        [from, to, step] => match step.parse::<i64>() {
            Ok(step) => (*from, *to, step.checked_abs()?.max(1)),
            Err(_) => return Some(None),
        },
        _ => return Some(None),
    };
    let width = if is_padded(from) || is_padded(to) { from.len().max(to.len()) } else { 0 };
    match (from.parse::<i64>(), to.parse::<i64>(), letter(from), letter(to)) {
        (Ok(from), Ok(to), ..) => {
            let shown = |number: i64| format!("{number:0width$}");
            Some(Some(steps(from, to, step)?.into_iter().map(|number| chars(&shown(number))).collect()))
        }
        (_, _, Some(from), Some(to)) => {
            let shown = |code: i64| u8::try_from(code).map(char::from).unwrap_or_default().to_string();
            Some(Some(steps(from, to, step)?.into_iter().map(|code| chars(&shown(code))).collect()))
        }
        _ => Some(None),
    }
}

fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches('-');
    digits.len() > 1 && digits.starts_with('0')
}

fn letter(text: &str) -> Option<i64> {
    match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    }
}

fn chars(text: &str) -> Vec<Atom> {
    text.chars().map(Atom::Char).collect()
}

/// The numbers from one to the other, both ways; `None` when they are too many.
fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let distance = to.checked_sub(from)?.checked_abs()?;
    let last = usize::try_from(distance / step).ok().filter(|last| *last < BRACES_MAX)?;
    let sign = if to < from { -1 } else { 1 };
    (0..=last).map(|number| Some(from + sign * step * i64::try_from(number).ok()?)).collect()
}
