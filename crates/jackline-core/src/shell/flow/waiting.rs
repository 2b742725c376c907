//! Programs that wait for what they do: some hosts let their agent write to them later, where no hook sees it.

use super::listening::{is_terminal, operands};
use crate::shell::{Word, files, wrappers};

/// Programs that take the terminal, whatever else they are given.
const SCREENS: &[&str] = &[
    "abduco", "byobu", "dtach", "emacs", "ex", "gdb", "hx", "iex", "joe", "jshell", "kak", "less", "lldb", "login",
    "lynx", "mc", "micro", "more", "nano", "newgrp", "nnn", "nvim", "pico", "ranger", "rlwrap", "screen", "script",
    "telnet", "tig", "tmux", "vi", "view", "vim", "vimdiff", "visudo", "zellij",
];

/// Programs that do what their standard input says, where nothing is redirected to it.
const READERS: &[&str] =
    &["at", "batch", "ed", "expect", "ftp", "parallel", "patch", "redis-cli", "runuser", "sftp", "su", "xargs"];

/// Words that tell such a program what to do, so that it waits for nothing: how one begins.
const TOLD_ALL: &[(&str, &[&str])] = &[
    ("at", &["-l", "-c", "-r", "-d", "-f"]),
    ("emacs", &["--batch", "-batch", "--script"]),
    ("gdb", &["--batch", "-batch"]),
    ("lldb", &["--batch", "-b"]),
    ("lynx", &["-dump", "-source"]),
    ("parallel", &[":::", "-a", "--arg-file"]),
    ("patch", &["-i", "--input"]),
    ("runuser", &["-c", "--command"]),
    ("screen", &["-ls", "-list", "-dm"]),
    ("su", &["-c", "--command"]),
    ("xargs", &["-a", "--arg-file"]),
];

/// Words after which a program of many is a shell, or a console of another kind.
const CONSOLES: &[(&str, &[&str])] = &[
    ("flask", &["shell"]),
    ("manage.py", &["shell", "shell_plus", "dbshell"]),
    ("pipenv", &["shell"]),
    ("poetry", &["shell"]),
    ("rails", &["console", "c", "dbconsole"]),
    ("sbt", &["console", "shell"]),
];

/// Programs that do what their standard input says, where they are given nothing else.
const PROMPTS: &[&str] = &[
    "bpython", "clisp", "dc", "elvish", "erl", "gnuplot", "gp", "guile", "ipython", "irb", "lftp", "m4", "maxima",
    "nu", "ocaml", "octave", "pry", "psysh", "ptpython", "R", "racket", "sage", "sbcl", "sbt", "scala", "swipl",
    "utop", "wish", "xonsh",
];

/// Programs that take what they do from an argument, and wait for it where it is missing: how such an argument begins.
const TOLD: &[(&str, &[&str])] = &[
    ("cqlsh", &["-e", "--execute", "-f", "--file"]),
    ("ghci", &["-e"]),
    ("mariadb", &["-e", "--execute"]),
    ("mongosh", &["--eval", "--file", "-f"]),
    ("mysql", &["-e", "--execute"]),
    ("psql", &["-c", "--command", "-f", "--file", "-l", "--list"]),
];

/// The same where it is the second word that is no option; and the options whose values are none either.
const SECOND: &[(&str, &[&str])] = &[
    ("duckdb", &["-init", "-cmd"]),
    ("sqlite3", &["-init", "-cmd", "-separator", "-newline", "-nullvalue", "-vfs"]),
    (
        "ssh",
        &[
            "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-R", "-S",
            "-W", "-w",
        ],
    ),
];

/// Bare shells as a text in another language names them.
const SHELLS_NAMED: &[&str] =
    &["'bash'", "'sh'", "'zsh'", "\"bash\"", "\"sh\"", "\"zsh\"", "/bin/bash", "/bin/sh", "/bin/zsh"];
/// How such a text starts one.
const STARTS: &[&str] = &["exec", "popen", "spawn", "subprocess", "system"];

