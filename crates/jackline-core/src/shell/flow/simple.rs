//! A simple command: its words, what they run, what they touch, and what they change for the commands after it.

use super::super::tree::{RawWord, RedirKind, Simple};
use super::super::wrappers::{self, Inner};
use super::super::{Command, Dir, Redirect, Word, files, words};
use super::{Standing, State, Walker};

/// Words that make a program only describe itself, or only say what it would do.
const NO_RUN: &[&str] = &["--help", "-h", "--version", "-V", "--dry-run", "--no-run", "--list", "--collect-only"];

/// Variables that decide which program a name leads to, or what runs inside it.
const TREACHEROUS: &[&str] =
    &["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "DYLD_INSERT_LIBRARIES"];

/// A simple command with its words expanded.
struct Expanded {
    words: Vec<Word>,
    env: Vec<(String, Word)>,
    redirects: Vec<Redirect>,
    /// Text on its standard input, from a here-document or here-string.
    input: Option<Word>,
    /// Its standard input comes from a file.
    from_file: bool,
}

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, state: &mut State, standing: Standing) -> Result<(), String> {
        self.bounded()?;
        let raw = simple.words.iter().chain(simple.assigns.iter().flat_map(|assign| &assign.values));
        raw.collect::<Vec<_>>().into_iter().try_for_each(|word| self.substituted(word, state))?;
        let standing = self.redirected(&simple.redirs, state, standing)?;
        let expanded = self.expand(simple, state);
        if expanded.words.is_empty() {
            assign_all(&expanded.env, state);
            return Ok(());
        }
        let declares = declares(&expanded.words);
        if declares {
            assign_all(&expanded.env, state);
        }
        self.run(expanded, state, standing)
    }

    fn expand(&self, simple: &Simple, state: &State) -> Expanded {
        let variables = &state.variables;
        let value = |assign: &super::Assign| match assign.values.as_slice() {
            [value] if assign.plain => words::expand_whole(value, variables),
            _ => Word::unknown(format!("${}", assign.name)),
        };
        let file = |word: &RawWord| words::expand_whole(word, variables);
        let files = simple.redirs.iter().filter(|redir| {
            matches!(redir.kind, RedirKind::Write | RedirKind::Read | RedirKind::ReadWrite)
                && !super::is_process(&redir.word)
        });
        Expanded {
            words: simple.words.iter().flat_map(|word| words::expand(word, variables)).collect(),
            env: simple.assigns.iter().map(|assign| (assign.name.clone(), value(assign))).collect(),
            redirects: files
                .map(|redir| Redirect { to: file(&redir.word), writes: redir.kind != RedirKind::Read })
                .collect(),
            input: simple.redirs.iter().rev().find_map(|redir| match redir.kind {
                RedirKind::HereString => Some(file(&redir.word)),
                RedirKind::HereDocument(number) => Some(self.bodies.get(number).map(file).unwrap_or_default()),
                _ => None,
            }),
            from_file: simple.redirs.iter().any(|redir| redir.kind == RedirKind::Read && redir.standard),
        }
    }

    /// A command with known words, by itself or inside a wrapper.
    fn run(&mut self, expanded: Expanded, state: &mut State, standing: Standing) -> Result<(), String> {
        self.bounded()?;
        let command = Command {
            proven: standing.proves && proves(&expanded.words, &expanded.env, state),
            words: expanded.words,
            env: expanded.env,
            redirects: expanded.redirects,
        };
        let Some(program) = command.program().map(str::to_owned) else {
            self.opaque("its program is not known");
            self.reading.commands.push(command);
            return Ok(());
        };
        let words = command.words.clone();
        let proven = command.proven;
        self.reading.commands.push(command);
        let shown = standing.shown;
        self.reading.touches.extend(files::touched(&program, &words, &state.dir, shown));
        self.input_of(&program, &words, (expanded.input, expanded.from_file), state, standing)?;
        self.effects(&program, &words, state);
        for inner in wrappers::inner(&program, &words) {
            self.inner(&program, inner, state, Standing { proves: proven, ..standing })?;
        }
        Ok(())
    }

    fn inner(&mut self, program: &str, inner: Inner, state: &mut State, standing: Standing) -> Result<(), String> {
        match inner {
            Inner::Unknown(why) => {
                self.opaque(why);
                Ok(())
            }
            Inner::Words { words, env, passes_status } => {
                let standing = if passes_status { standing } else { standing.unproven() };
                let expanded = Expanded { words, env, redirects: Vec::new(), input: None, from_file: false };
                // `exec` and `builtin` act on this shell; the others on one of their own.
                let mut own = state.clone();
                let result = self.run(expanded, &mut own, standing);
                if matches!(program, "builtin" | "command" | "exec") {
                    *state = own;
                }
                result
            }
            Inner::Text { text, .. } if program == "eval" => {
                let mut here = state.clone();
                // What an evaluated text changes is not followed: afterwards nothing is taken for known.
                here.errexit = state.errexit;
                state.variables.clear();
                state.dir = Dir::Unknown;
                self.text(&text, here, standing)
            }
            Inner::Text { text, errexit, pipefail } => {
                let own =
                    State { dir: state.dir.clone(), errexit, pipefail, unproven: state.unproven, ..State::default() };
                self.text(&text, own, standing)
            }
        }
    }

    /// What a shell or interpreter is given on its standard input.
    fn input_of(
        &mut self,
        program: &str,
        words: &[Word],
        (input, from_file): (Option<Word>, bool),
        state: &State,
        standing: Standing,
    ) -> Result<(), String> {
        let (shell, interpreter) = (wrappers::is_shell(program), wrappers::is_interpreter(program));
        if !shell && !interpreter {
            let programs_in_awk =
                program == "awk" && words.iter().any(|word| word.text.contains("system(") || word.text.contains('>'));
            self.reading.foreign |= programs_in_awk;
            return Ok(());
        }
        let arguments = words.get(1..).unwrap_or_default();
        let given = |flags: &[&str]| {
            arguments.iter().any(|word| flags.contains(&word.text.as_str()) || shell && is_cluster(&word.text, 'c'))
        };
        let has_text = if shell { given(&["-c"]) } else { given(&["-c", "-e", "--eval", "-p", "-r"]) };
        let has_file = arguments.iter().any(|word| !word.text.starts_with('-')) && !has_text;
        let process = arguments.iter().any(|word| word.text.starts_with("<("));
        self.reading.foreign |= interpreter && (has_text || input.is_some());
        if process {
            self.opaque("a shell reads its text from another command");
        } else if has_text || has_file {
        } else if let Some(input) = input {
            if shell {
                let own = State { dir: state.dir.clone(), unproven: true, ..State::default() };
                return self.text(&input, own, standing.unproven());
            }
        } else if standing.piped && !from_file {
            self.opaque("text is piped into a shell");
        }
        Ok(())
    }

    /// What a command changes for those after it.
    fn effects(&mut self, program: &str, words: &[Word], state: &mut State) {
        let arguments = words.get(1..).unwrap_or_default();
        match program {
            "cd" | "pushd" => state.dir = moved(&state.dir, arguments),
            "popd" => state.dir = Dir::Unknown,
            "set" => options(arguments, state),
            "shopt" | "enable" | "hash" => state.unproven = true,
            "trap" | "return" | "break" | "continue" | "exec" => state.unproven = true,
            "exit" => state.unproven |= !fails(arguments),
            "alias" => self.opaque("it defines an alias"),
            "source" | "." => {
                if arguments.first().is_none_or(|word| !word.known() || word.text.starts_with("<(")) {
                    self.opaque("it reads commands from a file that is not known");
                }
                state.variables.clear();
                state.unproven = true;
                state.dir = Dir::Unknown;
            }
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "let" | "printf" => {
                for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
                    state.variables.insert(word.text.clone(), None);
                }
            }
            _ => {}
        }
    }
}

