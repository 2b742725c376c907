//! Searches for a text through directories: where they begin, and what they leave out by themselves or are told to.

use super::super::{Among, Only, Search, Word};
use super::Found;
use super::arguments::{has_option, operands, values_of};
use super::valued::{ACK, AG, GREP, RG};
use crate::path::Role;

/// Kinds of files by the names that programs which search have for them. Of a kind that is not here, any file may be one.
const KINDS: &[(&str, &[&str])] = &[
    ("c", &["*.c", "*.h"]),
    ("cpp", &["*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp"]),
    ("css", &["*.css", "*.scss"]),
    ("go", &["*.go"]),
    ("html", &["*.htm", "*.html"]),
    ("java", &["*.java"]),
    ("js", &["*.cjs", "*.js", "*.jsx", "*.mjs", "*.vue"]),
    ("json", &["*.json"]),
    ("kotlin", &["*.kt", "*.kts"]),
    ("markdown", &["*.markdown", "*.md", "*.mdx"]),
    ("md", &["*.markdown", "*.md", "*.mdx"]),
    ("php", &["*.php"]),
    ("py", &["*.py", "*.pyi"]),
    ("python", &["*.py", "*.pyi"]),
    ("ruby", &["*.gemspec", "*.rb", "Gemfile", "Rakefile"]),
    ("rust", &["*.rs"]),
    ("sh", &["*.bash", "*.sh", "*.zsh"]),
    ("shell", &["*.bash", "*.sh", "*.zsh"]),
    ("sql", &["*.sql"]),
    ("swift", &["*.swift"]),
    ("toml", &["*.toml", "Cargo.lock"]),
    ("ts", &["*.cts", "*.mts", "*.ts", "*.tsx"]),
    ("xml", &["*.xml"]),
    ("yaml", &["*.yaml", "*.yml"]),
];

/// Options of `git grep` that take a value.
const GIT_GREP: &[&str] = &["-A", "-B", "-C", "-e", "-f", "-m", "--max-count", "--max-depth", "--threads"];

/// Where a search begins, and what it comes upon there.
type Searching = (Vec<Word>, Search);

impl Found<'_> {
    /// The directories that a command searches.
    pub(super) fn searched(&mut self, program: &str, arguments: &[Word]) {
        let searching = match program {
            "egrep" | "fgrep" | "grep" | "rgrep" => by_grep(program, arguments),
            "rg" => by_rg(arguments),
            "ag" => by_ag(arguments),
            "ack" => by_ack(arguments),
            _ => None,
        };
        // Where they are handed a text and told no place, most search the text.
        let piped = self.piped && !program.ends_with("grep");
        if let Some((roots, search)) = searching.filter(|(roots, _)| !(piped && roots.is_empty())) {
            self.push_searched(&roots, &search);
        }
    }

    /// The files that `git grep` looks at: those that git keeps, unless it is told otherwise.
    pub(super) fn git_grep(&mut self, rest: &[Word]) {
        let has = |option: &str| rest.iter().any(|word| word.text == option);
        let among = match (has("--no-index"), has("--untracked")) {
            (true, _) if !has("--exclude-standard") => Among::All,
            (false, true) if has("--no-exclude-standard") => Among::All,
            (false, false) => Among::Tracked,
            _ => Among::Known,
        };
        let mut search = Search { hidden: true, among, ..Search::default() };
        let mut roots = Vec::new();
        for path in behind_pattern(rest, GIT_GREP) {
            let left_out = [":!", ":^", ":(exclude)"].iter().find_map(|sign| path.text.strip_prefix(sign));
            match left_out {
                Some(text) => search.without.push(text.to_owned()),
                None if path.text.contains(['*', '?', '[']) => search.only.push(path.text),
                None if is_revision(&path.text) => {}
                None => roots.push(path),
            }
        }
        self.push_each(&roots, Role::Read);
        self.push_searched(&roots, &search);
    }

    fn push_searched(&mut self, roots: &[Word], search: &Search) {
        let here = [Word::literal(".")];
        let before = self.touches.len();
        // What depends on a value, and what another program lists, is read by itself.
        for root in if roots.is_empty() { &here } else { roots }.iter().filter(|root| !root.dynamic && !root.listed) {
            let text = format!("{}/**", root.text.trim_end_matches('/'));
            self.push(&Word { text, glob: true, ..root.clone() }, Role::Read);
        }
        for touch in self.touches.iter_mut().skip(before) {
            touch.only = Some(Only::Searched(search.clone()));
        }
    }
}

fn by_grep(program: &str, arguments: &[Word]) -> Option<Searching> {
    let deep = has_option(arguments, &["-r", "-R", "--recursive", "--dereference-recursive"])
        || values_of(arguments, &["-d", "--directories"]).iter().any(|word| word.text == "recurse");
    let (only, mut without) = (texts(arguments, &["--include"]), texts(arguments, &["--exclude"]));
    without.extend(texts(arguments, &["--exclude-dir"]));
    let search = Search { only, without, hidden: true, ..Search::default() };
    (deep || program == "rgrep").then(|| (behind_pattern(arguments, GREP), search))
}

