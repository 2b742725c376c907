//! Which arguments of which program are files, and what becomes of them.

mod archives;
mod arguments;
mod copies;
mod download;
mod formatters;
pub(super) mod git;
mod handed;
mod listed;
mod named;
mod outputs;
mod parted;
mod pathspecs;
mod renamed;
mod searched;
mod sed;
mod table;
mod valued;
mod variables;

use super::{Command, Dir, How, Touch, Word, wrappers};
use crate::own_files;
use crate::patch;
use crate::path::Role;
pub(super) use arguments::has_option;
use arguments::{below, files_of, inside, is_short, operands, values_of};
use copies::ends;
pub(super) use download::spelled_out;
pub use git::git_settings;
pub(super) use git::{in_work_tree, makes_run, runs_by_value, without_git_options};
pub(super) use handed::sets_up;
pub(super) use listed::{by_fd, found, listed};
pub(super) use named::{changes, is_known};
use outputs::{INPUTS, OUTPUTS};
use parted::{parted, valued_of};
use table::{ROWS, Row, Uses};
use valued::{CSPLIT, SCRIPT, SPLIT};
pub(super) use variables::written;

/// Options with which `bat` shows a part of a file, or something else.
const PARTIAL: &[&str] = &[
    "-d",
    "-L",
    "-r",
    "--acknowledgements",
    "--cache-dir",
    "--config-dir",
    "--config-file",
    "--diagnostic",
    "--diff",
    "--line-range",
    "--list-languages",
    "--list-themes",
];

/// Programs that run a text of their own kind, which may write anywhere.
const EDITORS: &[&str] = &["ed", "ex", "vi", "vim", "vimdiff", "nvim", "view", "emacs"];
const AWKS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// Whether a command is a program that runs a text of its own kind.
#[must_use]
pub fn runs_text(command: &Command) -> bool {
    let known =
        |program: &str| wrappers::is_interpreter(program) || AWKS.contains(&program) || EDITORS.contains(&program);
    command.program().is_some_and(known)
}

/// Whether one of these options has a program read its standard input.
pub(super) fn reads_input_by(program: &str, arguments: &[Word], options: &[&str]) -> bool {
    let arguments = parted(program, arguments, &valued_of(program));
    values_of(&arguments, options).iter().any(|file| matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0"))
}

/// What a simple command touches, redirections apart, and whether it is given text that is not read.
pub(super) fn touched<'a>(
    program: &str,
    words: &[Word],
    dir: &Dir,
    (input, piped, shown): (Option<&'a Word>, bool, bool),
) -> Found<'a> {
    let arguments = words.get(1..).unwrap_or_default();
    let valued = valued_of(program);
    let arguments = &*parted(program, arguments, &valued);
    let mut found = Found { dir: dir.clone(), touches: Vec::new(), foreign: false, input, piped, valued };
    found.by_program(program, arguments);
    if let Some((_, options)) = OUTPUTS.iter().find(|(name, _)| *name == program) {
        // A command that is handed what would be written is read as one.
        let files = files_of(arguments, options).into_iter().filter(|file| !wrappers::is_handed_on(program, file));
        files.for_each(|file| found.push(&file, Role::Write));
    }
    if let Some((_, options, how)) = INPUTS.iter().find(|(name, ..)| *name == program) {
        values_of(arguments, options).iter().for_each(|file| found.push_how(file, Role::Read, *how));
    }
    found.name_in_options(program, arguments);
    found.searched(program, arguments);
    match ROWS.iter().find(|row| row.program == program) {
        Some(row) => found.by_row(row, arguments, shown),
        None => found.by_name(program, arguments),
    }
    found
}

/// What a command touches.
pub(super) struct Found<'a> {
    dir: Dir,
    pub(super) touches: Vec<Touch>,
    /// It runs text that is not read, or makes names that lead to other files.
    pub(super) foreign: bool,
    input: Option<&'a Word>,
    /// Something is on its standard input.
    piped: bool,
    /// Its options that take a value.
    valued: Vec<&'static str>,
}

