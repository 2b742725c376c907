//! Which arguments of which program are files, and what becomes of them. The table is the documentation.

use super::{Dir, Touch, Word};
use crate::path::Role;

/// What a program does with the arguments that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Uses {
    /// Shows them whole.
    Shows,
    /// Reads them in part, or shows something else.
    Reads,
    /// The first argument is a pattern or a program text, the others are read.
    ReadsAfterFirst,
    Writes,
    /// Writes only mode, owner, time, or makes a directory.
    Marks,
    /// The first argument is a mode or an owner, the others are marked.
    MarksAfterFirst,
    Deletes,
    /// The last is written from the others, which are read.
    Copies,
    /// The last is written from the others, which go.
    Moves,
    /// The last becomes a link to the others.
    Links,
}

struct Row {
    program: &'static str,
    uses: Uses,
    /// Options that take a value.
    valued: &'static [&'static str],
}

const fn row(program: &'static str, uses: Uses, valued: &'static [&'static str]) -> Row {
    Row { program, uses, valued }
}

const ROWS: &[Row] = &[
    row("cat", Uses::Shows, &[]),
    row("nl", Uses::Shows, &["-b", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"]),
    row("bat", Uses::Shows, &["-l", "--language", "-H", "--theme", "--style", "--paging", "--color"]),
    row("batcat", Uses::Shows, &["-l", "--language", "-H", "--theme", "--style", "--paging", "--color"]),
    row("less", Uses::Shows, &["-p", "-x", "-j"]),
    row("more", Uses::Shows, &[]),
    row("tac", Uses::Shows, &["-s"]),
    row("head", Uses::Reads, &["-n", "-c", "--lines", "--bytes"]),
    row("tail", Uses::Reads, &["-n", "-c", "--lines", "--bytes", "-s", "--pid"]),
    row("wc", Uses::Reads, &[]),
    row("uniq", Uses::Reads, &["-f", "-s", "-w"]),
    row("cut", Uses::Reads, &["-d", "-f", "-c", "-b"]),
    row("sort", Uses::Reads, &["-k", "-t", "-o", "-S", "-T"]),
    row("diff", Uses::Reads, &["-U", "-C", "-I", "-x"]),
    row("cmp", Uses::Reads, &["-n", "-i"]),
    row("xxd", Uses::Reads, &["-s", "-l", "-c", "-g"]),
    row("od", Uses::Reads, &["-A", "-j", "-N", "-t"]),
    row("hexdump", Uses::Reads, &["-n", "-s", "-e"]),
    row("strings", Uses::Reads, &["-n"]),
    row("md5sum", Uses::Reads, &[]),
    row("sha256sum", Uses::Reads, &[]),
    row("base64", Uses::Reads, &["-w"]),
    row("grep", Uses::ReadsAfterFirst, &["-A", "-B", "-C", "-m", "-d", "--include", "--exclude", "--exclude-dir"]),
    row("egrep", Uses::ReadsAfterFirst, &["-A", "-B", "-C", "-m"]),
    row("fgrep", Uses::ReadsAfterFirst, &["-A", "-B", "-C", "-m"]),
    row("rg", Uses::ReadsAfterFirst, &["-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "-r"]),
    row("awk", Uses::ReadsAfterFirst, &["-F", "-v"]),
    row("jq", Uses::ReadsAfterFirst, &["--arg", "--argjson", "--indent"]),
    row("tee", Uses::Writes, &[]),
    row("sponge", Uses::Writes, &[]),
    row("truncate", Uses::Writes, &["-s", "--size", "-r", "--reference"]),
    row("ed", Uses::Writes, &["-p"]),
    row("ex", Uses::Writes, &["-c"]),
    row("vi", Uses::Writes, &["-c"]),
    row("vim", Uses::Writes, &["-c"]),
    row("nano", Uses::Writes, &[]),
    row("patch", Uses::Writes, &["-i", "-o", "-p", "-d", "--input", "--output", "--strip", "--directory"]),
    row("touch", Uses::Marks, &["-d", "-r", "-t", "--date", "--reference"]),
    row("mkdir", Uses::Marks, &["-m", "--mode"]),
    row("chmod", Uses::MarksAfterFirst, &["--reference"]),
    row("chown", Uses::MarksAfterFirst, &["--reference", "--from"]),
    row("chgrp", Uses::MarksAfterFirst, &["--reference"]),
    row("rm", Uses::Deletes, &[]),
    row("rmdir", Uses::Deletes, &[]),
    row("unlink", Uses::Deletes, &[]),
    row("shred", Uses::Deletes, &["-n", "-s", "--iterations", "--size"]),
    row("trash", Uses::Deletes, &[]),
    row("cp", Uses::Copies, &["-S", "--suffix", "-t", "--target-directory"]),
    row("install", Uses::Copies, &["-m", "-o", "-g", "-S", "-t", "--mode", "--owner", "--group", "--target-directory"]),
    row("rsync", Uses::Copies, &["-e", "--exclude", "--include", "--filter", "-f", "--rsh"]),
    row("scp", Uses::Copies, &["-i", "-P", "-o", "-F", "-J"]),
    row("mv", Uses::Moves, &["-S", "--suffix", "-t", "--target-directory"]),
    row("ln", Uses::Links, &["-S", "--suffix", "-t", "--target-directory"]),
];

/// What a simple command touches, redirections apart; `shown` says whether its output reaches the caller whole.
pub(super) fn touched(program: &str, words: &[Word], dir: &Dir, shown: bool) -> Vec<Touch> {
    let arguments = words.get(1..).unwrap_or_default();
    let mut found = Found { dir, touches: Vec::new() };
    match program {
        "sed" => found.sed(arguments),
        "perl" | "ruby" if in_place(arguments) => found.in_place(arguments),
        "git" => found.git(arguments),
        "dd" => found.dd(arguments),
        "curl" | "wget" => found.download(program, arguments),
        "tar" | "unzip" | "bsdtar" => found.unpack(program, arguments),
        "find" => found.find(arguments),
        "sort" => found.sort(arguments),
        _ => {}
    }
    if let Some(row) = ROWS.iter().find(|row| row.program == program) {
        found.by_row(row, arguments, shown);
    }
    found.touches
}

struct Found<'a> {
    dir: &'a Dir,
    touches: Vec<Touch>,
}

impl Found<'_> {
    fn push(&mut self, path: &Word, role: Role) {
        if path.text.is_empty() || path.text == "-" || is_device(&path.text) {
            return;
        }
        self.touches.push(Touch { path: path.clone(), role, whole: false, metadata: false, dir: self.dir.clone() });
    }

    fn push_each(&mut self, paths: &[&Word], role: Role) {
        paths.iter().for_each(|path| self.push(path, role));
    }

    /// What lies below each directory that a pattern may match.
    fn push_below(&mut self, paths: &[&Word]) {
        for path in paths.iter().filter(|path| path.glob) {
            let text = format!("{}/**", path.text.trim_end_matches('/'));
            self.push(&Word { text, ..(*path).clone() }, Role::Delete);
        }
    }

    /// The present directory as a whole, where only the program knows which files.
    fn push_everything(&mut self, role: Role) {
        self.push(&Word { text: ".".to_owned(), dynamic: false, glob: true }, role);
    }

    fn by_row(&mut self, row: &Row, arguments: &[Word], shown: bool) {
        let (paths, into) = operands(arguments, row.valued);
        let after_first = paths.get(1..).unwrap_or_default();
        let before = self.touches.len();
        match row.uses {
            Uses::Shows | Uses::Reads => self.push_each(&paths, Role::Read),
            Uses::ReadsAfterFirst if has_option(arguments, &["-e", "-f", "--regexp", "--file"]) => {
                self.push_each(&paths, Role::Read)
            }
            Uses::ReadsAfterFirst => self.push_each(after_first, Role::Read),
            Uses::Writes | Uses::Marks => self.push_each(&paths, Role::Write),
            Uses::MarksAfterFirst => self.push_each(after_first, Role::Write),
            Uses::Deletes => {
                self.push_each(&paths, Role::Delete);
                if has_option(arguments, &["-r", "-R", "--recursive"]) {
                    self.push_below(&paths);
                }
            }
            Uses::Copies => self.transfer(&paths, into, Role::Read),
            Uses::Moves => self.transfer(&paths, into, Role::Delete),
            Uses::Links => self.link(&paths, into),
        }
        for touch in self.touches.iter_mut().skip(before) {
            touch.whole = row.uses == Uses::Shows && shown;
            touch.metadata = matches!(row.uses, Uses::Marks | Uses::MarksAfterFirst);
        }
    }

    /// Sources and a target; where the target may be a directory, the file inside it counts too.
    fn transfer(&mut self, paths: &[&Word], into: Option<&Word>, source_role: Role) {
        let (sources, target) = match (into, paths.split_last()) {
            (Some(into), _) => (paths, into),
            (None, Some((target, sources))) if !sources.is_empty() => (sources, *target),
            (None, _) => return self.push_each(paths, source_role),
        };
        self.push_each(sources, source_role);
        if source_role == Role::Delete {
            self.push_below(sources);
        }
        let directory = into.is_some()
            || sources.len() > 1
            || target.text.ends_with('/')
            || matches!(target.text.as_str(), "." | "..");
        if !directory {
            self.push(target, Role::Write);
        }
        for source in sources {
            self.push(&inside(target, source), Role::Write);
        }
    }

    fn link(&mut self, paths: &[&Word], into: Option<&Word>) {
        match paths {
            [only] if into.is_none() => self.push(&inside(&Word::literal("."), only), Role::Write),
            paths => {
                // The target of a symbolic link need not exist, and only the link's own place is written.
                let (sources, target) = match (into, paths.split_last()) {
                    (Some(into), _) => (paths, into),
                    (None, Some((target, sources))) => (sources, *target),
                    (None, None) => return,
                };
                self.push(target, Role::Write);
                sources.iter().for_each(|source| self.push(&inside(target, source), Role::Write));
            }
        }
    }

    fn sed(&mut self, arguments: &[Word]) {
        let changes = arguments.iter().any(|word| {
            let short = word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('i');
            short || word.text.starts_with("--in-place")
        });
        let (paths, _) = operands(arguments, &["-e", "-f", "-l", "--expression", "--file", "--line-length"]);
        let scripted = has_option(arguments, &["-e", "-f", "--expression", "--file"]);
        let files = if scripted { paths.as_slice() } else { paths.get(1..).unwrap_or_default() };
        self.push_each(files, if changes { Role::Write } else { Role::Read });
    }

    fn in_place(&mut self, arguments: &[Word]) {
        let (paths, _) = operands(arguments, &["-e", "-E", "-I", "-M"]);
        let scripted = arguments.iter().any(|word| is_short(word, 'e'));
        self.push_each(if scripted { &paths } else { paths.get(1..).unwrap_or_default() }, Role::Write);
    }

    fn git(&mut self, arguments: &[Word]) {
        let mut words = arguments.iter().skip_while(|word| word.text.starts_with('-')).peekable();
        let command = words.next().map(|word| word.text.as_str()).unwrap_or_default();
        let rest: Vec<Word> = words.cloned().collect();
        let after_dashes: Vec<&Word> = rest.iter().skip_while(|word| word.text != "--").skip(1).collect();
        let (paths, _) = operands(&rest, &["-s", "--source", "-m", "-b", "-B", "--pathspec-from-file"]);
        match command {
            "rm" => self.push_each(&paths, Role::Delete),
            "mv" => self.transfer(&paths, None, Role::Delete),
            "restore" => self.push_each(&paths, Role::Write),
            "checkout" => self.push_each(&after_dashes, Role::Write),
            "clean" if !has_option(&rest, &["-n", "--dry-run"]) => self.push_everything(Role::Delete),
            "stash" if rest.first().is_some_and(|word| matches!(word.text.as_str(), "list" | "show")) => {}
            "stash" | "apply" | "am" | "merge" | "rebase" | "pull" | "revert" | "cherry-pick" => {
                self.push_everything(Role::Write)
            }
            "reset" if has_option(&rest, &["--hard", "--merge", "--keep"]) => self.push_everything(Role::Write),
            _ => {}
        }
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

    fn download(&mut self, program: &str, arguments: &[Word]) {
        let named: &[&str] = if program == "curl" {
            &["-o", "--output", "-D", "--dump-header"]
        } else {
            &["-O", "--output-document", "-o", "--output-file"]
        };
        for file in values_of(arguments, named) {
            self.push(&file, Role::Write);
        }
        let by_url =
            program == "curl" && arguments.iter().any(|word| is_short(word, 'O') || word.text == "--remote-name");
        if by_url || program == "wget" && values_of(arguments, named).is_empty() {
            self.push_everything(Role::Write);
        }
    }

    fn unpack(&mut self, program: &str, arguments: &[Word]) {
        let first = arguments.first().map(|word| word.text.trim_start_matches('-')).unwrap_or_default();
        let extracts = program == "unzip"
            || first.contains('x')
            || arguments.iter().any(|word| word.text == "--extract" || word.text == "--get");
        if extracts {
            match values_of(arguments, if program == "unzip" { &["-d"] } else { &["-C", "--directory"] }).first() {
                Some(target) => self.push(&Word { glob: true, ..target.clone() }, Role::Write),
                None => self.push_everything(Role::Write),
            }
        } else if program != "unzip" {
            for file in values_of(arguments, &["-f", "--file", "-cf", "-czf", "-cjf", "cf", "czf"]) {
                self.push(&file, Role::Write);
            }
        }
    }

    fn find(&mut self, arguments: &[Word]) {
        let roots: Vec<&Word> = arguments.iter().take_while(|word| !word.text.starts_with(['-', '(', '!'])).collect();
        let deletes = arguments.iter().any(|word| word.text == "-delete");
        for root in &roots {
            let whole = Word { glob: true, ..(*root).clone() };
            self.push(&whole, if deletes { Role::Delete } else { Role::Read });
        }
        if roots.is_empty() && deletes {
            self.push_everything(Role::Delete);
        }
        for file in values_of(arguments, &["-fprint", "-fprintf", "-fls"]) {
            self.push(&file, Role::Write);
        }
    }

    fn sort(&mut self, arguments: &[Word]) {
        for file in values_of(arguments, &["-o", "--output"]) {
            self.push(&file, Role::Write);
        }
    }
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
    ) || path.starts_with("/dev/fd/")
}

/// The arguments that are no options, and the directory of `-t`.
fn operands<'a>(arguments: &'a [Word], valued: &[&str]) -> (Vec<&'a Word>, Option<&'a Word>) {
    let mut found = Vec::new();
    let mut into = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" => {
                found.extend(words.by_ref());
            }
            option if option.starts_with('-') && option.len() > 1 && !word.dynamic => {
                if valued.contains(&option) {
                    let value = words.next();
                    if matches!(option, "-t" | "--target-directory") {
                        into = value;
                    }
                }
            }
            _ => found.push(word),
        }
    }
    (found, into)
}

