//! What a command changes for those after it: directory, variables, options, the meaning of names.

use std::borrow::Cow;

use super::super::tree::ARGUMENTS;
use super::super::variables::{Value, assigned};
use super::super::{Dir, How, Touch, Word, files, wrappers};
use super::state::name_in;
use super::{State, Walker};
use crate::path::Role;

/// Variables that decide which program a name leads to, or what runs inside it.
const TREACHEROUS: &[&str] = &[
    "PATH",
    "SHELL",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "DYLD_INSERT_LIBRARIES",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "PYTEST_ADDOPTS",
    "GOFLAGS",
    "npm_config_if_present",
    "npm_config_script_shell",
    "JUST_DRY_RUN",
    "MAVEN_ARGS",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_HOME",
    "RUSTC",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "SPEC_OPTS",
    "TOX_OVERRIDE",
    "TOX_SKIP_ENV",
];

/// Variables by which a shell runs something by itself, or enters another directory than is written.
const LASTING: &[&str] = &["CDPATH", "HOME", "IFS", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4"];

/// Variables that say which program, or which command of git's, a name stands for.
const NAMES_OF_PROGRAMS: &[&str] = &["BASH_CMDS", "BASH_ALIASES", "GIT_CONFIG_KEY_", "GIT_CONFIG_PARAMETERS"];

/// Variables that hold a text which some program runs.
const RUN: &[&str] = &[
    "AR",
    "CC",
    "CXX",
    "LD",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH_COMMAND",
    "GIT_PROXY_COMMAND",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "GIT_ASKPASS",
    "GIT_SSH",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
];

/// Variables that a shell expands by itself, and runs what is substituted in them.
const PROMPTS: &[&str] = &["PROMPT", "PS0", "PS1", "PS2", "PS3", "PS4", "RPROMPT"];

/// Variables whose words a program takes for its own arguments.
const ARGUED: &[(&str, &[&str])] = &[
    ("MAKEFLAGS", &["gmake", "make"]),
    ("GNUMAKEFLAGS", &["gmake", "make"]),
    ("TAR_OPTIONS", &["tar"]),
    ("UNZIP", &["unzip"]),
    ("ZIPOPT", &["zip"]),
    ("XZ_OPT", &["xz", "unxz"]),
    ("LESS", &["less"]),
];

/// Words of the grammar: an alias of that name would change how the text is read.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "coproc",
];

/// Whether a variable decides what runs.
pub(super) fn is_treacherous(name: &str) -> bool {
    TREACHEROUS.contains(&name)
        || name.starts_with("CARGO_ALIAS_")
        || name.starts_with("CARGO_TARGET_") && name.ends_with("_RUNNER")
}

/// The text that a variable has some program run, or a shell expand.
pub(super) fn run_by(name: &str, value: &Word) -> Option<Word> {
    let substitutes = || value.text.contains("$(") || value.text.contains('`');
    let text = match value.dynamic {
        false if RUN.contains(&name) => value.text.trim_start_matches('|').to_owned(),
        // What it says beside that is shown, not run.
        false if PROMPTS.contains(&name) && substitutes() => format!(": \"{}\"", value.text.replace('"', "\\\"")),
        _ => return None,
    };
    Some(Word { text, ..value.clone() })
}

/// The words of a command with those that variables add to its arguments.
pub(super) fn argued<'a>(program: &str, words: &'a [Word], env: &[(String, Word)]) -> Cow<'a, [Word]> {
    let takes = |name: &str| ARGUED.iter().any(|(known, by)| *known == name && by.contains(&program));
    let added = env.iter().filter(|(name, value)| takes(name) && !value.dynamic);
    let added: Vec<Word> = added.flat_map(|(_, value)| told(&value.text)).collect();
    match (words.split_first(), added.is_empty()) {
        (Some((first, rest)), false) => std::iter::once(first).chain(&added).chain(rest).cloned().collect(),
        _ => words.into(),
    }
}

/// The words of a text in which a blank behind a backslash is part of a word.
fn told(text: &str) -> Vec<Word> {
    let held = text.replace("\\ ", "\u{0}");
    held.split_whitespace().map(|word| Word::literal(word.replace('\u{0}', " "))).collect()
}

