//! Commands that hand on what is typed at the terminal: whoever runs what they say does what is typed.

use crate::shell::Word;

/// Commands that read their standard input, and how many words that are no options they need to read none.
const LISTENERS: &[(&str, usize)] = &[
    ("awk", 2),
    ("base64", 1),
    ("cat", 1),
    ("cut", 1),
    ("dd", usize::MAX),
    ("egrep", 2),
    ("fold", 1),
    ("gawk", 2),
    ("grep", 2),
    ("head", 1),
    ("jq", 2),
    ("line", usize::MAX),
    ("mapfile", usize::MAX),
    ("mawk", 2),
    ("nl", 1),
    ("pv", 1),
    ("read", usize::MAX),
    ("readarray", usize::MAX),
    ("rev", 1),
    ("sed", 2),
    ("sort", 1),
    ("tac", 1),
    ("tail", 1),
    ("tee", usize::MAX),
    ("tr", usize::MAX),
    ("uniq", 1),
    ("xxd", 1),
];

/// Whether a command to which nothing is redirected reads the terminal.
pub(super) fn listens(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let from_file = program == "dd" && arguments.iter().any(|word| word.text.starts_with("if="));
    let needed = LISTENERS.iter().find(|(name, _)| *name == program).map(|(_, needed)| *needed);
    !from_file && needed.is_some_and(|needed| operands(arguments) < needed)
}

/// Whether a path is the terminal, or the standard input where that is the terminal.
pub(super) fn is_terminal(path: &str, fed: bool) -> bool {
    let input = path == "/dev/stdin" || path == "/dev/fd/0" || path.starts_with("/proc/") && path.ends_with("/fd/0");
    path == "/dev/tty" || path == "/dev/console" || path.starts_with("/dev/pts/") || input && !fed
}

/// Words that are neither options, nor numbers, nor the standard input.
pub(super) fn operands(arguments: &[Word]) -> usize {
    let is_one = |word: &&Word| !word.text.starts_with('-') && word.text.parse::<u64>().is_err();
    arguments.iter().filter(is_one).count()
}
