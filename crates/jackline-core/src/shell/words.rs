//! Expands words as far as they can be known: variables, tilde, splitting.

use super::tree::{List, Node, Part, Piece, RawWord, Simple};
use super::variables::{Value, Variables};
use super::{SHELL_BYTES_MAX, Word, braces, choices};

/// Variables that are numbers, unless a text sets them; some shells do not know them.
const NUMBERS: &[&str] = &["EPOCHSECONDS", "EUID", "LINENO", "PPID", "RANDOM", "SECONDS", "SHLVL", "SRANDOM", "UID"];

/// A pattern for a number: no less than what it can be.
const NUMBER: &str = "[0-9]*";
/// The same for what may be nothing instead.
const MAYBE_NUMBER: &str = "*";

/// How a substituted command stands in a word.
pub(super) const SUBSTITUTED: &str = "$(…)";
/// How arithmetic does.
pub(super) const CALCULATED: &str = "$((…))";

/// The words that a raw word becomes.
pub(super) fn expand(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    if raw.bare() == Some("[") {
        // A bracket that nothing closes is the program of that name, not a wildcard.
        return vec![Word::literal("[")];
    }
    braces::expand(raw).iter().flat_map(|raw| chosen(raw, variables)).collect()
}

/// The words of a raw word whose alternatives may match. Which of them do is not known, nor whether they are more than
/// their letters: that takes an option of the shell's.
fn chosen(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    let Some(alternatives) = choices::expand(raw) else { return one(raw, variables) };
    let braced = alternatives.iter().flat_map(braces::expand);
    let words = braced.flat_map(|raw| one(&raw, variables));
    words.map(|word| Word { dynamic: word.dynamic || !word.glob, ..word }).collect()
}

/// The file of a redirection: braces and blanks that leave one word are followed.
pub(super) fn expand_file(raw: &RawWord, variables: &Variables) -> Word {
    single(expand(raw, variables), raw)
}

/// The files that a redirection may mean: one, or any of several, as the shell and what is there have it.
pub(super) fn expand_files(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    let words = expand(raw, variables);
    if words.len() < 2 {
        return vec![single(words, raw)];
    }
    words.into_iter().map(|word| Word { dynamic: true, ..word }).collect()
}

/// A text that is not split: that of a here-document or a here-string.
pub(super) fn expand_whole(raw: &RawWord, variables: &Variables) -> Word {
    single(one(raw, variables), raw)
}

/// A value that is kept: what it says about the present directory is wrong once the directory changes.
pub(super) fn expand_value(raw: &RawWord, variables: &Variables) -> Word {
    if is_placed(raw) { Word::unknown(written(raw)) } else { expand_whole(raw, variables) }
}

/// Whether a word says something about the present directory.
pub(super) fn is_placed(raw: &RawWord) -> bool {
    raw.pieces.iter().any(|piece| match piece {
        Piece::Variable { name, .. } => name == "PWD",
        piece => is_pwd(piece),
    })
}

/// Whether a substitution prints the present directory.
fn is_pwd(piece: &Piece) -> bool {
    let Piece::Command { list, .. } = piece else { return false };
    let [item] = list.items.as_slice() else { return false };
    match item.chain.first.nodes.as_slice() {
        [Node::Simple(simple)] if item.chain.rest.is_empty() => {
            simple.words.first().and_then(RawWord::bare) == Some("pwd")
        }
        _ => false,
    }
}

/// The program that prints how many processors there are.
pub(super) const COUNTER: &str = "nproc";
/// A substitution of what it prints, which is a number unless the text defines a function of that name.
pub(super) const PROCESSORS: &str = "$(nproc)";

/// Whether a substitution runs this program alone, without any words.
fn is_plain(list: &List, program: &str) -> bool {
    let [item] = list.items.as_slice() else { return false };
    let alone = |simple: &Simple| match simple.words.as_slice() {
        [word] => word.bare() == Some(program) && simple.assigns.is_empty() && simple.redirs.is_empty(),
        _ => false,
    };
    match item.chain.first.nodes.as_slice() {
        [Node::Simple(simple)] if item.chain.rest.is_empty() => alone(simple),
        _ => false,
    }
}