impl Found<'_> {
    fn by_program(&mut self, program: &str, arguments: &[Word]) {
        self.foreign |= EDITORS.contains(&program);
        match program {
            "sed" | "gsed" => self.sed(arguments),
            "perl" | "ruby" if in_place(arguments) => self.in_place(arguments, Role::Write),
            // `-n` and `-p` go through the lines of files.
            "perl" | "ruby" if goes_through_lines(arguments) => self.in_place(arguments, Role::Read),
            "git" => self.git(arguments, self.input),
            "dd" => self.dd(arguments),
            "curl" => self.curl(arguments),
            "wget" => self.wget(arguments),
            "rsync" => self.rsync(arguments),
            "tar" | "bsdtar" => self.tar(arguments),
            "unzip" => self.unzip(arguments),
            "zip" => self.emptied(arguments),
            "socat" => self.joined(arguments),
            "ar" | "7z" | "7za" | "7zz" => self.by_verb(program, arguments),
            "." | "source" => self.run_from(program, arguments),
            "aws" | "docker" | "gcloud" | "gsutil" | "kubectl" | "podman" | "rclone" => {
                self.shuttled(program, arguments)
            }
            "mktemp" => self.new_name(arguments),
            "mmv" => self.renamed(arguments),
            // It renames by a text of its own kind.
            "rename" | "prename" | "file-rename" | "zmv" => self.foreign = true,
            "ssh-keygen" => self.keys(arguments),
            "script" => self.recorded(arguments),
            "find" => self.find(arguments),
            "patch" => {
                let dirs = values_of(arguments, &["-d", "--directory"]);
                if self.input.is_none() {
                    self.name_directories(&dirs);
                }
                self.enter_each(&dirs);
                self.patched(self.input);
            }
            // It runs `+!command` before it shows anything.
            "less" => {
                let runs = |word: &Word| word.text.starts_with('+') && word.text.contains(['!', '|']);
                self.foreign |= arguments.iter().any(runs);
            }
            "m4" => self.foreign |= self.input.is_some(),
            "split" | "csplit" => self.split(program, arguments),
            "apply_patch" | "applypatch" => self.patches(arguments),
            "codex" if arguments.first().is_some_and(|word| word.text == "--codex-run-as-apply-patch") => {
                self.patches(arguments);
            }
            "make" | "gmake" => self.foreign |= self.input.is_some() || has_option(arguments, &["--eval"]),
            program if AWKS.contains(&program) => self.awk(arguments),
            program if wrappers::is_shell(program) => self.run_from(program, arguments),
            program => self.formatted(program, arguments),
        }
    }

    /// Patches that a program is handed. A host that makes them takes such a text out of the shell's hands.
    fn patches(&mut self, arguments: &[Word]) {
        self.patched(self.input);
        arguments.iter().for_each(|word| self.patched(Some(word)));
        self.touches.iter_mut().for_each(|touch| touch.taken_apart = true);
    }

    /// What follows happens in these directories, one below the other.
    fn enter_each(&mut self, dirs: &[Word]) {
        for dir in dirs {
            self.dir = self.dir.enter(dir);
        }
    }

    fn push(&mut self, path: &Word, role: Role) {
        self.push_how(path, role, How::Whole);
    }

    fn push_how(&mut self, path: &Word, role: Role, how: How) {
        let process = path.text.starts_with("<(") && path.dynamic;
        if path.text.is_empty() || path.text == "-" || is_device(&path.text) || process {
            return;
        }
        let mut path = path.clone();
        if path.listed && role.changes() && !path.text.contains(['*', '?', '[']) {
            path.text = format!("{}/**", path.text.trim_end_matches('/'));
        }
        self.touches.push(Touch { how, ..Touch::plain(path, role, self.dir.clone()) });
    }

    fn push_each(&mut self, paths: &[Word], role: Role) {
        paths.iter().for_each(|path| self.push(path, role));
    }

    /// What lies below each directory that a pattern may match.
    fn push_below(&mut self, paths: &[Word]) {
        for path in paths.iter().filter(|path| path.glob) {
            let text = format!("{}/**", path.text.trim_end_matches('/'));
            self.push(&Word { text, ..path.clone() }, Role::Delete);
        }
    }

    /// The present directory as a whole, where only the program knows which files.
    fn push_everything(&mut self, role: Role) {
        self.push(&Word { glob: true, ..Word::literal(".") }, role);
    }

    fn by_row(&mut self, row: &Row, arguments: &[Word], shown: bool) {
        let (paths, into) = operands(arguments, &self.valued);
        let after_first = paths.get(1..).unwrap_or_default();
        let before = self.touches.len();
        // `chmod -x FILE`: what looks like an option is the mode.
        let mode = arguments.iter().find(|word| row.program == "chmod" && is_mode(&word.text));
        match row.uses {
            Uses::Shows | Uses::Reads | Uses::Measures => self.push_each(&paths, Role::Read),
            Uses::ReadsAfterFirst if has_option(arguments, &["-e", "-f", "--regexp", "--file"]) => {
                self.push_each(&paths, Role::Read)
            }
            Uses::ReadsAfterFirst if is_changed(row.program, arguments) => self.push_each(after_first, Role::Write),
            Uses::ReadsAfterFirst => self.push_each(after_first, Role::Read),
            Uses::WritesSecond => {
                paths.first().iter().for_each(|path| self.push(path, Role::Read));
                paths.get(1).iter().for_each(|path| self.push(path, Role::Write));
            }
            Uses::WritesFirst => {
                paths.first().iter().for_each(|path| self.push(path, Role::Write));
                self.push_each(after_first, Role::Read);
            }
            Uses::Writes | Uses::Marks => {
                if EDITORS.contains(&row.program) {
                    self.push_each(&paths, Role::Read);
                }
                self.push_each(&paths, Role::Write);
            }
            Uses::MarksAfterFirst if mode.is_some() => self.push_each(&paths, Role::Write),
            Uses::MarksAfterFirst => self.push_each(after_first, Role::Write),
            Uses::Deletes => {
                self.push_each(&paths, Role::Delete);
                if has_option(arguments, &["-r", "-R", "--recursive"]) {
                    self.push_below(&paths);
                }
            }
            Uses::Packs => self.pack(row.program, arguments, &paths),
            Uses::Renames => self.push_each(after_first, Role::Delete),
            // It makes the directories that it is told.
            Uses::Copies if row.program == "install" && has_option(arguments, &["-d", "--directory"]) => {
                self.push_each(&paths, Role::Write)
            }
            Uses::Copies => self.copy(row.program, arguments, &paths, into.as_ref()),
            Uses::Moves => {
                self.transfer(&paths, into.as_ref(), Role::Delete);
                let onto = has_option(arguments, &["-T", "--no-target-directory"]);
                let (sources, target) = ends(&paths, into.as_ref());
                sources.iter().for_each(|source| self.carry((source, target), onto, false));
            }
            Uses::Links => self.link(&paths, into.as_ref()),
        }
        self.replaced(row.uses, arguments, paths.last());
        let deep = has_option(arguments, &["-R", "--recursive"]);
        let appends = row.program == "tee" && has_option(arguments, &["-a", "--append"]);
        for touch in self.touches.iter_mut().skip(before) {
            touch.whole = row.uses == Uses::Shows && shown && !shows_part(row.program, arguments);
            match row.uses {
                Uses::MarksAfterFirst if locks(row.program, mode.or(paths.first()), (&touch.path, deep)) => {
                    touch.how = How::Locked
                }
                Uses::Marks | Uses::MarksAfterFirst => touch.how = How::Metadata,
                Uses::Measures => touch.how = How::Measured,
                _ if appends => touch.how = How::Appended,
                _ => {}
            }
        }
        self.locked_below(before);
    }

    /// Who locks a directory locks what lies in it: a pattern may stand for one.
    fn locked_below(&mut self, before: usize) {
        let touches = self.touches.get(before..).unwrap_or_default().iter();
        let locked = touches.filter(|touch| touch.how == How::Locked && touch.path.glob && !touch.path.files);
        let below = |touch: &Touch| Word {
            text: format!("{}/**", touch.path.text.trim_end_matches('/')),
            ..touch.path.clone()
        };
        let below: Vec<Word> = locked.filter(|touch| !touch.path.text.ends_with("/**")).map(below).collect();
        below.iter().for_each(|path| self.push_how(path, Role::Write, How::Locked));
    }

    /// A link to a directory, or the directory itself, whose place something else takes.
    fn replaced(&mut self, uses: Uses, arguments: &[Word], target: Option<&Word>) {
        let replaces = match uses {
            Uses::Links => has_option(arguments, &["-T", "-n", "--no-target-directory", "--no-dereference"]),
            Uses::Moves => has_option(arguments, &["-T", "--no-target-directory", "--exchange"]),
            _ => false,
        };
        target.iter().filter(|_| replaces).for_each(|target| self.push(target, Role::Delete));
    }

    fn link(&mut self, paths: &[Word], into: Option<&Word>) {
        // A name that is made here leads elsewhere for whatever comes after it in the same text.
        self.foreign = true;
        match paths {
            [only] if into.is_none() => {
                self.push(&inside(&Word::literal("."), only), Role::Write);
                self.link_to(paths);
            }
            paths => {
                // The target of a symbolic link need not exist, and only the link's own place is written.
                let (sources, target) = match (into, paths.split_last()) {
                    (Some(into), _) => (paths, into),
                    (None, Some((target, sources))) => (sources, target),
                    (None, None) => return,
                };
                self.push(target, Role::Write);
                sources.iter().for_each(|source| self.push(&inside(target, source), Role::Write));
                self.link_to(sources);
                let beside = target.text.rsplit_once('/').map(|(dir, _)| Word::literal(dir));
                let seen =
                    |dir: &Word| sources.iter().map(|source| below(dir, &source.text, source)).collect::<Vec<_>>();
                self.link_to(&beside.iter().flat_map(seen).collect::<Vec<_>>());
            }
        }
    }

    fn link_to(&mut self, sources: &[Word]) {
        sources.iter().for_each(|source| self.push_how(source, Role::Write, How::Linked));
    }

    /// The first of the pieces that a file is cut into.
    fn split(&mut self, program: &str, arguments: &[Word]) {
        let by_context = program == "csplit";
        let (paths, _) = operands(arguments, if by_context { CSPLIT } else { SPLIT });
        paths.first().iter().for_each(|path| self.push(path, Role::Read));
        let prefix = match by_context {
            true => values_of(arguments, &["-f", "--prefix"]).pop(),
            false => paths.get(1).cloned(),
        };
        if let Some(prefix) = prefix {
            let first = if by_context { "00" } else { "aa" };
            self.push(&Word { text: format!("{}{first}", prefix.text), ..prefix }, Role::Write);
        }
    }

    /// What a terminal showed is written down.
    fn recorded(&mut self, arguments: &[Word]) {
        let (files, _) = operands(arguments, SCRIPT);
        files.first().iter().for_each(|file| self.push(file, Role::Write));
    }

    fn awk(&mut self, arguments: &[Word]) {
        let runs = |word: &Word| ["system(", ">", "|", "getline"].iter().any(|sign| word.text.contains(sign));
        self.foreign |= arguments.iter().any(runs);
    }

    /// The files that a patch names, with and without their first directory.
    fn patched(&mut self, text: Option<&Word>) {
        let Some(text) = text else { return };
        self.foreign |= patch::is_odd(&text.text);
        for (path, role) in patch::files(&text.text) {
            self.push(&Word::literal(&path), role);
            if let Some((_, rest)) = path.split_once('/') {
                self.push_how(&Word::literal(rest), role, How::Named);
            }
        }
    }

    fn in_place(&mut self, arguments: &[Word], role: Role) {
        let (paths, _) = operands(arguments, &self.valued);
        let scripted = arguments.iter().any(|word| is_short(word, 'e'));
        self.push_each(if scripted { &paths } else { paths.get(1..).unwrap_or_default() }, role);
    }

    fn dd(&mut self, arguments: &[Word]) {
        for word in arguments {
            let of = |prefix: &str| {
                word.text.strip_prefix(prefix).map(|text| Word { text: text.to_owned(), ..word.clone() })
            };
            if let Some(file) = of("of=") {
                self.push(&file, Role::Write);
            }
            if let Some(file) = of("if=") {
                self.push(&file, Role::Read);
            }
        }
    }

    fn find(&mut self, arguments: &[Word]) {
        let deletes = arguments.iter().any(|word| word.text == "-delete");
        if deletes && listed::is_empty(arguments) {
            return;
        }
        for root in found(arguments) {
            // What is deleted is known by what is asked for: as sure as a pattern of the shell's.
            let root = Word { listed: false, ..root };
            // All that lies in a directory goes with it; and of what is not asked for by name, no more is shown than names.
            let top = root.text.strip_suffix("/**").filter(|top| !top.contains(['*', '?', '[']));
            let root = top.map_or_else(|| root.clone(), |top| Word { text: top.to_owned(), ..root.clone() });
            match deletes {
                true => self.push(&root, Role::Delete),
                false => self.push_how(&root, Role::Read, How::Measured),
            }
        }
    }
}

