//! The definition that `jackline init` writes where there is none: commented, and fitted to how the project is tested.

use std::fs;
use std::io::Read as _;
use std::path::Path;

/// What stands in it for every project.
const TEXT: &str = include_str!("starter/jackline.yaml");

/// Bytes of a project's file that are looked at; the words searched for stand far before.
const PROJECT_FILE_BYTES_MAX: u64 = 1 << 20;

/// How projects are tested.
struct Tested {
    file: &'static str,
    /// What must stand in the file, if anything must.
    holds: Option<fn(&str) -> bool>,
    commands: &'static [&'static str],
}

/// Files that tell how a project is tested, and the commands that do it.
const TESTED: [Tested; 7] = [
    Tested { file: "Cargo.toml", holds: None, commands: &["cargo test*", "cargo nextest run*"] },
    Tested {
        file: "package.json",
        holds: Some(has_test_script),
        commands: &["npm test*", "npm run test*", "pnpm test*", "pnpm run test*", "yarn test*", "bun run test*"],
    },
    Tested { file: "go.mod", holds: None, commands: &["go test*"] },
    Tested { file: "pyproject.toml", holds: None, commands: PYTHON },
    Tested { file: "pytest.ini", holds: None, commands: PYTHON },
    Tested { file: "tox.ini", holds: None, commands: &["tox*"] },
    Tested { file: "Makefile", holds: Some(has_test_target), commands: &["make test*", "make check*"] },
];

const PYTHON: &[&str] = &["pytest*", "python -m pytest*", "python3 -m pytest*", "uv run pytest*", "poetry run pytest*"];

fn has_test_script(text: &str) -> bool {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    package.pointer("/scripts/test").is_some_and(serde_json::Value::is_string)
}

fn has_test_target(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("test:") || line.starts_with("check:"))
}

/// The definition for a project.
pub(crate) fn text(root: &Path) -> String {
    format!("{TEXT}\n{}", order(&commands(root)))
}

/// How this project is tested, as far as its files tell.
pub(crate) fn commands(root: &Path) -> Vec<&'static str> {
    let mut found = Vec::new();
    for tested in &TESTED {
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
    let (mark, shown) = if commands.is_empty() {
        ("# ", "\"make test*\"".to_owned())
    } else {
        ("", commands.iter().map(|command| format!("\"{command}\"")).collect::<Vec<_>>().join(", "))
    };
    let lines = [
        "  - name: tested-commits".to_owned(),
        "    sequence: { requires: { commit: [test] }, fresh: true }".to_owned(),
        String::new(),
        "steps:".to_owned(),
        format!("  test: {{ tool: \"@shell\", command: [{shown}] }}"),
        "  commit: { tool: \"@shell\", command: \"git commit*\" }".to_owned(),
    ];
    let lines = lines.map(|line| if line.is_empty() { line } else { format!("{mark}{line}") });
    let why =
        "  # A commit comes after the tests, and after no other change since. `fresh: false` would let changes pass.";
    format!("{why}\n{}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check(&[("pyproject.toml", ""), ("pytest.ini", ""), ("tox.ini", "")], &["pytest*", "tox*"]);
    }
}
