//! Arguments: which are options, which are values of options, which are operands.

use super::super::Word;

/// The arguments that are no options, and the directory of `-t`.
pub(super) fn operands(arguments: &[Word], valued: &[&str]) -> (Vec<Word>, Option<Word>) {
    let mut found = Vec::new();
    let mut into = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" => found.extend(words.by_ref().cloned()),
            option if option.starts_with('-') && option.len() > 1 && !word.dynamic => match of_option(word, valued) {
                Some((name, Some(value))) => into = value_of_into(name, value).or(into),
                Some((name, None)) => {
                    into = words.next().and_then(|value| value_of_into(name, value.clone())).or(into);
                }
                None => {}
            },
            _ => found.push(word.clone()),
        }
    }
    (found, into)
}

fn value_of_into(option: &str, value: Word) -> Option<Word> {
    matches!(option, "-t" | "--target-directory").then_some(value)
}

/// The option with a value that a word is, and the value if it is attached: `-t dir`, `-tdir`, `-rt dir`, `--to=dir`.
fn of_option<'a>(word: &Word, valued: &[&'a str]) -> Option<(&'a str, Option<Word>)> {
    let text = word.text.as_str();
    let attached = |value: &str| Some(Word { text: value.to_owned(), ..word.clone() });
    valued.iter().find_map(|option| {
        if text == *option {
            return Some((*option, None));
        }
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
        match (text.split_once('='), letter, text.starts_with("--")) {
            (Some((name, value)), _, true) if name == *option => Some((*option, attached(value))),
            (_, Some(_), false) if text.starts_with(option) => Some((*option, attached(text.get(2..)?))),
            // The last letter of a cluster is the only one that can take the next word.
            (_, Some(letter), false) if text.ends_with(letter) => Some((*option, None)),
            _ => None,
        }
    })
}

/// The values of these options: the next word, or what is attached.
pub(super) fn values_of(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut values = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match of_option(word, options).filter(|_| word.text.starts_with('-')) {
            Some((_, Some(value))) => values.push(value),
            Some((_, None)) => values.extend(words.next().cloned()),
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
        chosen: dir.chosen || after.chosen,
        brought: dir.brought || after.brought || after.glob,
        several: dir.several || after.several,
    }
}
