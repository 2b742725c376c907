//! Reads a shell text without running it: which commands it runs, what it reads and writes, and which of its
//! commands the exit status proves.
//!
//! `grammar` makes a tree of bash's grammar, `flow` walks it with what is known of variables and directories,
//! `words` expands words as far as they can be known, `wrappers` looks through programs that run programs, `programs`
//! says which may run what they are told for all we know, and `files` knows which arguments of which program are files.
//! What cannot be known is said, never guessed.

mod asking;
mod braces;
mod choices;
mod files;
mod flow;
mod grammar;
mod names;
mod options;
mod programs;
#[cfg(test)]
mod tests;
mod tree;
mod variables;
mod words;
mod wrappers;

use serde::{Deserialize, Serialize};

use crate::path::{self, Role};

pub use files::{git_settings, runs_text};
pub use names::{glob_matches, glob_may_match, told, without_global_options};
pub use options::{Options, options, takes_cuts};
pub use programs::{may_run_texts, may_run_words, quotes, texts};

/// Bytes of a text that is read at all; longer ones are programs, not commands.
pub const SHELL_BYTES_MAX: usize = 64 * 1024;
/// Commands that are looked at; a text with more is read no further.
pub const COMMANDS_MAX: usize = 1024;
/// Texts inside texts (`bash -c "bash -c …"`) that are followed.
pub const TEXTS_DEPTH_MAX: u32 = 8;

/// What became of reading a shell text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellText {
    Reading(Reading),
    /// Why it could not be parsed.
    Unparsable(String),
}

/// What a shell text says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every simple command found anywhere in it, in the order of the text; a redirection without one stands with `:`.
    pub commands: Vec<Command>,
    /// Why a program it runs cannot be known, if one cannot.
    pub opaque: Option<String>,
    /// A program that waits for what it does: nothing in the text says it.
    pub waits: Option<String>,
    /// A program is given text that it runs and that is not read, or names are made that lead to other files.
    pub foreign: bool,
    /// The files it reads, writes and deletes.
    pub touches: Vec<Touch>,
    /// Something is left running.
    pub background: bool,
    /// What the shell that ran it is left with, where that makes a later command another one.
    pub leaves: Option<Left>,
}

/// What a shell is left with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where it may be, beside where it was.
    pub dirs: Vec<Dir>,
    /// Names have another meaning.
    pub names: bool,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program first; never empty.
    pub words: Vec<Word>,
    /// Variables set for it alone.
    pub env: Vec<(String, Word)>,
    /// Files it is redirected from or to.
    pub redirects: Vec<Redirect>,
    /// Where it runs.
    pub dir: Dir,
    /// Exit status 0 of the whole text implies that this command ran and succeeded.
    pub proven: bool,
    /// It surely runs, and what it prints reaches the caller.
    pub shown: bool,
}

impl Command {
    /// The base name of the program, when it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let first = self.words.first().filter(|word| !word.dynamic && !word.glob)?;
        // The shell itself.
        if first.text.starts_with("/proc/") && first.text.ends_with("/exe") {
            return Some("sh");
        }
        // `=name` is zsh's for the path of that program.
        let text = first.text.strip_prefix('=').unwrap_or(&first.text);
        text.rsplit('/').next().filter(|name| !name.is_empty())
    }
}

/// A word of a command, quotes removed and escapes resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Parts that are not known stand as they were written.
    pub text: String,
    /// It has a part whose value is not known.
    pub dynamic: bool,
    /// It has a wildcard that the shell expands.
    pub glob: bool,
    /// Its wildcards stand for hidden names, too.
    pub dots: bool,
    /// It stands for files below it that another program chose.
    pub listed: bool,
    /// They are files, and no directories.
    pub files: bool,
    /// It chose them by something else than their names.
    pub chosen: bool,
    /// Its wildcards stand for names of files that lie elsewhere.
    pub brought: bool,
    /// Some of its wildcards stand for a number, so that what it means need not be there.
    pub numbered: bool,
    /// It may be several words.
    pub several: bool,
}

impl Word {
    /// A word that is known to the letter.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A word of which nothing is known.
    #[must_use]
    pub fn unknown(text: impl Into<String>) -> Self {
        Self { text: text.into(), dynamic: true, several: true, ..Self::default() }
    }

    /// Whether it is known to the letter.
    #[must_use]
    pub const fn known(&self) -> bool {
        !self.dynamic && !self.glob
    }
}

/// A redirection from or to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub to: Word,
    pub writes: bool,
    /// It stands around the command: at a group, a loop, or the program that runs it.
    pub around: bool,
}