/// Whether a program that shows files is told to show a part of them, or something else.
fn shows_part(program: &str, arguments: &[Word]) -> bool {
    match program {
        "bat" | "batcat" => has_option(arguments, PARTIAL),
        "more" => arguments.iter().any(|word| word.text.starts_with('+')),
        _ => false,
    }
}

/// Whether `chmod` or `chown` may keep what guards us from being read by its owner, or its directory from being entered.
fn locks(program: &str, mode: Option<&Word>, (path, deep): (&Word, bool)) -> bool {
    let mode = mode.filter(|mode| mode.known()).map(|mode| mode.text.as_str());
    // A file needs not be entered; and the directories of ours that a pattern may stand for are hidden.
    let enters = !path.files && (deep || !path.glob || path.listed || may_be_hidden(path));
    match (program, mode) {
        ("chmod", Some(mode)) if mode.chars().all(|c| c.is_digit(8)) => {
            // The owner's digit: to read and to enter.
            let owner = mode.chars().rev().nth(2).and_then(|digit| digit.to_digit(8)).unwrap_or_default();
            let needed = if enters { 5 } else { 4 };
            owner & needed != needed
        }
        ("chmod", Some(mode)) => mode.split(',').any(|clause| takes_access(clause, enters)),
        // Another owner's settings are not read; of other directories it is set right all day.
        _ => own_files::ends_in_directory(&path.text),
    }
}

