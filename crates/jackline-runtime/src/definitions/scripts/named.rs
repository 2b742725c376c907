//! Which files of the workspace a command's words lead to, as a shell reads them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use jackline_core::glob;
use jackline_core::shell::{self, Command, Dir, ShellText, Word};

use super::interpreters::{self, Named};
use super::settings;

/// What stands between the paths of a shell's text or of an option.
const BETWEEN: &str = ";&|()<>{}\"'`$=,:";
/// Directories and names of one command that are put together: what a person writes by hand has a handful of each.
const PAIRS_MAX: usize = 4_096;
/// Files of a directory that a pattern is held against; more than that are no scripts of one check.
const ENTRIES_MAX: usize = 1_024;

/// What a command runs of the workspace: paths from its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// Files that are there.
    pub files: BTreeSet<String>,
    /// Files that it is told to run and that are not there.
    pub missing: Vec<String>,
    /// Files that would run in place of something else if they were there.
    pub absent: BTreeSet<String>,
    /// What it runs cannot be told from its words alone.
    pub untold: bool,
}

impl Runs {
    /// What a command runs, as far as its words tell.
    #[must_use]
    pub fn of(root: &Path, argv: &[String]) -> Self {
        let mut looking = Looking { root, runs: Self::default() };
        let text = argv.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" ");
        match shell::read(&text) {
            ShellText::Reading(reading) => {
                looking.runs.untold |= reading.opaque.is_some();
                reading.commands.iter().for_each(|command| looking.command(command));
            }
            ShellText::Unparsable(_) => looking.runs.untold = true,
        }
        looking.mentioned(argv);
        looking.runs
    }

    /// All of them: what is there, and what would run if it were.
    pub(super) fn all(self) -> impl Iterator<Item = String> {
        self.files.into_iter().chain(self.missing).chain(self.absent)
    }
}

/// What was found so far.
struct Looking<'a> {
    root: &'a Path,
    runs: Runs,
}