fn single(mut words: Vec<Word>, raw: &RawWord) -> Word {
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
        Piece::Command { .. } if is_pwd(piece) => "$PWD".to_owned(),
        Piece::Command { list, .. } if is_plain(list, COUNTER) => PROCESSORS.to_owned(),
        Piece::Command { .. } => SUBSTITUTED.to_owned(),
        Piece::Process(_) => "<(…)".to_owned(),
        Piece::Elements { written, .. } | Piece::Other { written, .. } => written.clone(),
        Piece::Choice { kind, alternatives } => {
            let inside: Vec<String> = alternatives.iter().map(written).collect();
            format!("{kind}({})", inside.join("|"))
        }
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
        self.started = true;
        if self.word.text.len() + text.len() > SHELL_BYTES_MAX {
            // No text is that long, but for its variables.
            self.word.dynamic = true;
            return;
        }
        self.word.text.push_str(text);
    }

    fn finish(mut self) -> Vec<Word> {
        // A number may stand for a directory that is left again, or for nothing between dots.
        self.word.dynamic |= self.word.numbered && self.word.text.split('/').any(may_climb);
        if self.started {
            self.done.push(self.word);
        }
        self.done
    }

    /// What a value tells of the files that it stands for.
    fn inherit(&mut self, value: &Word) {
        self.word.dots |= value.dots;
        self.word.listed |= value.listed;
        self.word.chosen |= value.chosen;
        self.word.brought |= value.brought;
        self.word.numbered |= value.numbered;
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

/// Whether a part of a path may be `..`.
fn may_climb(part: &str) -> bool {
    part.chars().filter(|c| *c != '*').eq("..".chars())
}

fn one(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    if let Some(words) = elements(raw, variables) {
        return words;
    }
    let mut builder = Builder::default();
    let mut pieces = raw.pieces.iter().enumerate().peekable();
    while let Some((number, piece)) = pieces.next() {
        let next = pieces.peek().map(|(_, piece)| *piece);
        match piece {
            Piece::Text { text, quoted: false } if number == 0 && text.starts_with('~') => {
                push_home(&mut builder, text, next.is_none(), variables);
            }
            Piece::Text { text, quoted } => push_text(&mut builder, text, *quoted, number == 0),
            Piece::Variable { name, quoted } => push_variable(&mut builder, name, *quoted, next, variables),
            Piece::Command { quoted, .. } | Piece::Other { quoted, .. } => {
                builder.push(&piece_written(piece));
                builder.word.dynamic = true;
                builder.word.several |= !quoted;
            }
            Piece::Elements { name, part, quoted, .. } => match element(name, *part, variables) {
                Some(value) => push_value(&mut builder, value, *quoted, variables),
                None => {
                    builder.push(&piece_written(piece));
                    builder.word.dynamic = true;
                    builder.word.several = true;
                }
            },
            Piece::Process(_) | Piece::Choice { .. } => {
                builder.push(&piece_written(piece));
                builder.word.dynamic = true;
            }
        }
    }
    // Only the name alone is one that a program chose; with something before or after it is another.
    let alone =
        raw.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty())).count() < 2;
    builder.word.dynamic |= builder.word.listed && !alone;
    builder.finish()
}

/// The words of an array that stands alone. By its name alone it is the first element or all of them, as the shell has it,
/// and one element may be any: then the words are only likely.
fn elements(raw: &RawWord, variables: &Variables) -> Option<Vec<Word>> {
    let (last, before) = raw.pieces.split_last()?;
    let (name, part, quoted) = match last {
        Piece::Elements { name, part, quoted, .. } => (name, *part, *quoted),
        Piece::Variable { name, quoted } => (name, Part::One, *quoted),
        _ => return None,
    };
    let known = variables.elements(name)?;
    if !before.iter().all(|piece| matches!(piece, Piece::Text { text, .. } if text.is_empty())) {
        return None;
    }
    let likely = |word: &Word| Word { dynamic: true, several: true, ..word.clone() };
    if let (Part::At(_), Some(word)) = (part, element(name, part, variables)) {
        return Some(if quoted { vec![word.clone()] } else { split(word, variables) });
    }
    Some(match (part, quoted, known) {
        (Part::Each, true, _) | (Part::Joined, true, [_]) => known.to_vec(),
        (Part::Each | Part::Joined, false, _) => known.iter().flat_map(|word| split(word, variables)).collect(),
        (Part::Joined, true, _) | (Part::One | Part::At(_), ..) => known.iter().map(likely).collect(),
    })
}

