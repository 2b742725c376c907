//! What programs that list files print: patterns that every line of it matches.

use super::super::Word;
use super::arguments::{has_option, operands, values_of};
use super::git::without_git_options;
use super::parted::{parted, valued_of};
use super::valued::FD;
use super::{pathspecs, searched};

/// Actions of `find` that print something else than files.
const OTHERWISE: &[&str] = &["-printf", "-exec", "-execdir", "-ok", "-okdir", "-ls"];

/// What turns a test of `find` round.
const NOT: &[&str] = &["!", "-not"];

/// Actions of `find` that do more than print.
const ACTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-print", "-print0", "-fprint"];

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
    "-s",
    "-w",
    "-z",
    "-Z",
    "-0",
    "--null",
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
/// Options with which `ls` still prints nothing but names.
const NAMING: &[&str] = &["-1", "-a", "-A", "-d", "-r", "-S", "-t", "-U"];
const LISTING: &[&str] =
    &["-o", "-m", "-c", "-d", "-z", "--others", "--modified", "--cached", "--deleted", "--exclude-standard", "--"];
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
    let program = program.text.as_str();
    let valued = valued_of(program);
    let arguments = &*parted(program, arguments, &valued);
    match program {
        "mktemp" if arguments.iter().all(|word| word.text == "-d") => Some(vec![Word::literal("/tmp/tmp.mktemp")]),
        "find" => prints_files(arguments).then(|| found(arguments)),
        "ls" if only_options(arguments, NAMING) => by_ls(&operands(arguments, &[]).0),
        "fd" | "fdfind" => Some(by_fd(arguments)),
        "git" => by_git(&without_git_options(arguments), arguments),
        "rg" | "grep" if !only_options(arguments, SEARCHING) => None,
        "rg" if has_option(arguments, &["--files"]) => {
            Some(narrowed(roots(operands(arguments, &valued).0), &searched::names_asked_for(arguments)))
        }
        "rg" | "grep" if has_option(arguments, &["-l", "--files-with-matches"]) => {
            let (paths, _) = operands(arguments, &valued);
            let scripted = has_option(arguments, &["-e", "-f"]);
            let roots = roots(if scripted { paths } else { paths.get(1..).unwrap_or_default().to_vec() });
            let names = match program {
                "rg" => searched::names_asked_for(arguments),
                _ => values_of(arguments, &["--include"]).into_iter().map(|name| name.text).collect(),
            };
            Some(narrowed(roots, &names))
        }
        _ => None,
    }
}

/// The files that `find` comes upon: below its roots, and with its names where nothing else lets others in. Unlike the
/// shell's, its wildcards match hidden files.
pub(in crate::shell) fn found(arguments: &[Word]) -> Vec<Word> {
    let options = |word: &&Word| matches!(word.text.as_str(), "-L" | "-H" | "-P");
    // Links may lead anywhere.
    let follows = arguments.iter().any(|word| matches!(word.text.as_str(), "-L" | "-follow"));
    let arguments: Vec<Word> = arguments.iter().skip_while(options).cloned().collect();
    let is_root = |word: &&Word| !word.text.starts_with(['-', '(', '!']);
    let tops: Vec<Word> = arguments.iter().take_while(is_root).cloned().collect();
    let expression = arguments.get(tops.len()..).unwrap_or_default();
    let names = names(expression).filter(|_| !follows);
    let files = alternatives(expression).is_some_and(|all| all.iter().all(|tests| asks_for_files(tests)));
    let tops: Vec<Word> = roots(tops).into_iter().map(|top| Word { chosen: false, files, ..top }).collect();
    let below =
        |top: &Word, rest: &str| Word { text: format!("{}/{rest}", top.text.trim_end_matches('/')), ..top.clone() };
    // What a pattern of the shell's chose may be a file, and found itself.
    let chosen = tops.iter().filter(|top| top.text.contains(['*', '?', '['])).cloned();
    let ends: Vec<String> = match names {
        Some(names) => names.iter().map(|name| format!("**/{name}")).collect(),
        None => vec!["**".to_owned()],
    };
    chosen.chain(ends.iter().flat_map(|end| tops.iter().map(|top| below(top, end)))).collect()
}

/// The names that `find` asks for: one for each alternative, if every one asks for a name.
fn names(expression: &[Word]) -> Option<Vec<String>> {
    alternatives(expression)?.into_iter().map(name).collect()
}

/// The alternatives of an expression of `find`'s that do something to what they come upon, if they can be told: what each
/// tests before it does that.
fn alternatives(expression: &[Word]) -> Option<Vec<&[Word]>> {
    let is = |word: &Word, texts: &[&str]| texts.contains(&word.text.as_str());
    let denied_group = expression.windows(2).any(|pair| match pair {
        [not, group] => is(not, NOT) && group.text == "(",
        _ => false,
    });
    if denied_group || expression.iter().any(|word| word.text == ",") {
        return None;
    }
    let alternatives = expression.split(|word| is(word, &["-o", "-or"]));
    // What is only passed by is not what something is done to.
    let acts =
        |words: &&[Word]| words.iter().all(|word| word.text != "-prune") || words.iter().any(|word| is(word, ACTIONS));
    let before = |words: &'_ [Word]| words.iter().position(|word| is(word, ACTIONS)).unwrap_or(words.len());
    Some(alternatives.filter(acts).map(|words| words.get(..before(words)).unwrap_or_default()).collect())
}

