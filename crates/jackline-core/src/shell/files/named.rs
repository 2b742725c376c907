//! What a program that we do not know is told the name of: only names that could be those of what guards the session
//! are kept, everything else it may do as it likes.

use std::collections::BTreeSet;

use super::super::{How, Word, asking, programs, wrappers};
use super::arguments::each_value;
use super::outputs::{HARMLESS, INPUTS, SAID};
use super::table::{ROWS, Uses};
use super::{Found, same, touched};
use crate::own_files;
use crate::path::Role;

/// Programs whose arguments are read by a function of their own.
const READ: &[&str] = &["sed", "gsed", "git", "dd", "curl", "wget", "tar", "unzip", "bsdtar", "find", "split"];

/// Paths from the root that are asked about for one text; a text with more is no command.
const ABSOLUTE_MAX: usize = 8;

/// Letters of options that stand together before a value.
const CLUSTER_MAX: usize = 16;

/// Whether it is known what becomes of the files that a program is told.
pub(in crate::shell) fn is_known(program: &str) -> bool {
    READ.contains(&program) || HARMLESS.contains(&program) || ROWS.iter().any(|row| row.program == program)
}

/// Whether a program changes files that it is told, or may.
pub(in crate::shell) fn changes(program: &str) -> bool {
    // It changes nothing without an option.
    let reads = |name: &str| matches!(name, "find" | "split");
    let known = ROWS.iter().find(|row| row.program == program);
    known.as_ref().is_some_and(is_verb) || READ.contains(&program) && !reads(program)
}

impl Found<'_> {
    /// A program that we do not know may write whatever it is told the name of, and run whatever text it is handed.
    pub(super) fn by_name(&mut self, program: &str, arguments: &[Word]) {
        if wrappers::is_shell(program) && !wrappers::has_text(program, &[&[Word::default()], arguments].concat()) {
            // What a script is told the names of.
            let after: Vec<Word> =
                arguments.iter().skip_while(|word| word.text.starts_with('-')).skip(1).cloned().collect();
            self.name_own(&after);
        }
        if !READ.contains(&program) && !HARMLESS.contains(&program) && !wrappers::is_wrapper(program) {
            match programs::quotes(program) {
                true => self.name_own(&without_said(program, arguments)),
                false => self.name_own(arguments),
            }
        }
        // What is cheap to see is looked for first: most commands have neither.
        let has_text = self.input.is_some() || programs::texts_among(arguments).next().is_some();
        if has_text && programs::may_run_texts(program) {
            self.name_in_texts(arguments);
        }
        let verb = arguments.iter().position(|word| verb(word).is_some());
        if let Some(at) = verb.filter(|_| programs::may_run_words(program)) {
            self.name_changed(arguments.get(at..).unwrap_or_default());
        }
    }

    /// A program that we know may be told the name of what guards us in an option: as its value, joined to an option that we
    /// do not know, or as the word after one that takes a value. What only reads, and what is only said, may.
    pub(super) fn name_in_options(&mut self, program: &str, arguments: &[Word]) {
        let reads = |uses: Uses| matches!(uses, Uses::Shows | Uses::Reads | Uses::Measures | Uses::ReadsAfterFirst);
        let row = ROWS.iter().find(|row| row.program == program);
        if HARMLESS.contains(&program) || row.is_some_and(|row| reads(row.uses)) {
            return;
        }
        let end = arguments.iter().position(|word| word.text == "--").unwrap_or(arguments.len());
        let arguments = arguments.get(..end).unwrap_or_default();
        let is_one = |word: &&Word| word.known() && word.text.starts_with('-') && !leaves_out(&word.text);
        for word in arguments.iter().filter(is_one).filter(|word| !only_told(program, &word.text)) {
            own_values(&word.text).iter().for_each(|value| self.name_one(value));
        }
        let next = each_value(arguments, row.map_or(&[], |row| row.valued)).into_iter();
        for (_, value) in
            next.filter(|(option, value)| value.known() && !leaves_out(option) && !only_told(program, option))
        {
            if has_own_part(&value.text) {
                self.name_one(&value.text);
            }
        }
    }

    fn name_one(&mut self, value: &str) {
        let role = if own_files::ends_in_directory(value) { Role::Delete } else { Role::Write };
        let named = Word::literal(value);
        if !self.touches.iter().any(|touch| touch.path == named && touch.role == role && touch.how == How::Named) {
            self.push_how(&named, role, How::Named);
        }
    }

    pub(super) fn name_own(&mut self, arguments: &[Word]) {
        self.name_directories(arguments);
        for word in arguments.iter().filter(|word| word.known()) {
            let value = value_in(&word.text);
            if !value.contains(char::is_whitespace) && has_own_part(value) {
                self.push_how(&Word::literal(value), Role::Write, How::Named);
            }
        }
    }

    /// Directories of hosts' that are handed to a program as what it works on, not as what it leaves out.
    pub(super) fn name_directories(&mut self, arguments: &[Word]) {
        let mut before = "";
        for word in arguments {
            let value = value_in(&word.text);
            let named = word.known() && own_files::ends_in_directory(value);
            if named && !leaves_out(before) && !leaves_out(&word.text) {
                self.push_how(&Word::literal(value), Role::Delete, How::Named);
            }
            before = &word.text;
        }
    }

    /// What is named in the texts that a program is handed, as arguments or on its standard input.
    fn name_in_texts(&mut self, arguments: &[Word]) {
        let texts = programs::texts_among(arguments).filter(|(option, _)| !leaves_out(option));
        let input = self.input.map(|word| word.text.as_str()).filter(|text| !asking::asks(text));
        let mut named = BTreeSet::new();
        for text in texts.map(|(_, text)| text).chain(input) {
            let text = text.replace("${HOME}", "~").replace("$HOME", "~");
            named.extend(names_in(&text).map(str::to_owned));
            // Quotes and escapes in the middle of a name only hide it.
            named.extend(names_in(&text.replace(['\'', '"', '\\'], "")).map(str::to_owned));
        }
        named.iter().for_each(|name| self.name_one(name));
    }

    /// What a program that changes files would change, were it run: the verb is the first word.
    fn name_changed(&mut self, words: &[Word]) {
        let Some(verb) = words.first().and_then(verb) else { return };
        let inner = touched(verb, words, &self.dir, (None, true, false));
        let changed = inner.touches.into_iter().filter(|touch| touch.role.changes() && touch.only.is_none());
        self.touches.extend(changed.map(|touch| super::Touch { how: How::Named, ..touch }));
    }
}

