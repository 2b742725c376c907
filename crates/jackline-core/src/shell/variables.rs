//! What is known of a text's variables at one point of it.

use std::collections::BTreeMap;

use super::Word;
use super::tree::ARGUMENTS;

/// Variables that the shell itself sets; what a text assigns to them need not stay.
const OWN: &[&str] = &[
    "_",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "PWD",
    "OLDPWD",
    "REPLY",
    "OPTARG",
    "OPTIND",
    "FUNCNAME",
    "DIRSTACK",
    "MAPFILE",
    "COPROC",
    "PIPESTATUS",
    "PPID",
    "UID",
    "EUID",
    "SHLVL",
    "IFS",
];

/// Elements of an array that are remembered; one with more is not known.
const ELEMENTS_MAX: usize = 64;

/// Bytes of a value that is remembered: one that is made of itself again and again doubles each time.
const VALUE_BYTES_MAX: usize = 16 * 1024;

/// Characters of an index in arithmetic that is looked behind; people's have a few.
const INDEX_CHARS_MAX: usize = 256;

/// What is known of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Known(&'a Word),
    Unknown,
    /// The text has not touched it: it is what the shell was started with.
    Outside,
}

/// The variables that a text has set so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Variables {
    set: BTreeMap<String, Option<Word>>,
    /// The elements of arrays.
    arrays: BTreeMap<String, Vec<Word>>,
    /// Something may have set any of them.
    vague: bool,
    /// Names no longer stand for themselves (`declare -n`) or values change when assigned (`declare -l`).
    odd: bool,
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Value<'_> {
        match self.set.get(name) {
            Some(Some(word)) if !self.odd => Value::Known(word),
            Some(_) => Value::Unknown,
            None if self.vague => Value::Unknown,
            None => Value::Outside,
        }
    }

    /// The elements of an array, where they are known.
    pub(super) fn elements(&self, name: &str) -> Option<&[Word]> {
        self.arrays.get(name).filter(|_| !self.odd).map(Vec::as_slice)
    }

    /// The argument of this number, where it is known which word that is: none before it may be several.
    pub(super) fn argument(&self, number: usize) -> Option<&Word> {
        let (last, before) = self.elements(ARGUMENTS)?.get(..number)?.split_last()?;
        before.iter().all(is_one).then_some(last)
    }

    /// Takes as many arguments away from the front; where it is not known which those are, none is known any more.
    pub(super) fn shift(&mut self, count: usize) {
        let known = self.elements(ARGUMENTS).and_then(|words| words.split_at_checked(count));
        match known.filter(|(gone, _)| gone.iter().all(is_one)).map(|(_, rest)| rest.to_vec()) {
            Some(rest) => self.assign_elements(ARGUMENTS, rest),
            None => self.forget(ARGUMENTS),
        }
    }

    /// A function that was called is left: the arguments are again those `before`.
    pub(super) fn leave_function(&mut self, before: &Self) {
        match before.set.get(ARGUMENTS) {
            Some(set) => self.set.insert(ARGUMENTS.to_owned(), set.clone()),
            None => self.set.remove(ARGUMENTS),
        };
        match before.arrays.get(ARGUMENTS) {
            Some(words) => self.arrays.insert(ARGUMENTS.to_owned(), words.clone()),
            None => self.arrays.remove(ARGUMENTS),
        };
    }

    /// Keeps a value, unless it is not known or the variable is the shell's own.
    pub(super) fn assign(&mut self, name: &str, value: Word) {
        let is_kept = |value: &Word| !value.dynamic && value.text.len() <= VALUE_BYTES_MAX && !OWN.contains(&name);
        let kept = Some(value).filter(is_kept);
        self.arrays.remove(name);
        self.set.insert(name.to_owned(), kept);
    }

    /// Keeps the elements of an array: `NAME=(…)`. By its name alone it stands for something else in each shell.
    pub(super) fn assign_elements(&mut self, name: &str, elements: Vec<Word>) {
        self.forget(name);
        // `[index]=value` puts a value where the index says.
        let indexed = |word: &Word| word.text.starts_with('[') && word.text.contains("]=");
        if elements.len() <= ELEMENTS_MAX && !elements.iter().any(indexed) && !OWN.contains(&name) {
            self.arrays.insert(name.to_owned(), elements);
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.arrays.remove(name);
        self.set.insert(name.to_owned(), None);
    }

    /// Something ran that may have set anything.
    pub(super) fn forget_all(&mut self) {
        self.set.clear();
        self.arrays.clear();
        self.vague = true;
    }

    /// A declaration changed what assigning means.
    pub(super) fn distrust(&mut self) {
        self.odd = true;
    }

    /// Keeps only what `other` agrees with.
    pub(super) fn agree(&mut self, other: &Self) {
        let differs = |name: &String| {
            self.set.get(name) != other.set.get(name) || self.arrays.get(name) != other.arrays.get(name)
        };
        // An array stands among what is set too.
        let names: Vec<String> =
            self.set.keys().chain(other.set.keys()).filter(|name| differs(name)).cloned().collect();
        names.iter().for_each(|name| self.forget(name));
        self.vague |= other.vague;
        self.odd |= other.odd;
    }
}

/// Whether a word stands for exactly one.
const fn is_one(word: &Word) -> bool {
    !word.several && !word.glob && !word.listed
}

/// The variables that arithmetic sets: `X=1`, `X[0] += 1`, `X++`, `--X`.
pub(super) fn assigned(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += text.get(at..)?.find(is_part)?;
            let (before, rest) = text.split_at_checked(at)?;
            let (name, after) = rest.split_at_checked(rest.find(|c| !is_part(c)).unwrap_or(rest.len()))?;
            at += name.len();
            let before = before.trim_end();
            if before.ends_with("++") || before.ends_with("--") || is_set(after) {
                return Some(name);
            }
        }
    })
}

/// The beginning of an index, with what follows it.
fn bounded(index: &str) -> &str {
    let end = index.char_indices().nth(INDEX_CHARS_MAX).map_or(index.len(), |(end, _)| end);
    index.get(..end).unwrap_or_default()
}

/// Whether what stands behind a name in arithmetic sets it.
fn is_set(after: &str) -> bool {
    let after = after.trim_start();
    let after = match after.strip_prefix('[') {
        Some(index) => bounded(index).split_once(']').map_or("", |(_, after)| after).trim_start(),
        None => after,
    };
    let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>', ']']);
    after.starts_with("++") || after.starts_with("--") || operator.starts_with('=') && !operator.starts_with("==")
}
