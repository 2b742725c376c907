//! Files that a text downloads or takes from the terminal, and whether it then runs them.

use super::super::{Touch, Word, wrappers};

/// Programs that get something from elsewhere.
const FETCHING: &[&str] = &["curl", "wget", "fetch", "aria2c", "http", "https", "xh"];

/// Downloads that are remembered of one text; people's have a few.
const FETCHED_MAX: usize = 64;

/// The files that were downloaded so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetched {
    files: Vec<String>,
    /// There were more than are remembered.
    more: bool,
}

impl Fetched {
    /// Remembers what a command writes, if it is one that downloads or hands on what is `typed`; `kept` is where its output
    /// goes.
    pub(super) fn keep(&mut self, (program, typed): (&str, bool), touches: &[Touch], kept: &[Word]) {
        if !typed && !FETCHING.contains(&program) {
            return;
        }
        let written = touches.iter().filter(|touch| touch.role.changes()).map(|touch| &touch.path).chain(kept);
        for file in written.filter(|path| !path.dynamic) {
            self.more |= self.files.len() >= FETCHED_MAX;
            if !self.more {
                self.files.push(plain(&file.text).to_owned());
            }
        }
    }

    /// Whether a command runs one of them: by its name, or by a shell or an interpreter.
    pub(super) fn runs(&self, program: &str, words: &[Word]) -> bool {
        let interprets = wrappers::is_interpreter(program) && program != "sqlite3";
        let reads = wrappers::is_shell(program) || interprets || matches!(program, "." | "source");
        let file = match words.split_first() {
            Some((_, arguments)) if reads => {
                arguments.iter().find(|word| word.text == "-" || !word.text.starts_with(['-', '+']))
            }
            Some((first, _)) => Some(first).filter(|first| first.text.contains('/')),
            None => None,
        };
        file.is_some_and(|file| self.more || self.files.iter().any(|fetched| same(fetched, plain(&file.text))))
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
