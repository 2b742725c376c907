//! What a command prints, in the few cases where the text tells: the files of a listing, the name of a new file, the
//! words of an `echo`.

use super::super::tree::{List, Node, Piece, RawWord};
use super::super::{Word, files, words};
use super::State;

/// Programs that print some of the lines they are given, as they are, with the options that leave it so.
const FILTERS: &[(&str, &str)] =
    &[("sort", "ruzfV"), ("uniq", "uz"), ("head", "n"), ("tail", "n"), ("grep", "vEFPiw"), ("tac", ""), ("shuf", "n")];

/// Formats of `printf` that print every word as it is.
const LISTING: &[&str] = &["%s", "%s ", "%s\\n", "%s\\0"];

/// A word's expansion, or what it stands for when it is one substitution whose output can be told.
pub(super) fn or_expanded(word: &RawWord, state: &State) -> Vec<Word> {
    by_word(word, state).unwrap_or_else(|| words::expand(word, &state.variables))
}

/// What a word stands for when it is one substitution whose output can be told.
pub(super) fn by_word(word: &RawWord, state: &State) -> Option<Vec<Word>> {
    let mut pieces = word.pieces.iter().filter(|piece| !matches!(piece, Piece::Text { text, .. } if text.is_empty()));
    match (pieces.next(), pieces.next()) {
        (Some(Piece::Command { list, .. }), None) => by_list(list, state),
        _ => None,
    }
}

fn by_list(list: &List, state: &State) -> Option<Vec<Word>> {
    let [item] = list.items.as_slice() else { return None };
    if item.background || !item.chain.rest.is_empty() {
        return None;
    }
    by_nodes(&item.chain.first.nodes, state)
}

/// What a pipeline prints: its first command lists files, the others only choose among the lines.
pub(super) fn by_nodes(nodes: &[Node], state: &State) -> Option<Vec<Word>> {
    let (first, rest) = nodes.split_first()?;
    // Not through a filter: what is left of a line that is known by heart would not be.
    if let Some(words) = echoed(first, state).filter(|_| rest.is_empty()) {
        return Some(words);
    }
    let chooses = |node: &Node| plain(node, state).is_some_and(|words| is_filter(&words));
    if !rest.iter().all(chooses) {
        return None;
    }
    files::listed(&plain(first, state)?)
}

/// The words that an `echo` prints as they are. Likely, not certain: what `echo` is may have been changed elsewhere, so
/// they stay unknown, and their text only tells what is forbidden.
fn echoed(node: &Node, state: &State) -> Option<Vec<Word>> {
    let mut words = plain(node, state)?;
    if let [program, only] = words.as_mut_slice()
        && program.text == "printf"
        && !only.text.contains('%')
    {
        // A format that is nothing but text.
        *program = Word::literal("echo");
        only.text = only.text.strip_suffix("\\n").unwrap_or(&only.text).to_owned();
    }
    if matches!(words.as_slice(), [program, format, ..] if program.text == "printf" && LISTING.contains(&format.text.as_str()))
    {
        words.remove(1);
        words.first_mut()?.text = "echo".to_owned();
    }
    let (program, printed) = words.split_first()?;
    let as_it_is = |word: &Word| {
        let special = |c: char| c.is_whitespace() || "\\'\"".contains(c) || "*?[".contains(c) && !word.glob;
        !word.dynamic && !word.text.is_empty() && !word.text.contains(special)
    };
    let option = |word: &Word| word.text.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| "neE".contains(c)));
    let plain = printed.first().is_some_and(|first| !option(first)) && printed.iter().all(as_it_is);
    let likely = |word: &Word| Word { glob: word.glob, ..Word::unknown(word.text.clone()) };
    (program.text == "echo" && plain).then(|| printed.iter().map(likely).collect())
}

/// The words of a text on standard input, as likely as those of an `echo`.
pub(super) fn lines(text: &Word) -> Vec<Word> {
    let words = text.text.split_whitespace().filter(|_| !text.dynamic);
    words.map(Word::unknown).collect()
}

/// The words of a simple command that is nothing but its words.
fn plain(node: &Node, state: &State) -> Option<Vec<Word>> {
    let Node::Simple(simple) = node else { return None };
    // Only its messages may go elsewhere.
    if !simple.assigns.is_empty() || simple.redirs.iter().any(|redir| redir.standard) {
        return None;
    }
    let words: Vec<Word> = simple.words.iter().flat_map(|word| words::expand(word, &state.variables)).collect();
    let called = words.first().is_some_and(|word| state.functions.contains_key(&word.text));
    (!called && words.iter().all(|word| !word.dynamic)).then_some(words)
}

/// Whether a command only chooses lines of its input: it names no file, and no option that would change a line.
fn is_filter(words: &[Word]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let Some((name, letters)) = FILTERS.iter().find(|(name, _)| *name == program.text) else { return false };
    let is_option = |text: &str| text.starts_with('-') && text.len() > 1;
    let leaves = |text: &str| text.chars().skip(1).all(|c| letters.contains(c) || c.is_ascii_digit());
    let options = arguments.iter().filter(|word| is_option(&word.text)).all(|word| leaves(&word.text));
    let mut operands = arguments.iter().filter(|word| !is_option(&word.text));
    let pattern = if *name == "grep" { operands.next().is_some() } else { true };
    options && pattern && operands.all(|word| word.text.chars().all(|c| c.is_ascii_digit()))
}