/// Whether tests let only files pass.
fn asks_for_files(tests: &[Word]) -> bool {
    let denied = |at: usize| at.checked_sub(1).and_then(|before| tests.get(before)).is_some_and(is_not);
    let asks = |at: usize| match tests.get(at..at + 2) {
        Some([of, kind]) => of.text == "-type" && kind.text == "f" && !denied(at),
        _ => false,
    };
    (0..tests.len()).any(asks)
}

fn is_not(word: &Word) -> bool {
    NOT.contains(&word.text.as_str())
}

/// Whether `find` comes only upon what has nothing in it, or on directories, of which it deletes no others.
pub(super) fn is_empty(arguments: &[Word]) -> bool {
    let widens = |word: &Word| matches!(word.text.as_str(), "-o" | "-or" | "," | "!" | "-not");
    let directories =
        arguments.windows(2).any(|pair| matches!(pair, [of, kind] if of.text == "-type" && kind.text == "d"));
    let empty = arguments.iter().any(|word| word.text == "-empty");
    (empty || directories) && !arguments.iter().any(widens)
}

/// The name that an alternative asks for.
fn name(tests: &[Word]) -> Option<String> {
    let before = |at: usize| at.checked_sub(1).and_then(|before| tests.get(before)).map_or("", |word| &word.text);
    // What looks like a test may be the value of the one before it.
    let is_test = |at: usize| !before(at).starts_with('-') || PLAIN_TESTS.contains(&before(at));
    let asks =
        |at: &usize| tests.get(*at).is_some_and(|word| word.text == "-name") && before(*at) != "!" && is_test(*at);
    let at = (0..tests.len()).find(asks)?;
    tests.get(at + 1).filter(|name| !name.dynamic).map(|name| name.text.clone())
}

/// What `ls` prints of the present directory, or of what a pattern of the shell's stands for. What it prints of other
/// directories are names that are none here.
fn by_ls(named: &[Word]) -> Option<Vec<Word>> {
    let all = || vec![Word { glob: true, listed: true, ..Word::literal("*") }];
    match named.iter().all(|word| word.glob) {
        true if named.is_empty() => Some(all()),
        true => Some(named.iter().map(|word| Word { listed: true, ..word.clone() }).collect()),
        false => None,
    }
}

/// The files that `fd` comes upon: by their ends or their names, or by an expression, which may stand for any.
pub(in crate::shell) fn by_fd(arguments: &[Word]) -> Vec<Word> {
    let arguments = &*parted("fd", arguments.split(is_run).next().unwrap_or_default(), FD);
    let (named, _) = operands(arguments, FD);
    let kinds = values_of(arguments, &["-t", "--type"]);
    let files = !kinds.is_empty() && kinds.iter().all(|kind| matches!(kind.text.as_str(), "f" | "file"));
    let tops: Vec<Word> = roots(named.get(1..).unwrap_or_default().to_vec());
    let tops: Vec<Word> = tops.into_iter().map(|top| Word { files, ..top }).collect();
    let globs = named.first().filter(|_| has_option(arguments, &["-g", "--glob"])).map(|word| word.text.clone());
    let ends = values_of(arguments, &["-e", "--extension"]).into_iter().map(|end| format!("*.{}", end.text));
    let names: Vec<String> = ends.chain(globs).collect();
    if names.is_empty() {
        return tops;
    }
    let below = |top: &Word, name: &String| Word {
        text: format!("{}/**/{name}", top.text.trim_end_matches('/')),
        chosen: false,
        ..top.clone()
    };
    tops.iter().flat_map(|top| names.iter().map(|name| below(top, name)).collect::<Vec<_>>()).collect()
}

/// Whether the rest of fd's words is a command.
fn is_run(word: &Word) -> bool {
    matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")
}

fn by_git(words: &[Word], all: &[Word]) -> Option<Vec<Word>> {
    let (sub, arguments) = words.split_first()?;
    let elsewhere = all.len() != words.len();
    match sub.text.as_str() {
        _ if elsewhere => None,
        "ls-files" if only_options(arguments, LISTING) => Some(among(&operands(arguments, &[]).0)),
        "grep" if only_options(arguments, SEARCHING) && has_option(arguments, &["-l"]) => Some(roots(Vec::new())),
        "diff" if only_options(arguments, COMPARING) && has_option(arguments, &["--name-only"]) => {
            let named = arguments.iter().skip_while(|word| word.text != "--").skip(1);
            Some(among(&named.cloned().collect::<Vec<_>>()))
        }
        _ => None,
    }
}

/// Files that git keeps, of those that pathspecs stand for.
fn among(words: &[Word]) -> Vec<Word> {
    let meant: Vec<Word> = pathspecs::meant(words, false).into_iter().map(|meant| meant.path).collect();
    roots(meant)
}

/// Files below directories, of these names if there are some.
fn narrowed(tops: Vec<Word>, names: &[String]) -> Vec<Word> {
    if names.is_empty() {
        return tops;
    }
    let below = |top: &Word, name: &String| Word {
        text: format!("{}/**/{}", top.text.trim_end_matches('/'), name.trim_start_matches("**/")),
        ..top.clone()
    };
    tops.iter().flat_map(|top| names.iter().map(|name| below(top, name)).collect::<Vec<_>>()).collect()
}

/// Files below these directories, the present one if there are none.
fn roots(tops: Vec<Word>) -> Vec<Word> {
    let here = vec![Word::literal(".")];
    let tops = if tops.is_empty() { here } else { tops };
    tops.into_iter().map(|top| Word { glob: true, dots: true, listed: true, chosen: true, ..top }).collect()
}

/// Whether `find` prints nothing but files.
fn prints_files(arguments: &[Word]) -> bool {
    !arguments.iter().any(|word| OTHERWISE.contains(&word.text.as_str()))
}