impl Looking<'_> {
    fn command(&mut self, command: &Command) {
        let Some((first, arguments)) = command.words.split_first() else { return };
        let Some(program) = command.program() else {
            self.runs.untold = true;
            return self.word(first, &command.dir, true);
        };
        if first.text.contains('/') {
            self.word(first, &command.dir, true);
        }
        // One that is not there yet is not trusted once it is.
        let named = settings::named(program, arguments);
        let named = named.iter().filter_map(|word| self.path(word, &command.dir));
        let there: Vec<String> = named.filter(|path| self.root.join(path).is_file()).collect();
        self.runs.files.extend(there);
        let Some(interpreter) = interpreters::find(program) else { return };
        let Named { files, candidates, module } = interpreter.named(arguments);
        files.iter().for_each(|word| self.word(word, &command.dir, false));
        module.iter().for_each(|word| self.module(word, &command.dir));
        self.candidates(&candidates, &command.dir);
    }

    /// The first that is a file runs. Where none is, the first was meant.
    fn candidates(&mut self, words: &[Word], dir: &Dir) {
        let there = |word: &&Word| self.path(word, dir).is_some_and(|path| self.root.join(path).exists());
        let unknown = |word: &&Word| !word.known();
        let meant = words.iter().find(|word| unknown(word) || there(word)).or_else(|| words.first());
        if let Some(word) = meant {
            self.word(word, dir, true);
        }
    }

    /// A word that is a file to be run.
    fn word(&mut self, word: &Word, dir: &Dir, meant: bool) {
        if word.glob && !word.dynamic {
            return self.pattern(word, dir);
        }
        match self.path(word, dir) {
            None => self.runs.untold |= !word.known() || *dir == Dir::Unknown,
            Some(path) => self.file(path, meant),
        }
    }

    fn file(&mut self, path: String, meant: bool) {
        let whole = self.root.join(&path);
        if whole.is_file() {
            self.runs.files.insert(path);
        } else if whole.is_dir() {
            let inside = ["__main__.py", "index.js", "index.mjs", "index.cjs", "package.json"];
            inside.iter().for_each(|name| self.lurking(format!("{path}/{name}")));
        } else if meant {
            self.runs.missing.push(path);
        }
    }

    /// A file that runs if it is there.
    fn lurking(&mut self, path: String) {
        let there = self.root.join(&path).is_file();
        if there {
            self.runs.files.insert(path)
        } else {
            self.runs.absent.insert(path)
        };
    }

    /// Python looks for a module in the directory where it runs before it looks anywhere else.
    fn module(&mut self, word: &Word, dir: &Dir) {
        let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c == '_' || c.is_alphanumeric());
        if !word.known() || !word.text.split('.').all(plain) {
            self.runs.untold = true;
            return;
        }
        let parts: Vec<&str> = word.text.split('.').collect();
        let file = |path: &str| Word::literal(path);
        let mut names: Vec<String> = (1..=parts.len())
            .map(|many| format!("{}/__init__.py", parts.iter().take(many).copied().collect::<Vec<_>>().join("/")))
            .collect();
        let whole = parts.join("/");
        names.extend([format!("{whole}.py"), format!("{whole}/__main__.py")]);
        for path in names.iter().filter_map(|name| self.path(&file(name), dir)).collect::<Vec<_>>() {
            self.lurking(path);
        }
    }

    /// The files that a pattern of the shell's stands for.
    fn pattern(&mut self, word: &Word, dir: &Dir) {
        let (before, name) = word.text.rsplit_once('/').unwrap_or((".", &word.text));
        if glob::is_pattern(before) {
            self.runs.untold = true;
            return;
        }
        let inside = self.path(&Word::literal(before), dir).unwrap_or_default();
        let Ok(entries) = fs::read_dir(self.root.join(&inside)) else { return };
        let names = entries.take(ENTRIES_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        for found in names.filter(|found| glob::text_matches(name, found)) {
            let path = if inside.is_empty() { found } else { format!("{inside}/{found}") };
            if self.root.join(&path).is_file() {
                self.runs.files.insert(path);
            }
        }
    }

    /// A word as a path from the root, when it leads below it.
    fn path(&self, word: &Word, dir: &Dir) -> Option<String> {
        // Where a command runs is the workspace, until it goes elsewhere.
        let here = |text: &str| text.strip_prefix("$PWD").or_else(|| text.strip_prefix("${PWD}")).map(str::to_owned);
        let text = match here(&word.text).filter(|_| *dir == Dir::Here) {
            Some(rest) => format!(".{rest}"),
            None if word.dynamic => return None,
            None => word.text.clone(),
        };
        match dir {
            _ if text.contains('$') => None,
            _ if text.starts_with('/') => below(self.root, &text),
            Dir::Here => below(self.root, &text),
            Dir::At(dir) => below(self.root, &format!("{dir}/{text}")),
            Dir::Unknown => None,
        }
    }

    /// Programs that the words name in any other way, in any directory that they name: a word may be a shell's text,
    /// or an option with its value.
    fn mentioned(&mut self, argv: &[String]) {
        let parts = argv.iter().skip(1).flat_map(|word| word.split(|c: char| c.is_whitespace() || BETWEEN.contains(c)));
        let parts: BTreeSet<&str> =
            parts.map(|part| part.trim_start_matches("PWD/")).filter(|it| !it.is_empty()).collect();
        let paths: BTreeSet<String> = parts.iter().filter_map(|part| below(self.root, part)).collect();
        let is_dir = |path: &&String| self.root.join(path).is_dir();
        let mut dirs: Vec<&str> = paths.iter().filter(is_dir).map(String::as_str).collect();
        dirs.push("");
        // A path whose beginning is a variable's value still tells how it ends.
        let ends = paths.iter().flat_map(|path| [Some(path.as_str()), path.split_once('/').map(|(_, end)| end)]);
        let ends: BTreeSet<&str> = ends.flatten().collect();
        let pairs = dirs.iter().flat_map(|dir| ends.iter().map(move |end| (*dir, *end)));
        for (dir, end) in pairs.take(PAIRS_MAX) {
            let path = if dir.is_empty() { end.to_owned() } else { format!("{dir}/{end}") };
            if is_program(&self.root.join(&path)) {
                self.runs.files.insert(path);
            }
        }
    }
}

/// A path from the root, when it leads below it.
fn below(root: &Path, word: &str) -> Option<String> {
    let path = Path::new(word);
    let path = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => parts.pop().map(drop)?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Whether a file may be run: it says so by its mode, or by how it begins.
fn is_program(path: &Path) -> bool {
    let Ok(there) = path.metadata() else { return false };
    there.is_file() && (there.permissions().mode() & 0o111 != 0 || begins_as_script(path))
}

fn begins_as_script(path: &Path) -> bool {
    let mut beginning = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok() && beginning == *b"#!"
}
