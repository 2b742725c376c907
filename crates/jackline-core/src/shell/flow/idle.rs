//! Programs that are told to run nothing, or to succeed whatever they run: what each of them calls so.

use crate::shell::{Word, wrappers};

/// Programs that tests are run with, and their own words to run none of them or to succeed whatever they say. A word that
/// ends in `*` is how one begins.
const IDLE: &[(&str, &[&str])] = &[
    ("bun", &["-e", "-p", "-v", "--eval", "--if-present", "--print", "--revision"]),
    ("bundle", &["-v"]),
    ("cargo", &["-Zhelp", "--config", "--explain", "--no-tests"]),
    ("composer", &["-l", "--no-scripts"]),
    ("ctest", CTEST),
    ("deno", &["--eval", "--permit-no-files"]),
    ("eslint", &["--print-config"]),
    ("flake8", &["--exit-zero"]),
    ("go", &["-c", "-exec", "-help", "-i", "-list", "-n", "-toolexec"]),
    ("gradle", &["-?", "-m", "-v", "--status", "--stop", "--test-dry-run", "--write-verification-metadata"]),
    ("hatch", &["-s", "--show"]),
    ("jest", &["-v", "--clearCache", "--init", "--passWithNoTests", "--showConfig"]),
    ("just", JUST),
    ("mix", &["--exit-status", "--profile-require", "test.coverage"]),
    ("mocha", &["--list-*"]),
    ("mvn", MAVEN),
    ("node", &["-v", "-e", "-p", "--eval", "--print"]),
    ("nox", &["-l", "--install-only", "--list-*", "--usage"]),
    ("npm", &["-?", "-H", "--if-present", "--script-shell", "--usage", "--versions", "-v"]),
    ("phpunit", PHPUNIT),
    ("playwright", &["--pass-with-no-tests"]),
    ("pnpm", &["--if-present", "--script-shell", "-v"]),
    ("pytest", PYTEST),
    ("python", &["-?", "-VV", "--help-*"]),
    ("rspec", &["-v", "--error-exit-code", "--failure-exit-code", "--init"]),
    ("ruff", &["-e", "--exit-zero", "--show-files", "--show-settings"]),
    ("swift", &["-l", "last", "list", "--generate-linuxmain", "--list-*", "--show-co*"]),
    ("tox", TOX),
    ("tsc", &["-v", "--init", "--listFilesOnly", "--showConfig"]),
    ("uv", &["--show-settings"]),
    ("vitest", &["-v", "list", "--pass-with-no-tests", "--passWithNoTests"]),
    ("yarn", &["--if-present", "--script-shell", "-v"]),
];

const CTEST: &[&str] = &[
    "-D",
    "-H",
    "-M",
    "-N",
    "-S",
    "-SP",
    "--build-and-test",
    "--dashboard",
    "--help-*",
    "--list-*",
    "--no-tests",
    "--print-labels",
    "--script*",
    "--show-only",
    "--test-model",
];

const JUST: &[&str] = &[
    "-n",
    "--changelog",
    "--choose",
    "--command",
    "--completions",
    "--dump",
    "--edit",
    "--evaluate",
    "--fmt",
    "--groups",
    "--init",
    "--man",
    "--shell",
    "--shell-arg",
    "--show",
    "--summary",
    "--usage",
    "--variables",
];

const MAVEN: &[&str] = &[
    "-DfailIfNoSpecifiedTests",
    "-DfailIfNoTests",
    "-DskipITs",
    "-DskipTests",
    "-Dmaven.test.failure.ignore",
    "-Dmaven.test.skip*",
    "-Dsurefire.failIfNoSpecifiedTests",
    "-emp",
    "-ep",
    "-fn",
    "-v",
    "--encrypt-*",
    "--fail-never",
];

const PHPUNIT: &[&str] = &[
    "--atleast-version",
    "--check-php-configuration",
    "--check-version",
    "--generate-configuration",
    "--list-*",
    "--migrate-configuration",
    "--validate-configuration",
    "--warm-coverage-cache",
];

const PYTEST: &[&str] = &[
    "--cache-show",
    "--collectonly",
    "--fixtures",
    "--fixtures-per-test",
    "--funcargs",
    "--markers",
    "--setup-only",
    "--setup-plan",
];

/// Its commands that run no tests are among them.
const TOX: &[&str] = &[
    "-a",
    "-b",
    "-l",
    "-n",
    "-x",
    "c",
    "config",
    "d",
    "de",
    "depends",
    "devenv",
    "e",
    "exec",
    "l",
    "list",
    "man",
    "q",
    "quickstart",
    "schema",
    "--devenv",
    "--help-ini",
    "--hi",
    "--listenvs",
    "--listenvs-all",
    "--notest",
    "--override",
    "--pkg-only",
    "--sdistonly",
    "--showconfig",
    "--skip-env",
];

/// Programs whose short options may stand together: the letters that only show something, and those with a value.
const SHOWING: &[(&str, &str, &str)] = &[
    ("cargo", "Vh", "CFZjp"),
    ("gradle", "?hmv", "DFIMPbcgipx"),
    ("mvn", "hv", "DPTbfglpst"),
    ("pytest", "Vh", "Wckmnopr"),
    ("python", "?Vh", "WXckmpst"),
];

/// Programs that run a project's own, whichever that is, and hand words on to it; and those that it may be, whose long
/// options are told from others.
const HANDING: &[&str] = &["bun", "composer", "deno", "hatch", "just", "npm", "nox", "pnpm", "tox", "yarn"];
const HANDED: &[&str] = &["jest", "mocha", "phpunit", "playwright", "pytest", "rspec", "swift", "vitest"];

