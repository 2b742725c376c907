//! Programs that run other programs: what they run, and whether their exit status speaks for it.

use super::Word;

/// What a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inner {
    /// A command by its words.
    Words { words: Vec<Word>, env: Vec<(String, Word)>, passes_status: bool },
    /// A shell text.
    Text { text: Word, errexit: bool, pipefail: bool },
    /// Something that cannot be known, and why.
    Unknown(&'static str),
}

/// A wrapper: options that take a value, and words to skip before the command.
struct Wrapper {
    name: &'static str,
    valued: &'static [&'static str],
    skip: usize,
    passes_status: bool,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skip: usize, passes_status: bool) -> Wrapper {
    Wrapper { name, valued, skip, passes_status }
}

const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user", "--group", "--host", "--chdir",
            "--prompt",
        ],
        0,
        true,
    ),
    wrapper("doas", &["-u", "-C"], 0, true),
    wrapper("env", &["-u", "-C", "--unset", "--chdir", "-S", "--split-string"], 0, true),
    wrapper("nohup", &[], 0, true),
    wrapper("nice", &["-n", "--adjustment"], 0, true),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0, true),
    wrapper("chrt", &[], 1, true),
    wrapper("taskset", &[], 1, true),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0, true),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1, true),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0, true),
    wrapper("setsid", &[], 0, false),
    wrapper("unshare", &[], 0, true),
    wrapper("command", &[], 0, true),
    wrapper("builtin", &[], 0, true),
    wrapper("exec", &["-a"], 0, true),
    wrapper(
        "xargs",
        &[
            "-n",
            "-I",
            "-i",
            "-P",
            "-L",
            "-l",
            "-d",
            "-E",
            "-s",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--replace",
        ],
        0,
        false,
    ),
    wrapper("watch", &["-n", "--interval"], 0, false),
    wrapper("strace", &["-o", "-e", "-p", "-s", "-E", "-u"], 0, true),
    wrapper("ltrace", &["-o", "-e", "-p", "-s"], 0, true),
    wrapper("parallel", &["-j", "--jobs", "-a", "-S"], 0, false),
    wrapper("entr", &[], 0, false),
    wrapper("chroot", &["--userspec", "--groups"], 1, true),
    wrapper("busybox", &[], 0, true),
    wrapper("npx", &["-p", "--package", "-c", "--call"], 0, true),
    wrapper("bunx", &[], 0, true),
    wrapper("uvx", &["--from", "--with", "-p", "--python"], 0, true),
];

/// Subcommands of tools that run a program in their environment.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("mise", "exec"),
    ("rbenv", "exec"),
    ("pyenv", "exec"),
];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish"];

/// Interpreters that take their program from standard input when no file is named.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "osascript",
    "pwsh",
    "powershell",
];

/// Whether this is a program that runs shell texts.
pub(super) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Whether this is an interpreter of another language.
pub(super) fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        || INTERPRETERS.contains(&program)
}

/// What a command runs, if it is one that runs others.
pub(super) fn inner(program: &str, words: &[Word]) -> Vec<Inner> {
    let arguments = words.get(1..).unwrap_or_default();
    if is_shell(program) {
        return shell_text(arguments).into_iter().collect();
    }
    match program {
        "find" => return found(arguments),
        "eval" => return vec![evaluated(arguments)],
        // `command -v git` only looks the program up.
        "command" if arguments.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) => {
            return Vec::new();
        }
        "env" => {
            if let Some(text) = split_string(arguments) {
                return vec![Inner::Text { text, errexit: false, pipefail: false }];
            }
        }
        _ => {}
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) {
        return wrapped(wrapper, arguments).into_iter().collect();
    }
    let runs =
        RUNNERS.iter().any(|(name, sub)| *name == program && arguments.first().is_some_and(|word| word.text == *sub));
    if runs {
        let rest = arguments.iter().skip(1).skip_while(|word| word.text.starts_with('-')).cloned().collect();
        return vec![Inner::Words { words: rest, env: Vec::new(), passes_status: true }];
    }
    Vec::new()
}

