//! A simple command: its words, what they run, and what they touch.

use super::super::tree::{ARGUMENTS, Assign, ITSELF, RawWord, RedirKind, Simple};
use super::super::variables::Value;
use super::super::wrappers::{self, Inner};
use super::super::{Command, How, Redirect, Touch, Word, files, grammar, words};
use super::functions::Call;
use super::proofs::{is_itself, proves};
use super::{Standing, State, Walker, effects, listening, printed, waiting};
use crate::path::Role;

/// Programs that run the statements on their standard input.
const DATABASES: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlcmd",
    "clickhouse-client",
    "duckdb",
    "cockroach",
    "bq",
    "snowsql",
    "redis-cli",
    "mongosh",
    "mongo",
];

/// Programs that take what their standard input says for a person's answer.
const ANSWERED: &[&str] = &["terraform", "tofu", "terragrunt", "pulumi"];

/// Programs that run the text on their standard input at another time.
const SCHEDULING: &[&str] = &["at", "batch"];

/// Other programs that do what their standard input says, though nothing in a pipe tells it to them by name.
const LISTENING: &[&str] = &["at", "batch", "crontab", "dc", "ftp", "gdb", "lftp", "lldb", "m4", "telnet"];

/// Options with which programs take what to do, or to which files, from their standard input where their value is that.
const TOLD_BY: &[(&[&str], &[&str])] = &[
    (&["awk", "gawk", "mawk", "nawk"], &["-f", "-E", "--file", "--exec"]),
    (&["gsed", "sed"], &["-f", "--file"]),
    (&["gmake", "make"], &["-f", "--file", "--makefile"]),
    (&["bsdtar", "tar"], &["-T", "--files-from"]),
    (&["curl"], &["-K", "--config"]),
    (&["rsync"], &["--files-from"]),
    (&["git"], &["--pathspec-from-file"]),
    (&["wget"], &["-i", "--input-file"]),
];

/// Programs that run a shell for what is on their standard input, unless they are given a text.
const STARTING_SHELLS: &[&str] = &["newgrp", "runuser", "script", "sg", "su"];

/// Whether a program starts a shell for what is on its standard input.
fn starts_shell(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let starting = STARTING_SHELLS.contains(&program) && !files::has_option(arguments, &["-c", "--command"]);
    starting || wrappers::bare(program, arguments).is_some()
}

/// Whether a program takes what to do, or to which files, from its standard input.
fn is_told_by_input(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let options = TOLD_BY.iter().find(|(programs, _)| programs.contains(&program)).map(|(_, options)| *options);
    let by_option = options.is_some_and(|options| files::reads_input_by(program, arguments, options));
    let names = program == "cpio" || program == "zip" && arguments.iter().any(|word| word.text.ends_with('@'));
    by_option || names || starts_shell(program, words)
}

/// Programs that keep their standard input to themselves.
const KEEPING_INPUT: &[&str] = &["bsdtar", "entr", "find", "git", "parallel", "tar", "trap", "xargs"];

/// Programs, besides shells, that hand their variables on to what they run.
const HANDING_ON: &[&str] =
    &["builtin", "command", "exec", "find", "ionice", "nice", "nohup", "setsid", "stdbuf", "time", "timeout", "xargs"];

/// A simple command with its words expanded.
struct Expanded {
    words: Vec<Word>,
    env: Vec<(String, Word)>,
    redirects: Vec<Redirect>,
    input: Input,
}

/// What a command has on its standard input, as far as its own redirections say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Input {
    /// The text of a here-document or here-string.
    text: Option<Word>,
    from_file: bool,
    /// It is what another command prints.
    from_process: bool,
    /// It is something else than the terminal.
    fed: bool,
}