/// Whether a command's own success can be told from exit status 0.
fn proves(words: &[Word], env: &[(String, Word)], state: &State) -> bool {
    let named = words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let only_shows = named == "make" && words.iter().any(|word| matches!(word.text.as_str(), "-n" | "-q" | "-t"));
    let may_lie = state.unproven || state.functions.contains(named) || only_shows;
    let describes_itself = words.iter().any(|word| NO_RUN.contains(&word.text.as_str()));
    let is_led_astray = env.iter().any(|(name, _)| TREACHEROUS.contains(&name.as_str()));
    !may_lie && !describes_itself && !is_led_astray
}

fn declares(words: &[Word]) -> bool {
    words
        .first()
        .is_some_and(|word| matches!(word.text.as_str(), "export" | "declare" | "local" | "readonly" | "typeset"))
}

fn assign_all(env: &[(String, Word)], state: &mut State) {
    for (name, value) in env {
        state.unproven |= TREACHEROUS.contains(&name.as_str());
        state.variables.insert(name.clone(), Some(value.clone()).filter(|value| !value.dynamic));
    }
}

/// The directory after a `cd`.
fn moved(dir: &Dir, arguments: &[Word]) -> Dir {
    let target = arguments.iter().find(|word| !matches!(word.text.as_str(), "-L" | "-P" | "--" | "-e"));
    let Some(target) = target else { return Dir::At("~".to_owned()) };
    if !target.known() || target.text == "-" || target.text.starts_with('+') {
        return Dir::Unknown;
    }
    if target.text.starts_with(['/', '~']) {
        return Dir::At(target.text.clone());
    }
    match dir {
        Dir::Here => Dir::At(target.text.clone()),
        // Joined, not folded: `link/..` leads elsewhere than the text says, and the probe walks it.
        Dir::At(before) => Dir::At(format!("{}/{}", before.trim_end_matches('/'), target.text)),
        Dir::Unknown => Dir::Unknown,
    }
}

fn options(arguments: &[Word], state: &mut State) {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let on = word.text.starts_with('-');
        if matches!(word.text.as_str(), "-o" | "+o") || is_cluster(&word.text, 'o') {
            match words.next().map(|word| word.text.as_str()) {
                Some("errexit") => state.errexit = on,
                Some("pipefail") => state.pipefail = on,
                _ => {}
            }
        }
        if is_cluster(&word.text, 'e') {
            state.errexit = true;
        } else if word.text.starts_with('+') && word.text.contains('e') {
            state.errexit = false;
        }
        state.unproven |= is_cluster(&word.text, 'n');
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
        let cd = |dir: &Dir, to: &str| moved(dir, &[Word::literal(to)]);
        assert_eq!(cd(&Dir::Here, "a"), Dir::At("a".into()));
        assert_eq!(cd(&Dir::At("a".into()), "../b"), Dir::At("a/../b".into()));
        assert_eq!(cd(&Dir::At("a".into()), "/b"), Dir::At("/b".into()));
        assert_eq!(cd(&Dir::Unknown, "b"), Dir::Unknown);
        assert_eq!(cd(&Dir::Unknown, "~/b"), Dir::At("~/b".into()));
        assert_eq!(moved(&Dir::Here, &[]), Dir::At("~".into()));
    }
}