fn is_mode(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| "rwxXst,+-=ugoa".contains(c)))
        && option.contains(['r', 'w', 'x', 'X', 's', 't'])
        && !option.starts_with("--")
}

/// Whether a pattern may stand for hidden names.
fn may_be_hidden(pattern: &Word) -> bool {
    pattern.dots || pattern.text.split('/').any(|part| part.len() > 1 && part.starts_with(['.', '[', '{']))
}

/// Whether a clause such as `a-rx` or `u=` takes from the owner what is needed to read or, where that counts, to enter.
fn takes_access(clause: &str, enters: bool) -> bool {
    let Some(at) = clause.find(['-', '=']) else { return false };
    let (who, what) = clause.split_at(at);
    let whose = who.is_empty() || who.contains(['u', 'a']);
    let taken = if what.starts_with('-') {
        what.contains('r') || enters && what.contains(['x', 'X'])
    } else {
        !(what.contains('r') && (!enters || what.contains(['x', 'X'])))
    };
    whose && taken
}

/// Whether a path is a device that keeps nothing.
pub(super) fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/stdin"
            | "/dev/tty"
            | "/dev/zero"
            | "/dev/random"
            | "/dev/urandom"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

fn same(own: &str, part: &str) -> bool {
    own.eq_ignore_ascii_case(part)
}

fn is_changed(program: &str, arguments: &[Word]) -> bool {
    match program {
        "yq" => has_option(arguments, &["-i", "--inplace", "--in-place"]),
        "awk" | "gawk" => values_of(arguments, &["-i", "--include"]).iter().any(|word| word.text == "inplace"),
        _ => false,
    }
}

fn goes_through_lines(arguments: &[Word]) -> bool {
    let mut options = arguments.iter().take_while(|word| word.text.starts_with('-'));
    options.any(|word| is_short(word, 'n') || is_short(word, 'p'))
}

fn in_place(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        word.text.strip_prefix('-').is_some_and(|flags| {
            !flags.starts_with('-') && flags.split('e').next().is_some_and(|flags| flags.contains('i'))
        })
    })
}
