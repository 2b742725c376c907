//! Files that a text downloads, takes from the terminal or makes a pipe of, and whether it then runs them.

use super::super::{Touch, Word, wrappers};
use crate::path::Role;

/// Programs that get something from elsewhere.
const FETCHING: &[&str] = &["curl", "wget", "fetch", "aria2c", "http", "https", "xh"];

/// Programs that make a file which holds whatever others write to it meanwhile.
const PIPING: &[&str] = &["mkfifo", "mknod"];

/// Downloads that are remembered of one text; people's have a few.
const FETCHED_MAX: usize = 64;

/// The files that were downloaded so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetched {
    files: Vec<String>,
    /// There were more than are remembered.
    more: bool,
    /// A program ran here that downloads.
    ran: bool,
    /// What comes in through the pipe was downloaded.
    piped: bool,
}

impl Fetched {
    /// A pipeline begins; gives what counted around it.
    pub(super) fn begin(&mut self) -> (bool, bool) {
        (std::mem::take(&mut self.ran), self.piped)
    }

    /// The next part of a pipeline is given what the last one printed.
    pub(super) fn pass_on(&mut self) {
        self.piped |= self.ran;
    }

    /// A pipeline ends.
    pub(super) fn end(&mut self, (ran, piped): (bool, bool)) {
        self.ran |= ran;
        self.piped = piped;
    }

    /// Remembers what a command writes, if it is one that downloads, hands on what is `typed` or has it from one of these,
    /// through a pipe or a file, or that makes a pipe by name; `kept` is where its output goes, `read` where its input comes from.
    pub(super) fn keep(&mut self, (program, typed): (&str, bool), touches: &[Touch], (kept, read): (&[Word], &[Word])) {
        let fetches = FETCHING.contains(&program);
        self.ran |= fetches;
        let (written, other): (Vec<_>, Vec<_>) = touches.iter().partition(|touch| touch.role == Role::Write);
        let had = || other.iter().map(|touch| &touch.path).chain(read).any(|path| self.has(path));
        if !(typed || fetches || self.piped || PIPING.contains(&program) || had()) {
            return;
        }
        for file in written.iter().map(|touch| &touch.path).chain(kept).filter(|path| !path.dynamic) {
            self.more |= self.files.len() >= FETCHED_MAX;
            if !self.more {
                self.files.push(plain(&file.text).to_owned());
            }
        }
    }

    /// Whether a command runs one of them: by its name, or by a shell or an interpreter, which may `read` it.
    pub(super) fn runs(&self, program: &str, words: &[Word], read: &[Word]) -> bool {
        let interprets = wrappers::is_interpreter(program) && program != "sqlite3";
        let reads = wrappers::is_shell(program) || interprets || matches!(program, "." | "source");
        let file = match words.split_first() {
            Some((_, arguments)) if reads => {
                arguments.iter().find(|word| word.text == "-" || !word.text.starts_with(['-', '+']))
            }
            Some((first, _)) => Some(first).filter(|first| first.text.contains('/')),
            None => None,
        };
        match file {
            Some(file) => self.more || self.has(file),
            None => reads && read.iter().any(|file| self.has(file)),
        }
    }

    fn has(&self, file: &Word) -> bool {
        self.files.iter().any(|fetched| same(fetched, plain(&file.text)))
    }
}

fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Whether two paths may be one file. Where the text is when it uses them is not followed: one that is absolute may be
/// the other by its name.
fn same(one: &str, other: &str) -> bool {
    let is_absolute = |path: &str| path.starts_with(['/', '~']);
    let name = |path: &str| path.rsplit('/').next().map(str::to_owned);
    one == other || is_absolute(one) != is_absolute(other) && name(one) == name(other)
}
