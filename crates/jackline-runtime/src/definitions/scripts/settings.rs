//! Options by which a program is told a file that says what it does: a Makefile, settings, a list of what to run.
//!
//! What is only read is not named by them: `test -f report.md` is about a file that the agent writes.

use jackline_core::shell::Word;

/// Options that say so whatever the program is called.
const USUAL: &[&str] = &[
    "--config",
    "--config-file",
    "--config-path",
    "--configfile",
    "--configuration",
    "--conf",
    "--env-file",
    "--from-file",
    "--justfile",
    "--makefile",
    "--plugin",
    "--rc-file",
    "--rcfile",
    "--require",
    "--rules",
    "--ruleset",
    "--settings",
    "--taskfile",
    "--tsconfig",
];

/// Options that say so of some programs only.
const OF_PROGRAM: &[(&[&str], &[&str])] = &[
    (&["make", "gmake", "bmake", "just", "ninja", "samu"], &["-f", "--file"]),
    (&["jq", "yq", "gojq", "rake", "fab"], &["-f", "--rakefile"]),
    (&["docker-compose", "podman-compose", "skaffold"], &["-f", "--file"]),
    (&["task", "go-task"], &["-t"]),
    (&["xargs", "gxargs", "parallel"], &["-a", "--arg-file"]),
    (&["tsc", "vue-tsc"], &["-p", "--project"]),
    (
        &["tox", "pytest", "py.test", "pre-commit", "eslint", "jest", "mocha", "stylelint", "alembic", "yamllint"],
        &["-c"],
    ),
    (
        &["rollup", "webpack", "vite", "vitest", "golangci-lint", "markdownlint", "commitlint", "semgrep", "nox"],
        &["-c"],
    ),
    (&["bandit", "mocha", "ts-node", "nox"], &["-r", "-f", "-c"]),
    (
        &["ant", "gradle", "gradlew", "mvn", "mvnw"],
        &["-b", "-f", "-c", "-s", "--build-file", "--file", "--settings-file"],
    ),
    (
        &["sqlfluff", "clang-format", "clang-tidy", "detekt", "ktlint", "phpunit", "phpcs", "phpstan"],
        &["-c", "--style"],
    ),
    (&["cmake"], &["-P", "-C"]),
    (&["gdb", "lldb"], &["-x", "-s", "--command", "--source"]),
];

/// The words that name such files.
pub(super) fn named(program: &str, arguments: &[Word]) -> Vec<Word> {
    let own = OF_PROGRAM.iter().filter(|(programs, _)| programs.contains(&program)).flat_map(|(_, options)| *options);
    let options: Vec<&str> = own.chain(USUAL).copied().collect();
    let mut found = Vec::new();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let with = |text: &str| Word { text: text.to_owned(), ..word.clone() };
        let text = word.text.as_str();
        match text.split_once('=').filter(|(name, _)| options.contains(name)) {
            Some((_, value)) => found.push(with(value)),
            None if options.contains(&text) => found.extend(words.peek().map(|next| (*next).clone())),
            None => {
                let attached = |option: &&str| option.len() == 2 && !text.starts_with("--");
                let short = options.iter().filter(|option| attached(option));
                found.extend(short.filter_map(|option| text.strip_prefix(option)).map(with));
            }
        }
    }
    found
}
