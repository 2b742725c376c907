//! What programs that list files print: patterns that every line of it matches.

use super::super::Word;
use super::arguments::{has_option, operands};
use super::git::without_git_options;

/// Actions of `find` that print something else than files.
const OTHERWISE: &[&str] = &["-printf", "-exec", "-execdir", "-ok", "-okdir", "-ls"];

/// Tests and actions of `find` that take no value.
const PLAIN_TESTS: &[&str] = &[
    "-depth",
    "-xdev",
    "-mount",
    "-empty",
    "-executable",
    "-readable",
    "-writable",
    "-print",
    "-print0",
    "-a",
    "-and",
];

/// Options with which a program still prints nothing but files.
const SEARCHING: &[&str] = &[
    "-r",
    "-R",
    "-l",
    "-i",
    "-n",
    "-w",
    "-F",
    "-E",
    "-P",
    "-e",
    "-g",
    "-t",
    "--files",
    "--files-with-matches",
    "--include",
    "--exclude",
    "--exclude-dir",
    "--hidden",
    "--glob",
    "--type",
];
const LISTING: &[&str] =
    &["-o", "-m", "-c", "-d", "-z", "--others", "--modified", "--cached", "--deleted", "--exclude-standard", "--"];
const NAMING: &[&str] = &["-1", "-A", "-a", "-d", "-r", "-S", "-t", "-U"];
const COMPARING: &[&str] = &["--name-only", "--cached", "--staged", "--diff-filter", "-z", "--"];

/// Whether a command has only these options.
fn only_options(arguments: &[Word], known: &[&str]) -> bool {
    let is_known = |text: &str| known.contains(&text.split('=').next().unwrap_or_default());
    let is_cluster = |text: &str| {
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|letter| known.contains(&format!("-{letter}").as_str()))
    };
    let options = arguments.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with('-'));
    options.into_iter().all(|text| is_known(text) || is_cluster(text))
}

/// What the files that a command prints look like, if it is one that lists files.
pub(in crate::shell) fn listed(words: &[Word]) -> Option<Vec<Word>> {
    let (program, arguments) = words.split_first()?;
    match program.text.as_str() {
        "mktemp" if arguments.iter().all(|word| word.text == "-d") => Some(vec![Word::literal("/tmp/tmp.mktemp")]),
        "find" => prints_files(arguments).then(|| found(arguments)),
        "ls" if only_options(arguments, NAMING) => by_patterns(operands(arguments, &[]).0),
        "git" => by_git(&without_git_options(arguments), arguments),
        "rg" | "grep" if !only_options(arguments, SEARCHING) => None,
        "rg" if has_option(arguments, &["--files"]) => Some(roots(operands(arguments, &["-g", "-t"]).0)),
        "rg" | "grep" if has_option(arguments, &["-l", "--files-with-matches"]) => {
            let (paths, _) = operands(arguments, &["-e", "-g", "-t", "--include", "--exclude", "--exclude-dir"]);
            let scripted = has_option(arguments, &["-e", "-f"]);
            Some(roots(if scripted { paths } else { paths.get(1..).unwrap_or_default().to_vec() }))
        }
        _ => None,
    }
}

/// The files that `find` comes upon: below its roots, and with its names where nothing widens them.
pub(in crate::shell) fn found(arguments: &[Word]) -> Vec<Word> {
    let options = |word: &&Word| matches!(word.text.as_str(), "-L" | "-H" | "-P");
    let arguments: Vec<Word> = arguments.iter().skip_while(options).cloned().collect();
    let is_root = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    let tops: Vec<Word> = arguments.iter().take_while(is_root).cloned().collect();
    let tops = roots(tops);
    let Some(name) = name(&arguments) else { return with_below(tops) };
    let below = |top: Word| Word { text: format!("{}/**/{name}", top.text.trim_end_matches('/')), ..top };
    tops.into_iter().map(below).collect()
}

/// Directories, and what lies in those that a pattern of the shell's chose.
fn with_below(tops: Vec<Word>) -> Vec<Word> {
    let chosen = tops.iter().filter(|top| top.text.contains(['*', '?', '[']));
    let below = chosen.map(|top| Word { text: format!("{}/**", top.text.trim_end_matches('/')), ..top.clone() });
    let below: Vec<Word> = below.collect();
    tops.into_iter().chain(below).collect()
}

/// The files that a pattern of the shell's chose; nothing where some are named otherwise.
fn by_patterns(operands: Vec<Word>) -> Option<Vec<Word>> {
    let listed = |word: Word| Word { listed: true, ..word };
    let chosen = !operands.is_empty() && operands.iter().all(|word| word.glob && !word.dynamic);
    chosen.then(|| operands.into_iter().map(listed).collect())
}

/// The one name that `find` asks for, if nothing else could let others in.
fn name(arguments: &[Word]) -> Option<String> {
    let widens = |word: &Word| matches!(word.text.as_str(), "-o" | "-or" | "," | "!" | "-not");
    if arguments.iter().any(widens) {
        return None;
    }
    let at = arguments.iter().position(|word| word.text == "-name")?;
    // What looks like a test may be the value of the one before it.
    let before = at.checked_sub(1).and_then(|before| arguments.get(before)).map(|word| word.text.as_str());
    if before.is_some_and(|before| before.starts_with('-') && !PLAIN_TESTS.contains(&before)) {
        return None;
    }
    let name = arguments.get(at + 1)?;
    // Unlike the shell's, its wildcards match hidden files; one without a letter matches them all.
    let says = name.text.chars().filter(|c| !"*?[]".contains(*c)).count();
    (name.known() && says > 1).then(|| name.text.clone())
}

fn by_git(words: &[Word], all: &[Word]) -> Option<Vec<Word>> {
    let (sub, arguments) = words.split_first()?;
    let elsewhere = all.len() != words.len();
    match sub.text.as_str() {
        _ if elsewhere => None,
        "ls-files" if only_options(arguments, LISTING) => Some(roots(Vec::new())),
        "diff" if only_options(arguments, COMPARING) && has_option(arguments, &["--name-only"]) => {
            Some(roots(Vec::new()))
        }
        _ => None,
    }
}

/// Everything below these directories, the present one if there are none.
fn roots(tops: Vec<Word>) -> Vec<Word> {
    let here = vec![Word::literal(".")];
    let tops = if tops.is_empty() { here } else { tops };
    tops.into_iter().map(|top| Word { glob: true, listed: true, ..top }).collect()
}

/// Whether `find` prints nothing but files.
fn prints_files(arguments: &[Word]) -> bool {
    !arguments.iter().any(|word| OTHERWISE.contains(&word.text.as_str()))
}
