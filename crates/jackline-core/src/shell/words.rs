//! Expands words as far as they can be known: variables, braces, tilde, splitting.

use std::collections::BTreeMap;

use super::Word;
use super::tree::{Piece, RawWord};

/// Words that a brace may expand to; beyond it the word counts as unknown.
const BRACES_MAX: usize = 64;

/// Variables whose value is known (`Some`) or known to be unknown (`None`); others come from outside.
pub(super) type Variables = BTreeMap<String, Option<Word>>;

/// The words that a raw word becomes.
pub(super) fn expand(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    braces(raw).iter().flat_map(|raw| one(raw, variables)).collect()
}

/// A word that is not split: an assigned value, a redirection's file.
pub(super) fn expand_whole(raw: &RawWord, variables: &Variables) -> Word {
    let mut words = one(raw, variables);
    match (words.pop(), words.is_empty()) {
        (Some(word), true) => word,
        (Some(_), false) => Word::unknown(written(raw)),
        (None, _) => Word::default(),
    }
}

/// The word as it is written, for texts that people read.
pub(super) fn written(raw: &RawWord) -> String {
    raw.pieces.iter().map(piece_written).collect()
}

fn piece_written(piece: &Piece) -> String {
    match piece {
        Piece::Text { text, .. } => text.clone(),
        Piece::Variable { name, .. } => format!("${name}"),
        Piece::Command(_) => "$(…)".to_owned(),
        Piece::Process(_) => "<(…)".to_owned(),
        Piece::Other { written, .. } => written.clone(),
    }
}

/// A word under construction; unquoted values may split it.
#[derive(Default)]
struct Builder {
    done: Vec<Word>,
    word: Word,
    started: bool,
}

impl Builder {
    fn push(&mut self, text: &str) {
        self.word.text.push_str(text);
        self.started = true;
    }

    fn finish(mut self) -> Vec<Word> {
        if self.started {
            self.done.push(self.word);
        }
        self.done
    }

    /// An unquoted value: blanks split, wildcards expand.
    fn push_split(&mut self, value: &Word) {
        self.word.dynamic |= value.dynamic;
        self.word.glob |= value.glob || value.text.contains(['*', '?', '[']);
        let mut parts = value.text.split([' ', '\t', '\n']).peekable();
        while let Some(part) = parts.next() {
            if !part.is_empty() {
                self.push(part);
            }
            if parts.peek().is_some() && self.started {
                let (dynamic, glob) = (self.word.dynamic, self.word.glob);
                self.done.push(std::mem::take(&mut self.word));
                self.started = false;
                (self.word.dynamic, self.word.glob) = (dynamic, glob);
            }
        }
    }
}

fn one(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    let mut builder = Builder::default();
    let mut pieces = raw.pieces.iter().enumerate().peekable();
    while let Some((number, piece)) = pieces.next() {
        let next = pieces.peek().map(|(_, piece)| *piece);
        match piece {
            Piece::Text { text, quoted } => push_text(&mut builder, text, *quoted, number == 0, next.is_none()),
            Piece::Variable { name, quoted } => push_variable(&mut builder, name, *quoted, next, variables),
            Piece::Command(_) | Piece::Process(_) | Piece::Other { .. } => {
                builder.push(&piece_written(piece));
                builder.word.dynamic = true;
            }
        }
    }
    builder.finish()
}

fn push_text(builder: &mut Builder, text: &str, quoted: bool, first: bool, last: bool) {
    if first && text.starts_with('~') {
        if quoted {
            // A file that is really called `~`.
            builder.push("./");
        } else if !(text == "~" && last || text.starts_with("~/")) {
            builder.word.dynamic = true;
        }
    }
    builder.word.glob |= !quoted && text.contains(['*', '?', '[']);
    builder.push(text);
}

