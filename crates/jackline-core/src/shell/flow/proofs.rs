//! Whether exit status 0 of a command says that it did what its name says.

use super::super::Word;
use super::{State, effects};

/// Words that make a program only describe itself, or only say what it would do.
const NO_RUN: &[&str] =
    &["--help", "-h", "--version", "-V", "--dry-run", "--no-run", "--list", "--collect-only", "--co", "--listTests"];

/// Programs that tests are run with, and their own words to run none of them or to succeed whatever they say.
const IDLE: &[(&str, &[&str])] = &[
    ("cargo", &["-Zhelp", "--explain"]),
    ("ctest", &["-N", "--show-only"]),
    ("eslint", &["--print-config"]),
    ("flake8", &["--exit-zero"]),
    ("go", &["-c", "-exec", "-list", "-n", "-toolexec"]),
    ("gradle", &["-m"]),
    ("gradlew", &["-m"]),
    ("jest", &["--clearCache", "--showConfig"]),
    ("mvn", &["-DskipTests", "-Dmaven.test.failure.ignore", "-Dmaven.test.skip", "-fn", "--fail-never", "-v"]),
    ("npm", &["--if-present", "--script-shell", "-v"]),
    ("pnpm", &["--if-present", "-v"]),
    ("pytest", &["--cache-show", "--fixtures", "--fixtures-per-test", "--markers", "--setup-only", "--setup-plan"]),
    ("ruff", &["-e", "--exit-zero", "--show-files", "--show-settings"]),
    ("tox", &["-a", "-l", "-n", "--listenvs", "--listenvs-all", "--notest"]),
    ("tsc", &["-v", "--init", "--listFilesOnly", "--showConfig"]),
    ("yarn", &["-v"]),
];

/// Programs whose short options may stand together: the letters that only show something, and those with a value.
const SHOWING: &[(&str, &str, &str)] = &[("cargo", "Vh", "CFZjp"), ("pytest", "Vh", "Wckmnopr")];

/// Whether a command's own success can be told from exit status 0.
pub(super) fn proves(words: &[Word], env: &[(String, Word)], state: &State) -> bool {
    !state.unproven && !is_idle(words) && is_itself(words, env, state)
}

/// Whether a command is the program of its name, and does what that does.
pub(super) fn is_itself(words: &[Word], env: &[(String, Word)], state: &State) -> bool {
    let called = words.first().is_some_and(|word| state.functions.contains_key(&word.text));
    let describes_itself = words.iter().any(|word| NO_RUN.contains(&word.text.as_str()));
    let is_led_astray = env.iter().any(|(name, _)| effects::is_treacherous(name));
    !called && !describes_itself && !is_led_astray
}

/// Whether a program is told to do nothing, or to succeed whatever happens.
fn is_idle(words: &[Word]) -> bool {
    let program = words.first().and_then(|word| word.text.rsplit('/').next()).unwrap_or_default();
    if matches!(program, "make" | "gmake") {
        return only_shows(words);
    }
    let own = IDLE.iter().find(|(name, _)| *name == program).map(|(_, own)| *own).unwrap_or_default();
    let letters = SHOWING.iter().find(|(name, ..)| *name == program);
    let told = |word: &Word| {
        let option = word.text.split('=').next().unwrap_or_default();
        own.contains(&option) || letters.is_some_and(|(_, shown, valued)| is_cluster(&word.text, shown, valued))
    };
    words.iter().skip(1).any(told) || words.windows(2).any(|pair| leaves_out(program, pair, words))
}

/// Whether an option and its value take from a program what it is told to do.
fn leaves_out(program: &str, pair: &[Word], words: &[Word]) -> bool {
    let [option, value] = pair else { return false };
    match (program, option.text.as_str()) {
        ("cargo", "-Z") => value.text == "help",
        ("gradle" | "gradlew", "-x" | "--exclude-task") => {
            words.iter().filter(|word| word.text == value.text).count() > 1
        }
        _ => false,
    }
}

/// Whether one of these letters stands in a cluster of short options, before one that takes the rest for its value.
fn is_cluster(text: &str, shown: &str, valued: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    letters.chars().take_while(|c| !valued.contains(*c)).any(|c| shown.contains(c))
}

/// Whether `make` is told to do nothing, or to succeed whatever happens.
fn only_shows(words: &[Word]) -> bool {
    const LONG: &[&str] = &["--just-print", "--recon", "--question", "--touch", "--ignore-errors"];
    words.iter().skip(1).map(|word| word.text.as_str()).any(|word| {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        LONG.contains(&word)
            || word.starts_with("SHELL=")
            || word.starts_with("MAKEFLAGS=")
            // `-j4` and `-C dir` have a value; a cluster of flags has none.
            || letters.chars().take_while(|c| !"CfjIloW".contains(*c)).any(|c| "nqtivh".contains(c))
    })
}