/// The one word that elements stand for: an argument by its number, or all of them where there is but one.
fn element<'v>(name: &str, part: Part, variables: &'v Variables) -> Option<&'v Word> {
    match (part, variables.elements(name)?) {
        (Part::At(number), _) => variables.argument(number),
        (Part::Each | Part::Joined, [only]) => Some(only),
        _ => None,
    }
}

/// The words that an unquoted value becomes.
fn split(value: &Word, variables: &Variables) -> Vec<Word> {
    let unusual = variables.get("IFS") != Value::Outside;
    let word = Word { dynamic: unusual, several: unusual, listed: value.listed, ..Word::default() };
    let mut builder = Builder { word, ..Builder::default() };
    builder.push_split(value);
    builder.finish()
}

fn push_text(builder: &mut Builder, text: &str, quoted: bool, first: bool) {
    if first && text.starts_with('~') {
        // A file that is really called `~`.
        builder.push("./");
    }
    builder.word.glob |= !quoted && text.contains(['*', '?', '[']);
    builder.push(text);
}

/// A word that begins with `~`, which is what `HOME` says when the text sets it.
fn push_home(builder: &mut Builder, text: &str, last: bool, variables: &Variables) {
    let own = text == "~" && last || text.starts_with("~/");
    builder.word.glob |= text.contains(['*', '?', '[']);
    match variables.get("HOME") {
        Value::Known(home) if own => {
            builder.word.dynamic |= home.dynamic;
            builder.push(&home.text);
            builder.push(text.trim_start_matches('~'));
        }
        Value::Outside if own => builder.push(text),
        Value::Known(_) | Value::Unknown | Value::Outside => {
            builder.word.dynamic = true;
            builder.push(text);
        }
    }
}

fn push_variable(builder: &mut Builder, name: &str, quoted: bool, next: Option<&Piece>, variables: &Variables) {
    let begins = builder.word.text.is_empty();
    let path_follows = match next {
        None => true,
        Some(Piece::Text { text, .. }) => text.starts_with('/') || text.is_empty(),
        Some(_) => false,
    };
    match (variables.get(name), name) {
        (Value::Known(value), _) => push_value(builder, value, quoted, variables),
        // Unless the text sets it, it is blanks, which end a word.
        (Value::Outside, "IFS") if !quoted => builder.push_split(&Word::literal(" ")),
        (Value::Outside, "HOME") if begins && path_follows => builder.push("~"),
        (Value::Outside, "PWD") if begins && path_follows => builder.push("."),
        (value, name) => match digits(name, value).filter(|_| quoted || variables.get("IFS") == Value::Outside) {
            // What would be left of it may be another path altogether.
            Some(pattern) if begins && pattern == MAYBE_NUMBER => unknown(builder, name, quoted),
            Some(pattern) => {
                builder.push(pattern);
                builder.word.glob = true;
                builder.word.dots |= pattern == MAYBE_NUMBER;
                builder.word.numbered = true;
            }
            None => unknown(builder, name, quoted),
        },
    }
}

fn unknown(builder: &mut Builder, name: &str, quoted: bool) {
    builder.push(&format!("${name}"));
    builder.word.dynamic = true;
    builder.word.several |= !quoted;
}

/// A pattern that matches all that a variable can be which the shell itself sets to a number.
fn digits(name: &str, value: Value<'_>) -> Option<&'static str> {
    match name {
        // Nobody can set these.
        "$" | "?" | "#" => Some(NUMBER),
        // Nothing before anything was left running, and in shells that do not know it.
        "!" => Some(MAYBE_NUMBER),
        _ if value == Value::Outside && NUMBERS.contains(&name) => Some(MAYBE_NUMBER),
        _ => None,
    }
}

fn push_value(builder: &mut Builder, value: &Word, quoted: bool, variables: &Variables) {
    builder.inherit(value);
    if quoted {
        builder.word.dynamic |= value.dynamic;
        builder.word.several |= value.several;
        builder.word.glob |= value.glob;
        return builder.push(&value.text);
    }
    // Where `IFS` is not the usual one, so are the words.
    let usual = matches!(variables.get("IFS"), Value::Outside);
    builder.word.dynamic |= !usual;
    builder.word.several |= !usual || value.several;
    builder.push_split(value);
}