/// Programs that look at nothing behind two dashes themselves.
const ENDING: &[&str] = &["hatch", "nox", "tox"];

/// Programs that only tell more with an option by which others only show their version.
const TELLING_MORE: &[&str] = &["ctest", "gradle", "mvn"];

/// Words among which the name of another program is looked for: those that run one name it early.
const INNER_WORDS_MAX: usize = 32;

/// Whether a program, or one that it runs, is told to do nothing, or to succeed whatever happens.
pub(super) fn is_idle(words: &[Word]) -> bool {
    let inside = || (1..words.len().min(INNER_WORDS_MAX)).any(|at| is_idle_inside(words, at));
    is_idle_itself(words) || runs_others(family(words)) && inside()
}

/// Whether a word of a program's is the name of another one that is idle by the words behind it.
fn is_idle_inside(words: &[Word], at: usize) -> bool {
    let inner = words.get(at..).unwrap_or_default();
    let known = |program: &str| is_make(program) || !of(program).is_empty();
    inner.first().is_some_and(|word| !word.text.starts_with('-')) && known(family(inner)) && is_idle_itself(inner)
}

fn is_idle_itself(words: &[Word]) -> bool {
    let program = family(words);
    if is_make(program) {
        return only_shows(words);
    }
    let rest = words.get(1..).unwrap_or_default();
    let known = of(program);
    let ends = |word: &&Word| ENDING.contains(&program) && word.text == "--";
    let letters = SHOWING.iter().find(|(name, ..)| *name == program);
    let own = |word: &Word| {
        is_own((program, known), &word.text)
            || letters.is_some_and(|(_, shown, valued)| is_cluster(&word.text, shown, valued))
    };
    rest.iter().take_while(|word| !ends(word)).any(own)
        || HANDING.contains(&program) && rest.iter().any(|word| is_handed(&word.text))
        || settings(rest).any(|(option, value)| leaves_out(program, option, value, rest))
}

/// Whether a word is one of these of a program's, a long one also where it is cut short.
fn is_own((program, known): (&str, &[&str]), text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    // Go takes two dashes for one, and hands an option on by its long name.
    let plain = name.trim_start_matches('-');
    let of_go = |own: &str| own.strip_prefix('-') == Some(plain.strip_prefix("test.").unwrap_or(plain));
    known.iter().any(|own| is_like(name, own) || is_cut(name, own) || program == "go" && plain != name && of_go(own))
}

/// Whether a word is a long option of a program that may be handed it.
fn is_handed(text: &str) -> bool {
    let name = text.split('=').next().filter(|name| name.starts_with("--")).unwrap_or_default();
    !name.is_empty()
        && HANDED.iter().flat_map(|program| of(program)).any(|own| own.starts_with("--") && is_like(name, own))
}

/// The words of a program's row.
fn of(program: &str) -> &'static [&'static str] {
    IDLE.iter().find(|(name, _)| *name == program).map(|(_, own)| *own).unwrap_or_default()
}

fn is_like(name: &str, own: &str) -> bool {
    own.strip_suffix('*').map_or(name == own, |front| name.starts_with(front))
}

/// Whether a word is the beginning of a long option, which many programs take for it.
pub(super) fn is_cut(name: &str, option: &str) -> bool {
    // What is not wanted begins with `--no`, and so does what is not run.
    name.len() > 2 && name.starts_with("--") && name != "--no" && option.starts_with(name)
}

/// Whether this option of a program's only has it tell more.
pub(super) fn tells_more(words: &[Word], option: &str) -> bool {
    option == "-V" && TELLING_MORE.contains(&family(words))
}

fn is_make(program: &str) -> bool {
    matches!(program, "make" | "gmake")
}

/// The name that a program's versions and wrappers have in common.
fn family(words: &[Word]) -> &str {
    let program = words.first().and_then(|word| word.text.rsplit('/').next()).unwrap_or_default();
    match program {
        "gradlew" => "gradle",
        "mvnd" | "mvnw" => "mvn",
        "nodejs" => "node",
        _ if wrappers::is_python(program) => "python",
        _ => program,
    }
}

/// Whether a program runs another one that is named among its words.
fn runs_others(program: &str) -> bool {
    program == "python" || wrappers::is_wrapper(program) || wrappers::is_runner(program)
}

/// Words and what may be their values: the next one, or what is attached.
fn settings(words: &[Word]) -> impl Iterator<Item = (&str, &str)> {
    let texts = || words.iter().map(|word| word.text.as_str());
    let attached = texts().filter_map(|text| match text.starts_with("--") {
        true => text.split_once('='),
        false => text.split_at_checked(2).filter(|(option, value)| option.starts_with('-') && !value.is_empty()),
    });
    texts().zip(texts().skip(1)).chain(attached)
}

/// Whether an option and its value take from a program what it is told to do.
fn leaves_out(program: &str, option: &str, value: &str, words: &[Word]) -> bool {
    let names_tests = || value.to_ascii_lowercase().contains("test");
    match (program, option) {
        ("cargo", "-Z") => value == "help",
        ("ctest", "-T" | "--test-action") => !["coverage", "memcheck", "test"].contains(&&*value.to_ascii_lowercase()),
        ("gradle", "-x" | "--exclude-task") => {
            names_tests() || words.iter().filter(|word| word.text == value).count() > 1
        }
        ("mvn", "-D" | "--define") => is_own((program, MAVEN), &format!("-D{value}")),
        // What it is told by default.
        ("pytest", "-o" | "--override-ini") => value.strip_prefix("addopts=").is_some_and(|told| !told.is_empty()),
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