/// Programs that run another in a place of its own, and hand the terminal on where they are told to.
const CONTAINERS: &[&str] =
    &["docker", "docker-compose", "kubectl", "lxc", "nerdctl", "oc", "podman", "podman-compose"];

/// Options of theirs that have no value, beside clusters of short ones.
const SWITCHES: &[&str] = &[
    "--build",
    "--detach",
    "--init",
    "--interactive",
    "--no-deps",
    "--no-TTY",
    "--no-tty",
    "--privileged",
    "--publish-all",
    "--quiet",
    "--quiet-pull",
    "--read-only",
    "--remove-orphans",
    "--rm",
    "--service-ports",
    "--stdin",
    "--tty",
    "--use-aliases",
];
/// Letters of short ones that have none.
const SWITCH_LETTERS: &str = "PTdiqt";

/// Modules of Python's that wait.
const MODULES: &[&str] = &["asyncio", "bpython", "code", "IPython", "pdb", "ptpython", "pty", "sqlite3"];

/// What a text in another language asks for that reads its standard input or the terminal, in small letters.
const ASKS: &[&str] = &[
    "'repl'",
    "/dev/tty",
    "\"repl\"",
    "argf.",
    "binding.irb",
    "binding.pry",
    "code.interact",
    "dofile()",
    "fileinput.input()",
    "open(0",
    "os.read(0",
    "readfilesync(0",
    "readsync(0",
    "repl.start",
    "set_trace(",
    "stdin",
];
/// The same where it is a name by itself.
const ASKS_BY_NAME: &[&str] = &["breakpoint(", "gets", "input(", "io.read", "readline"];

/// Variables that name the editor which git opens; what they say is read as a text of its own.
const EDITORS: &[&str] = &["EDITOR", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL"];
/// Settings of git's that do.
const EDITOR_SETTINGS: &[&str] = &["core.editor=", "sequence.editor="];
/// How words begin with which `git commit` has its message, or makes no commit.
const MESSAGES: &[&str] = &[
    "--dry-run",
    "--file",
    "--fixup",
    "--help",
    "--message",
    "--no-edit",
    "--porcelain",
    "--reuse-message",
    "--short",
];

/// Words after `git am` that wait for nothing.
const GOING_ON: &[&str] = &["--abort", "--continue", "--quit", "--skip", "--show-current-patch"];

/// Single options with which an interpreter and its kin only show something, or find what to run by themselves.
const SHOWS: &[(&str, &[&str])] = &[
    ("bun", &["-v", "-h", "test"]),
    ("deno", &["-V", "-h", "test"]),
    ("lua", &["-v"]),
    ("luajit", &["-v"]),
    ("node", &["-v", "-h", "--test"]),
    ("nodejs", &["-v", "-h", "--test"]),
    ("perl", &["-v", "-V", "-h"]),
    ("php", &["-v", "-h", "-i", "-m"]),
    ("ruby", &["-v", "-h"]),
    ("ssh", &["-V"]),
];

/// Whether a command is told to show something and nothing else.
fn shows(program: &str, arguments: &[Word]) -> bool {
    let python = program.starts_with("python") || program.starts_with("pypy");
    let known = SHOWS.iter().find(|(name, _)| *name == program).map(|(_, options)| *options);
    let options = known.unwrap_or(if python { &["-V", "-VV", "-h"] } else { &[] });
    arguments.first().is_some_and(|first| options.contains(&first.text.as_str()))
        && arguments.iter().skip(1).all(|word| word.text.starts_with("--test"))
}

/// Whether a command waits for what it does; `fed` when something is redirected or piped into it.
pub(super) fn waits(program: &str, words: &[Word], fed: bool) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let asked = |word: &Word| matches!(word.text.as_str(), "--version" | "--help");
    if arguments.iter().any(asked) || shows(program, arguments) {
        return false;
    }
    let told = TOLD_ALL.iter().any(|(name, fronts)| *name == program && begins(arguments, fronts))
        || program == "tmux" && is_unattached(arguments);
    SCREENS.contains(&program) && !told
        || takes_terminal(program, arguments, fed)
        || !fed && (interprets(program, words) || !told && reads(program, arguments) || hands_on(program, arguments))
}

