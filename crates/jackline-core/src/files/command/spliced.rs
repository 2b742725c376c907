//! Whether a file's name would stand inside a text that some program runs: `sh -c 'cat {file}'` runs whatever a file is
//! called. A name may only be an argument.

use super::{FILE, FILES};
use crate::shell::{self, Reading, ShellText, Word};

/// The name that stands in place of a file's, and the program that hostile names run.
const NAME: &str = "dir/jackline-name";
const RUN: &str = "jackline-run";
/// Names that a shell would act on: as a word of its text or between `"`, between `'`, and in a comment.
const HOSTILE: [&str; 3] = ["$(jackline-run)", "'$(jackline-run)'", "\njackline-run\n"];

/// A language whose programs may be given among the words.
struct Language {
    names: &'static [&'static str],
    /// Options whose value is a program; `-e` may end a cluster, or have its value behind it.
    options: &'static [&'static str],
    /// Options that have a value of another kind.
    valued: &'static [&'static str],
    /// Without any of those options, the first word that is no option is a program.
    first: bool,
}

const fn language(names: &'static [&'static str], options: &'static [&'static str]) -> Language {
    Language { names, options, valued: &[], first: false }
}

const LANGUAGES: &[Language] = &[
    language(&["python", "pypy", "py", "ipython"], &["-c"]),
    language(&["perl", "ruby", "lua", "luajit", "julia", "elixir", "groovy", "raku", "osascript"], &["-e", "-E"]),
    language(&["Rscript"], &["-e"]),
    language(&["node", "nodejs", "bun", "tsx"], &["-e", "-p", "--eval", "--print"]),
    language(&["deno"], &["eval"]),
    language(&["php"], &["-r", "-B", "-R", "-E"]),
    language(&["pwsh", "powershell"], &["-Command", "-c"]),
    language(&["fish", "nu", "xonsh", "elvish"], &["-c", "--command"]),
    language(&["vi", "vim", "nvim", "ex", "emacs"], &["-c", "--cmd", "--eval"]),
    language(&["psql", "mysql", "sqlite3"], &["-c", "--command", "-e", "--execute", "-cmd"]),
    Language {
        valued: &["-F", "-v", "-f", "--field-separator", "--assign", "--file"],
        first: true,
        ..language(&["awk", "gawk", "mawk", "nawk"], &["-e", "--source"])
    },
    Language {
        valued: &["-f", "-l", "--file", "--line-length"],
        first: true,
        ..language(&["sed", "gsed"], &["-e", "--expression"])
    },
];

/// Options by which nearly every program is told what to run, where it runs anything.
const USUAL: &[&str] = &["-c", "-e", "--command", "--eval", "--exec", "--execute", "--run"];

/// A word in which a file's name would be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// As its owner wrote it.
    pub word: String,
    /// Who runs it; nothing where a program that we do not know is told so, and may.
    pub by: Option<String>,
}

/// The first such word of a command.
pub(super) fn find(words: &[String]) -> Option<Spliced> {
    if !may_be(words) {
        return None;
    }
    let plain = filled(words, NAME);
    let places = || words.iter().filter(|word| has_place(word));
    let by_shell = || HOSTILE.iter().any(|name| is_run(&plain, &filled(words, name)));
    let by = by_language(&plain).or_else(|| by_shell().then(|| "a shell".to_owned()));
    match by {
        Some(by) => {
            let word =
                places().find(|word| word.as_str() != FILE && word.as_str() != FILES).or_else(|| places().next())?;
            Some(Spliced { word: word.clone(), by: Some(by) })
        }
        None => handed(words),
    }
}

/// Most commands are given files as words of their own and run no text at all: they are not read.
fn may_be(words: &[String]) -> bool {
    let inside = |word: &String| has_place(word) && word != FILE && word != FILES;
    let runs = |word: &String| word == "-c" || word.ends_with("sh") || spoken(base(word)).is_some();
    words.iter().any(has_place) && words.iter().any(|word| inside(word) || runs(word))
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn has_place(word: &String) -> bool {
    word.contains(FILE) || word == FILES
}

/// The command as a shell's text that runs just it, with a name in place of files.
fn filled(words: &[String], name: &str) -> String {
    let word = |word: &String| shell::quoted(&word.replace(FILES, name).replace(FILE, name));
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Whether a name that holds a program runs it, or makes what runs something that cannot be told.
fn is_run(plain: &str, hostile: &str) -> bool {
    match (shell::read(plain), shell::read(hostile)) {
        (ShellText::Reading(plain), ShellText::Reading(hostile)) => {
            let runs = |reading: &Reading| reading.commands.iter().any(|command| command.program() == Some(RUN));
            runs(&hostile) || hostile.opaque.is_some() && plain.opaque.is_none()
        }
        (ShellText::Reading(_), ShellText::Unparsable(_)) => true,
        (ShellText::Unparsable(_), _) => false,
    }
}

/// The language whose program a file's name would be part of, whoever starts it.
fn by_language(plain: &str) -> Option<String> {
    let ShellText::Reading(reading) = shell::read(plain) else { return None };
    reading.commands.iter().find_map(|command| {
        let program = command.program()?;
        let arguments = command.words.get(1..).unwrap_or_default();
        spoken(program).filter(|language| language.reads(arguments)).map(|_| format!("`{program}`"))
    })
}

/// The language of a program, whatever its version.
fn spoken(program: &str) -> Option<&'static Language> {
    let family = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().find(|language| language.names.iter().any(|name| *name == program || *name == family))
}

impl Language {
    /// Whether a program among these words has the name in it.
    fn reads(&self, arguments: &[Word]) -> bool {
        let mut told = false;
        let mut words = arguments.iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            if word == "--" {
                return self.first && !told && words.next().is_some_and(|first| first.contains(NAME));
            }
            if let Some(attached) = self.given(word) {
                told = true;
                let text = if attached.is_empty() { words.next().unwrap_or_default() } else { attached };
                if text.contains(NAME) {
                    return true;
                }
            } else if self.valued.contains(&word) {
                told |= matches!(word, "-f" | "--file");
                words.next();
            } else if !word.starts_with('-') {
                return self.first && !told && word.contains(NAME);
            }
        }
        false
    }

    /// What stands behind an option that has a program, in the same word; empty where the next word is it.
    fn given<'w>(&self, word: &'w str) -> Option<&'w str> {
        if self.options.contains(&word) {
            return Some("");
        }
        if word.starts_with("--") {
            let (name, value) = word.split_once('=')?;
            return self.options.contains(&name).then_some(value);
        }
        let cluster = word.strip_prefix('-')?;
        let letters = self.options.iter().filter(|option| option.len() == 2).filter_map(|option| option.chars().nth(1));
        let at = letters.filter_map(|letter| cluster.find(letter)).min()?;
        // Letters alone stand before it: `-lane`, and no path.
        let before = cluster.get(..at)?.chars().all(|c| c.is_ascii_alphanumeric());
        before.then(|| cluster.get(at + 1..)).flatten()
    }
}

