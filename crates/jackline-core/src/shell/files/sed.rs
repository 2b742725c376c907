//! Scripts of `sed`'s: the files that they write and read, and whether they run something.

use super::super::Word;
use super::Found;
use super::arguments::{each_value, files_of, operands, shortened};
use super::valued::SED;

use crate::path::Role;

/// What stands for a part of a script that is not known.
const HIDDEN: char = '\u{fffc}';

/// Options whose value is a script, and the name of the file that holds one.
const SCRIPTS: &[&str] = &["-e", "--expression"];
const SCRIPT_FILES: &[&str] = &["-f", "--file"];

/// Commands that take nothing, or a number; a block opens and closes as one.
const PLAIN: &str = "{}=dDFgGhHlLnNpPqQxz";

/// Flags of a substitution that say nothing of files.
const FLAGS: &str = "gpIiMm";

impl Found<'_> {
    pub(super) fn sed(&mut self, arguments: &[Word]) {
        let changes = arguments.iter().any(|word| {
            let short = word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('i');
            short || word.text.starts_with("--in-place")
        });
        let (paths, _) = operands(arguments, SED);
        let scripts = scripts(arguments);
        let scripted = !scripts.is_empty() || !files_of(arguments, SCRIPT_FILES).is_empty();
        let files = if scripted { paths.as_slice() } else { paths.get(1..).unwrap_or_default() };
        self.push_each(files, if changes { Role::Write } else { Role::Read });
        if !scripted {
            // Some take what a copy of the file ends in as a word of its own, which may be empty: then the script follows.
            let empty = paths.first().is_some_and(|first| first.text.is_empty());
            paths.iter().take(1 + usize::from(empty)).for_each(|script| self.sed_script(script));
        }
        scripts.iter().for_each(|script| self.sed_script(script));
    }

    /// The files that a script writes and reads; what it runs is not read, and of one that cannot be read nobody knows.
    fn sed_script(&mut self, script: &Word) {
        let texts = match script.dynamic {
            true => [Names::Whole, Names::NoWriting, Names::NoLetter].map(|names| hidden(&script.text, names)).to_vec(),
            false => vec![script.text.clone()],
        };
        let mut unread = true;
        for text in &texts {
            // Some let brackets hide what ends an expression, some do not.
            for brackets in [true, false] {
                let found = Reader { rest: text, brackets, found: Effects::default() }.all();
                unread &= found.unread;
                self.foreign |= found.runs;
                for (file, role) in found.files {
                    let dynamic = script.dynamic && file.contains(['$', HIDDEN]);
                    self.sed_file(Word { dynamic, ..Word::literal(file.replace(HIDDEN, "$…")) }, role);
                }
            }
        }
        self.foreign |= unread;
    }

    fn sed_file(&mut self, file: Word, role: Role) {
        if !self.touches.iter().any(|touch| touch.path == file && touch.role == role) {
            self.push(&file, role);
        }
    }
}

/// The scripts that options give, those one after another as the lines of one: a line may go on in the next.
fn scripts(arguments: &[Word]) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut goes_on = false;
    let long = |word: &Word| shortened(word, SCRIPTS).and_then(|(option, value)| Some((option, value?)));
    let cut = arguments.iter().filter(|word| !word.text.starts_with("--expression=")).filter_map(long);
    for (option, value) in each_value(arguments, &[SCRIPTS, SCRIPT_FILES].concat()).into_iter().chain(cut) {
        let script = SCRIPTS.contains(&option);
        match found.last_mut().filter(|_| script && goes_on) {
            Some(last) => {
                last.text = format!("{}\n{}", last.text, value.text);
                last.dynamic |= value.dynamic;
            }
            None => found.extend(Some(value).filter(|_| script)),
        }
        goes_on = script;
    }
    found
}

/// What is taken for the name of a variable: where one ends is not known, nor whether a sign begins one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Whole,
    /// One that seems to end in the command that writes has it behind.
    NoWriting,
    /// A letter alone is a command for the last line.
    NoLetter,
}

/// A script with a sign for each part that is not known.
fn hidden(script: &str, names: Names) -> String {
    let mut parts = script.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = match part.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map(|(_, behind)| behind),
            None if part.starts_with('(') => ["((…))", "(…)"].iter().find_map(|sign| part.strip_prefix(*sign)),
            None => part.get(name_bytes(part, names)..),
        };
        match behind.filter(|behind| behind.len() < part.len()) {
            Some(behind) => text.extend([HIDDEN.to_string().as_str(), behind]),
            None => text.extend(["$", part]),
        }
    }
    text
}

fn name_bytes(part: &str, names: Names) -> usize {
    let letters = part.bytes().take_while(|c| *c == b'_' || c.is_ascii_alphanumeric()).count();
    let name = part.get(..letters).unwrap_or_default();
    match names {
        Names::NoWriting if letters > 1 && name.ends_with(['w', 'W']) => letters - 1,
        Names::NoLetter if letters == 1 => 0,
        Names::Whole | Names::NoWriting | Names::NoLetter => letters,
    }
}

