//! Commands of ours that are for people: found where an agent runs them, and where it tells another program to.
//!
//! A text that only mentions them is left alone: a search, a message, a word that is printed.

use super::plainly;
use crate::shell::{Command, Reading, Word};

/// Commands of ours that only read, and may be run by an agent.
const READ_ONLY: &[&[&str]] = &[
    &["check"],
    &["log"],
    &["explain"],
    &["sessions"],
    &["schema"],
    &["pack"],
    &["session", "show"],
    &["todo", "list"],
    &["todo", "show"],
    &["fact", "list"],
    &["policy", "list"],
    &["policy", "check"],
    &["policy", "status"],
    &["workflow", "validate"],
    &["workflow", "graph"],
    &["workflow", "explain"],
    &["workflow", "schema"],
    &["workflow", "gates"],
    &["--help"],
    &["-h"],
    &["--version"],
    &["-V"],
    &["help"],
];

/// Options with which one of them does more than read: it keeps a baseline, or runs what nobody trusted.
const KEEPING: &[&str] = &["--event", "--trust"];

/// The first words of all others.
const COMMANDS: &[&str] = &[
    "tour", "init", "uninit", "doctor", "hook", "eval", "test", "trust", "allow", "off", "on", "status", "audit",
    "session", "mcp", "todo", "fact", "policy", "workflow", "serve", "store",
];

/// Words of theirs that mean little else beside our name: wherever both stand in a text that runs, it is taken for it.
const TELLING: &[&str] = &["trust", "uninit", "waive", "approve", "reject"];

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

/// Programs that do nothing with their words but look for them, print them or keep them.
const QUOTING: &[&str] = &[
    "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "git", "gh", "glab", "cat", "less", "head",
    "tail", "wc", "ls", "man", "which", "type", "whereis", "apropos", "test", "[", "true", "false", ":",
];

/// Whether a command is one of ours that is for people.
pub(super) fn is_one(command: &Command) -> bool {
    if command.program() != Some("jackline") {
        return false;
    }
    let words = told(command.words.get(1..).unwrap_or_default());
    !words.is_empty() && !is_read_only(&words)
}

/// Whether a text hands one to a program that runs what it is told.
pub(super) fn is_handed_on(reading: &Reading, text: &str) -> bool {
    let runs = |command: &Command| command.program().is_some_and(|program| RUNNERS.contains(&program));
    let runs = reading.foreign || reading.commands.iter().any(runs);
    runs && (names_one(text) || names_one(&plainly(text))) || reading.commands.iter().any(hands_on)
}

/// Whether a word is our program.
pub(super) fn is_our_program(word: &str) -> bool {
    word.rsplit('/').next() == Some("jackline")
}

/// Whether a command has one among its words, as words of their own.
fn hands_on(command: &Command) -> bool {
    if command.program().is_some_and(|program| QUOTING.contains(&program)) {
        return false;
    }
    let words = told(command.words.get(1..).unwrap_or_default());
    words.iter().enumerate().filter(|(_, word)| is_our_program(word)).any(|(at, _)| {
        let rest: Vec<&str> = words.iter().skip(at + 1).copied().skip_while(|word| *word == "--").collect();
        let acts = rest.iter().take(2).any(|word| TELLING.contains(word));
        acts && !is_read_only(&rest)
    })
}

/// Whether a text names our program, and with it a command that is for people.
fn names_one(text: &str) -> bool {
    let tokens: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || "-_./".contains(c))).collect();
    let tokens: Vec<&str> = tokens.into_iter().filter(|token| !token.is_empty()).collect();
    let after = |at: usize| tokens.get(at + 1..).unwrap_or_default();
    let ours: Vec<usize> =
        (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(|it| is_our_program(it))).collect();
    let begins = |rest: &[&str]| rest.first().is_some_and(|word| COMMANDS.contains(word)) && !is_read_only(rest);
    !ours.is_empty() && tokens.iter().any(|token| TELLING.contains(token)) || ours.iter().any(|at| begins(after(*at)))
}

fn is_read_only(words: &[&str]) -> bool {
    let keeps = |word: &&str| KEEPING.iter().any(|option| word.split('=').next() == Some(*option));
    let kept = words.starts_with(&["policy", "check"]) && words.iter().any(keeps);
    !kept && READ_ONLY.iter().any(|allowed| words.starts_with(allowed))
}

fn told(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| if word.dynamic || word.glob { "?" } else { word.text.as_str() }).collect()
}

/// Whether a command of ours is in one of the tables.
#[must_use]
pub fn is_known(name: &str) -> bool {
    COMMANDS.contains(&name) || READ_ONLY.iter().any(|words| words.first() == Some(&name))
}