fn push_variable(builder: &mut Builder, name: &str, quoted: bool, next: Option<&Piece>, variables: &Variables) {
    let begins = builder.word.text.is_empty();
    let path_follows = match next {
        None => true,
        Some(Piece::Text { text, .. }) => text.starts_with('/') || text.is_empty(),
        Some(_) => false,
    };
    match (variables.get(name), name) {
        (Some(Some(value)), _) if quoted => {
            builder.word.dynamic |= value.dynamic;
            builder.word.glob |= value.glob;
            builder.push(&value.text);
        }
        (Some(Some(value)), _) => builder.push_split(value),
        (None, "HOME") if begins && path_follows => builder.push("~"),
        (None, "PWD") if begins && path_follows => builder.push("."),
        (Some(None) | None, name) => {
            builder.push(&format!("${name}"));
            builder.word.dynamic = true;
        }
    }
}

/// The words that braces stand for; braces that hold something unknown make the word unknown.
fn braces(raw: &RawWord) -> Vec<RawWord> {
    let has_brace = |piece: &Piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains('{'));
    let Some(at) = raw.pieces.iter().position(has_brace) else { return vec![raw.clone()] };
    let Some(Piece::Text { text, .. }) = raw.pieces.get(at) else { return vec![raw.clone()] };
    match alternatives(text) {
        Some(texts) => texts.into_iter().map(|text| with_text(raw, at, text)).collect(),
        // `{}` as find and xargs use it, or a lone brace, is text; an alternative that goes on beyond this piece is not.
        None if text.contains("{}") || !opens_alternative(text) => vec![raw.clone()],
        None => vec![RawWord { pieces: vec![Piece::Other { written: written(raw), inside: Vec::new() }] }],
    }
}

fn with_text(raw: &RawWord, at: usize, text: String) -> RawWord {
    let mut raw = raw.clone();
    if let Some(piece) = raw.pieces.get_mut(at) {
        // Expanded already: what is left of it must not be expanded again, but its wildcards still count.
        *piece = Piece::Text { text, quoted: false };
    }
    raw
}

fn opens_alternative(text: &str) -> bool {
    text.rsplit('{').next().is_some_and(|rest| !rest.contains('}')) && text.contains('{')
}

/// The texts that `a{b,c}d` or `a{1..3}d` stand for; `None` when there is no such brace or too many words.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut waiting = vec![text.to_owned()];
    let mut any = false;
    while let Some(text) = waiting.pop() {
        match first_brace(&text) {
            Some(parts) => {
                any = true;
                waiting.extend(parts.into_iter().rev());
            }
            None => done.push(text),
        }
        if waiting.len() + done.len() > BRACES_MAX {
            return None;
        }
    }
    any.then_some(done)
}

fn first_brace(text: &str) -> Option<Vec<String>> {
    for (open, _) in text.match_indices('{') {
        let rest = text.get(open + 1..)?;
        let mut depth = 0_usize;
        let mut cuts = vec![0];
        for (at, c) in rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' if depth == 0 => cuts.push(at + 1),
                '}' => {
                    let (before, after) = (text.get(..open)?, rest.get(at + 1..)?);
                    let inner = parts(rest, &cuts, at)?;
                    match inner {
                        Some(inner) => {
                            return Some(inner.iter().map(|part| format!("{before}{part}{after}")).collect());
                        }
                        None => break,
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// The parts of one brace: its alternatives, its range, or `None` when it is neither.
fn parts(rest: &str, cuts: &[usize], close: usize) -> Option<Option<Vec<String>>> {
    if cuts.len() > 1 {
        let ends = cuts.iter().skip(1).map(|cut| cut - 1).chain([close]);
        return Some(cuts.iter().zip(ends).map(|(from, to)| rest.get(*from..to).map(str::to_owned)).collect());
    }
    let (from, to) = match rest.get(..close)?.split_once("..") {
        Some((from, to)) => (from.parse::<i64>(), to.parse::<i64>()),
        None => return Some(None),
    };
    match (from, to) {
        (Ok(from), Ok(to)) if from <= to && to - from < BRACES_MAX as i64 => {
            Some(Some((from..=to).map(|number| number.to_string()).collect()))
        }
        _ => Some(None),
    }
}
