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

/// Programs that take any beginning of a long option for the whole, and those of their options that are themselves the
/// beginning of others, up to a dash.
const CUTTING: &[(&[&str], &[&str])] = &[
    (
        &["git"],
        &[
            "--allow-empty",
            "--color",
            "--color-moved",
            "--decorate",
            "--decorate-refs",
            "--dirstat",
            "--exclude",
            "--ff",
            "--find-copies",
            "--force",
            "--get",
            "--keep",
            "--no-color",
            "--no-verify",
            "--output",
            "--patch",
            "--prune",
            "--recurse-submodules",
            "--reference",
            "--set-upstream",
            "--stat",
            "--stdin",
            "--strategy",
            "--tool",
            "--unset",
            "--verify",
            "--word-diff",
        ],
    ),
    (
        &["rm", "srm", "trash", "shred", "mv", "cp", "ln", "install", "tee", "truncate", "chmod", "chown", "chgrp"],
        &["--dereference", "--preserve"],
    ),
    (&["userdel", "groupdel", "deluser", "crontab", "iptables", "ip6tables", "systemctl", "shutdown"], &["--user"]),
    (&["pkill", "killall", "wipefs", "blkdiscard", "sfdisk", "fdisk", "psql", "dropdb"], &["--list"]),
    (&["mysql", "mariadb", "mysqladmin", "mysqldump"], &["--safe", "--skip", "--ssl", "--user"]),
    (&["tar"], &["--checkpoint", "--exclude", "--newer", "--overwrite", "--sparse", "--wildcards", "--xattrs"]),
    (&["grep", "sed", "sort", "diff", "xargs"], &["--binary", "--exclude", "--null", "--version"]),
    (
        &["curl"],
        &[
            "--cert",
            "--compressed",
            "--cookie",
            "--data",
            "--disable",
            "--fail",
            "--form",
            "--http2",
            "--http3",
            "--key",
            "--location",
            "--netrc",
            "--output",
            "--parallel",
            "--proto",
            "--proxy",
            "--remote-name",
            "--request",
            "--retry",
            "--socks5",
            "--ssl",
            "--trace",
            "--url",
            "--user",
        ],
    ),
    (&["wget"], &["--accept", "--certificate", "--private-key", "--reject", "--user"]),
    (&["gpg"], &["--encrypt", "--export", "--import", "--sign"]),
    (&["pip", "pipx", "twine", "yum", "dnf"], &["--python", "--root", "--setopt", "--upgrade"]),
    (&["npm", "npx"], &["--audit", "--cache", "--global", "--save", "--no-save"]),
    (&["gem", "bundle", "rails", "rake"], &["--source"]),
];

fn cut_by(program: &str) -> Option<&'static [&'static str]> {
    // `pip3.11` is `pip`.
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    CUTTING.iter().find(|(programs, _)| programs.contains(&name)).map(|(_, whole)| *whole)
}

/// Whether a program takes any beginning of a long option for the whole.
#[must_use]
pub fn takes_cuts(program: &str) -> bool {
    cut_by(program).is_some()
}

/// Bytes of a long option cut short that counts for every program: shorter ones may be options of their own.
const CUT_BYTES_MIN: usize = 5;

/// The words of a command that may be options.
#[derive(Debug)]
pub struct Options<'w> {
    pub words: Vec<&'w Word>,
    valued: Option<&'static Valued>,
    /// The whole options of a program that takes cut ones, as far as others begin with them.
    whole: Option<&'static [&'static str]>,
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

    /// Whether `text` is this long option cut short. Where a program is not known to take any beginning, one that ends with
    /// a word of the option may be another: `--no` is not `--no-verify`.
    #[must_use]
    pub fn is_cut(&self, text: &str, option: &str) -> bool {
        let name = text.split('=').next().unwrap_or_default();
        let Some(rest) = option.strip_prefix(name).filter(|rest| name.starts_with("--") && !rest.is_empty()) else {
            return false;
        };
        match self.whole {
            Some(whole) => name.len() > 2 && !(rest.starts_with('-') && whole.contains(&name)),
            None => name.len() >= CUT_BYTES_MIN && !rest.starts_with('-') && !name.ends_with('-'),
        }
    }

    /// Whether one of the words surely is this option, and none takes it back. A cluster is only sure where all letters
    /// with values are known.
    #[must_use]
    pub fn surely_has(&self, option: &str) -> bool {
        let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1 && *letter != "-");
        let clustered = |text: &str| letter.is_some_and(|it| self.valued.is_some() && self.has_letter(text, it));
        let told = || self.words.iter().filter(|word| word.known()).take_while(|word| word.text != "--");
        // Which option a letter is short for is not known.
        let negates = |name: &str| option.strip_prefix("--").is_none_or(|option| option.starts_with(name));
        let taken_back =
            |word: &&&Word| word.text.strip_prefix("--no-").is_some_and(|name| !name.is_empty() && negates(name));
        told().any(|word| word.text == option || clustered(&word.text)) && told().find(taken_back).is_none()
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
    Options { words: found, valued, whole: cut_by(program) }
}

fn valued(program: &str, sub: Option<&str>) -> Option<&'static Valued> {
    VALUED.iter().find(|valued| valued.program == program && sub == Some(valued.sub))
}