/// Whether a command of tmux's leaves the terminal alone.
fn is_unattached(arguments: &[Word]) -> bool {
    let Some((first, rest)) = arguments.split_first() else { return false };
    let detached = || rest.iter().any(|word| word.text == "-d");
    begins(std::slice::from_ref(first), &["ls", "list-", "kill-", "has", "capture-"])
        || matches!(first.text.as_str(), "new" | "new-session") && detached()
}

/// Whether a command has git open an editor, in which anything may be typed.
pub(super) fn opens_editor(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).filter(|_| program == "git").unwrap_or_default();
    let rest = files::without_git_options(arguments);
    let Some((sub, rest)) = rest.split_first() else { return false };
    let named = arguments.iter().any(|word| EDITOR_SETTINGS.iter().any(|setting| word.text.starts_with(setting)));
    let letters = |letters: &'static [char]| rest.iter().any(|word| short(word) && word.text.contains(letters));
    !named
        && match sub.text.as_str() {
            "commit" => !begins(rest, MESSAGES) && !letters(&['m', 'F', 'C', 'h']),
            "rebase" => letters(&['i']) || begins(rest, &["--interactive", "--edit-todo"]),
            _ => false,
        }
}

/// Whether variables name the editor that would be opened.
pub(super) fn names_editor(env: &[(String, Word)]) -> bool {
    env.iter().any(|(name, value)| EDITORS.contains(&name.as_str()) && value.known())
}

/// Whether a word begins in one of these ways.
fn begins(arguments: &[Word], fronts: &[&str]) -> bool {
    arguments.iter().any(|word| fronts.iter().any(|front| word.text.starts_with(front)))
}

/// Whether a program that does what its input says is given nothing else.
fn reads(program: &str, arguments: &[Word]) -> bool {
    let begins = |fronts: &[&str]| begins(arguments, fronts);
    let count = operands(arguments);
    match program {
        "awk" | "gawk" | "mawk" | "nawk" => count < 2 && runs_in_awk(arguments),
        // It may run each line, or write it anywhere.
        "sed" => count < if begins(&["-e", "-f", "--expression", "--file"]) { 1 } else { 2 },
        "make" | "gmake" => begins(&["-f-", "--file=-", "--makefile=-"]) || is_given(arguments, "-f", "-"),
        "git" => patches(arguments),
        "crontab" => arguments.iter().all(|word| word.text == "-") || begins(&["-e"]),
        "psql" if begins(&["-f-", "--file=-"]) || is_given(arguments, "-f", "-") => true,
        "nix-shell" => !begins(&["--run", "--command"]),
        "redis-cli" => without_values(arguments, &["-h", "-p", "-a", "-n", "-u", "-s"]) == 0,
        "expect" => count == 0 && !begins(&["-c"]) || arguments.iter().any(|word| word.text.contains("interact")),
        "vagrant" => arguments.first().is_some_and(|word| word.text == "ssh") && !begins(&["-c", "--command"]),
        "socat" => arguments.iter().any(|word| matches!(word.text.as_str(), "-" | "STDIO" | "STDIN" | "READLINE")),
        _ => {
            READERS.contains(&program)
                || PROMPTS.contains(&program) && count == 0
                || TOLD.iter().any(|(name, fronts)| *name == program && !begins(fronts))
                || SECOND.iter().any(|(name, valued)| *name == program && without_values(arguments, valued) < 2)
                || wrappers::bare(program, arguments).is_some()
                || is_console(program, arguments)
        }
    }
}

/// Words that are neither options nor values of these.
fn without_values(arguments: &[Word], valued: &[&str]) -> usize {
    let before = |at: usize| at.checked_sub(1).and_then(|before| arguments.get(before));
    let is_value = |at: usize| before(at).is_some_and(|before| valued.contains(&before.text.as_str()));
    arguments.iter().enumerate().filter(|(at, word)| !word.text.starts_with('-') && !is_value(*at)).count()
}