/// Whether a shell in which this variable is set does something else than one in which it is not.
fn rewires(name: &str) -> bool {
    LASTING.contains(&name) || is_treacherous(name) || names_programs(name)
}

fn names_programs(name: &str) -> bool {
    NAMES_OF_PROGRAMS.iter().any(|known| name.starts_with(known))
}

/// Whether a command declares variables.
pub(super) fn declares(words: &[Word]) -> bool {
    words
        .first()
        .is_some_and(|word| matches!(word.text.as_str(), "export" | "declare" | "local" | "readonly" | "typeset"))
}

impl Walker<'_> {
    pub(super) fn assign_all(&mut self, env: &[(String, Word)], state: &mut State) {
        for (name, value) in env {
            set(name, state);
            // It has wildcards match hidden files, too.
            state.matching.hidden |= name == "GLOBIGNORE";
            state.variables.assign(name, value.clone());
            if state.allexport {
                state.exported.insert(name.clone());
            }
        }
    }

    /// Whether variables that are set for a command, or for all, say what a name stands for.
    pub(super) fn named(&mut self, env: &[(String, Word)]) {
        if env.iter().any(|(name, _)| names_programs(name)) {
            self.opaque("it says which program a name stands for");
        }
    }

    /// A directory that a pattern chooses is not known afterwards; what is done in it may be done to what guards us.
    fn entered(&mut self, arguments: &[Word], state: &State) {
        let chosen = arguments.iter().filter(|word| word.glob);
        let below = |dir: &Word| Word { text: format!("{}/*", dir.text.trim_end_matches('/')), ..dir.clone() };
        let touch = |dir| Touch { how: How::Named, ..Touch::plain(below(dir), Role::Write, state.dir.clone()) };
        let touches = chosen.map(touch).collect();
        self.touch(touches, state);
    }

    /// What a command changes for those after it.
    pub(super) fn effects(&mut self, program: &str, words: &[Word], state: &mut State) {
        let arguments = words.get(1..).unwrap_or_default();
        match program {
            "cd" => {
                self.entered(arguments, state);
                enter(arguments, state);
            }
            "pushd" => push(arguments, state),
            "popd" => state.lose(),
            "set" => options(arguments, state),
            "shopt" => {
                state.unproven = true;
                state.rewired |= has_letter(arguments, 's');
                state.matching.told(arguments);
            }
            "setopt" | "unsetopt" => {
                state.rewired = true;
                state.matching.told(arguments);
            }
            "shift" => shift(arguments, state),
            "enable" | "hash" => {
                state.unproven = true;
                state.rewired |= !arguments.is_empty();
                if has_letter(arguments, 'p') || has_letter(arguments, 'f') {
                    self.opaque("it says which program a name stands for");
                }
            }
            "trap" | "return" | "break" | "continue" | "exec" => {
                state.unproven = true;
                state.rewired |= matches!(program, "trap" | "exec");
                state.left |= program != "trap";
            }
            "exit" | "logout" => {
                state.unproven |= !fails(arguments);
                state.left |= !fails(arguments);
            }
            "alias" => self.aliased(arguments, state),
            "compgen" | "complete" | "bind" => {
                state.rewired |= !arguments.is_empty();
                self.opaque("it runs commands that are not read");
            }
            "source" | "." => self.sourced(arguments, words, state),
            "eval" => {
                state.forget_all();
                state.unproven = true;
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                self.declared(arguments, state);
                export(words, arguments, state);
            }
            "mapfile" | "readarray" if has_letter(arguments, 'C') => self.opaque("it runs commands that are not read"),
            "unset" => {
                let rewired = state.rewired || arguments.iter().any(|word| word.text == "PATH");
                set_by_name(arguments, state);
                // Without the others a shell does what it does by itself.
                state.rewired = rewired;
                arguments.iter().for_each(|word| {
                    state.exported.remove(&word.text);
                });
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" => set_by_name(arguments, state),
            "printf" if has_letter(arguments, 'v') => {
                let named = arguments.iter().position(|word| is_cluster(&word.text, 'v')).unwrap_or_default();
                set_by_name(arguments.get(named..arguments.len().min(named + 2)).unwrap_or_default(), state);
            }
            _ => {}
        }
    }

    /// An alias does nothing until its name is used; what it then runs is not read.
    fn aliased(&mut self, arguments: &[Word], state: &mut State) {
        for word in arguments.iter().filter(|word| word.text != "-p" && word.text != "--") {
            let name = word.text.split('=').next().unwrap_or_default();
            let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
            if word.dynamic || !plain || name.starts_with('-') || RESERVED.contains(&name) {
                self.opaque("it defines an alias");
            }
            if word.text.contains('=') {
                state.aliases.insert(name.to_owned());
                state.functions.insert(name.to_owned(), Vec::new());
            }
        }
    }

    fn sourced(&mut self, arguments: &[Word], words: &[Word], state: &mut State) {
        let file = arguments.first();
        if !wrappers::reads_input("source", words) && file.is_none_or(|word| !word.known()) {
            self.opaque("it reads commands from a file that is not known");
        }
        state.variables.forget_all();
        if !file.is_some_and(files::sets_up) {
            state.unproven = true;
            state.lose();
        }
    }

    /// What is declared other than by `NAME=value` as the grammar sees it: in quotes, or with a new meaning.
    fn declared(&mut self, arguments: &[Word], state: &mut State) {
        if arguments.iter().any(|word| word.text.contains("$(") && !word.dynamic) {
            self.opaque("it declares a value that runs a command");
        }
        for word in arguments {
            match word.text.strip_prefix(['-', '+']) {
                Some(letters) if letters.contains(['n', 'l', 'u', 'i', 'c', 'A']) && word.known() => {
                    state.variables.distrust();
                }
                Some(_) if word.known() => {}
                _ if word.dynamic => {
                    state.variables.forget_all();
                    state.unproven |= word.text.starts_with('$') || is_treacherous(name_in(&word.text));
                    state.rewired |= rewires(name_in(&word.text));
                }
                _ if word.text.contains('=') => {
                    let name = name_in(&word.text);
                    set(name, state);
                    state.variables.forget(name);
                }
                _ => {}
            }
        }
    }
}

