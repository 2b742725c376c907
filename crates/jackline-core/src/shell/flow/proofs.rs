//! Whether exit status 0 of a command says that it did what its name says.

use super::super::words::{COUNTER, PROCESSORS};
use super::super::{Word, names};
use super::idle::{self, is_idle};
use super::{State, effects};

/// Words that make a program only describe itself, or only say what it would do.
const NO_RUN: &[&str] =
    &["--help", "-h", "--version", "-V", "--dry-run", "--no-run", "--list", "--collect-only", "--co", "--listTests"];

/// Options whose value may say that nothing is run, too.
const SETTING: &[&str] = &["--define", "--exclude-task", "--override-ini", "--test-action"];

/// Whether a command's own success can be told from exit status 0.
pub(super) fn proves(words: &[Word], env: &[(String, Word)], state: &State) -> bool {
    !state.unproven && !is_idle(words) && is_itself(words, env, state)
}

/// Whether a command is the program of its name, and does what that does.
pub(super) fn is_itself(words: &[Word], env: &[(String, Word)], state: &State) -> bool {
    let called = words.first().is_some_and(|word| state.functions.contains_key(&word.text));
    let describes = |text: &str| {
        let name = text.split('=').next().unwrap_or_default();
        NO_RUN.iter().any(|option| *option == name || idle::is_cut(name, option)) && !idle::tells_more(words, name)
    };
    let counts = !state.functions.contains_key(COUNTER);
    let is_number = |word: &Word| counts && is_number_of_processors(&word.text);
    let unknown = (1..words.len()).any(|at| may_describe(words, at) && !words.get(at).is_some_and(is_number));
    let describes_itself = unknown || words.iter().any(|word| describes(&word.text));
    let is_led_astray = env.iter().any(|(name, _)| effects::is_treacherous(name));
    !called && !describes_itself && !is_led_astray
}

/// Whether a word is a number for sure, alone or behind the option that wants one: `-j$(nproc)`.
fn is_number_of_processors(text: &str) -> bool {
    let option = text.trim_start_matches('-').trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '-');
    option.trim_start_matches('=') == PROCESSORS
}

/// Whether a word that is not known may be an option that makes the program only describe itself: unless it is a message,
/// or one word that begins as no such option does.
fn may_describe(words: &[Word], at: usize) -> bool {
    let Some(word) = words.get(at).filter(|word| !word.known() && !names::is_prose(words, at)) else { return false };
    let known = word.text.split(['$', '*', '?', '[', '<', '+', '@', '!']).next().unwrap_or_default();
    let sets = |name: &str| SETTING.iter().any(|option| option.starts_with(name));
    let is_value = known.starts_with("--") && known.split_once('=').is_some_and(|(name, _)| !sets(name));
    let is_operand = known.contains(['/', '.', '_', '=', ':', '~']) && !known.starts_with('-');
    word.several || !is_value && !is_operand
}
