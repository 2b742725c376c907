//! Commands of GNU parallel's: those that its words become once they are filled with the values behind `:::`.

use super::super::Word;
use super::is_text;

/// Signs before values, and before files that hold some.
const VALUES: &[&str] = &[":::", ":::+"];
const FILES: &[&str] = &["::::", "::::+"];

/// Options that give these signs or the marks another look.
const RENAMING: &[&str] = &["--arg-sep", "--arg-file-sep", "--rpl", "-I", "-U"];

/// Commands that are told apart; of more no one asks which value goes with which.
const COMMANDS_MAX: usize = 128;

/// A value that is not known, as it stands in a text.
const LINE: &str = "$line";

/// The words of each command, or its text as a single one; none where the values come from elsewhere.
pub(super) fn filled(own: &[Word], rest: &[Word]) -> Option<Vec<Vec<Word>>> {
    let renamed = own.iter().any(|word| RENAMING.iter().any(|option| word.text.starts_with(option)));
    let is_sign = |word: &Word| VALUES.contains(&word.text.as_str()) || FILES.contains(&word.text.as_str());
    let at = rest.iter().position(is_sign).filter(|_| !renamed)?;
    let (command, sources) = rest.split_at(at);
    let lists: Vec<Vec<Word>> = sources.chunk_by(|_, next| !is_sign(next)).map(list).collect();
    let all = lists.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
    if all.is_some_and(|all| all <= COMMANDS_MAX) {
        return Some(choices(&lists).iter().map(|values| fill(command, values)).collect());
    }
    let unknown: Vec<Word> = lists.iter().map(|_| Word::unknown(LINE)).collect();
    let together = command.iter().chain(lists.iter().flatten()).cloned().collect();
    Some(vec![fill(command, &unknown), together])
}

/// The values behind a sign. The lines of a file are not known, however many there are.
fn list(source: &[Word]) -> Vec<Word> {
    match source.split_first() {
        Some((sign, values)) if VALUES.contains(&sign.text.as_str()) => values.to_vec(),
        _ => vec![Word::unknown(LINE)],
    }
}

/// Each choice of one value from every list.
fn choices(lists: &[Vec<Word>]) -> Vec<Vec<Word>> {
    let longer = |found: &[Word], value: &Word| found.iter().chain([value]).cloned().collect();
    lists.iter().fold(vec![Vec::new()], |found, list| {
        found.iter().flat_map(|found: &Vec<Word>| list.iter().map(|value| longer(found, value))).collect()
    })
}

/// The words of a command with the values in place of its marks, or behind them where there are none. Where the command is a
/// text, they stand in it as words.
fn fill(command: &[Word], values: &[Word]) -> Vec<Word> {
    let is_text = command.iter().any(is_text);
    let values: Vec<Word> = values.iter().map(|value| if is_text { quoted(value) } else { value.clone() }).collect();
    let words: Vec<Vec<Word>> = command.iter().map(|word| in_word(word, &values)).collect();
    let marked = words.iter().zip(command).any(|(filled, word)| filled.as_slice() != std::slice::from_ref(word));
    let behind = if marked { Vec::new() } else { values };
    let words: Vec<Word> = words.into_iter().flatten().chain(behind).collect();
    match is_text || command.is_empty() {
        true => {
            let dynamic = !is_text && words.iter().any(|word| word.dynamic);
            let texts: Vec<String> = words.into_iter().map(|word| word.text).collect();
            vec![Word { dynamic, ..Word::literal(texts.join(" ")) }]
        }
        false => words,
    }
}

fn quoted(value: &Word) -> Word {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+~".contains(c);
    match value.known() && !value.text.chars().all(plain) {
        true => Word::literal(format!("'{}'", value.text.replace('\'', "'\\''"))),
        false => value.clone(),
    }
}

fn in_word(word: &Word, values: &[Word]) -> Vec<Word> {
    if word.text == "{}" {
        return values.to_vec();
    }
    let mut filled = Word { text: String::new(), ..word.clone() };
    let mut rest = word.text.as_str();
    while let Some((before, behind)) = rest.split_once('{') {
        filled.text.push_str(before);
        match behind.split_once('}').and_then(|(mark, behind)| Some((meant(mark, values)?, behind))) {
            Some((value, behind)) => {
                filled.text.push_str(&value.text);
                filled.dynamic |= value.dynamic;
                filled.glob |= value.glob;
                rest = behind;
            }
            None => {
                filled.text.push('{');
                rest = behind;
            }
        }
    }
    filled.text.push_str(rest);
    vec![filled]
}

/// What a mark stands for, if it is one: `1/.` is the first value without its directory and its end.
fn meant(mark: &str, values: &[Word]) -> Option<Word> {
    let shape = mark.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = mark.strip_suffix(shape)?;
    let values = match number.parse::<usize>() {
        Ok(number) => values.get(number.checked_sub(1)?..number)?,
        Err(_) => values,
    };
    let base = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    let dir = |text: &str| text.rsplit_once('/').map_or(".", |(dir, _)| dir).to_owned();
    let without_end = |text: &str| text.rsplit_once('.').map_or(text, |(front, _)| front).to_owned();
    let shaped = |text: &str| match shape {
        "" => Some(text.to_owned()),
        "." => Some(without_end(text)),
        "/" => Some(base(text)),
        "//" => Some(dir(text)),
        "/." => Some(without_end(&base(text))),
        _ => None,
    };
    if matches!(shape, "#" | "%") || shape.starts_with('=') || shape.starts_with(['-', '+']) {
        return Some(Word::unknown(format!("{{{mark}}}")));
    }
    let texts: Option<Vec<String>> = values.iter().map(|value| shaped(&value.text)).collect();
    let any = |is: fn(&Word) -> bool| values.iter().any(is);
    let (dynamic, glob) = (any(|value| value.dynamic), any(|value| value.glob));
    Some(Word { dynamic, glob, ..Word::literal(texts?.join(" ")) })
}