/// Whether a declaration hands variables on to the commands that follow.
pub(super) fn exports(words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    match words.first().map(|word| word.text.as_str()) {
        Some("export") => !has_letter(arguments, 'n'),
        _ => has_letter(arguments, 'x'),
    }
}

/// Variables that are declared by their names alone, or in quotes.
fn export(words: &[Word], arguments: &[Word], state: &mut State) {
    let names = arguments.iter().filter(|word| !word.text.starts_with(['-', '+'])).map(|word| name_in(&word.text));
    if exports(words) {
        state.exported.extend(names.map(str::to_owned));
    } else if words.first().is_some_and(|word| word.text == "export") {
        names.for_each(|name| {
            state.exported.remove(name);
        });
    }
}

/// `shift`, by one where no number is given.
fn shift(arguments: &[Word], state: &mut State) {
    let count = match arguments {
        [] => Some(1),
        [count] if count.known() => count.text.parse().ok(),
        _ => None,
    };
    match count {
        Some(count) => state.variables.shift(count),
        None => state.variables.forget(ARGUMENTS),
    }
}

/// A variable gets another value, or none.
pub(super) fn set(name: &str, state: &mut State) {
    state.unproven |= is_treacherous(name) || names_programs(name);
    state.rewired |= rewires(name);
}

/// Commands that set the variables they name.
fn set_by_name(arguments: &[Word], state: &mut State) {
    for word in arguments {
        // The name may be known where the rest of the word is not.
        set(name_in(&word.text), state);
        assigned(&word.text).for_each(|name| set(name, state));
        state.unproven |= word.dynamic && (word.several || name_in(&word.text).is_empty());
    }
    if arguments.iter().any(|word| word.dynamic) {
        return state.variables.forget_all();
    }
    for word in arguments {
        state.variables.forget(name_in(&word.text));
        state.variables.forget(&word.text);
    }
}

fn has_letter(arguments: &[Word], letter: char) -> bool {
    arguments.iter().any(|word| is_cluster(&word.text, letter))
}

