//! Arguments: which are options, which are values of options, which are operands.

use super::super::Word;

/// The option of those that copy which names the directory.
const INTO: &str = "--target-directory";

/// Bytes that a long option must at least have to be taken for the beginning of another: `--out` is `--output`.
const SHORTENED_BYTES_MIN: usize = 5;

/// Long options that are none of those that begin as they do.
const WHOLE: &[&str] = &["--cookie", "--list", "--xml"];

/// The arguments that are no options, and the directory of `-t`.
pub(super) fn operands(arguments: &[Word], valued: &[&str]) -> (Vec<Word>, Option<Word>) {
    let mut found = Vec::new();
    let mut into = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" => found.extend(words.by_ref().cloned()),
            option if option.starts_with('-') && option.len() > 1 && !word.dynamic => {
                match valued_or_into(word, valued) {
                    Some((name, Some(value))) => into = value_of_into(name, value).or(into),
                    Some((name, None)) => {
                        into = words.next().and_then(|value| value_of_into(name, value.clone())).or(into);
                    }
                    None => {}
                }
            }
            _ => found.push(word.clone()),
        }
    }
    (found, into)
}

/// The option with a value that a word is, where the directory of `-t` may be cut short.
fn valued_or_into<'a>(word: &Word, valued: &[&'a str]) -> Option<(&'a str, Option<Word>)> {
    let into = valued.iter().position(|option| *option == INTO).and_then(|at| valued.get(at..=at)).unwrap_or_default();
    of_option(word, valued).or_else(|| shortened(word, into))
}

fn value_of_into(option: &str, value: Word) -> Option<Word> {
    matches!(option, "-t" | INTO).then_some(value)
}

/// The option with a value that a word is, and the value if it is attached: `-t dir`, `-tdir`, `--to=dir`. Clusters such as
/// `-rt dir` were taken apart before.
fn of_option<'a>(word: &Word, valued: &[&'a str]) -> Option<(&'a str, Option<Word>)> {
    let text = word.text.as_str();
    let attached = |value: &str| Some(Word { text: value.to_owned(), ..word.clone() });
    valued.iter().find_map(|option| {
        // One that is written with `=` here takes no word after it.
        let alone = option.strip_suffix('=');
        let option = alone.unwrap_or(option);
        if text == option {
            return Some((option, None)).filter(|_| alone.is_none());
        }
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        match (text.split_once('='), letter, text.starts_with("--")) {
            (Some((name, value)), _, true) if name == option => Some((option, attached(value))),
            (_, Some(_), false) if text.starts_with(option) => Some((option, attached(text.get(2..)?))),
            _ => None,
        }
    })
}

/// The long option of these that a word is the beginning of, and its value if it is attached.
pub(super) fn shortened<'a>(word: &Word, options: &[&'a str]) -> Option<(&'a str, Option<Word>)> {
    let (name, value) =
        word.text.split_once('=').map_or((word.text.as_str(), None), |(name, value)| (name, Some(value)));
    let is_one = name.starts_with("--") && name.len() >= SHORTENED_BYTES_MIN && !WHOLE.contains(&name);
    let option = options.iter().find(|option| is_one && option.starts_with(name) && !option.ends_with('='))?;
    Some((option, value.map(|value| Word { text: value.to_owned(), ..word.clone() })))
}

/// The values of these options: the next word, or what is attached.
pub(super) fn values_of(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    each_value(arguments, options).into_iter().map(|(_, value)| value).collect()
}

/// The same, each with its option.
pub(super) fn each_value<'a>(arguments: &[Word], options: &[&'a str]) -> Vec<(&'a str, Word)> {
    behind(arguments, |word| of_option(word, options))
}

/// The files that these options name, also where they are cut short: `--out` is `--output`.
pub(super) fn files_of(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let found = behind(arguments, |word| of_option(word, options).or_else(|| shortened(word, options)));
    found.into_iter().map(|(_, file)| file).collect()
}

/// The options that are found among the words, with their values.
fn behind<'a>(arguments: &[Word], option: impl Fn(&Word) -> Option<(&'a str, Option<Word>)>) -> Vec<(&'a str, Word)> {
    let mut values = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match option(word).filter(|_| word.text.starts_with('-')) {
            Some((option, Some(value))) => values.push((option, value)),
            Some((option, None)) => values.extend(words.next().map(|value| (option, value.clone()))),
            None => {}
        }
    }
    values
}

pub(in crate::shell) fn has_option(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|word| {
        options.iter().any(|option| {
            let long = option.starts_with("--") && word.text.split('=').next() == Some(option);
            word.text == *option
                || long
                || option
                    .strip_prefix('-')
                    .and_then(|rest| rest.chars().next())
                    .is_some_and(|letter| option.len() == 2 && is_short(word, letter))
        })
    })
}

/// Whether a cluster of short options holds this letter.
pub(super) fn is_short(word: &Word, letter: char) -> bool {
    word.text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// The place of `source` inside the directory `target`.
pub(super) fn inside(target: &Word, source: &Word) -> Word {
    let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    below(target, name, source)
}

/// `name` below a directory, as sure as both it and what it is named after.
pub(super) fn below(dir: &Word, name: &str, after: &Word) -> Word {
    Word {
        text: format!("{}/{name}", dir.text.trim_end_matches('/')),
        dynamic: dir.dynamic || after.dynamic,
        // A pattern that only chose the directory has become a name.
        glob: dir.glob || after.glob && name.contains(['*', '?', '[', '{', '(']),
        dots: dir.dots || after.dots,
        listed: dir.listed || after.listed,
        files: dir.files || after.files,
        chosen: dir.chosen || after.chosen,
        brought: dir.brought || after.brought || after.glob,
        numbered: dir.numbered || after.numbered,
        several: dir.several || after.several,
    }
}