fn by_rg(arguments: &[Word]) -> Option<Searching> {
    if has_option(arguments, &["--files", "--help", "--type-list", "--version"]) {
        return None;
    }
    let (without, globs): (Vec<String>, Vec<String>) =
        texts(arguments, &["-g", "--glob", "--iglob"]).into_iter().partition(|glob| glob.starts_with('!'));
    let without = without.iter().filter_map(|glob| glob.strip_prefix('!')).map(str::to_owned).collect();
    // Files that are asked for by name are looked at whatever else is said of them.
    let named = !globs.is_empty();
    let only = if named { globs } else { of_kinds(&values_of(arguments, &["-t", "--type"])) };
    let loosened = loosened(arguments);
    let hidden = loosened > 1 || has_option(arguments, &["-.", "--hidden"]);
    let all = named || loosened > 0 || has_option(arguments, &["--no-ignore", "--no-ignore-vcs"]);
    let among = if all { Among::All } else { Among::Known };
    Some((behind_pattern(arguments, RG), Search { only, without, hidden, named, among }))
}

/// The names of the only files that `rg` is asked for.
pub(super) fn names_asked_for(arguments: &[Word]) -> Vec<String> {
    let globs = texts(arguments, &["-g", "--glob"]);
    let kinds = values_of(arguments, &["-t", "--type"]);
    match globs.iter().any(|glob| !glob.starts_with('!')) {
        true => globs.into_iter().filter(|glob| !glob.starts_with('!')).collect(),
        false => of_kinds(&kinds),
    }
}

/// How often `rg` is told to leave out less.
fn loosened(arguments: &[Word]) -> usize {
    let short = |text: &str| !text.starts_with("--") && text.starts_with('-');
    let times = |word: &Word| match word.text.as_str() {
        "--unrestricted" => 1,
        text if short(text) => text.matches('u').count(),
        _ => 0,
    };
    arguments.iter().map(times).sum()
}

fn by_ag(arguments: &[Word]) -> Option<Searching> {
    if has_option(arguments, &["-g", "--help", "--list-file-types", "--version"]) {
        return None;
    }
    let unrestricted = has_option(arguments, &["-u", "--unrestricted"]);
    let all = ["-a", "-t", "-U", "--all-text", "--all-types", "--skip-vcs-ignores"];
    let among = if unrestricted || has_option(arguments, &all) { Among::All } else { Among::Known };
    let by_name = values_of(arguments, &["-G", "--file-search-regex"]);
    let only = match by_name.is_empty() {
        true => of_kinds(&by_flags(arguments)),
        false => by_name.iter().map(|word| by_end(&word.text)).collect::<Option<_>>().unwrap_or_default(),
    };
    let without = texts(arguments, &["--ignore", "--ignore-dir"]);
    let hidden = unrestricted || has_option(arguments, &["--hidden"]);
    Some((behind_pattern(arguments, AG), Search { only, without, hidden, among, ..Search::default() }))
}

fn by_ack(arguments: &[Word]) -> Option<Searching> {
    if has_option(arguments, &["-f", "-g", "--help", "--version"]) {
        return None;
    }
    let kinds: Vec<Word> = values_of(arguments, &["-t", "--type"]).into_iter().chain(by_flags(arguments)).collect();
    let file = |text: &String| match text.split_once(':') {
        Some(("is", name)) => Some(name.to_owned()),
        Some(("ext", end)) => Some(format!("*.{end}")),
        _ => None,
    };
    let mut without = texts(arguments, &["--ignore-dir"]);
    without.extend(texts(arguments, &["--ignore-file"]).iter().filter_map(file));
    Some((
        behind_pattern(arguments, ACK),
        Search { only: of_kinds(&kinds), without, hidden: true, ..Search::default() },
    ))
}

/// The operands behind the text that is searched for, which may stand in an option.
fn behind_pattern(arguments: &[Word], valued: &[&str]) -> Vec<Word> {
    let (paths, _) = operands(arguments, valued);
    let patterns: Vec<&str> =
        ["-e", "-f", "--regexp", "--file"].into_iter().filter(|option| valued.contains(option)).collect();
    match values_of(arguments, &patterns).is_empty() {
        true => paths.get(1..).unwrap_or_default().to_vec(),
        false => paths,
    }
}

fn texts(arguments: &[Word], options: &[&str]) -> Vec<String> {
    values_of(arguments, options).into_iter().filter(|word| !word.dynamic).map(|word| word.text).collect()
}

/// Kinds of files that stand among the arguments as options of their own: `--rust`.
fn by_flags(arguments: &[Word]) -> Vec<Word> {
    let kind = |word: &Word| {
        word.text.strip_prefix("--").filter(|name| KINDS.iter().any(|(kind, _)| kind == name)).map(Word::literal)
    };
    arguments.iter().filter_map(kind).collect()
}

/// The names of files of these kinds; none where one of them is not known.
fn of_kinds(kinds: &[Word]) -> Vec<String> {
    let names = |kind: &Word| KINDS.iter().find(|(name, _)| *name == kind.text).map(|(_, names)| *names);
    let known: Option<Vec<&[&str]>> = kinds.iter().map(names).collect();
    known.unwrap_or_default().concat().into_iter().map(str::to_owned).collect()
}

/// The pattern of names for an expression that asks for an end: `\.rs$`.
fn by_end(expression: &str) -> Option<String> {
    let end = expression.strip_prefix("\\.")?.strip_suffix('$')?;
    end.chars().all(|c| c.is_ascii_alphanumeric()).then(|| format!("*.{end}"))
}

/// Whether a word is rather a revision than a path.
fn is_revision(text: &str) -> bool {
    let is_hash = text.len() >= 7 && text.chars().all(|c| c.is_ascii_hexdigit());
    text.starts_with("HEAD") || text.starts_with("origin/") || text.contains(['~', '^', '@']) || is_hash
}
