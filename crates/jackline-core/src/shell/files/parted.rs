//! Arguments taken apart: each option with a value by itself, and its value behind it as a word that looks like none.
//!
//! `-fsSLo.env` is `-fsSL -o .env`. Whoever looks for an option then finds it wherever it stands, and takes no value for one.

use std::borrow::Cow;

use super::super::{Word, wrappers};
use super::arguments::shortened;
use super::formatters::FORMATTERS;
use super::outputs::{INPUTS, OUTPUTS};
use super::table::ROWS;
use super::valued::OTHERS;

/// Programs whose options are whole words: `-out` is one, not three.
const WORDY: &[&str] = &["c++", "cc", "clang", "clang++", "cpp", "find", "g++", "gcc", "openssl", "tcpdump"];

/// Options of theirs with more letters than one to which a value may be joined.
const JOINED: &[&str] = &["-MF"];

/// The options of a program that take a value, as far as we know them.
pub(super) fn valued_of(program: &str) -> Vec<&'static str> {
    let rows = ROWS.iter().filter(|row| row.program == program).map(|row| row.valued);
    let outputs = OUTPUTS.iter().filter(|(name, _)| *name == program).map(|(_, options)| *options);
    let inputs = INPUTS.iter().filter(|(name, ..)| *name == program).map(|(_, options, _)| *options);
    let formatters = FORMATTERS.iter().filter(|row| row.program == program).map(|row| row.valued);
    let others = OTHERS.iter().filter(|(names, _)| names.contains(&program)).map(|(_, options)| *options);
    rows.chain(outputs).chain(inputs).chain(formatters).chain(others).flatten().copied().collect()
}

/// The arguments of a program, taken apart by the options of its that take a value.
pub(super) fn parted<'a>(program: &str, arguments: &'a [Word], valued: &[&str]) -> Cow<'a, [Word]> {
    let apart = Apart { valued, wordy: WORDY.contains(&program), wraps: wrappers::is_wrapper(program) };
    match valued.is_empty() || !arguments.iter().any(is_option) {
        true => arguments.into(),
        false => apart.taken(arguments).into(),
    }
}

fn is_option(word: &Word) -> bool {
    word.text.starts_with('-') && word.text.len() > 1
}

/// How a program's options are read.
struct Apart<'v> {
    valued: &'v [&'v str],
    wordy: bool,
    /// What follows its first operand is another command.
    wraps: bool,
}

/// What an option is.
enum Taken<'w> {
    /// It takes no value, or has it behind `=`.
    Plain,
    /// The value is the next word.
    Next,
    /// Flags, one option, and what is joined to it.
    Cluster { flags: &'w str, option: String, value: &'w str },
}

impl Apart<'_> {
    fn taken(&self, arguments: &[Word]) -> Vec<Word> {
        let mut found = Vec::with_capacity(arguments.len() + 1);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word.text == "--" || !is_option(word) && self.wraps {
                found.push(word.clone());
                break;
            }
            match self.option(word) {
                Taken::Plain => found.push(word.clone()),
                Taken::Next => {
                    found.push(word.clone());
                    found.extend(words.next().map(no_option));
                }
                Taken::Cluster { flags, option, value } => {
                    let part = |text: String| Word { text, ..word.clone() };
                    found.extend(Some(flags).filter(|flags| !flags.is_empty()).map(|flags| part(format!("-{flags}"))));
                    match (value, self.takes_next(&option)) {
                        ("", true) => {
                            found.push(Word::literal(option));
                            found.extend(words.next().map(no_option));
                        }
                        // One that takes no word after it keeps what is joined to it.
                        (value, false) => found.push(part(format!("{option}{value}"))),
                        (value, true) => {
                            found.push(Word::literal(option));
                            found.push(no_option(&part(value.to_owned())));
                        }
                    }
                }
            }
        }
        // Operands, if this program has them all; what another command is told is its own.
        found.extend(words.map(|word| if self.wraps { word.clone() } else { no_option(word) }));
        found
    }

    fn option<'w>(&self, word: &'w Word) -> Taken<'w> {
        let text = word.text.as_str();
        match text.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => match self.wordy {
                true => self.word(text),
                false => self.cluster(letters),
            },
            Some(_) if self.takes_next(text) || !text.contains('=') && shortened(word, self.valued).is_some() => {
                Taken::Next
            }
            _ => Taken::Plain,
        }
    }

    /// One option that is a word, with its value joined or behind it.
    fn word<'w>(&self, text: &'w str) -> Taken<'w> {
        if self.takes_next(text) {
            return Taken::Next;
        }
        let joins = |option: &&&str| (option.len() == 2 || JOINED.contains(*option)) && text.starts_with(**option);
        match self.valued.iter().find(joins) {
            Some(option) => {
                let value = text.get(option.len()..).unwrap_or_default();
                Taken::Cluster { flags: "", option: (*option).to_owned(), value }
            }
            None => Taken::Plain,
        }
    }

    /// Letters, of which the first that takes a value takes all that follows.
    fn cluster<'w>(&self, letters: &'w str) -> Taken<'w> {
        let ends = |rest: &str| matches!(rest, "" | "=");
        let known = letters.char_indices().take_while(|(_, letter)| !matches!(letter, '$' | '`'));
        for (at, letter) in known {
            let is_one =
                |valued: &&str| valued.strip_prefix('-').and_then(|name| name.strip_prefix(letter)).is_some_and(ends);
            if self.valued.iter().any(is_one) {
                let flags = letters.get(..at).unwrap_or_default();
                let value = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                return Taken::Cluster { flags, option: format!("-{letter}"), value };
            }
        }
        Taken::Plain
    }

    fn takes_next(&self, option: &str) -> bool {
        self.valued.contains(&option)
    }
}

/// A word as it is written so that nobody takes it for an option: as the file that it names, if it names one.
fn no_option(word: &Word) -> Word {
    match is_option(word) {
        true => Word { text: format!("./{}", word.text), ..word.clone() },
        false => word.clone(),
    }
}