impl Input {
    /// How the parts of a function stand that is given it.
    const fn given_to(&self, standing: Standing) -> Standing {
        let given = self.text.is_some() || self.from_file || self.from_process;
        Standing { piped: standing.piped || given, fed: standing.fed || self.fed, ..standing }
    }
}

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, state: &mut State, standing: Standing) -> Result<(), String> {
        self.bounded()?;
        let values = simple.assigns.iter().flat_map(|assign| &assign.values);
        self.evaluated_in(simple);
        simple.words.iter().chain(values).try_for_each(|word| self.substituted(word, state))?;
        let standing = self.redirected(&simple.redirs, state, standing)?;
        let expanded = self.expand(simple, state);
        self.named(&expanded.env);
        self.run_by_variables(&expanded.env, state, standing)?;
        if expanded.words.is_empty() || effects::declares(&expanded.words) {
            let arrays = arrays(simple, state);
            self.assign_all(&expanded.env, state);
            arrays.into_iter().for_each(|(name, elements)| state.variables.assign_elements(name, elements));
        }
        if effects::declares(&expanded.words) && effects::exports(&expanded.words) {
            state.exported.extend(expanded.env.iter().map(|(name, _)| name.clone()));
        }
        if expanded.words.is_empty() {
            // Whoever sets such a variable may have exported it before, or does so afterwards.
            self.touch_by_variables(&expanded.env, state);
            return self.opened(expanded.redirects, state);
        }
        self.run(expanded, state, standing)
    }

    /// What variables have a program run, or a shell expand.
    fn run_by_variables(&mut self, env: &[(String, Word)], state: &State, standing: Standing) -> Result<(), String> {
        for text in env.iter().filter_map(|(name, value)| effects::run_by(name, value)) {
            // It is given what to work on, or whom to call.
            self.text(&text, &mut fresh(state), Standing { fed: true, ..standing.unsure() })?;
        }
        Ok(())
    }

    fn expand(&self, simple: &Simple, state: &State) -> Expanded {
        let value = |assign: &Assign| match assign.values.as_slice() {
            [value] if assign.plain => match printed::by_word(value, state).as_deref() {
                Some([printed]) if printed.known() => printed.clone(),
                _ => words::expand_value(value, &state.variables),
            },
            _ => Word::unknown(format!("${}", assign.name)),
        };
        Expanded {
            words: simple.words.iter().flat_map(|word| printed::or_expanded(word, state)).collect(),
            env: simple.assigns.iter().map(|assign| (assign.name.clone(), value(assign))).collect(),
            redirects: super::opened(&simple.redirs, state),
            input: self.input(simple, state),
        }
    }

    fn input(&self, simple: &Simple, state: &State) -> Input {
        let whole = |word: &RawWord| words::expand_whole(word, &state.variables);
        let text = simple.redirs.iter().rev().find_map(|redir| match redir.kind {
            RedirKind::HereString => Some(whole(&redir.word)),
            RedirKind::HereDocument(number) => Some(self.bodies.get(number).map_or_else(|| Word::unknown("<<"), whole)),
            _ => None,
        });
        let mut read = simple.redirs.iter().filter(|redir| redir.kind == RedirKind::Read && redir.standard);
        let from_process = read.clone().any(|redir| super::is_process(&redir.word));
        let fed = simple.redirs.iter().any(|redir| super::feeds(redir, state));
        Input { text, from_file: read.next().is_some() && !from_process, from_process, fed }
    }

    /// A command with known words, by itself or inside a wrapper.
    fn run(&mut self, expanded: Expanded, state: &mut State, standing: Standing) -> Result<(), String> {
        self.bounded()?;
        let outside = self.around.len();
        self.run_here(expanded, state, standing)?;
        self.around.truncate(outside);
        Ok(())
    }

    fn run_here(&mut self, expanded: Expanded, state: &mut State, standing: Standing) -> Result<(), String> {
        let Expanded { words, env, mut redirects, input } = expanded;
        let handed_on: Vec<Redirect> =
            redirects.iter().map(|redirect| Redirect { around: true, ..redirect.clone() }).collect();
        redirects.extend(self.around.iter().cloned());
        self.around.extend(handed_on);
        self.bounds.words += words.len() + redirects.len();
        let proven = standing.proves && proves(&words, &env, state);
        let runs = (standing.sure || proven) && !state.left;
        let shown = standing.shown && runs && is_itself(&words, &env, state);
        let (dir, told) = (state.dir.clone(), written(&words, &env));
        let command = Command { proven, shown, words: told, env: environment(&env, state), redirects, dir };
        self.bounds.words += command.env.len();
        let program = command.program().map(str::to_owned);
        let (kept, read): (Vec<&Redirect>, Vec<&Redirect>) =
            command.redirects.iter().partition(|redirect| redirect.writes);
        let files = |redirects: &[&Redirect]| redirects.iter().map(|it| it.to.clone()).collect::<Vec<_>>();
        let (kept, read) = (files(&kept), files(&read));
        self.reading.commands.push(command);
        let Some(program) = program else {
            self.opaque("its program is not known");
            // It may be `exit`.
            state.unproven = true;
            state.left = true;
            return Ok(());
        };
        let called = words.first().is_some_and(|word| state.functions.contains_key(&word.text));
        let environment = environment(&env, state);
        let words = effects::argued(&program, &words, &environment);
        let words = files::spelled_out(&program, &words);
        self.evaluated_by(&program, &words);
        self.touch_by_variables(&environment, state);
        let mut placed = files::in_work_tree(&program, &words, &environment);
        if state.matching.hidden {
            placed.to_mut().iter_mut().for_each(|word| word.dots |= word.glob);
        }
        let piped = standing.piped || standing.fed || input.fed || input.text.is_some() || input.from_file;
        let mut found = files::touched(&program, &placed, &state.dir, (input.text.as_ref(), piped, shown));
        // What a function does with what it is told is read.
        found.touches.retain(|touch| !called || touch.how != How::Named);
        self.reading.foreign |= found.foreign;
        if words.first().is_some_and(|word| state.aliases.contains(&word.text)) {
            self.opaque("it runs an alias");
        }
        if self.fetched.runs(&program, &words, &read) {
            self.opaque("it runs what it has just downloaded, or is told meanwhile");
        }
        let typed = !standing.fed && !input.fed && listening::listens(&program, &words);
        self.fetched.keep((&program, typed), &found.touches, (&kept, &read));
        self.touch(found.touches, state);
        let standing = Standing { fed: standing.fed || input.fed, ..standing };
        self.watch(&program, &words, standing.fed);
        self.fed(&program, &words, &input, state, standing)?;
        let standing = Standing { proves: proven, ..standing };
        if program == "eval" {
            // What an evaluated text changes is not followed: afterwards nothing is taken for known.
            self.inside(&program, &words, (&env, &input), state, standing)?;
        }
        if let Some((name, arguments)) = words.split_first().filter(|_| called) {
            let call = Call { name: &name.text, arguments, env: &env };
            self.call(call, state, input.given_to(standing))?;
        } else {
            self.effects(&program, &words, state);
        }
        if program == "eval" {
            return Ok(());
        }
        self.inside(&program, &words, (&env, &input), state, standing)
    }

    /// What variables have a command write.
    fn touch_by_variables(&mut self, environment: &[(String, Word)], state: &State) {
        for (file, sure) in environment.iter().filter_map(|(name, value)| files::written(name, value)) {
            // Nobody reads such a file before.
            let how = if sure { How::Appended } else { How::Named };
            let touch = Touch { how, ..Touch::plain(file, Role::Write, state.dir.clone()) };
            // What is exported counts for every command that follows, and once.
            if !self.reading.touches.contains(&touch) {
                self.touch(vec![touch], state);
            }
        }
    }

    /// Whether a command waits for what it does, or hands on what is typed.
    fn watch(&mut self, program: &str, words: &[Word], fed: bool) {
        let given = self.reading.commands.last().is_some_and(|command| waiting::names_editor(&command.env));
        if waiting::waits(program, words, fed) || !given && waiting::opens_editor(program, words) {
            self.reading.waits.get_or_insert_with(|| program.to_owned());
        }
        if !fed && listening::listens(program, words) {
            self.listener.get_or_insert_with(|| program.to_owned());
        }
    }

    /// The commands that a command runs.
    fn inside(
        &mut self,
        program: &str,
        words: &[Word],
        (env, input): (&[(String, Word)], &Input),
        state: &mut State,
        standing: Standing,
    ) -> Result<(), String> {
        let listing = match program {
            "find" => files::found(words.get(1..).unwrap_or_default()),
            "fd" | "fdfind" => files::by_fd(words.get(1..).unwrap_or_default()),
            "xargs" if *input == Input::default() => std::mem::take(&mut self.listing),
            "xargs" => input.text.iter().flat_map(printed::lines).collect(),
            _ => Vec::new(),
        };
        // What it runs has no input.
        let standing = Standing { fed: standing.fed || program == "xargs", ..standing };
        let fed = input.text.is_some() || input.from_process || standing.piped;
        for inner in wrappers::inner(program, words, (&listing, fed)) {
            let mut own = state.clone();
            own.hand_on(env, wrappers::is_shell(program) || HANDING_ON.contains(&program));
            self.inner((program, input), inner, &mut own, standing)?;
            // `exec` and its kin act on this shell; the others on one of their own.
            if matches!(program, "builtin" | "command" | "exec") {
                own.take_back(env, state);
                *state = own;
            } else if program == "eval" {
                state.functions = own.functions;
            }
        }
        Ok(())
    }

    fn inner(
        &mut self,
        (program, input): (&str, &Input),
        inner: Inner,
        own: &mut State,
        standing: Standing,
    ) -> Result<(), String> {
        match inner {
            Inner::Unknown(why) => {
                self.opaque(why);
                Ok(())
            }
            Inner::Likely { text, else_opaque } => match !text.dynamic && grammar::parse(&text.text).is_ok() {
                true => self.text(&text, &mut fresh(own), standing.unsure()),
                false => {
                    self.reading.foreign = true;
                    if else_opaque {
                        self.opaque("a text of another language is run");
                    }
                    Ok(())
                }
            },
            Inner::Words { words, env, dir, passes_status } => {
                let standing = if passes_status { standing } else { standing.unsure() };
                dir.iter().for_each(|dir| own.start(dir));
                self.named(&env);
                self.run_by_variables(&env, own, standing)?;
                let input = if KEEPING_INPUT.contains(&program) { Input::default() } else { input.clone() };
                let expanded = Expanded { words, env, redirects: Vec::new(), input };
                self.run(expanded, own, standing)
            }
            Inner::Text { text, .. } if program == "eval" => {
                let mut inside = State { evaluated: true, ..own.clone() };
                self.text(&text, &mut inside, standing)?;
                own.functions = inside.functions;
                Ok(())
            }
            // When a trap runs, and where, is not known.
            Inner::Text { text, .. } if program == "trap" => {
                self.text(&text, &mut own.inside_function(), standing.unsure())
            }
            Inner::Text { text, arguments, dir, errexit, pipefail, passes_status } => {
                dir.iter().for_each(|dir| own.start(dir));
                let mut state = State { errexit, pipefail, ..fresh(own) };
                if let Some((itself, arguments)) = arguments.split_first() {
                    state.variables.assign(ITSELF, itself.clone());
                    state.variables.assign_elements(ARGUMENTS, arguments.to_vec());
                }
                let standing = if passes_status { standing } else { standing.unsure() };
                self.text(&text, &mut state, Standing { guarded: false, ..standing })
            }
        }
    }

    /// What a program that is no shell is told on its standard input.
    fn told_by_input(
        &mut self,
        (program, words): (&str, &[Word]),
        input: &Input,
        state: &State,
        standing: Standing,
    ) -> Result<(), String> {
        let told = |text: &&Word| DATABASES.contains(&program) || ANSWERED.contains(&program) && !text.dynamic;
        if let Some(text) = input.text.as_ref().filter(told) {
            // What is on its standard input is as good as what is among its arguments.
            let words = words.iter().chain([text]).cloned().collect();
            let dir = state.dir.clone();
            let told = Command { words, env: Vec::new(), redirects: Vec::new(), dir, proven: false, shown: false };
            self.reading.commands.push(told);
        }
        if let Some(text) = input.text.as_ref().filter(|text| SCHEDULING.contains(&program) && !text.dynamic) {
            self.text(text, &mut State { unproven: true, ..fresh(state) }, standing.unsure())?;
        }
        Ok(())
    }

    /// What a shell or interpreter is given on its standard input.
    fn fed(
        &mut self,
        program: &str,
        words: &[Word],
        input: &Input,
        state: &State,
        standing: Standing,
    ) -> Result<(), String> {
        self.told_by_input((program, words), input, state, standing)?;
        let fed = input.text.is_some() || input.from_process || standing.piped;
        let starts = fed && starts_shell(program, words);
        let shell = starts || wrappers::is_shell(program);
        let sources = matches!(program, "source" | ".");
        let interpreter = wrappers::is_interpreter(program);
        let reads = starts || wrappers::reads_input(program, words);
        self.reading.foreign |= interpreter && (wrappers::has_text(program, words) || input.text.is_some());
        let listens = LISTENING.contains(&program) || DATABASES.contains(&program) || is_told_by_input(program, words);
        self.reading.foreign |= listens && fed;
        if words.iter().skip(1).any(|word| word.text.starts_with("<(")) && (shell || interpreter || sources) {
            self.opaque("a shell reads its text from another command");
        }
        if runs_lines(program, words) && (standing.piped || input.from_process) {
            self.opaque("text is piped into a program that runs it");
        }
        if !reads || !(shell || interpreter || sources) {
            return Ok(());
        }
        match &input.text {
            Some(text) if shell || sources => {
                let mut state = State { unproven: true, ..fresh(state) };
                let arguments = words.get(1..).unwrap_or_default();
                wrappers::bare(program, arguments).flatten().iter().for_each(|dir| state.start_beside(dir));
                self.text(text, &mut state, standing.unproven())
            }
            // A program that another one prints.
            Some(text) if text.dynamic && text.text.trim() == words::SUBSTITUTED => {
                self.opaque("what a command prints is run");
                Ok(())
            }
            Some(_) => Ok(()),
            None if input.from_file => Ok(()),
            // A bare shell runs whatever its standard input holds; a bare interpreter waits for a person.
            None if input.from_process || standing.piped || !interpreter => {
                self.opaque("text is piped into a shell");
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Whether a program runs what its standard input says, told so by its words.
fn runs_lines(program: &str, words: &[Word]) -> bool {
    let mut arguments = words.iter().skip(1).map(|word| word.text.as_str());
    match program {
        "parallel" => arguments.all(|text| text.starts_with('-') || text.bytes().all(|byte| byte.is_ascii_digit())),
        "make" | "gmake" => {
            let mut file = false;
            arguments.any(|text| {
                let named = std::mem::replace(&mut file, matches!(text, "-f" | "--file" | "--makefile"));
                named && text == "-" || matches!(text, "-f-" | "--file=-" | "--makefile=-")
            })
        }
        _ => false,
    }
}

/// The arrays that a command assigns, with their elements.
fn arrays<'s>(simple: &'s Simple, state: &State) -> Vec<(&'s str, Vec<Word>)> {
    let elements = |assign: &Assign| assign.values.iter().flat_map(|word| printed::or_expanded(word, state)).collect();
    let arrays = simple.assigns.iter().filter(|assign| assign.array && !assign.values.iter().any(words::is_placed));
    arrays.map(|assign| (assign.name.as_str(), elements(assign))).collect()
}

/// The words of a command; what a declaration assigns is among them.
fn written(words: &[Word], env: &[(String, Word)]) -> Vec<Word> {
    let assigned = env.iter().filter(|_| effects::declares(words));
    let assigned = assigned.map(|(name, value)| Word { text: format!("{name}={}", value.text), ..value.clone() });
    words.iter().cloned().chain(assigned).collect()
}

/// The variables that a command is given: its own, and what was exported before.
fn environment(env: &[(String, Word)], state: &State) -> Vec<(String, Word)> {
    let own = |name: &String| env.iter().any(|(own, _)| own == name);
    let value = |name: &String| match state.variables.get(name) {
        Value::Known(value) => value.clone(),
        Value::Unknown | Value::Outside => Word::unknown(format!("${name}")),
    };
    let exported = state.exported.iter().filter(|name| !own(name)).map(|name| (name.clone(), value(name)));
    env.iter().cloned().chain(exported).collect()
}

/// What a shell of its own knows: where it is, and not what `~` and `cd` mean if that was changed.
fn fresh(state: &State) -> State {
    let mut own = State {
        dir: state.dir.clone(),
        astray: state.astray.clone(),
        unproven: state.unproven,
        left: state.left,
        exported: state.exported.clone(),
        // It has those that were exported, which may be all.
        functions: state.functions.clone(),
        ..State::default()
    };
    for name in state.exported.iter().filter(|_| !state.stripped) {
        match state.variables.get(name) {
            Value::Known(value) => own.variables.assign(name, value.clone()),
            Value::Unknown => own.variables.forget(name),
            Value::Outside => {}
        }
    }
    for name in ["HOME", "CDPATH"] {
        if state.variables.get(name) != Value::Outside {
            own.variables.forget(name);
        }
    }
    own
}