/// A text with a place in it, which an option hands to a program that we do not know.
fn handed(words: &[String]) -> Option<Spliced> {
    let is_text = |word: &str| word.contains(|c: char| c.is_whitespace() || "'\"();|&<>`$".contains(c));
    let usual =
        |(option, word): &(&String, &String)| USUAL.contains(&option.as_str()) && has_place(word) && is_text(word);
    let (_, word) = words.iter().zip(words.iter().skip(1)).find(usual)?;
    Some(Spliced { word: word.clone(), by: None })
}

#[cfg(test)]
mod tests {
    use super::super::super::policy::RunFor;
    use super::super::Command;

    #[track_caller]
    fn check(command: &str, by: Option<&str>) {
        let spliced = Command::parse(command, RunFor::EachMatch).unwrap().spliced();
        assert_eq!(spliced.and_then(|spliced| spliced.by).as_deref(), by, "{command}");
    }

    #[test]
    fn a_name_inside_a_text_that_is_run_is_found() {
        for command in [
            "sh -c 'cat {file} | wc -l'",
            "bash -c \"test -e '{file}'\"",
            "bash -euc 'test -e \"{file}\"'",
            "env A=b sh -c 'echo {file}'",
            "timeout 5 sh -c 'echo \"$(cat {file})\"'",
            "sh -c 'ls # {file}'",
            "sh -c {file}",
            "sh -c {files}",
            "xargs sh -c {file}",
            "find . -exec sh -c 'cat {file}' ;",
        ] {
            check(command, Some("a shell"));
        }
        for (command, by) in [
            ("python3 -c \"open('{file}')\"", "`python3`"),
            ("python3 -c\"open('{file}')\"", "`python3`"),
            ("env python3.12 -I -c {file}", "`python3.12`"),
            ("perl -ne 'print if /{file}/'", "`perl`"),
            ("perl -wnE'say \"{file}\"'", "`perl`"),
            ("node --eval=require('./{file}')", "`node`"),
            ("deno eval 'import \"{file}\"'", "`deno`"),
            ("awk '{print \"{file}\"}' x", "`awk`"),
            ("awk {file}", "`awk`"),
            ("sed -i -e s/x/{file}/ y", "`sed`"),
            ("sed s/x/{file}/ y", "`sed`"),
            ("sh -c 'python3 -c \"print(1)\" && perl -e {file}'", "`perl`"),
        ] {
            check(command, Some(by));
        }
    }

    #[test]
    fn an_argument_is_no_text() {
        for command in [
            "ruff format {file}",
            "sh -c 'cat \"$1\" | wc -l' sh {file}",
            "sh -c 'for f; do cat \"$f\"; done' sh {files}",
            "sh lint.sh {file} --out={file}.x",
            "python3 -c 'import sys; print(sys.argv[1])' {file}",
            "python3 tools/check.py -c {file}",
            "perl -i -pe 's/a/b/' {file}",
            "sed -i 's/a/b/' {file}",
            "sed -i -e 's/a/b/' {file}",
            "sed -f fix.sed {file}",
            "awk -F : -v name={file} '{print name}' {file}",
            "find . -name {file}",
            "eslint -c conf.js {file}",
            "grep -e {file} list",
            "prettier --check {file}",
        ] {
            check(command, None);
            assert_eq!(Command::parse(command, RunFor::EachMatch).unwrap().spliced(), None, "{command}");
        }
    }

    #[test]
    fn what_a_program_may_run_is_told() {
        let spliced = Command::parse("unheard-of -c 'look at {file}'", RunFor::EachMatch).unwrap().spliced().unwrap();
        assert_eq!((spliced.word.as_str(), spliced.by), ("look at {file}", None));
    }
}