/// What a script does beside printing what it made of its input.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effects<'s> {
    files: Vec<(&'s str, Role)>,
    /// It has a shell run something.
    runs: bool,
    /// It has a part that is not understood.
    unread: bool,
}

struct Reader<'s> {
    rest: &'s str,
    /// What stands in brackets ends no expression.
    brackets: bool,
    found: Effects<'s>,
}

impl<'s> Reader<'s> {
    fn all(mut self) -> Effects<'s> {
        loop {
            self.skip(|c| c.is_whitespace() || c == ';');
            if self.rest.is_empty() {
                return self.found;
            }
            // Files are opened as they are read of, whatever is wrong with what follows.
            if self.command().is_none() {
                self.found.unread = true;
                self.skip(|c| !matches!(c, ';' | '\n'));
            }
        }
    }

    /// Addresses and a command; none where that makes no sense.
    fn command(&mut self) -> Option<()> {
        let text = self.rest;
        if self.address()? {
            self.blanks();
            if self.next_if(|c| c == ',') {
                self.blanks();
                self.address()?.then_some(())?;
            }
        }
        self.blanks();
        while self.next_if(|c| c == '!') {
            self.blanks();
        }
        // The command, too, may be in what is not known.
        let hidden = text.strip_suffix(self.rest).is_some_and(|before| before.trim_end().ends_with(HIDDEN));
        if hidden && (self.rest.is_empty() || self.rest.starts_with([';', '\n', '}'])) {
            return Some(());
        }
        match self.next()? {
            'a' | 'c' | 'i' => self.text()?,
            'b' | 't' | 'T' | 'v' | ':' => {
                self.blanks();
                self.skip(|c| !c.is_whitespace() && !matches!(c, ';' | '}'));
            }
            'e' => {
                self.found.runs = true;
                self.line();
            }
            'r' | 'R' => self.file(Role::Read)?,
            's' => self.substitution()?,
            'w' | 'W' => self.file(Role::Write)?,
            'y' => {
                let sign = self.sign()?;
                self.until(sign, false)?;
                self.until(sign, false)?;
            }
            '#' => {
                self.line();
            }
            plain if PLAIN.contains(plain) => {
                self.blanks();
                self.skip(is_number);
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether an address stands here; none where it does not end.
    fn address(&mut self) -> Option<bool> {
        let Some(first) = self.rest.chars().next() else { return Some(false) };
        match first {
            '/' | '\\' => {
                self.next();
                let sign = if first == '\\' { self.sign()? } else { first };
                self.until(sign, self.brackets)?;
                self.blanks();
                while self.next_if(|c| matches!(c, 'I' | 'M')) {
                    self.blanks();
                }
            }
            '$' => {
                self.next();
            }
            '+' | '~' => self.step(),
            first if is_number(first) => {
                self.skip(is_number);
                self.blanks();
                if self.rest.starts_with('~') {
                    self.step();
                }
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn step(&mut self) {
        self.next();
        self.blanks();
        self.skip(is_number);
    }

    /// `s/EXPRESSION/TEXT/FLAGS`, of which the last may name a file.
    fn substitution(&mut self) -> Option<()> {
        let sign = self.sign()?;
        self.until(sign, self.brackets)?;
        self.until(sign, false)?;
        loop {
            self.skip(|c| matches!(c, ' ' | '\t') || FLAGS.contains(c) || is_number(c));
            if self.next_if(|c| c == 'w') {
                return self.file(Role::Write);
            }
            if !self.next_if(|c| c == 'e') {
                return Some(());
            }
            self.found.runs = true;
        }
    }

    /// The text of `a`, `c` or `i`: a line, and those that it goes on in.
    fn text(&mut self) -> Option<()> {
        self.blanks();
        // Behind blanks some end the text with the line, which takes what follows for commands.
        if self.next_if(|c| c == '\\') && !self.next_if(|c| c == '\n') {
            self.blanks();
            // Whether a line of these alone goes on depends on who reads it.
            let line = self.rest.split('\n').next().unwrap_or_default();
            (line.is_empty() || line.bytes().any(|c| c != b'\\')).then_some(())?;
        }
        while let Some(letter) = self.next().filter(|c| *c != '\n') {
            if letter == '\\' {
                self.next();
            }
        }
        Some(())
    }

    /// A file, which is named up to the end of the line.
    fn file(&mut self, role: Role) -> Option<()> {
        self.blanks();
        let file = self.line();
        self.found.files.extend(Some((file, role)).filter(|_| !file.is_empty()));
        (!file.is_empty()).then_some(())
    }

    /// The sign that parts an expression from a text.
    fn sign(&mut self) -> Option<char> {
        self.next().filter(|sign| !matches!(sign, '\n' | '\\'))
    }

    /// What stands before the next such sign.
    fn until(&mut self, sign: char, brackets: bool) -> Option<()> {
        loop {
            match self.next()? {
                letter if letter == sign => return Some(()),
                '\n' => return None,
                '\\' => {
                    self.next();
                }
                '[' if brackets => self.bracketed()?,
                _ => {}
            }
        }
    }

    /// Letters in brackets, after the first: one that closes may stand at the beginning, and kinds have brackets of their own.
    fn bracketed(&mut self) -> Option<()> {
        self.next_if(|c| c == '^');
        self.next_if(|c| c == ']');
        loop {
            match self.next()? {
                ']' => return Some(()),
                '\n' => return None,
                '[' => {
                    if let Some(kind) = self.rest.chars().next().filter(|c| matches!(c, ':' | '.' | '=')) {
                        self.next();
                        self.skip(|c| c != kind && c != '\n');
                        self.next_if(|c| c == kind);
                        self.next_if(|c| c == ']');
                    }
                }
                _ => {}
            }
        }
    }

    fn line(&mut self) -> &'s str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    fn blanks(&mut self) {
        self.skip(|c| matches!(c, ' ' | '\t'));
    }

    fn skip(&mut self, is_one: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(is_one);
    }

    fn next_if(&mut self, is_one: impl Fn(char) -> bool) -> bool {
        self.rest.chars().next().is_some_and(is_one) && self.next().is_some()
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }
}

fn is_number(letter: char) -> bool {
    letter.is_ascii_digit() || letter == HIDDEN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a script writes, with a sign for one that runs something and one for what is not read.
    #[track_caller]
    fn check(script: &str, want: &[&str]) {
        let found = Reader { rest: script, brackets: true, found: Effects::default() }.all();
        let written = found.files.iter().filter(|(_, role)| *role == Role::Write).map(|(file, _)| *file);
        let runs = found.runs.then_some("runs");
        let unread = found.unread.then_some("unread");
        assert_eq!(written.chain(runs).chain(unread).collect::<Vec<_>>(), want, "{script}");
    }

    #[test]
    fn what_a_script_writes_is_found_behind_any_address_and_flag() {
        for script in [
            "wa",
            "w a",
            "W a",
            "1w a",
            "1!w a",
            "1 ! w a",
            "$wa",
            "1~2w a",
            "1,~2w a",
            "1,+3wa",
            "/x/w a",
            "/x/!wa",
            "/x/,+1w a",
            "/x/Iw a",
            "\\@x@w a",
            "\\@x@,$ w a",
            "/[/]/w a",
            "s/x/y/w a",
            "s@x@y@w a",
            "s:x:y:gw a",
            "s,x,y, w a",
            "s/x\\/y/z/2w a",
            "sxaxbxw a",
            "{wa",
            "/x/{p;w a",
            "p;w a",
            "p\nw a\np",
            ":x;w a",
            "bx;w a",
            "b;w a",
            "y/a/b/;w a",
            "a x\nw a",
            "a\\\nx\nw a",
            "# x\nw a",
            "s/[/]/y/;w a",
            "s/[[:x:]/]/y/;w a",
            "s/a/b\\\nc/;w a",
            "q5;w a",
            "s/x/y/;;}w a",
            "i\\x\nw a",
            "r x\nw a",
        ] {
            check(script, &["a"]);
        }
        check("w a b;p", &["a b;p"]);
        check("w a\nw b", &["a", "b"]);
        check("s/a/b/ew a", &["a", "runs"]);
        check("1e x", &["runs"]);
        check("e", &["runs"]);
        check("s/a/b/e", &["runs"]);
    }

    #[test]
    fn what_only_looks_like_writing_is_none() {
        for script in [
            "5,60p",
            "s/a/b/g",
            "s|w|x|",
            "/^warn/d",
            "s/w x/y/",
            "s@(a|b)@\\1@g",
            "$!N;$!D",
            "y/abc/xyz/",
            "/a/,/b/{s/x/y/;p}",
            "/w/p",
            "1i\\text w a",
            "a w a",
            "a\\\nw a",
            "a x\\\nw a",
            ":w;N;$!bw;s/\\n/ /g",
            "tw",
            "#w a",
            "y/w/x/",
            "\\,w a,d",
            "s/x/\\/w a/",
            "/[/w a]/p",
            "$!{h;d};x;G",
            "1,/^$/d",
            "=",
            "l 5",
            "s/a/b/3g;q",
            "/a/I,/b/Mp",
            "0~4d",
            "2q",
            "${p}",
            "/a/!s/b/c/",
            "r w a",
        ] {
            check(script, &[]);
        }
    }

    #[test]
    fn what_makes_no_sense_is_not_taken_for_read() {
        for script in ["k", "s/a/b", "/a", "1", "w", "s/a\nb/c/", "a\\\\\n", "y/a/b", "1,p", "[w a]"] {
            check(script, &["unread"]);
        }
        check("k;w a", &["a", "unread"]);
        check("w a\nk", &["a", "unread"]);
        check("a\\\\\nw a", &["a", "unread"]);
        check("a\\ \nw a", &["a"]);
    }
}
