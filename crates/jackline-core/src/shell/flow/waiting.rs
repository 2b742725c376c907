//! Programs that wait for what they do: some hosts let their agent write to them later, where no hook sees it.

use crate::shell::{Word, wrappers};

/// Programs that take the terminal, whatever else they are given.
const SCREENS: &[&str] = &[
    "emacs", "ex", "gdb", "less", "lldb", "more", "nano", "nvim", "screen", "script", "telnet", "tmux", "vi", "view",
    "vim",
];

/// Programs that do what their standard input says, where nothing is redirected to it.
const READERS: &[&str] = &["at", "batch", "ed", "expect", "ftp", "patch", "redis-cli", "sftp", "su", "xargs"];

/// Programs that take what they do from an argument, and wait for it where it is missing: how such an argument begins.
const TOLD: &[(&str, &[&str])] = &[
    ("mariadb", &["-e", "--execute"]),
    ("mongosh", &["--eval", "--file", "-f"]),
    ("mysql", &["-e", "--execute"]),
    ("psql", &["-c", "--command", "-f", "--file", "-l", "--list"]),
];

/// The same where it is the second word that is no option.
const SECOND: &[&str] = &["sqlite3", "ssh"];

/// Whether a command waits for what it does; `fed` when something is redirected or piped into it.
pub(super) fn waits(program: &str, words: &[Word], fed: bool) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    if arguments.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help")) {
        return false;
    }
    if SCREENS.contains(&program) {
        return true;
    }
    let begins = |fronts: &[&str]| arguments.iter().any(|word| fronts.iter().any(|front| word.text.starts_with(front)));
    let interprets = wrappers::is_shell(program) || wrappers::is_interpreter(program);
    !fed && (interprets && (wrappers::reads_input(program, words) || stays(program, arguments))
        || READERS.contains(&program)
        || TOLD.iter().any(|(name, fronts)| *name == program && !begins(fronts))
        || SECOND.contains(&program) && arguments.iter().filter(|word| !word.text.starts_with('-')).count() < 2)
}

/// Whether a shell or an interpreter is told to go on reading once its text is done.
fn stays(program: &str, arguments: &[Word]) -> bool {
    let short = |word: &&Word| word.text.starts_with('-') && !word.text.starts_with("--");
    let told = |word: &Word| word.text == "--interactive" || short(&word) && word.text.contains('i');
    // Elsewhere `-i` is another thing: perl and ruby edit files in place with it.
    let means = wrappers::is_shell(program) || program.starts_with("python") || matches!(program, "node" | "nodejs");
    means && arguments.iter().take_while(|word| word.text.starts_with('-')).any(told)
}
