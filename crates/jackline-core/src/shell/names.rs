//! Whether a command is the one a pattern names, whatever stands between the program and its subcommand.

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
    spellings(command).iter().any(|words| {
        let shown = |word: &Word| if word.known() { word.text.clone() } else { UNKNOWN.to_owned() };
        let text = words.iter().map(shown).collect::<Vec<_>>().join(" ");
        glob::text_matches(pattern, &text)
    })
}

/// Whether a command may match a glob over its words: one that is not known may be anything, several words even.
///
/// A command whose very program is not known matches nothing here: that the text is opaque is said elsewhere.
#[must_use]
pub fn glob_may_match(command: &Command, pattern: &str) -> bool {
    if command.program().is_none() || !may_be_called(command, pattern) {
        return false;
    }
    spellings(command).iter().any(|words| {
        if words.iter().all(Word::known) {
            let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            return glob::text_matches(pattern, &text);
        }
        let may_be = |(at, word): (usize, &Word)| match word.dynamic || word.listed {
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
pub(super) fn is_prose(words: &[Word], at: usize) -> bool {
    if words.get(at).is_none_or(|word| word.several) {
        return false;
    }
    let program = words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    let sub = words.iter().skip(1).find(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
    let before = at.checked_sub(1).and_then(|before| words.get(before)).map(|word| word.text.as_str());
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
    known.map_or_else(|| command.words.iter().collect(), |(_, valued)| without_options(&command.words, valued))
}

/// The command as it is written, with its program by base name, and without options before the subcommand.
fn spellings(command: &Command) -> Vec<Vec<Word>> {
    let mut spellings = vec![command.words.clone()];
    let Some(program) = command.program() else { return spellings };
    let mut named = command.words.clone();
    if let Some(first) = named.first_mut() {
        *first = Word::literal(program);
    }
    if let Some((_, valued)) = GLOBAL_OPTIONS.iter().find(|(name, _)| *name == program) {
        spellings.push(without_options(&named, valued).into_iter().cloned().collect());
    }
    if spellings.first() != Some(&named) {
        spellings.push(named);
    }
    spellings
}

fn without_options<'w>(words: &'w [Word], valued: &[&str]) -> Vec<&'w Word> {
    let mut kept: Vec<&Word> = words.first().into_iter().collect();
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
