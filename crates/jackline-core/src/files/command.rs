//! The command of a policy: words, with places for files. No shell ever reads it.

mod spliced;

use serde::{Deserialize, Serialize};

use super::policy::RunFor;
use crate::shell;
pub use spliced::Spliced;

/// What stands for one file, for all of them, and for the repository's root.
const FILE: &str = "{file}";
const FILES: &str = "{files}";
const ROOT: &str = "{repo_root}";
/// Files that one run is given at once: no program is given more words than a few beside them.
const RUN_FILES_MAX: usize = 4000;
/// Bytes of their names, for the same reason; the rest of what a program takes is for the words of its owner.
const RUN_BYTES_MAX: usize = 180 * 1024;

/// A command of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// As its owner wrote it.
    pub shown: String,
    pub words: Vec<String>,
    pub run_for: RunFor,
}

impl Command {
    /// Splits a text into words as a POSIX shell does, and does nothing else that a shell does.
    ///
    /// # Errors
    /// Why it is no command, as a fault says it.
    pub fn parse(text: &str, run_for: RunFor) -> Result<Self, String> {
        let command = Self::of(split(text)?, run_for)?;
        Ok(Self { shown: text.trim().to_owned(), ..command })
    }

    /// A command by its words.
    ///
    /// # Errors
    /// Why it is no command, as a fault says it.
    pub fn of(words: Vec<String>, run_for: RunFor) -> Result<Self, String> {
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err("the command names no program".to_owned());
        }
        if words.first().is_some_and(|program| program.contains(FILE) || program.contains(FILES)) {
            return Err("a changed file cannot be the program".to_owned());
        }
        if words.iter().any(|word| word.contains(FILES) && word != FILES) {
            return Err("`{files}` becomes several words, so it must be a word of its own".to_owned());
        }
        if run_for == RunFor::AllMatches && words.iter().any(|word| word.contains(FILE)) {
            return Err("`{file}` is one file, and `run_for: all_matches` runs once for all: use `{files}`".to_owned());
        }
        Ok(Self { shown: told(&words), words, run_for })
    }

    /// What in it only a shell would read, or is a place for a file that was not closed, and what to do about it.
    #[must_use]
    pub fn odd(&self) -> Option<(String, &'static str)> {
        let given = "the program is given it as it stands";
        if let Some(word) = self.words.iter().find(|word| is_for_a_shell(word)) {
            let what = format!("the command has `{word}`, and no shell reads it: {given}");
            return Some((what, "put it into a script, or say `sh -c '… \"$1\" …' sh {file}`"));
        }
        let unclosed = |word: &&String| {
            let rest = [FILES, FILE, ROOT].iter().fold((*word).clone(), |rest, place| rest.replace(place, ""));
            ["{file", "{repo_root"].iter().any(|begun| rest.contains(begun))
        };
        let word = self.words.iter().find(unclosed)?;
        let what = format!("the command has `{word}`, which is no place for a file: {given}");
        Some((what, "write `{file}`, `{files}` or `{repo_root}`"))
    }

    /// A word of it in which a file's name would be run.
    #[must_use]
    pub fn spliced(&self) -> Option<Spliced> {
        spliced::find(&self.words)
    }

    /// Whether it is given the names of files; one that is not runs for deleted files too.
    #[must_use]
    pub fn names_files(&self) -> bool {
        self.words.iter().any(|word| word.contains(FILE) || word.contains(FILES))
    }

    /// The words with the repository's root in its places, so that it can be told which files of it they name.
    #[must_use]
    pub fn rooted(&self, root: &str) -> Vec<String> {
        self.words.iter().map(|word| put(word, FILE, root)).collect()
    }

    /// What is run for these files, with the files each run is about.
    #[must_use]
    pub fn runs<'f>(&self, files: &'f [String], root: &str) -> Vec<(Vec<String>, Vec<&'f str>)> {
        let run = |files: Vec<&'f str>| (self.filled(&files, root), files);
        match self.run_for {
            RunFor::EachMatch => files.iter().map(|file| run(vec![file])).collect(),
            RunFor::AllMatches => self.shares(files).into_iter().map(run).collect(),
        }
    }

    /// Files as they are given at once: all of them, or in as many runs as it takes.
    fn shares<'f>(&self, files: &'f [String]) -> Vec<Vec<&'f str>> {
        let places = self.words.iter().filter(|word| *word == FILES).count();
        let (files_max, bytes_max) = match places {
            0 => (usize::MAX, usize::MAX),
            places => ((RUN_FILES_MAX / places).max(1), RUN_BYTES_MAX / places),
        };
        let mut shares: Vec<Vec<&'f str>> = vec![Vec::new()];
        let mut bytes = 0;
        for file in files {
            bytes += plain(file).len() + 1;
            let full = |share: &Vec<&str>| share.len() >= files_max || bytes > bytes_max && !share.is_empty();
            if shares.last().is_none_or(full) {
                shares.push(Vec::new());
                bytes = plain(file).len() + 1;
            }
            shares.last_mut().into_iter().for_each(|share| share.push(file));
        }
        shares
    }

    fn filled(&self, files: &[&str], root: &str) -> Vec<String> {
        let first = files.first().copied().unwrap_or_default();
        let mut words = Vec::new();
        for word in &self.words {
            if word == FILES {
                words.extend(files.iter().map(|file| plain(file)));
            } else {
                words.push(put(word, first, root));
            }
        }
        words
    }
}

