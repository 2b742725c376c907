//! Commands that are run for their answer: which may run, and what is told of one that may not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set up its world has failed")]

use std::fs;
use std::path::Path;

use jackline_core::definition;
use jackline_core::probe::Fact;
use jackline_core::ran::{Author, Exit, Ran};
use jackline_core::redact::Redactor;
use jackline_core::sha::Digest;
use jackline_core::stack::Stack;
use jackline_runtime::commands::Commands;
use jackline_runtime::definitions::Scripts;
use jackline_runtime::runner::Environment;
use jackline_runtime::runner::artifacts::Artifacts;

fn run(root: &Path, state: Option<&Path>, argv: &[&str], author: &Author) -> Ran {
    let model = definition::parse("jackline: 1\nchecks: { confine: off }\n", &[]).unwrap().model;
    let stack = Stack::of(root.to_str().unwrap(), model, Digest::ZERO);
    let (scripts, redactor) = (Scripts::default(), Redactor::new([]));
    let (home, environment, patience) = (None, None, None);
    let commands =
        Commands { stack: &stack, scripts: &scripts, redactor: &redactor, home, state, environment, patience };
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    match commands.answer(&argv, 5_000, author) {
        Fact::Ran(ran) => ran,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_no_trusted_definition_names_is_skipped_aloud() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), None, &["touch", "made"], &Author::Owner);
    assert!(matches!(&ran.exit, Exit::Untrusted(why) if why.contains("not trusted")), "{ran:?}");
    assert!(ran.exit.told().contains("`jackline trust`"), "{}", ran.exit.told());
    assert!(!dir.path().join("made").exists(), "it ran");
}

#[test]
fn what_an_agent_may_name_runs_and_its_output_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("ws"), dir.path().join("state"));
    fs::create_dir(&root).unwrap();
    let ran = run(
        &root,
        Some(&state),
        &["sh", "-c", "echo out; echo key=sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA >&2; exit 3"],
        &Author::Agent,
    );
    assert_eq!((&ran.exit, ran.stdout.as_str()), (&Exit::Code(3), "out\n"));
    assert!(!ran.stderr.contains("AAAAAAAA"), "{}", ran.stderr);
    assert!(ran.unconfined.is_some(), "confinement was switched off, which is told");
    let kept = Artifacts::of(&state).read(&ran.stdout_kept.unwrap()).unwrap();
    assert_eq!(kept.as_deref(), Some("out\n"));
}

#[test]
fn long_outputs_are_short_in_the_fact_and_whole_in_the_artifact() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("ws"), dir.path().join("state"));
    fs::create_dir(&root).unwrap();
    let ran = run(&root, Some(&state), &["seq", "1", "9999"], &Author::Agent);
    assert!(ran.succeeded() && ran.stderr_kept.is_none());
    assert!(ran.stdout.len() <= 4096 && ran.stdout.starts_with("1\n2\n") && ran.stdout.ends_with("9999\n"));
    let kept = Artifacts::of(&state).read(&ran.stdout_kept.unwrap()).unwrap().unwrap();
    assert_eq!(kept.lines().count(), 9999);
}

#[test]
fn what_a_variable_is_set_to_does_not_show_in_what_a_command_prints() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path().join("ws"), dir.path().join("state"));
    fs::create_dir(&root).unwrap();
    let text = "jackline: 1\nchecks: { confine: off, environment: [KEY] }\n";
    let stack = Stack::of(root.to_str().unwrap(), definition::parse(text, &[]).unwrap().model, Digest::ZERO);
    let (scripts, redactor, home, patience) = (Scripts::default(), Redactor::new([]), None, None);
    let given = |named: &[String]| {
        let all = [("KEY", "plainsecretvalue123"), ("PATH", "/usr/bin:/bin")];
        Environment::filtered(all.map(|(name, value)| (name.into(), value.into())), named)
    };
    let (environment, state) = (Some(given as fn(&[String]) -> Environment), Some(state.as_path()));
    let commands =
        Commands { stack: &stack, scripts: &scripts, redactor: &redactor, home, state, environment, patience };
    let argv = ["sh", "-c", "echo using $KEY; echo $KEY >&2; exit 1"].map(str::to_owned);
    let Fact::Ran(ran) = commands.answer(&argv, 5_000, &Author::Agent) else { panic!("it did not run") };
    assert!(ran.stdout.starts_with("using ‹redacted:"), "{}", ran.stdout);
    let kept = Artifacts::of(state.unwrap()).read(&ran.stderr_kept.unwrap()).unwrap().unwrap();
    assert!(!format!("{ran:?}{kept}").contains("plainsecretvalue123"), "{ran:?} {kept}");
}
