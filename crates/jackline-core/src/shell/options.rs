//! Which words of a command are its options: the value of an option is none, nor is what stands after `--`.

use super::names::{is_prose, without_global_options};
use super::{Command, Word};

/// The options of a command that take a value.
struct Valued {
    program: &'static str,
    sub: &'static str,
    /// The value is the next word, or what is left of this one.
    next: &'static [&'static str],
    /// Letters whose value can only be what is left of the word.
    attached: &'static str,
}

const fn git(sub: &'static str, next: &'static [&'static str], attached: &'static str) -> Valued {
    Valued { program: "git", sub, next, attached }
}

/// Commands whose options are all known, as far as they take values.
const VALUED: &[Valued] = &[
    git(
        "commit",
        &[
            "-m",
            "-F",
            "-C",
            "-c",
            "-t",
            "--message",
            "--file",
            "--author",
            "--date",
            "--template",
            "--reuse-message",
            "--reedit-message",
            "--fixup",
            "--squash",
            "--trailer",
            "--cleanup",
            "--pathspec-from-file",
        ],
        "Su",
    ),
    git(
        "am",
        &[
            "-C",
            "-p",
            "--directory",
            "--exclude",
            "--include",
            "--whitespace",
            "--patch-format",
            "--resolvemsg",
            "--empty",
        ],
        "S",
    ),
    git("clean", &["-e", "--exclude"], ""),
    git("push", &["-o", "--push-option", "--repo", "--receive-pack", "--exec"], ""),
    git("reset", &["--pathspec-from-file", "-U", "--unified", "--inter-hunk-context"], ""),
    git("checkout", &["-b", "-B", "--orphan", "--conflict", "--pathspec-from-file", "-U", "--unified"], ""),
];

/// Programs for which what stands after `--` is never an option; others hand it on.
const ENDING_OPTIONS: &[&str] = &["rm", "mv", "cp", "ln", "chmod", "chown", "touch", "mkdir", "cat", "grep", "rg"];

/// Commands of git's that take files after `--`.
const WITH_FILES: &[&str] = &[
    "add", "commit", "checkout", "restore", "rm", "mv", "diff", "log", "reset", "stash", "show", "grep", "blame",
    "clean",
];

/// The words of a command that may be options.
#[derive(Debug)]
pub struct Options<'w> {
    pub words: Vec<&'w Word>,
    valued: Option<&'static Valued>,
}

impl std::fmt::Debug for Valued {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.program, self.sub)
    }
}

impl Options<'_> {
    /// Whether a cluster such as `-qnm` has this letter; what follows a letter with a value is the value.
    #[must_use]
    pub fn has_letter(&self, text: &str, letter: &str) -> bool {
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
        let end = letters.find(|c: char| self.valued.is_some_and(|valued| valued.takes(c)));
        let flags = end.map_or(letters, |end| letters.get(..=end).unwrap_or(letters));
        flags.contains(letter)
    }

    /// Whether one of the words surely is this option. A cluster is only sure where all letters with values are known.
    #[must_use]
    pub fn surely_has(&self, option: &str) -> bool {
        let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1 && *letter != "-");
        let clustered = |text: &str| letter.is_some_and(|it| self.valued.is_some() && self.has_letter(text, it));
        let words = self.words.iter().filter(|word| word.known());
        words.take_while(|word| word.text != "--").any(|word| word.text == option || clustered(&word.text))
    }
}

impl Valued {
    fn takes(&self, letter: char) -> bool {
        let is_letter = |option: &&str| option.len() == 2 && option.ends_with(letter);
        self.attached.contains(letter) || self.next.iter().any(is_letter)
    }

    /// Whether the value of this word is the word after it. Long options may be cut short.
    fn takes_next(&self, text: &str) -> bool {
        if text.starts_with("--") {
            return text.len() > 2 && self.next.iter().any(|option| option.starts_with(text));
        }
        let letters = text.strip_prefix('-').unwrap_or_default();
        let first = letters.char_indices().find(|(_, letter)| self.takes(*letter));
        first.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len() && !self.attached.contains(letter))
    }
}

/// The options of a command.
#[must_use]
pub fn options(command: &Command) -> Options<'_> {
    let told = without_global_options(command);
    let sub = told.get(1).filter(|word| word.known()).map(|word| word.text.as_str());
    let program = command.program().unwrap_or_default();
    let words = command.words.iter().enumerate().skip(1);
    let words = words.filter(|(at, word)| !(word.dynamic && is_prose(&command.words, *at))).map(|(_, word)| word);
    match valued(program, sub) {
        // Messages have their place among the values here.
        Some(_) => among(program, sub, command.words.iter().skip(1)),
        None => among(program, sub, words),
    }
}

/// The options among the words of a program's command.
pub(super) fn among<'w>(program: &str, sub: Option<&str>, words: impl Iterator<Item = &'w Word>) -> Options<'w> {
    let valued = valued(program, sub);
    let with_files = program == "git" && sub.is_some_and(|sub| WITH_FILES.contains(&sub));
    let ends = with_files || ENDING_OPTIONS.contains(&program);
    let mut found = Vec::new();
    let mut is_value = false;
    for word in words {
        // A value that may be several words may have options behind it.
        let skipped = std::mem::take(&mut is_value) && !word.several;
        if skipped {
            continue;
        }
        if ends && word.known() && word.text == "--" {
            break;
        }
        is_value = word.known() && valued.is_some_and(|valued| valued.takes_next(&word.text));
        found.push(word);
    }
    Options { words: found, valued }
}

fn valued(program: &str, sub: Option<&str>) -> Option<&'static Valued> {
    VALUED.iter().find(|valued| valued.program == program && sub == Some(valued.sub))
}