/// Words as a person can run them: those that a shell would take apart are quoted, places for files are not.
#[must_use]
pub fn told(words: &[String]) -> String {
    let word = |word: &String| match word.as_str() {
        FILE | FILES | ROOT => word.clone(),
        word => shell::quoted(word),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Whether a word looks like one that a shell would act on.
fn is_for_a_shell(word: &str) -> bool {
    let operator = !word.is_empty() && word.trim_start_matches(['0', '1', '2']).chars().all(|c| "|&;<>".contains(c));
    let digits = word.chars().all(|c| c.is_ascii_digit());
    let variable = word
        .strip_prefix('$')
        .is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c == '{' || c == '(' || c.is_ascii_alphabetic()));
    (operator && !digits) || variable || word.starts_with('`') || (word.len() > 1 && word.ends_with(';'))
}

/// A file's name as an argument: one that begins with a dash must not be taken for an option.
fn plain(file: &str) -> String {
    if file.starts_with('-') { format!("./{file}") } else { file.to_owned() }
}

/// Fills one word in one pass, so that a file's name is never filled itself.
fn put(word: &str, file: &str, root: &str) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        if let Some(after) = from.strip_prefix(FILE) {
            // Only at a word's beginning could it be an option.
            if filled.is_empty() {
                filled.push_str(&plain(file))
            } else {
                filled.push_str(file)
            }
            rest = after;
        } else if let Some(after) = from.strip_prefix(ROOT) {
            filled.push_str(root);
            rest = after;
        } else {
            filled.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    filled + rest
}

