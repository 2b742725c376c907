//! What a program that we do not know may do with what it is told: run it. And those that are known not to.
//!
//! A program is not trusted because its name is unheard of. Where one has a shell, an interpreter, git or our own program
//! among its words, what begins there is read as a command of its own; and a text that it is handed may be run by it.

use super::{Command, Word, asking, files, wrappers};

/// Programs that do nothing with their words but look for them, print them or keep them.
const QUOTING: &[&str] = &[
    ":",
    "[",
    "ack",
    "ag",
    "apropos",
    "cat",
    "clip.exe",
    "cowsay",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "figlet",
    "gh",
    "git",
    "glab",
    "grep",
    "head",
    "less",
    "logger",
    "ls",
    "man",
    "notify-send",
    "pbcopy",
    "printf",
    "rg",
    "say",
    "tail",
    "test",
    "true",
    "type",
    "wc",
    "whereis",
    "which",
    "wl-copy",
    "xclip",
    "xsel",
    "zgrep",
];

/// Programs that run what they are told on another machine, or in a place of its own.
const ELSEWHERE: &[&str] = &[
    "adb",
    "dbclient",
    "docker",
    "docker-compose",
    "fly",
    "flyctl",
    "kubectl",
    "limactl",
    "lxc",
    "machinectl",
    "mosh",
    "multipass",
    "nerdctl",
    "oc",
    "podman",
    "podman-compose",
    "ssh",
    "vagrant",
];

/// Programs whose words are names: of packages, targets, tests, directories. One that runs another has a row elsewhere.
const NAMING: &[&str] = &[
    "apk",
    "apt",
    "apt-cache",
    "apt-get",
    "bazel",
    "black",
    "brew",
    "bun",
    "cargo",
    "cmake",
    "codecov",
    "composer",
    "conda",
    "ctest",
    "dnf",
    "dotnet",
    "dpkg",
    "eslint",
    "flake8",
    "gem",
    "gmake",
    "go",
    "gradle",
    "gradlew",
    "isort",
    "jest",
    "just",
    "killall",
    "make",
    "mamba",
    "mocha",
    "mvn",
    "mvnw",
    "mypy",
    "ninja",
    "npm",
    "nx",
    "pacman",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "port",
    "prettier",
    "pylint",
    "pytest",
    "rpm",
    "rspec",
    "ruff",
    "rustup",
    "snap",
    "task",
    "tox",
    "tsc",
    "turbo",
    "vitest",
    "yarn",
    "yum",
    "zypper",
];

/// Options whose value is a message, whatever the program.
const MESSAGES: &[&str] = &[
    "-m",
    "--body",
    "--comment",
    "--description",
    "--message",
    "--notes",
    "--reason",
    "--subject",
    "--summary",
    "--title",
];

/// Whether a program only looks for its words, prints them or keeps them.
#[must_use]
pub fn quotes(program: &str) -> bool {
    QUOTING.contains(&program)
}

/// Whether a program may run a text that it is handed, here, for all we know of it.
#[must_use]
pub fn may_run_texts(program: &str) -> bool {
    !(QUOTING.contains(&program)
        || ELSEWHERE.contains(&program)
        || files::is_known(program)
        || wrappers::is_wrapper(program))
}

/// Whether a program may run the command that begins at one of its words, here, for all we know of it.
#[must_use]
pub fn may_run_words(program: &str) -> bool {
    !NAMING.contains(&program) && may_run_texts(program)
}

/// The texts that a command is handed among its words, messages and questions apart.
#[must_use]
pub fn texts(command: &Command) -> Vec<&str> {
    texts_among(command.words.get(1..).unwrap_or_default()).map(|(_, text)| text).collect()
}

/// The same, each with the option that it is the value of, if any.
pub(super) fn texts_among(words: &[Word]) -> impl Iterator<Item = (&str, &str)> {
    let before = std::iter::once("").chain(words.iter().map(|word| word.text.as_str()));
    let valued = before.zip(words).filter(|(_, word)| is_text(&word.text)).map(|(before, word)| {
        let option = if before.starts_with('-') { before } else { "" };
        match word.text.split_once('=').filter(|(name, _)| name.starts_with('-') && is_option(name)) {
            Some((name, value)) => (name, value),
            None => (option, word.text.as_str()),
        }
    });
    valued.filter(|(option, text)| !MESSAGES.contains(option) && !asking::asks(text))
}

/// Whether a word is more than a name: it has blanks, or what a program's text has and a path has not.
fn is_text(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || "'\"();|&<>`".contains(c))
}

fn is_option(text: &str) -> bool {
    !text.contains(char::is_whitespace)
}
