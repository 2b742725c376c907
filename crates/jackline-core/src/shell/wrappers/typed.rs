//! Programs that have a shell run a text without being one: those that type it into a terminal, measure it, or speak
//! another language in which it stands.

use super::super::Word;
use super::super::files::has_option;
use super::{Inner, shells, values, without_options};

/// Commands of tmux's that run a text, by their names and short ones; those with `true` only type it.
const PANES: &[(&str, &str, bool)] = &[
    ("display-popup", "popup", false),
    ("if-shell", "if", false),
    ("new-session", "new", false),
    ("new-window", "neww", false),
    ("pipe-pane", "pipep", false),
    ("respawn-pane", "respawnp", false),
    ("respawn-window", "respawnw", false),
    ("run-shell", "run", false),
    ("send-keys", "send", true),
    ("split-window", "splitw", false),
];

/// Options of theirs that take a value.
const PANED: &[&str] = &["-b", "-c", "-e", "-F", "-f", "-h", "-l", "-N", "-n", "-p", "-s", "-t", "-w", "-x", "-y"];

/// Options of tmux's own that take a value.
const TMUX: &[&str] = &["-c", "-f", "-L", "-S", "-T"];

/// Letters of a cluster of short options whose last one announces a text; a longer one is an option by its name.
const SHORT_LETTERS_MAX: usize = 3;

/// Words of a language by which it runs a command.
const SPAWNING: &[&str] = &["spawn ", "exec ", "system "];

/// What such a program runs, if it is one.
pub(super) fn inner(program: &str, arguments: &[Word]) -> Vec<Inner> {
    match program {
        "tmux" => by_tmux(arguments),
        "screen" => by_screen(arguments),
        "hyperfine" => by_hyperfine(arguments),
        // Every operand is a text.
        "concurrently" => values(arguments, &["--teardown"]).into_iter().chain(spaced(arguments)).map(likely).collect(),
        "pee" => arguments.iter().cloned().map(Inner::loose).collect(),
        "expect" => values(arguments, &["-c"]).iter().flat_map(spawned).collect(),
        "capsh" => {
            let rest: Vec<Word> = arguments.iter().skip_while(|word| word.text != "--").skip(1).cloned().collect();
            shells::shell_text(&rest).into_iter().collect()
        }
        "nix" => {
            let runs = |word: &&Word| matches!(word.text.as_str(), "-c" | "--command");
            let words: Vec<Word> = arguments.iter().skip_while(|word| !runs(word)).skip(1).cloned().collect();
            Some(words).filter(|words| !words.is_empty()).map(|words| Inner::words(words, true)).into_iter().collect()
        }
        "nu" | "xonsh" | "elvish" | "murex" | "oil" | "ysh" | "pwsh" | "powershell" => by_other_shell(arguments),
        _ => Vec::new(),
    }
}

/// A text in the grammar of another shell: a plain command reads the same, all else is not read.
fn by_other_shell(arguments: &[Word]) -> Vec<Inner> {
    let named =
        |word: &Word| ["-command", "--command", "--commands"].iter().any(|it| word.text.eq_ignore_ascii_case(it));
    let short = |word: &Word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        letters.ends_with('c') && letters.len() <= SHORT_LETTERS_MAX && letters.chars().all(|c| c.is_ascii_alphabetic())
    };
    let text = arguments.iter().skip_while(|word| !named(word) && !short(word)).nth(1).cloned();
    text.map(|text| Inner::Likely { text, else_opaque: true }).into_iter().collect()
}

fn by_tmux(arguments: &[Word]) -> Vec<Inner> {
    let words = without_options(arguments, TMUX);
    words.split(|word| word.text == ";").flat_map(pane).collect()
}

fn pane(words: &[Word]) -> Vec<Inner> {
    let Some((verb, arguments)) = words.split_first() else { return Vec::new() };
    let known = PANES.iter().find(|(name, short, _)| verb.text == *name || verb.text == *short);
    let Some((_, _, types)) = known else { return Vec::new() };
    let rest = without_options(arguments, PANED);
    match rest.as_slice() {
        [] => Vec::new(),
        rest if *types => typed(rest),
        [text] => vec![Inner::loose(text.clone())],
        // Each text of a condition; otherwise the words of one command.
        texts if verb.text.starts_with("if") => texts.iter().cloned().map(Inner::loose).collect(),
        words => vec![Inner::words(words.to_vec(), false)],
    }
}

/// Keys that are typed, one after another: the names of some stand among them.
fn typed(keys: &[Word]) -> Vec<Inner> {
    let named = |word: &&Word| !matches!(word.text.as_str(), "Enter" | "C-m" | "C-j" | "Space" | "C-c");
    let texts: Vec<&str> = keys.iter().filter(named).map(|word| word.text.as_str()).collect();
    let dynamic = keys.iter().any(|word| word.dynamic);
    let text = Word { dynamic, ..Word::literal(texts.join(" ")) };
    vec![Inner::Likely { text, else_opaque: false }]
}

fn by_screen(arguments: &[Word]) -> Vec<Inner> {
    let rest: Vec<Word> = arguments.iter().skip_while(|word| word.text != "stuff").skip(1).cloned().collect();
    if rest.is_empty() { Vec::new() } else { typed(&rest) }
}

/// Every operand is a text, and so is what is run before and after.
fn by_hyperfine(arguments: &[Word]) -> Vec<Inner> {
    let around = values(arguments, &["-c", "-p", "-s", "--cleanup", "--prepare", "--setup"]);
    around.into_iter().chain(spaced(arguments)).map(likely).collect()
}

/// Operands that are more than a word.
fn spaced(arguments: &[Word]) -> impl Iterator<Item = Word> {
    let shown = has_option(arguments, &["--help", "--version"]);
    arguments.iter().filter(move |word| word.text.contains(' ') && !word.text.starts_with('-') && !shown).cloned()
}

const fn likely(text: Word) -> Inner {
    Inner::Likely { text, else_opaque: false }
}

/// The commands that a program of expect's spawns.
fn spawned(text: &Word) -> Vec<Inner> {
    let parts = text.text.split([';', '\n']).map(str::trim);
    let commands = parts.filter_map(|part| SPAWNING.iter().find_map(|word| part.strip_prefix(word)));
    let likely = |command: &str| Inner::Likely { text: Word::literal(command.trim()), else_opaque: true };
    commands.map(likely).collect()
}
