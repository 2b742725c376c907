//! The definition that `jackline init` writes where there is none: commented, and fitted to how the project is tested.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// What stands in it for every project.
const TEXT: &str = include_str!("starter/jackline.yaml");

/// Bytes of a project's file that are looked at; the words searched for stand far before.
const PROJECT_FILE_BYTES_MAX: u64 = 1 << 20;

/// A file that tells how a project is tested, and the commands that do it.
struct Tested {
    file: &'static str,
    /// What must stand in the file, if anything must.
    holds: Option<fn(&str) -> bool>,
    commands: &'static [&'static str],
}

impl Tested {
    /// By the file's being there.
    const fn by(file: &'static str, commands: &'static [&'static str]) -> Self {
        Self { file, holds: None, commands }
    }

    /// By what it says.
    const fn saying(file: &'static str, holds: fn(&str) -> bool, commands: &'static [&'static str]) -> Self {
        Self { file, holds: Some(holds), commands }
    }
}

const TESTED: &[Tested] = &[
    Tested::by("Cargo.toml", &["cargo test*", "cargo nextest run*"]),
    Tested::saying("package.json", has_test_script, NODE),
    Tested::by("deno.json", DENO),
    Tested::by("deno.jsonc", DENO),
    Tested::by("go.mod", &["go test*"]),
    Tested::saying("pyproject.toml", names_pytest, PYTEST),
    Tested::saying("setup.cfg", names_pytest, PYTEST),
    Tested::by("pytest.ini", PYTEST),
    Tested::by("conftest.py", PYTEST),
    Tested::by("tests/conftest.py", PYTEST),
    Tested::by("tests/__init__.py", &["python -m unittest*", "python3 -m unittest*", "uv run python -m unittest*"]),
    Tested::by("tox.ini", &["tox*", "uv run tox*"]),
    Tested::by("noxfile.py", &["nox*", "uv run nox*"]),
    Tested::by(".rspec", &["rspec*", "bundle exec rspec*", "bin/rspec*"]),
    Tested::by("pom.xml", &["mvn test*", "mvn verify*", "mvnw test*", "mvnw verify*"]),
    Tested::by("build.gradle", GRADLE),
    Tested::by("build.gradle.kts", GRADLE),
    Tested::by("mix.exs", &["mix test*"]),
    Tested::by("Package.swift", &["swift test*"]),
    Tested::by("phpunit.xml", PHPUNIT),
    Tested::by("phpunit.xml.dist", PHPUNIT),
    Tested::saying("CMakeLists.txt", |text| text.contains("enable_testing"), &["ctest*"]),
    Tested::saying("Makefile", has_test_target, &["make test*", "make check*"]),
    Tested::saying("justfile", has_test_target, &["just test*", "just check*"]),
];

const NODE: &[&str] = &[
    "npm test*",
    "npm run test*",
    "npm t",
    "pnpm test*",
    "pnpm run test*",
    "yarn test*",
    "yarn run test*",
    "bun run test*",
];
const DENO: &[&str] = &["deno test*", "deno task test*"];
const PYTEST: &[&str] = &[
    "pytest*",
    "python -m pytest*",
    "python3 -m pytest*",
    "uv run pytest*",
    "uv run python -m pytest*",
    "poetry run pytest*",
    "hatch test*",
];
const GRADLE: &[&str] = &["gradle test*", "gradle check*", "gradlew test*", "gradlew check*"];
const PHPUNIT: &[&str] = &["phpunit*", "composer test*", "composer run test*"];

fn has_test_script(text: &str) -> bool {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    package.pointer("/scripts/test").is_some_and(serde_json::Value::is_string)
}

fn has_test_target(text: &str) -> bool {
    text.lines().any(|line| ["test:", "check:", "test *", "check *"].iter().any(|begin| line.starts_with(begin)))
}

fn names_pytest(text: &str) -> bool {
    text.contains("pytest")
}

/// The definition for a project.
pub(crate) fn text(root: &Path) -> String {
    format!("{TEXT}\n{}", order(&commands(root)))
}

/// How this project is tested, as far as its files tell.
pub(crate) fn commands(root: &Path) -> Vec<&'static str> {
    let mut found = Vec::new();
    for tested in TESTED {
        let Some(text) = read(&root.join(tested.file)) else { continue };
        if tested.holds.is_none_or(|holds| holds(&text)) {
            found.extend(tested.commands.iter().filter(|command| !found.contains(*command)).collect::<Vec<_>>());
        }
    }
    found
}

fn read(path: &Path) -> Option<String> {
    // Looked at before it is opened: a pipe would be waited for.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(PROJECT_FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The policy that a commit comes after the tests; as an example only, where nobody knows how to test.
fn order(commands: &[&str]) -> String {
    let (mark, known) = if commands.is_empty() { ("# ", &["make test*"][..]) } else { ("", commands) };
    let why = [
        "  # A commit comes after the tests, and after no other change since. `fresh: false` would let changes pass.",
        "  # Name below what tests this project: a run counts whose command fits, and which passed.",
    ];
    let policy = [
        "  - name: tested-commits",
        "    sequence: { requires: { commit: [test] }, fresh: true }",
        "",
        "steps:",
        "  test:",
        "    tool: \"@shell\"",
        "    command:",
    ];
    let commit = [
        "  commit:",
        "    tool: \"@shell\"",
        "    command: { program: git, subcommand: commit, without: [\"--dry-run\", \"--help\", \"-h\"] }",
    ];
    let tests = known.iter().map(|command| format!("      - \"{command}\""));
    let lines = policy.map(str::to_owned).into_iter().chain(tests).chain(commit.map(str::to_owned));
    let marked = lines.map(|line| if line.is_empty() { line } else { format!("{mark}{line}") });
    why.map(str::to_owned).into_iter().chain(marked).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jackline_core::shell::{self, ShellText};

    #[track_caller]
    fn check(files: &[(&str, &str)], want: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
        let known = jackline_core::tools::names();
        let parsed = jackline_core::definition::parse(&text(dir.path()), &known).unwrap();
        assert_eq!(parsed.warnings, [], "{files:?}");
        assert_eq!(parsed.model.steps.len(), if want.is_empty() { 0 } else { 2 }, "{files:?}");
        let found = commands(dir.path());
        assert!(want.iter().all(|command| found.contains(command)), "{files:?}: {found:?}");
        assert_eq!(want.is_empty(), found.is_empty(), "{files:?}: {found:?}");
    }

    #[test]
    fn it_is_fine_and_knows_how_projects_are_tested() {
        check(&[], &[]);
        check(&[("Cargo.toml", "")], &["cargo test*"]);
        check(&[("package.json", r#"{"scripts": {"test": "vitest"}}"#)], &["npm test*", "pnpm test*"]);
        check(&[("package.json", r#"{"scripts": {"build": "test"}}"#)], &[]);
        check(&[("package.json", "not JSON")], &[]);
        check(&[("go.mod", "module x"), ("Makefile", "all:\n\ttrue\ntest: all\n")], &["go test*", "make test*"]);
        check(&[("Makefile", "latest:\n")], &[]);
        check(&[("pytest.ini", ""), ("tox.ini", "")], &["pytest*", "tox*"]);
        check(&[("justfile", "test *args:\n  cargo test\n"), ("mix.exs", "")], &["just test*", "mix test*"]);
    }

    /// How programs are told to list tests, or to leave them out: none of that is a run.
    const LISTING: &[(&str, &str)] = &[
        ("bun run", "--if-present"),
        ("cargo", "-- --list"),
        ("composer", "-- --list-tests"),
        ("ctest", "-N"),
        ("deno test", "--no-run"),
        ("deno task", "-- --list"),
        ("go", "-list ."),
        ("gradle", "-m"),
        ("hatch", "--show"),
        ("just", "--dry-run"),
        ("make", "-n"),
        ("mix", "--dry-run"),
        ("mvn", "-DskipTests"),
        ("nox", "-l"),
        ("npm", "-- --listTests"),
        ("phpunit", "--list-tests"),
        ("pnpm", "-- --listTests"),
        ("pytest", "--fixtures"),
        ("rspec", "--dry-run"),
        ("swift", "--list-tests"),
        ("tox", "-l"),
        ("unittest", "--help"),
        ("yarn", "--listTests"),
    ];

    #[test]
    fn no_command_proves_tests_that_it_only_lists() {
        let proves = |text: &str, step: &str| {
            let ShellText::Reading(reading) = shell::read(text) else { panic!("{text}") };
            reading.commands.iter().any(|command| command.proven && shell::glob_matches(command, step))
        };
        for step in TESTED.iter().flat_map(|tested| tested.commands) {
            let command = step.trim_end_matches('*');
            let (_, listing) = LISTING.iter().find(|(name, _)| command.contains(name)).expect(command);
            assert!(proves(command, step), "{command}");
            assert!(!proves(&format!("{command} {listing}"), step), "{command} {listing}");
        }
    }

    #[test]
    fn nothing_is_asked_for_that_a_project_may_not_have() {
        check(&[("pyproject.toml", "[project]\nname = 'x'\n")], &[]);
        check(&[("pyproject.toml", "[tool.pytest.ini_options]\n")], &["pytest*"]);
        check(&[("CMakeLists.txt", "project(x)")], &[]);
        check(&[("CMakeLists.txt", "enable_testing()")], &["ctest*"]);
    }
}