/// `cd`: the directory, and where else the text may be.
fn enter(arguments: &[Word], state: &mut State) {
    let mut targets = arguments.iter().skip_while(|word| matches!(word.text.as_str(), "-L" | "-e" | "--"));
    let home = Word::literal("~");
    let target = targets.next().unwrap_or(&home);
    let by_home = target.text.starts_with('~') && state.variables.get("HOME") != Value::Outside;
    // Along `CDPATH` a plain name may lead anywhere.
    let plain = !target.text.starts_with(['/', '~', '.']);
    let by_path = plain && state.variables.get("CDPATH") != Value::Outside;
    if target.text.starts_with(['-', '+']) || by_home || by_path || target.text.is_empty() {
        return state.lose();
    }
    state.dir = state.dir.enter(target);
    state.astray = state.astray.iter().map(|dir| dir.enter(target)).collect();
    if state.dir == Dir::Unknown {
        state.lose();
    }
}

/// `pushd DIR` enters it; without one, or with options, the stack decides.
fn push(arguments: &[Word], state: &mut State) {
    match arguments {
        [only] if !only.text.starts_with(['-', '+']) => enter(arguments, state),
        _ => state.lose(),
    }
}

/// `set`: only what stands before the first operand is an option; operands become the arguments of the text.
fn options(arguments: &[Word], state: &mut State) {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let sign = word.text.chars().next().filter(|c| "-+".contains(*c));
        let letters = word.text.get(1..).unwrap_or_default();
        let Some(sign) = sign.filter(|_| !letters.is_empty() && !letters.starts_with('-')) else {
            let operand = sign.is_none().then_some(word);
            let operands: Vec<Word> = operand.into_iter().chain(words).cloned().collect();
            // A sign alone leaves them as they are.
            if !operands.is_empty() || letters == "-" {
                state.variables.assign_elements(ARGUMENTS, operands);
            }
            return;
        };
        let on = sign == '-';
        for letter in letters.chars() {
            match letter {
                'e' => state.errexit = on,
                'a' => state.allexport = on,
                'n' => state.unproven = true,
                // Some shells take the operands for the elements of an array.
                'A' => state.variables.distrust(),
                'P' => state.lose(),
                'o' => match words.next().map(|word| word.text.as_str()) {
                    Some("errexit") => state.errexit = on,
                    Some("allexport") => state.allexport = on,
                    Some("pipefail") => state.pipefail = on,
                    Some("noexec") => state.unproven = true,
                    Some("physical") => state.lose(),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

fn is_cluster(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Whether `exit` leaves with a failure for sure.
fn fails(arguments: &[Word]) -> bool {
    arguments.first().is_some_and(|word| word.known() && word.text.parse::<u32>().is_ok_and(|status| status % 256 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_join_as_written() {
        let cd = |dir: &Dir, to: &str| {
            let mut state = State { dir: dir.clone(), ..State::default() };
            enter(&[Word::literal(to)], &mut state);
            state.dir
        };
        assert_eq!(cd(&Dir::Here, "a"), Dir::At("a".into()));
        assert_eq!(cd(&Dir::At("a".into()), "../b"), Dir::At("a/../b".into()));
        assert_eq!(cd(&Dir::At("a".into()), "/b"), Dir::At("/b".into()));
        assert_eq!(cd(&Dir::Unknown, "b"), Dir::Unknown);
        assert_eq!(cd(&Dir::Unknown, "~/b"), Dir::At("~/b".into()));
        // What a shell takes back; where a program was told to work may be a link, and is not taken back.
        let folded = |dir: Dir| dir.folded();
        assert_eq!(folded(cd(&Dir::At("a".into()), "../b")), Dir::At("b".into()));
        assert_eq!(folded(cd(&Dir::At("a".into()), "..")), Dir::Here);
        assert_eq!(folded(cd(&Dir::At("~/a".into()), "../..")), Dir::At("~/a/../..".into()));
        let started = Dir::At("x/..".into()).start(&Word::literal("./a/l"));
        assert_eq!(started, Dir::At("a/l/.".into()));
        assert_eq!(folded(cd(&started, "./b/..")), Dir::At("a/l/./".into()));
        assert_eq!(folded(cd(&started, "../b/../..")), Dir::At("a/l/./../..".into()));
        assert_eq!(cd(&Dir::Here, "-P"), Dir::Unknown);
        let mut state = State::default();
        enter(&[], &mut state);
        assert_eq!(state.dir, Dir::At("~".into()));
    }
}
