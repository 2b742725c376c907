//! Commands of ours that are for people: found where an agent runs them, and where it tells another program to.
//!
//! A text that only mentions them is left alone: a search, a message, a word that is printed.

use super::plainly;
use crate::overlap;
use crate::shell::{self, Command, Reading, Word};

/// Our program's name.
const PROGRAM: &str = "jackline";

/// Letters of it that a pattern spells before it is taken for ours.
const SPELLED_CHARS_MIN: usize = 3;

/// Commands of ours that only read, and may be run by an agent.
const READ_ONLY: &[&[&str]] = &[
    &["check"],
    &["log"],
    &["explain"],
    &["sessions"],
    &["schema"],
    &["pack"],
    &["todo", "list"],
    &["todo", "show"],
    &["fact", "list"],
    &["policy", "list"],
    &["policy", "check"],
    &["policy", "status"],
    &["workflow", "validate"],
    &["workflow", "graph"],
    &["workflow", "explain"],
    &["--help"],
    &["-h"],
    &["--version"],
    &["-V"],
    &["help"],
];

/// Options of `policy check` with which it does more than read: it runs what nobody trusted, or keeps a baseline.
const TRUSTING: &str = "--trust";
const EVENT: &str = "--event";
/// The event that it only looks at; any other may keep a baseline.
const LOOKED_AT: &str = "stop";

/// The first words of all others.
const COMMANDS: &[&str] = &[
    "tour", "init", "uninit", "doctor", "hook", "eval", "test", "trust", "allow", "off", "on", "status", "audit",
    "session", "mcp", "todo", "fact", "policy", "workflow", "serve", "store",
];

/// Words of theirs that mean little else beside our name: wherever both stand in a text that runs, it is taken for it.
const TELLING: &[&str] = &["trust", "uninit", "waive", "approve", "reject"];

/// Others that few programs besides ours are told by these words.
const ALONE: &[&str] = &["off", "allow"];

/// Programs that run what they are told, elsewhere or at another terminal: there no host would be seen around it.
const RUNNERS: &[&str] = &[
    "tmux",
    "screen",
    "byobu",
    "zellij",
    "dtach",
    "abduco",
    "reptyr",
    "ttyd",
    "gotty",
    "asciinema",
    "expect",
    "autoexpect",
    "xterm",
    "uxterm",
    "urxvt",
    "rxvt",
    "st",
    "foot",
    "kitty",
    "alacritty",
    "wezterm",
    "ghostty",
    "gnome-terminal",
    "konsole",
    "xfce4-terminal",
    "lxterminal",
    "terminator",
    "tilix",
    "x-terminal-emulator",
    "osascript",
    "open",
    "socat",
    "nc",
    "ncat",
    "netcat",
    "ssh",
    "mosh",
    "dbclient",
    "at",
    "batch",
    "crontab",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "lxc",
    "machinectl",
    "systemctl",
    "watchexec",
];

/// Whether a command is one of ours that is for people.
pub(super) fn is_one(command: &Command) -> bool {
    let told = || told(command.words.get(1..).unwrap_or_default());
    match (command.program(), command.words.first()) {
        // Some disks have it under any case.
        (Some(program), _) if program.eq_ignore_ascii_case(PROGRAM) => is_for_people(&told()),
        (None, Some(first)) => may_be_one(first, told),
        _ => false,
    }
}

fn is_for_people(words: &[&str]) -> bool {
    !words.is_empty() && !is_read_only(words)
}

/// Whether a program that a pattern names may be ours, and is told what is for people. One that spells less of our name
/// stands for others, too: then only what we alone are told counts, or what little else is.
fn may_be_one<'c>(first: &Word, told: impl FnOnce() -> Vec<&'c str>) -> bool {
    let Some(spelled) = spelled(first) else { return false };
    let words = told();
    is_for_people(&words)
        && match spelled {
            0 => words.iter().take(2).any(|word| TELLING.contains(word) || ALONE.contains(word)),
            1..SPELLED_CHARS_MIN => words.first().is_some_and(|word| COMMANDS.contains(word)),
            _ => true,
        }
}

/// How many letters of our program's name a word spells that may be it; none where it cannot be.
fn spelled(word: &Word) -> Option<usize> {
    let name = word.text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    if word.dynamic || !word.glob {
        // Alternatives of which it is one.
        return (name == PROGRAM).then_some(name.len());
    }
    let mut bracketed = false;
    let mut is_letter = |c: char| {
        bracketed = c == '[' || bracketed && c != ']';
        !bracketed && c.is_ascii_alphanumeric()
    };
    let letters = name.chars().filter(|c| is_letter(*c)).count();
    overlap::texts_overlap(&name, PROGRAM).then_some(letters)
}