/// A file that the text touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    pub path: Word,
    pub role: Role,
    /// A read that shows the caller the whole content.
    pub whole: bool,
    /// A write of what the text itself shows whole before, or it does not come so far.
    pub seen: bool,
    /// What becomes of the file.
    pub how: How,
    pub dir: Dir,
    /// It is touched only if this holds, seen from where the text is run.
    pub only: Option<Only>,
    /// A host takes the path apart itself, otherwise than a shell does.
    pub taken_apart: bool,
}

impl Touch {
    /// A path whose content is read, replaced or deleted.
    fn plain(path: Word, role: Role, dir: Dir) -> Self {
        Self { path, role, whole: false, seen: false, how: How::Whole, dir, only: None, taken_apart: false }
    }
}

/// What must hold for a touch to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Only {
    /// This directory could not be entered, and the text went on where it was.
    Unentered(String),
    /// This file is there to be copied.
    Present(String),
    /// Something lies in this directory, at first of such names: it lands below the path, or below this name in it if the
    /// path is a directory. Links in it may be followed.
    Copied { source: String, name: Option<String>, named: Option<String>, follows: bool },
    /// Something in the directory is come upon by this search.
    Searched(Search),
}

/// What of a directory a program searches for a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Search {
    /// Names or paths of the only files that are looked at; all where there are none.
    pub only: Vec<String>,
    /// Names or paths that are left out, directories with what lies in them.
    pub without: Vec<String>,
    /// Whether hidden files are looked at, too.
    pub hidden: bool,
    /// Whether the only files are looked at though they are hidden.
    pub named: bool,
    pub among: Among,
}

/// Which files a search looks at, as far as git knows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    #[default]
    All,
    /// Those that git keeps.
    Tracked,
    /// Those, and those that it does not ignore.
    Known,
}

/// How a file is changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum How {
    /// Its content is replaced, or nothing is known that would be less.
    #[default]
    Whole,
    /// Its mode, owner or time changes, or another name for it is made.
    Metadata,
    /// Something is added at its end.
    Appended,
    /// A program that we do not know is told its name.
    Named,
    /// A link to it, or to the directory, is made.
    Linked,
    /// Its mode or owner changes so that it may no longer be read or entered.
    Locked,
    /// Git puts there what it keeps of it.
    Restored,
    /// Its content is laid out anew and says what it said.
    Formatted,
    /// Only its name, its size or a digest of it is told.
    Measured,
    /// A program works by what it says, and does not show it.
    Loaded,
}

/// Where a relative path starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Dir {
    /// Where the text is run.
    #[default]
    Here,
    /// After literal `cd`s: relative to where it is run, absolute, or below `~`.
    At(String),
    Unknown,
}

/// Stands behind the directory in which a program was told to work: a shell that begins there takes back no more than what
/// follows.
const STARTED: &str = "/./";

impl Dir {
    /// The directory in which a program is started that is told to work there.
    #[must_use]
    pub fn start(&self, target: &Word) -> Self {
        match self.folded().enter(target) {
            Self::At(place) => Self::At(format!("{}/.", place.trim_end_matches('/'))),
            other => other,
        }
    }

    /// The directory as a shell has it that was led here by `cd`: it takes back what stands before `..`, as far as it began
    /// there. Where it began is walked.
    #[must_use]
    pub fn folded(&self) -> Self {
        let Self::At(place) = self else { return self.clone() };
        let started = format!("{place}/").rfind(STARTED).map_or(0, |at| (at + STARTED.len()).min(place.len()));
        if started == 0 && place.starts_with('~') {
            return self.clone();
        }
        let (front, back) = place.split_at_checked(started).unwrap_or(("", place));
        match (front, path::fold(back)) {
            ("", back) if back.is_empty() => Self::Here,
            (front, back) => Self::At(format!("{front}{back}")),
        }
    }

    /// The directory that `target` leads to from here.
    #[must_use]
    pub fn enter(&self, target: &Word) -> Self {
        if !target.known() {
            return Self::Unknown;
        }
        if target.text.starts_with(['/', '~']) {
            return Self::At(target.text.clone());
        }
        match self {
            Self::Here => Self::At(without_dots(&target.text)),
            // Joined, not folded: `link/..` leads elsewhere than the text says, and the probe walks it.
            Self::At(before) => Self::At(format!("{}/{}", before.trim_end_matches('/'), without_dots(&target.text))),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// A relative path without the parts that lead nowhere.
fn without_dots(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// A word as it is written so that a shell takes it for itself.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@+%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Reads a shell text.
#[must_use]
pub fn read(text: &str) -> ShellText {
    if text.len() > SHELL_BYTES_MAX {
        return ShellText::Unparsable(format!("it has more than {SHELL_BYTES_MAX} bytes"));
    }
    match grammar::parse(text) {
        Ok(tree) => match flow::walk(&tree) {
            Ok(reading) => ShellText::Reading(reading),
            Err(why) => ShellText::Unparsable(why),
        },
        Err(why) => ShellText::Unparsable(why),
    }
}