/// The values of these options: the next word, or what follows `=`.
fn values_of(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut values = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if options.contains(&word.text.as_str()) {
            values.extend(words.next().cloned());
        } else if let Some((option, value)) = word.text.split_once('=').filter(|(option, _)| options.contains(option)) {
            debug_assert!(options.contains(&option), "filtered above");
            values.push(Word { text: value.to_owned(), ..word.clone() });
        } else if let Some(value) =
            options.iter().filter(|option| option.len() == 2).find_map(|option| word.text.strip_prefix(option))
        {
            values.push(Word { text: value.to_owned(), ..word.clone() });
        }
    }
    values
}

fn has_option(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|word| {
        options.iter().any(|option| {
            let long = option.starts_with("--") && word.text.split('=').next() == Some(option);
            word.text == *option
                || long
                || option
                    .strip_prefix('-')
                    .and_then(|rest| rest.chars().next())
                    .is_some_and(|letter| option.len() == 2 && is_short(word, letter))
        })
    })
}

/// Whether a cluster of short options holds this letter.
fn is_short(word: &Word, letter: char) -> bool {
    word.text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

fn in_place(arguments: &[Word]) -> bool {
    arguments.iter().any(|word| {
        word.text.strip_prefix('-').is_some_and(|flags| {
            !flags.starts_with('-') && flags.split('e').next().is_some_and(|flags| flags.contains('i'))
        })
    })
}

/// The place of `source` inside the directory `target`.
fn inside(target: &Word, source: &Word) -> Word {
    let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let text = format!("{}/{name}", target.text.trim_end_matches('/'));
    Word { text, dynamic: target.dynamic || source.dynamic, glob: target.glob || source.glob }
}