fn wrapped(wrapper: &Wrapper, arguments: &[Word]) -> Option<Inner> {
    let mut rest = arguments.iter().peekable();
    let mut env = Vec::new();
    let mut skip = wrapper.skip;
    while let Some(word) = rest.peek() {
        let text = word.text.as_str();
        if text == "--" {
            rest.next();
            break;
        } else if text.starts_with('-') && text.len() > 1 {
            rest.next();
            if wrapper.valued.contains(&text) {
                rest.next();
            }
        } else if let Some((name, value)) = assigned(text).filter(|_| matches!(wrapper.name, "env" | "sudo" | "doas")) {
            env.push((name.to_owned(), Word { text: value.to_owned(), ..(*word).clone() }));
            rest.next();
        } else if skip > 0 {
            skip -= 1;
            rest.next();
        } else {
            break;
        }
    }
    let mut words: Vec<Word> = rest.cloned().collect();
    if words.is_empty() {
        return None;
    }
    if matches!(wrapper.name, "xargs" | "parallel" | "entr") {
        words.push(Word::unknown("…"));
    }
    if matches!(wrapper.name, "watch" | "parallel") && words.iter().any(|word| word.text.contains([' ', ';', '|'])) {
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        return Some(Inner::Text { text: Word { text, dynamic: false, glob: false }, errexit: false, pipefail: false });
    }
    Some(Inner::Words { words, env, passes_status: wrapper.passes_status })
}

fn assigned(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let plain = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    plain.then_some((name, value))
}

fn split_string(arguments: &[Word]) -> Option<Word> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.text == "-S" || word.text == "--split-string" {
            return words.next().cloned();
        }
        if let Some(text) = word.text.strip_prefix("--split-string=").or_else(|| word.text.strip_prefix("-S")) {
            return Some(Word { text: text.to_owned(), ..word.clone() });
        }
    }
    None
}

/// `bash -c TEXT`; a script file or standard input is not a text.
fn shell_text(arguments: &[Word]) -> Option<Inner> {
    let mut errexit = false;
    let mut pipefail = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.dynamic {
            return Some(Inner::Unknown("a shell is given options that are not known"));
        }
        if text == "-o" || text == "+o" || text == "-O" || text == "+O" || text == "--rcfile" || text == "--init-file" {
            pipefail |= words.next().is_some_and(|option| option.text == "pipefail");
        } else if text.starts_with("--") {
        } else if let Some(flags) = text.strip_prefix('-').filter(|flags| !flags.is_empty()) {
            errexit |= flags.contains('e');
            if flags.contains('o') {
                pipefail |= words.clone().next().is_some_and(|option| option.text == "pipefail");
            }
            if flags.contains('c') {
                let text = words.find(|word| word.text != "pipefail" || !flags.contains('o'))?.clone();
                return Some(Inner::Text { text, errexit, pipefail });
            }
        } else {
            return None;
        }
    }
    None
}

fn evaluated(arguments: &[Word]) -> Inner {
    if arguments.iter().any(|word| !word.known()) {
        return Inner::Unknown("`eval` is given text that is not known");
    }
    let text = arguments.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Inner::Text { text: Word::literal(text), errexit: false, pipefail: false }
}

/// The commands that `find` runs for each file.
fn found(arguments: &[Word]) -> Vec<Inner> {
    let mut commands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let mut command: Vec<Word> = Vec::new();
            for word in words.by_ref() {
                match word.text.as_str() {
                    ";" | "+" => break,
                    "{}" => command.push(Word::unknown("{}")),
                    text if text.contains("{}") => command.push(Word::unknown(text)),
                    _ => command.push(word.clone()),
                }
            }
            if !command.is_empty() {
                commands.push(Inner::Words { words: command, env: Vec::new(), passes_status: false });
            }
        }
    }
    commands
}