/// Words by POSIX quoting: `'…'`, `"…"` and `\`.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let open = word.get_or_insert_default();
                quoted(&mut chars, open, '\'')?;
            }
            '"' => {
                let open = word.get_or_insert_default();
                quoted(&mut chars, open, '"')?;
            }
            '\\' => {
                let next = chars.next().ok_or("the command ends with `\\`, which escapes nothing")?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, mark: char) -> Result<(), String> {
    loop {
        match chars.next().ok_or("the command has an unclosed quote")? {
            c if c == mark => return Ok(()),
            '\\' if mark == '"' => match chars.next().ok_or("the command has an unclosed quote")? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        assert_eq!(split(text).unwrap(), want, "{text}");
    }

    #[test]
    fn a_text_is_split_and_nothing_more() {
        check("ruff format {file}", &["ruff", "format", "{file}"]);
        check("  a\t'b c' \"d e\" f\\ g ", &["a", "b c", "d e", "f g"]);
        check("a'b'\"c\" ''", &["abc", ""]);
        check(
            "echo $HOME `id` *.py; rm -rf / | x > y",
            &["echo", "$HOME", "`id`", "*.py;", "rm", "-rf", "/", "|", "x", ">", "y"],
        );
        check(r#"a "b\"c\$\x" 'd\e'"#, &["a", r#"b"c$\x"#, r"d\e"]);
        for bad in ["a 'b", "a \"b", "a \\"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }

    #[track_caller]
    fn check_runs(command: &str, run_for: RunFor, files: &[&str], want: &[&[&str]]) {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        let command = Command::parse(command, run_for).unwrap();
        let runs: Vec<Vec<String>> = command.runs(&files, "/repo").into_iter().map(|(argv, _)| argv).collect();
        assert_eq!(runs, want);
    }

    #[test]
    fn files_stay_whole_whatever_their_names() {
        check_runs(
            "ruff format {file}",
            RunFor::EachMatch,
            &["a b.py", "$(id).py"],
            &[&["ruff", "format", "a b.py"], &["ruff", "format", "$(id).py"]],
        );
        check_runs(
            "fmt --root={repo_root} {files}",
            RunFor::AllMatches,
            &["a;b", "c\nd"],
            &[&["fmt", "--root=/repo", "a;b", "c\nd"]],
        );
        check_runs(
            "fmt {file} --out={file}.x {other}",
            RunFor::EachMatch,
            &["-rf"],
            &[&["fmt", "./-rf", "--out=-rf.x", "{other}"]],
        );
        check_runs("fmt {files}", RunFor::EachMatch, &["-a", "b"], &[&["fmt", "./-a"], &["fmt", "b"]]);
        check_runs("fmt {file}", RunFor::EachMatch, &["{repo_root}"], &[&["fmt", "{repo_root}"]]);
        let command = Command::parse("{repo_root}/fmt --root={repo_root} {file} {files}", RunFor::EachMatch).unwrap();
        assert_eq!(command.rooted("/repo"), ["/repo/fmt", "--root=/repo", "{file}", "{files}"]);
    }

    #[test]
    fn more_files_than_a_program_takes_are_given_in_several_runs() {
        let files: Vec<String> = (0..9000).map(|number| format!("src/{number}.py")).collect();
        let lens = |command: &str, files: &[String]| -> Vec<usize> {
            let command = Command::parse(command, RunFor::AllMatches).unwrap();
            command.runs(files, "/repo").into_iter().map(|(_, files)| files.len()).collect()
        };
        assert_eq!(lens("fmt {files}", &files), [4000, 4000, 1000]);
        assert_eq!(lens("fmt {files} -- {files}", files.get(..4001).unwrap()), [2000, 2000, 1]);
        assert_eq!(lens("fmt", &files), [9000]);
        let long: Vec<String> = (0..3).map(|number| format!("{number}{}", "x".repeat(100_000))).collect();
        assert_eq!(lens("fmt {files}", &long), [1, 1, 1]);
        assert_eq!(lens("fmt {files}", &[]), [0]);
    }

    #[test]
    fn words_are_told_as_they_can_be_run() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(told(&words(&["sh", "-c", "echo x; exit 3", "sh", "a b.py"])), "sh -c 'echo x; exit 3' sh 'a b.py'");
        assert_eq!(Command::of(words(&["fmt", "{file}", ""]), RunFor::EachMatch).unwrap().shown, "fmt {file} ''");
    }

    #[test]
    fn what_cannot_be_run_is_no_command() {
        for (text, run_for) in [
            ("", RunFor::EachMatch),
            ("''", RunFor::EachMatch),
            ("{file}", RunFor::EachMatch),
            ("fmt x{files}", RunFor::EachMatch),
            ("fmt {file}", RunFor::AllMatches),
        ] {
            assert!(Command::parse(text, run_for).is_err(), "{text}");
        }
    }
}