/// The program that changes files which a word names, if it is one.
fn verb(word: &Word) -> Option<&'static str> {
    let named = word.known() && word.text.starts_with(|c: char| c.is_ascii_lowercase());
    ROWS.iter().filter(|_| named).find(|row| row.program == word.text).filter(is_verb).map(|row| row.program)
}

fn is_verb(row: &&super::table::Row) -> bool {
    matches!(row.uses, Uses::Deletes | Uses::Moves | Uses::Copies | Uses::Links | Uses::Writes | Uses::MarksAfterFirst)
}

/// What a word names: itself, or the value of the option that it is.
fn value_in(word: &str) -> &str {
    match word.split_once('=') {
        Some((_, value)) => value,
        None if word.starts_with("--") => "",
        None if word.starts_with('-') => word.get(2..).unwrap_or_default(),
        None => word,
    }
}

/// The values that may be joined to an option, where they may be what guards us: behind `=`, or behind some letters.
fn own_values(option: &str) -> Vec<&str> {
    let joined = option.split_once('=').map(|(_, value)| value);
    let letters = option.strip_prefix('-').filter(|rest| joined.is_none() && !rest.starts_with('-'));
    let ends = letters
        .into_iter()
        .flat_map(|letters| letters.char_indices().skip(1).take(CLUSTER_MAX).filter_map(|(at, _)| letters.get(at..)));
    joined.into_iter().chain(ends).filter(|value| has_own_part(value)).collect()
}

pub(super) fn has_own_part(path: &str) -> bool {
    path.split('/').any(|part| own_files::PARTS.iter().any(|own| same(own, part)))
}

/// Whether a word is an option whose value is only read, or is no file: what something is about, or a message.
fn only_told(program: &str, option: &str) -> bool {
    let of = |name: &str, options: &[&str]| name == program && options.iter().any(|known| is_option(option, known));
    INPUTS.iter().any(|(name, options, _)| of(name, options)) || SAID.iter().any(|(name, options)| of(name, options))
}

/// Whether a word is this option, alone or with its value.
fn is_option(word: &str, option: &str) -> bool {
    match option.starts_with("--") {
        true => word.split('=').next() == Some(option),
        false => word.starts_with(option) && !word.starts_with("--"),
    }
}

/// Programs that speak to a forge, and the words with which they write files here.
const FORGES: &[&str] = &["gh", "glab"];
const FETCHING: &[&str] = &["checkout", "clone", "download", "extension", "fork"];

/// The arguments without what only says what something is about.
fn without_said(program: &str, arguments: &[Word]) -> Vec<Word> {
    let fetches = arguments.iter().any(|word| !word.known() || FETCHING.contains(&word.text.as_str()));
    if FORGES.contains(&program) && !fetches {
        return Vec::new();
    }
    let options = SAID.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| options);
    let said: Vec<Word> = each_value(arguments, options).into_iter().map(|(_, value)| value).collect();
    let is_said = |word: &Word| said.contains(word) || options.iter().any(|option| is_option(&word.text, option));
    arguments.iter().filter(|word| !is_said(word)).cloned().collect()
}

fn leaves_out(option: &str) -> bool {
    option.starts_with('-') && ["exclude", "ignore", "skip", "prune"].iter().any(|sign| option.contains(sign))
}

/// The paths that a text names and that may be what guards the session: by a part of theirs, or from the root.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-_./~".contains(c)));
    let mut absolute = 0;
    words.filter(move |word| {
        let own = word.contains(['.', '/']) && has_own_part(word);
        let from_root = !own && word.len() > 1 && word.starts_with(['/', '~']) && word.contains('/');
        absolute += usize::from(from_root);
        own || from_root && absolute <= ABSOLUTE_MAX
    })
}
