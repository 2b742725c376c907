//! Shells and interpreters: where they take the text from that they run.

use std::borrow::Cow;

use super::super::Word;
use super::{Inner, values, whole};

const SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "zsh", "dash", "ksh", "lksh", "mksh", "oksh", "pdksh", "ash", "yash", "posh", "csh", "tcsh",
    "fish", "osh",
];

/// Interpreters that take their program from standard input when no file is named.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "perl",
    "ruby",
    "node",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "Rscript",
    "julia",
    "elixir",
    "groovy",
    "osascript",
    "pwsh",
    "powershell",
    "sqlite3",
    "ipython",
    "micropython",
    "raku",
    "tsx",
    // Shells with a grammar of their own.
    "nu",
    "xonsh",
    "elvish",
    "murex",
    "oil",
    "ysh",
];

/// Long options of bash's, which may be written with one dash, and whether they take a value.
const LONG: &[(&str, bool)] = &[
    ("norc", false),
    ("noprofile", false),
    ("noediting", false),
    ("login", false),
    ("posix", false),
    ("restricted", false),
    ("verbose", false),
    ("debugger", false),
    ("rcfile", true),
    ("init-file", true),
];

/// Options of fish's whose value is a text: those that may stand more than once, and those of which it runs before.
const FISH_TEXTS: &[&str] = &["-c", "--command"];
const FISH_INITS: &[&str] = &["-C", "--init-command"];

fn is_fish(program: &str) -> bool {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)) == "fish"
}

/// Whether this is a program that runs shell texts.
pub(in crate::shell) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)))
}

/// Whether this is an interpreter of another language.
pub(in crate::shell) fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        || INTERPRETERS.contains(&program)
}

/// Whether this is Python, whatever its version.
pub(super) fn is_python(program: &str) -> bool {
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(family, "python" | "pypy" | "py")
}

/// Whether a path is the standard input by another name.
fn is_input(path: &str) -> bool {
    path == "-"
        || path == "/dev/stdin"
        || path.starts_with("/dev/fd/")
        || path.starts_with("/proc/") && path.contains("/fd/")
}

/// Whether a program is given text to run as an argument.
pub(in crate::shell) fn has_text(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    if is_shell(program) {
        let fish = is_fish(program) && !values(&whole(arguments, FISH_TEXTS), FISH_TEXTS).is_empty();
        return fish || shell_text(arguments).is_some();
    }
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let letters = match family {
        "python" | "pypy" => "c",
        "perl" | "ruby" => "eE",
        "node" | "bun" => "ep",
        "php" => "rBRE",
        // What a database is told is a program of its own.
        "sqlite" => return arguments.len() > 1,
        "deno" => return arguments.first().is_some_and(|word| word.text == "eval"),
        _ => "ecE",
    };
    arguments.iter().take_while(|word| word.text.starts_with('-')).any(|word| {
        let cluster = word.text.starts_with('-') && !word.text.starts_with("--");
        cluster && word.text.contains(|c: char| letters.contains(c))
            || word.text.starts_with("--eval")
            || word.text.starts_with("--print")
    })
}

/// Whether a shell, an interpreter or `source` takes what it runs from its standard input.
pub(in crate::shell) fn reads_input(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    if matches!(program, "source" | ".") {
        return arguments.first().is_some_and(|word| is_input(&word.text));
    }
    if has_text(program, words) || arguments.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help")) {
        return false;
    }
    if is_shell(program) && only_parses(arguments) {
        return false;
    }
    let by_option = is_shell(program)
        && arguments.iter().take_while(|word| word.text.starts_with(['-', '+'])).any(|word| {
            word.text == "-" || word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('s')
        });
    // What looks like a file is the text that comes first.
    if is_fish(program) && !values(&whole(arguments, FISH_INITS), FISH_INITS).is_empty() {
        return true;
    }
    let file = if is_shell(program) { shells_file(arguments) } else { interpreters_file(program, arguments) };
    by_option || file.is_none_or(|word| !word.dynamic && is_input(&word.text))
}

fn interpreters_file<'a>(program: &str, arguments: &'a [Word]) -> Option<&'a Word> {
    let runs = |word: &&Word| matches!(program, "bun" | "deno") && word.text == "run";
    arguments.iter().skip_while(runs).find(|word| !word.text.starts_with(['-', '+']) || is_input(&word.text))
}