fn is_console(program: &str, arguments: &[Word]) -> bool {
    let Some((first, rest)) = arguments.split_first() else { return false };
    // A script is called by its interpreter, or by its name.
    let script = first.text.rsplit('/').next().unwrap_or_default();
    let is_told = || begins(rest, &["-c", "--command"]);
    CONSOLES.iter().any(|(name, words)| *name == program && words.contains(&first.text.as_str()) && !is_told())
        || wrappers::is_interpreter(program) && !script.starts_with('-') && is_console(script, rest)
}

/// Whether a text of awk's runs something for what it reads, or a bare shell; at its beginning it has read nothing yet.
fn runs_in_awk(arguments: &[Word]) -> bool {
    let runs = |text: &str| text.contains("system(") || text.contains('|');
    let begins = |text: &str| text.trim_start().starts_with("BEGIN");
    arguments.iter().any(|word| {
        word.text.contains("getline") || starts_shell(&word.text) || runs(&word.text) && !begins(&word.text)
    })
}

/// Whether a text in another language starts a shell that is told nothing.
fn starts_shell(text: &str) -> bool {
    let told_nothing = |(at, shell): (usize, &str)| {
        let rest = text.get(at + shell.len()..).unwrap_or_default().trim_start_matches(['\'', '"', ']', ' ']);
        let options = rest.strip_prefix(',').map(str::trim_start);
        rest.is_empty()
            || rest.starts_with([')', ';', '}', '\n'])
            || options.is_some_and(|options| !options.starts_with(['\'', '"', '[']))
    };
    STARTS.iter().any(|start| text.contains(start))
        && SHELLS_NAMED.iter().any(|shell| text.match_indices(shell).any(told_nothing))
}

fn is_given(arguments: &[Word], option: &str, value: &str) -> bool {
    arguments.windows(2).any(|pair| matches!(pair, [first, second] if first.text == option && second.text == value))
}

/// Whether git is to apply a patch that no argument names.
fn patches(arguments: &[Word]) -> bool {
    let words = files::without_git_options(arguments);
    let mut rest = words.iter();
    let applies = rest.next().is_some_and(|sub| matches!(sub.text.as_str(), "apply" | "am" | "fast-import"));
    applies && rest.all(|word| word.text.starts_with('-') && !GOING_ON.contains(&word.text.as_str()))
}

/// Whether a container is given the terminal, and what is run in it waits for what is typed there.
fn hands_on(program: &str, arguments: &[Word]) -> bool {
    let told = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        // Behind them may stand one with a value.
        letters.chars().take_while(|c| "adit".contains(*c)).any(|c| c == 'i')
            || matches!(word.text.as_str(), "--interactive" | "--stdin" | "--interactive=true" | "--stdin=true")
    };
    let word = |text: &str| arguments.iter().any(|word| word.text == text);
    // Some of their commands hand it on unless they are told not to.
    let unasked = (word("compose") || program.ends_with("-compose")) && !word("-T");
    let told = arguments.iter().any(told);
    CONTAINERS.contains(&program) && (word("attach") || (told || unasked) && waits_inside(arguments, told))
}

/// Whether what is run in a container waits; what it runs by itself does only if `told` so.
fn waits_inside(arguments: &[Word], told: bool) -> bool {
    let mut rest = arguments.iter().skip_while(|word| !matches!(word.text.as_str(), "exec" | "run"));
    if rest.next().is_none() {
        return told;
    }
    let rest: Vec<Word> = rest.cloned().collect();
    let command = match rest.iter().position(|word| word.text == "--") {
        Some(end) => rest.get(end + 1..).unwrap_or_default(),
        None => {
            let behind = rest.get(options(&rest) + 1..).unwrap_or_default();
            behind.get(options(behind)..).unwrap_or_default()
        }
    };
    match command.first() {
        Some(first) => waits(first.text.rsplit('/').next().unwrap_or_default(), command, false),
        None => told,
    }
}

