//! Whether a command is the one a pattern names, whatever stands between the program and its subcommand.

use std::borrow::Borrow;

use super::files::git;
use super::{Command, Word};
use crate::glob;
use crate::overlap;

/// Programs whose options may stand before the subcommand, and those of them that take a value.
const GLOBAL_OPTIONS: &[(&str, &[&str])] = &[
    ("git", git::VALUED),
    ("cargo", &["--color", "--config", "-Z", "-C", "--manifest-path", "--target-dir"]),
    ("npm", &["--prefix", "-C", "--userconfig", "--cache", "-w", "--workspace", "--access", "--tag", "--otp"]),
    ("pnpm", &["--prefix", "-C", "--dir", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("docker", &["--config", "--context", "-c", "-H", "--host", "-l", "--log-level"]),
    ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"]),
    ("terraform", &[]),
    ("make", &["-C", "-f", "-j", "-I"]),
];

/// Programs, their subcommands and the options of those that take a message.
const PROSE: &[(&str, &[&str], &[&str])] = &[
    ("git", &["commit", "tag", "merge", "notes", "revert"], &["-m", "-am", "-sm", "-asm", "--message"]),
    ("gh", &["pr", "issue", "release", "api"], &["--title", "--body", "--notes", "-t", "-b"]),
    ("jj", &["commit", "describe", "new"], &["-m", "--message"]),
    ("hg", &["commit", "tag"], &["-m", "--message"]),
];

/// Bytes of a command with unknown words that are compared; comparing is quadratic there.
const COMPARED_BYTES_MAX: usize = 4096;

/// Stands for a word that is not known, where only a wildcard may match it.
const UNKNOWN: &str = "\u{fffc}";

/// Whether a command surely matches a glob over its words.
#[must_use]
pub fn glob_matches(command: &Command, pattern: &str) -> bool {
    if !may_be_called(command, pattern) {
        return false;
    }
    let named = command.program().map(Word::literal);
    spellings(command, named.as_ref()).iter().any(|words| {
        let shown = |word: &&Word| if word.known() { word.text.clone() } else { UNKNOWN.to_owned() };
        let text = words.iter().map(shown).collect::<Vec<_>>().join(" ");
        glob::text_matches(pattern, &text)
    })
}

/// Whether a command may match a glob over its words: one that is not known may be anything, several words even.
///
/// A command whose very program is not known matches nothing here: that the text is opaque is said elsewhere.
#[must_use]
pub fn glob_may_match(command: &Command, pattern: &str) -> bool {
    let Some(program) = command.program().filter(|_| may_be_called(command, pattern)) else { return false };
    spellings(command, Some(&Word::literal(program))).iter().any(|words| {
        if words.iter().all(|word| word.known()) {
            let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            return glob::text_matches(pattern, &text);
        }
        let may_be = |(at, word): (usize, &&Word)| match word.dynamic || word.listed {
            true if is_prose(words, at) => UNKNOWN.to_owned(),
            true => "*".to_owned(),
            false => word.text.clone(),
        };
        overlap::texts_overlap(pattern, &bounded(words.iter().enumerate().map(may_be).collect::<Vec<_>>().join(" ")))
    })
}

/// A first look that spares most others: whether the pattern's first word can be the program.
fn may_be_called(command: &Command, pattern: &str) -> bool {
    let first = pattern.split(' ').next().unwrap_or_default();
    let written = command.words.first().is_some_and(|word| word.text == first);
    written || glob::is_pattern(first) || command.program() == Some(first)
}

/// The words that tell a command what to do: all but unknown text that is only a message.
#[must_use]
pub fn told(command: &Command) -> Vec<&Word> {
    let words = command.words.iter().enumerate();
    words.filter(|(at, word)| !(word.dynamic && is_prose(&command.words, *at))).map(|(_, word)| word).collect()
}

/// Whether a word is the value of an option that takes a message, which is neither an argument nor an option.
pub(super) fn is_prose(words: &[impl Borrow<Word>], at: usize) -> bool {
    if words.get(at).is_none_or(|word| word.borrow().several) {
        return false;
    }
    let mut texts = words.iter().map(|word| word.borrow().text.as_str());
    let before = at.checked_sub(1).and_then(|before| words.get(before)).map(|word| word.borrow().text.as_str());
    let program = texts.next().map(|word| word.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    let sub = texts.find(|word| !word.starts_with('-'));
    let known = PROSE.iter().find(|(name, subs, _)| *name == program && sub.is_some_and(|sub| subs.contains(&sub)));
    known.is_some_and(|(_, _, options)| before.is_some_and(|before| options.contains(&before)))
}

/// The beginning of a long text, with anything after it.
fn bounded(mut text: String) -> String {
    if text.len() > COMPARED_BYTES_MAX {
        text.truncate(crate::audit::head(&text, COMPARED_BYTES_MAX).len());
        text.push('*');
    }
    text
}

/// The words without the options before the subcommand, as far as it is known which of those take a value.
#[must_use]
pub fn without_global_options(command: &Command) -> Vec<&Word> {
    let known = GLOBAL_OPTIONS.iter().find(|(name, _)| Some(*name) == command.program());
    let words: Vec<&Word> = command.words.iter().collect();
    match known {
        Some((_, valued)) => without_options(&words, valued),
        None => words,
    }
}

/// The command as it is written, with its program by base name, and without options before the subcommand.
fn spellings<'a>(command: &'a Command, named: Option<&'a Word>) -> Vec<Vec<&'a Word>> {
    let written: Vec<&Word> = command.words.iter().collect();
    let Some(first) = named else { return vec![written] };
    let mut named = written.clone();
    named.iter_mut().take(1).for_each(|word| *word = first);
    let mut spellings = vec![written];
    if let Some((_, valued)) = GLOBAL_OPTIONS.iter().find(|(name, _)| *name == first.text) {
        spellings.push(without_options(&named, valued));
    }
    if command.words.first().is_some_and(|written| written != first) {
        spellings.push(named);
    }
    spellings
}

fn without_options<'a>(words: &[&'a Word], valued: &[&str]) -> Vec<&'a Word> {
    let mut kept: Vec<&Word> = words.first().copied().into_iter().collect();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let option = word.text.starts_with(['-', '+']) && word.text.len() > 1;
        if !option {
            kept.push(word);
            break;
        }
        if valued.contains(&word.text.as_str()) {
            // The value goes with its option.
            rest.next();
        }
    }
    kept.extend(rest);
    kept
}