/// The file that a shell reads: the first word that is neither an option nor the value of one.
fn shells_file(arguments: &[Word]) -> Option<&Word> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if is_input(text) || !text.starts_with(['-', '+']) {
            return Some(word);
        }
        let long = LONG.iter().find(|(name, _)| text.trim_start_matches('-') == *name);
        let values = match long {
            Some((_, valued)) => usize::from(*valued),
            None if text.starts_with("--") => 0,
            None => text.matches(['o', 'O']).count(),
        };
        for _ in 0..values {
            words.next();
        }
    }
    None
}

/// The file whose text a shell is told to run.
pub(in crate::shell) fn script(arguments: &[Word]) -> Option<&Word> {
    let by_option = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('s');
    let options = || arguments.iter().take_while(|word| word.text.starts_with(['-', '+']));
    if shell_text(arguments).is_some() || options().any(by_option) {
        return None;
    }
    shells_file(arguments).filter(|word| !is_input(&word.text))
}

/// Whether a shell is told to read its text and run nothing of it; one that is interactive would.
fn only_parses(arguments: &[Word]) -> bool {
    let silent = |word: &Word| word.known() && matches!(word.text.as_str(), "-n" | "-nv" | "-vn" | "-s" | "-");
    arguments.iter().any(|word| word.text.contains('n')) && arguments.iter().all(silent)
}

/// The texts that a shell is given. One takes more than one, and some that are run before; then none of them speaks for all.
pub(super) fn shell_texts(program: &str, arguments: &[Word]) -> Vec<Inner> {
    let options = [FISH_TEXTS, FISH_INITS].concat();
    let arguments = &*if is_fish(program) { whole(arguments, &options) } else { Cow::from(arguments) };
    let texts = if is_fish(program) { values(arguments, &options) } else { Vec::new() };
    let before = !texts.is_empty() && !values(arguments, FISH_INITS).is_empty();
    match before || texts.len() > 1 {
        true => texts.into_iter().map(Inner::loose).collect(),
        false => shell_text(arguments).into_iter().collect(),
    }
}

/// `bash -c TEXT`: the text is the first word that is no option, however many options stand before or after `-c`.
pub(super) fn shell_text(arguments: &[Word]) -> Option<Inner> {
    let mut told = Told::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.dynamic && !told.given {
            return Some(Inner::Unknown("a shell is given options that are not known"));
        }
        let long = LONG.iter().find(|(name, _)| text.trim_start_matches('-') == *name && text.starts_with('-'));
        if let Some((_, valued)) = long {
            // A file that is read before the text may give its names another meaning.
            told.idle |= *valued;
            if *valued {
                words.next();
            }
        } else if text == "--" || text == "-" {
            let text = words.next().filter(|_| told.given)?.clone();
            return Some(told.text(text, words));
        } else if let Some(text) = text.strip_prefix("--command=") {
            return Some(told.text(Word { text: text.to_owned(), ..word.clone() }, words));
        } else if text.starts_with("--") {
            told.given |= text == "--command";
            told.idle |= text.starts_with("--dump") || text == "--no-execute";
        } else if text.starts_with(['-', '+']) && text.len() > 1 && !word.dynamic {
            told.letters(text, &mut words);
        } else if told.given {
            return Some(told.text(word.clone(), words));
        } else {
            return None;
        }
    }
    None
}

/// What the options of a shell say.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    errexit: bool,
    pipefail: bool,
    /// A text follows.
    given: bool,
    /// Its text is only read, or names in it may have another meaning: its status says nothing.
    idle: bool,
}

impl Told {
    fn letters<'w>(&mut self, text: &str, words: &mut impl Iterator<Item = &'w Word>) {
        let on = text.starts_with('-');
        self.given |= on && text.contains('c');
        self.errexit |= on && text.contains('e');
        self.idle |= on && text.contains(['n', 'D']);
        for _ in text.matches(['o', 'O']) {
            let named = words.next().map(|option| option.text.as_str());
            self.pipefail |= on && named == Some("pipefail");
            self.idle |= on && named == Some("noexec");
        }
    }

    /// The text with what follows it: its name for itself, and its arguments.
    fn text<'w>(self, text: Word, rest: impl Iterator<Item = &'w Word>) -> Inner {
        let (arguments, passes_status) = (rest.cloned().collect(), !self.idle);
        Inner::Text { text, arguments, dir: None, errexit: self.errexit, pipefail: self.pipefail, passes_status }
    }
}
