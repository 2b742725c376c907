//! Words that the shell evaluates as arithmetic or as names of variables: an index in one may run a command.

use super::super::tree::{Assign, Piece, RawWord, Simple};
use super::super::{Word, words};
use super::Walker;

/// Why a text is not known in which one does.
pub(super) const INDEX_RUNS: &str = "an index runs a command when it is evaluated";

/// Builtins that evaluate their arguments, or keep them for what evaluates them.
const EVALUATING: &[&str] = &[
    "let",
    "test",
    "[",
    "printf",
    "read",
    "set",
    "unset",
    "mapfile",
    "readarray",
    "getopts",
    "wait",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
];

impl Walker<'_> {
    /// A word that the shell evaluates.
    pub(super) fn evaluated(&mut self, word: &RawWord) {
        if index_runs(&joined(word)) {
            self.opaque(INDEX_RUNS);
        }
    }

    /// What a simple command has evaluated before its program is looked at: values that it assigns, which something may
    /// evaluate later, and the names of its descriptors.
    pub(super) fn evaluated_in(&mut self, simple: &Simple) {
        simple.assigns.iter().for_each(|assign| self.evaluated_values(assign));
        let names = simple.words.iter().filter(|_| !simple.redirs.is_empty());
        names.filter(|word| joined(word).starts_with('{')).for_each(|word| self.evaluated(word));
    }

    fn evaluated_values(&mut self, assign: &Assign) {
        for value in &assign.values {
            let text = joined(value);
            // `([index]=value)`
            let index = text.starts_with('[') && index_runs(&format!("{}{text}", assign.name));
            if index || index_runs(&text) {
                self.opaque(INDEX_RUNS);
            }
        }
    }

    /// The arguments of a builtin that evaluates them.
    pub(super) fn evaluated_by(&mut self, program: &str, words: &[Word]) {
        let unread = |word: &Word| word.text.replace(words::SUBSTITUTED, "").replace(words::CALCULATED, "");
        if EVALUATING.contains(&program) && words.iter().any(|word| index_runs(&unread(word))) {
            self.opaque(INDEX_RUNS);
        }
    }
}

/// The text of a word, without what is expanded in it.
fn joined(word: &RawWord) -> String {
    let texts = word.pieces.iter().filter_map(|piece| match piece {
        Piece::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Whether a text has an index that substitutes a command: `a[$(…)]` runs it whenever it is evaluated.
fn index_runs(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| {
        let named = text.get(..at).unwrap_or_default().ends_with(|c: char| c == '_' || c.is_ascii_alphanumeric());
        let inside = text.get(at..).unwrap_or_default();
        named && (inside.contains("$(") || inside.contains('`'))
    })
}