/// How many words are options, and values of these.
fn options(words: &[Word]) -> usize {
    let mut at = 0;
    while let Some(option) = words.get(at).map(|word| word.text.as_str()).filter(|text| text.starts_with('-')) {
        let letters = option.trim_start_matches(|c| SWITCH_LETTERS.contains(c) || c == '-');
        let alone = match option.strip_prefix("--") {
            Some(name) => name.contains('=') || SWITCHES.contains(&option),
            // The last letter's value is the next word, another's is the rest of this one.
            None => letters.chars().count() != 1,
        };
        at += if alone { 1 } else { 2 };
    }
    at
}

/// Whether a program that is not only told of it is given the terminal by its name.
fn takes_terminal(program: &str, arguments: &[Word], fed: bool) -> bool {
    let only_told = matches!(program, "echo" | "printf" | "test" | "[" | "ls" | "stat" | "file" | "readlink" | "tee");
    !only_told && arguments.iter().any(|word| is_terminal(&word.text, fed))
}

/// Whether a shell or an interpreter takes what it runs from its input, or goes on with it.
fn interprets(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let interpreter = wrappers::is_interpreter(program);
    (wrappers::is_shell(program) || interpreter) && (wrappers::reads_input(program, words) || stays(program, arguments))
        || interpreter && program != "sqlite3" && wrappers::has_text(program, words) && asks(program, arguments)
        || interpreter && is_console(program, arguments)
        || matches!(program, "source" | ".") && wrappers::reads_input(program, words)
}

/// Whether a text in another language asks for its input.
fn asks(program: &str, arguments: &[Word]) -> bool {
    let lines = matches!(program, "perl" | "ruby");
    let asks = |word: &Word| {
        let text = word.text.to_lowercase();
        ASKS.iter().any(|sign| text.contains(sign))
            || ASKS_BY_NAME.iter().any(|name| is_name(&text, name))
            || starts_shell(&text)
            || lines && (text.contains("<>") || text.contains("$<"))
    };
    // It is run for each line of the input.
    let each = |word: &Word| short(word) && word.text.contains(['n', 'p']);
    arguments.iter().any(asks) || lines && arguments.iter().any(each) && operands(arguments) < 2
}

/// Whether a text has this name with nothing before it that would make it another.
fn is_name(text: &str, name: &str) -> bool {
    let other = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    text.match_indices(name).any(|(at, _)| !text.get(..at).is_some_and(|before| before.ends_with(other)))
}

fn short(word: &Word) -> bool {
    word.text.starts_with('-') && !word.text.starts_with("--")
}

/// Whether a shell or an interpreter is told to go on reading once its text is done.
fn stays(program: &str, arguments: &[Word]) -> bool {
    let mut options = arguments.iter().take_while(|word| word.text.starts_with('-'));
    let first = arguments.first().map(|word| word.text.as_str()).unwrap_or_default();
    let has = |letter: char| move |word: &Word| short(word) && word.text.contains(letter);
    match program {
        "perl" => options.any(|word| word.text.starts_with("-d")),
        "php" => options.any(has('a')),
        "ruby" => arguments.iter().any(|word| word.text.starts_with("-rdebug")),
        "bun" | "deno" => first == "repl",
        "node" | "nodejs" => first == "inspect" || options.any(is_interactive),
        // Elsewhere `-i` is another thing: perl and ruby edit files in place with it.
        "julia" | "lua" | "luajit" => options.any(is_interactive),
        _ if program.starts_with("python") || program.starts_with("pypy") => {
            let module = arguments.iter().skip_while(|word| word.text != "-m").nth(1);
            module.is_some_and(|word| MODULES.contains(&word.text.as_str())) || options.any(is_interactive)
        }
        _ => wrappers::is_shell(program) && options.any(is_interactive),
    }
}

fn is_interactive(word: &Word) -> bool {
    word.text == "--interactive" || short(word) && word.text.contains('i')
}
