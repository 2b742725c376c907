//! The commands that `git` is told to run: by its settings, by addresses, and by options of its commands.

use super::super::{Word, files};
use super::table::GIT_TEXT_OPTIONS;
use super::{Inner, values, without_options};

/// What it runs.
pub(super) fn inner(arguments: &[Word]) -> Vec<Inner> {
    let settings = values(arguments, &["-c", "--config-env"]);
    let hidden = |word: &Word| word.dynamic && word.text.split_once('=').is_none_or(|(key, _)| key.contains('$'));
    let runs = settings.iter().any(|word| word.text.to_ascii_lowercase().starts_with("alias.") || hidden(word));
    let mut found: Vec<Inner> =
        runs.then_some(Inner::Unknown("git is told what a command of its stands for")).into_iter().collect();
    found.extend(settings.iter().filter_map(run_by_setting));
    // An address of this kind is a command.
    let addressed = arguments
        .iter()
        .filter_map(|word| Some(Word { text: word.text.strip_prefix("ext::")?.to_owned(), ..word.clone() }));
    found.extend(addressed.map(Inner::loose));
    let words = files::without_git_options(arguments);
    let sub: Vec<&str> = words.iter().take(2).map(|word| word.text.as_str()).collect();
    match sub.as_slice() {
        ["bisect", "run"] => found.push(Inner::words(words.iter().skip(2).cloned().collect(), false)),
        ["submodule", "foreach"] => {
            let rest: Vec<Word> = without_options(words.get(2..).unwrap_or_default(), &[]);
            let known = rest.iter().all(Word::known);
            let text = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            found.push(Inner::loose(if known { Word::literal(text) } else { Word::unknown(text) }));
        }
        ["filter-branch", "--help"] => {}
        ["filter-branch", ..] => found.push(Inner::Unknown("git is given texts that are not read")),
        [sub, ..] => {
            let options = GIT_TEXT_OPTIONS.iter().find(|(name, _)| name == sub).map_or(&[][..], |(_, options)| options);
            found.extend(values(&words, options).into_iter().map(Inner::loose));
        }
        [] => {}
    }
    found.retain(|inner| !matches!(inner, Inner::Words { words, .. } if words.is_empty()));
    found
}

/// The text that a setting of git's makes it run.
fn run_by_setting(word: &Word) -> Option<Inner> {
    let (key, value) = word.text.split_once('=').filter(|_| !word.dynamic)?;
    let known = files::makes_run(key) || files::runs_by_value(key, value);
    let runs = known && !key.eq_ignore_ascii_case("core.hookspath");
    let text = value.strip_prefix('!').unwrap_or(value);
    runs.then(|| Inner::loose(Word { text: text.to_owned(), ..word.clone() }))
}