/// Whether a text hands one to a program that runs what it is told.
pub(super) fn is_handed_on(reading: &Reading, text: &str) -> bool {
    let runs = |command: &Command| command.program().is_some_and(|program| RUNNERS.contains(&program));
    let runs = reading.foreign || reading.commands.iter().any(runs);
    runs && (names_one(text) || names_one(&plainly(text))) || reading.commands.iter().any(hands_on)
}

/// Whether a word is our program.
pub(super) fn is_our_program(word: &str) -> bool {
    word.rsplit('/').next() == Some(PROGRAM)
}

/// Whether a command has one among its words, as words of their own or in a text that its program may run.
fn hands_on(command: &Command) -> bool {
    let Some(program) = command.program() else { return false };
    let words = told(command.words.get(1..).unwrap_or_default());
    let by_words = words.iter().any(|word| names_us(word)) && hands_words_on(program, &words);
    by_words || shell::texts(command).into_iter().any(names_one) && shell::may_run_texts(program)
}

fn hands_words_on(program: &str, words: &[&str]) -> bool {
    let runs = shell::may_run_words(program) || builds_and_runs(program, words);
    let ours = words.iter().enumerate().filter(|(_, word)| names_us(word));
    !shell::quotes(program)
        && ours.into_iter().any(|(at, _)| {
            let rest = words.get(at + 1..).unwrap_or_default();
            // Behind options of the program, or where those end.
            let plain = rest.iter().position(|word| !word.starts_with('-'));
            let ended = rest.iter().position(|word| *word == "--").map(|end| end + 1);
            let begins = |from: usize| is_commanded(rest.get(from..).unwrap_or_default(), runs);
            plain.is_some_and(begins) || ended.is_some_and(begins)
        })
}

/// Whether words are a command of ours that is for people; where they are not surely run, only one that means little
/// else.
fn is_commanded(words: &[&str], runs: bool) -> bool {
    let telling = words.iter().take(2).any(|word| TELLING.contains(word));
    let command = runs && words.first().is_some_and(|word| COMMANDS.contains(word));
    (telling || command) && !is_read_only(words)
}

/// `cargo run` builds a program and runs it.
fn builds_and_runs(program: &str, words: &[&str]) -> bool {
    program == "cargo"
        && words.iter().find(|word| !word.starts_with(['-', '+'])).is_some_and(|sub| matches!(*sub, "run" | "r"))
}

/// Whether a word is our program, or an option with it: `--bin=jackline`.
fn names_us(word: &str) -> bool {
    is_our_program(word)
        || word
            .strip_prefix('-')
            .and_then(|option| option.split_once('='))
            .is_some_and(|(_, value)| is_our_program(value))
}

/// Whether a text names our program, and with it a command that is for people.
pub(super) fn names_one(text: &str) -> bool {
    let tokens: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || "-_./".contains(c))).collect();
    let tokens: Vec<&str> = tokens.into_iter().filter(|token| !token.is_empty()).collect();
    let after = |at: usize| tokens.get(at + 1..).unwrap_or_default();
    let ours: Vec<usize> =
        (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|it| is_our_program(it))).collect();
    let begins = |rest: &[&str]| rest.first().is_some_and(|word| COMMANDS.contains(word)) && !is_read_only(rest);
    !ours.is_empty() && tokens.iter().any(|token| TELLING.contains(token)) || ours.iter().any(|at| begins(after(*at)))
}

fn is_read_only(words: &[&str]) -> bool {
    let kept = words.starts_with(&["policy", "check"]) && does_more(words);
    !kept && (READ_ONLY.iter().any(|allowed| words.starts_with(allowed)) || asks_for_help(words))
}

/// Whether a command is only asked how it is used. A hook's words are not looked at for that, and neither are those of
/// a program that another command is to run.
fn asks_for_help(words: &[&str]) -> bool {
    let is_name =
        |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') && !word.starts_with('-');
    let named = |words: &[&str]| words.first() != Some(&"hook") && words.iter().all(is_name);
    matches!(words.split_last(), Some((&("--help" | "-h"), named_by @ ([_] | [_, _]))) if named(named_by))
}

fn does_more(words: &[&str]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        let more = match option {
            TRUSTING => true,
            EVENT => value.or_else(|| words.next().copied()) != Some(LOOKED_AT),
            // A word that is not known may be either.
            "?" => true,
            _ => false,
        };
        if more {
            return true;
        }
    }
    false
}

fn told(words: &[Word]) -> Vec<&str> {
    let named = |word: &Word| word.glob && spelled(word).is_some_and(|letters| letters >= SPELLED_CHARS_MIN);
    let text = |word: &'_ Word| match word.dynamic || word.glob {
        false => None,
        true if !word.dynamic && named(word) => Some(PROGRAM),
        true => Some("?"),
    };
    words.iter().map(|word| text(word).unwrap_or(word.text.as_str())).collect()
}

/// Whether a command of ours is in one of the tables.
#[must_use]
pub fn is_known(name: &str) -> bool {
    COMMANDS.contains(&name) || READ_ONLY.iter().any(|words| words.first() == Some(&name))
}
