//! What commands run, told from what they read; and what is trusted of it.

use super::*;
use std::fs;

#[track_caller]
fn check(root: &Path, argv: &[&str], want: &[&str]) {
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    let runs = Runs::of(root, &argv);
    assert_eq!(runs.files.iter().chain(&runs.missing).collect::<Vec<_>>(), want, "{argv:?}");
}

/// A workspace with a script that says so, one that does not, a module and a report.
fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["scripts", "tools", "app"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    for (name, text) in [
        ("scripts/check.sh", "#!/bin/sh\n"),
        ("c.sh", "exit 1\n"),
        ("c.py", "exit(1)\n"),
        ("tools/verify.py", "exit(1)\n"),
        ("app/__main__.py", "exit(1)\n"),
        ("app/run.sh", "exit 1\n"),
        ("report.md", "ok\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn a_script_is_found_however_the_command_leads_to_it() {
    let dir = workspace();
    let root = dir.path();
    for argv in [
        &["sh", "-c", "cd scripts && ./check.sh"][..],
        &["env", "-C", "scripts", "./check.sh"],
        &["sh", "-c", "D=scripts; sh $D/check.sh"],
        &["sh", "-c", "sh $PWD/scripts/check.sh"],
        &["sh", "-c", "for f in scripts/*.sh; do sh \"$f\"; done"],
        &["sh", "-c", "PATH=$PWD/scripts:$PATH; check.sh"],
        &["sh", "-c", ". scripts/check.sh"],
        &["bash", "--rcfile", "scripts/check.sh", "-i"],
        &["find", ".", "-maxdepth", "0", "-exec", "sh", "scripts/check.sh", ";"],
    ] {
        check(root, argv, &["scripts/check.sh"]);
    }
    check(root, &["sh", "-c", "cd app; sh run.sh"], &["app/run.sh"]);
    check(root, &["sh", "-c", "for f in app/*.sh; do sh \"$f\"; done"], &["app/run.sh"]);
    for argv in [
        &["python3", "-m", "tools.verify"][..],
        &["python3", "-mtools.verify"],
        &["python3", "-X", "dev", "-m", "tools.verify"],
        &["bash", "-c", "python3 -m tools.verify"],
        &["sh", "-c", "cd tools && python3 -m verify"],
    ] {
        check(root, argv, &["tools/verify.py"]);
    }
    check(root, &["python3", "app"], &["app/__main__.py"]);
    check(root, &["python3", "-m", "app"], &["app/__main__.py"]);
}

#[test]
fn options_and_texts_of_interpreters_are_no_files() {
    let dir = workspace();
    let root = dir.path();
    for argv in [
        &["bash", "-o", "pipefail", "c.sh"][..],
        &["bash", "-euo", "pipefail", "c.sh"],
        &["sh", "-o", "errexit", "c.sh"],
        &["sh", "--", "c.sh", "report.md"],
        &["bash", "--unheard-of", "value", "c.sh"],
    ] {
        check(root, argv, &["c.sh"]);
    }
    for argv in
        [&["python3", "-W", "error", "c.py"][..], &["python3", "-X", "dev", "c.py"], &["python3", "-Werror", "c.py"]]
    {
        check(root, argv, &["c.py"]);
    }
    check(root, &["awk", "BEGIN{exit 0}"], &[]);
    check(root, &["awk", "-F", ":", "{print}", "report.md"], &[]);
    check(root, &["awk", "-f", "c.py", "report.md"], &["c.py"]);
    check(root, &["node", "-e", "0"], &[]);
    check(root, &["ruby", "-e", "exit 0", "report.md"], &[]);
}

#[test]
fn a_file_that_says_what_a_program_does_is_named_by_an_option() {
    let dir = workspace();
    let root = dir.path();
    fs::write(root.join("tools/Makefile"), "lint:\n\ttrue\n").unwrap();
    for argv in [
        &["make", "-f", "tools/Makefile", "lint"][..],
        &["make", "-ftools/Makefile", "lint"],
        &["make", "--file=tools/Makefile"],
        &["make", "-C", ".", "--makefile", "tools/Makefile"],
        &["sh", "-c", "cd tools && make -f Makefile"],
        &["env", "A=b", "just", "-f", "tools/Makefile"],
        &["ninja", "-f", "tools/Makefile"],
        &["eslint", "-c", "tools/Makefile", "{file}"],
        &["ruff", "check", "--config", "tools/Makefile", "{file}"],
        &["pre-commit", "run", "--config=tools/Makefile"],
        &["jq", "-f", "tools/Makefile", "{file}"],
        &["xargs", "-a", "tools/Makefile", "rm"],
        &["unheard-of", "--settings", "tools/Makefile"],
    ] {
        check(root, argv, &["tools/Makefile"]);
    }
    for argv in [&["test", "-f", "report.md"][..], &["grep", "-c", "ok", "report.md"], &["wc", "-l", "report.md"]] {
        check(root, argv, &[]);
    }
    check(root, &["tsc", "-p", "app"], &[]);
    let argv = ["make", "-f", "new.mk"].map(str::to_owned);
    assert_eq!(Scripts::default().objection(root, &argv), None);
    fs::write(root.join("new.mk"), "").unwrap();
    assert_eq!(Scripts::default().objection(root, &argv).as_deref(), Some("`new.mk` is not trusted"));
}

#[test]
fn what_cannot_be_told_is_said_and_what_would_run_instead_is_kept_free() {
    let dir = workspace();
    let told = |argv: &[&str]| Runs::of(dir.path(), &argv.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert!(told(&["sh", "-c", "sh $X/check.sh"]).untold);
    assert!(told(&["sh", "-c", "$X"]).untold);
    assert!(!told(&["cargo", "test"]).untold);
    let shadowed = told(&["python3", "-m", "pytest"]);
    assert!(shadowed.files.is_empty() && shadowed.absent.contains("pytest.py"), "{shadowed:?}");
    let argv = ["python3", "-m", "pytest"].map(str::to_owned);
    assert_eq!(Scripts::default().objection(dir.path(), &argv), None);
    fs::write(dir.path().join("pytest.py"), "").unwrap();
    assert_eq!(Scripts::default().objection(dir.path(), &argv).as_deref(), Some("`pytest.py` is not trusted"));
}

#[test]
fn what_a_command_runs_is_told_from_what_it_reads() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir(root.join("scripts")).unwrap();
    for (name, text) in [("scripts/check.sh", "#!/bin/sh\n"), ("check.py", "pass\n"), ("report.md", "ok\n")] {
        fs::write(root.join(name), text).unwrap();
    }
    let whole = root.join("scripts/check.sh").display().to_string();
    for argv in [
        vec!["scripts/check.sh"],
        vec!["./scripts/check.sh", "report.md"],
        vec![whole.as_str()],
        vec!["bash", "-eu", "scripts/check.sh"],
        vec!["timeout", "5", "scripts/../scripts/check.sh"],
        vec!["scripts/gone/../check.sh"],
    ] {
        check(root, &argv, &["scripts/check.sh"]);
    }
    check(root, &["python3", "check.py", "report.md"], &["check.py"]);
    check(root, &["/usr/bin/python3.11", "./check.py"], &["check.py"]);
    check(root, &["sh", "scripts/not-there.sh"], &["scripts/not-there.sh"]);
    check(root, &["grep", "-q", "ok", "report.md"], &[]);
    check(root, &["python3", "-m", "pytest", "check.py"], &[]);
    check(root, &["sh", "-c", "cd . && ./scripts/check.sh; true"], &["scripts/check.sh"]);
    check(root, &["wrapper", "--with=scripts/check.sh"], &["scripts/check.sh"]);
    check(root, &["sh", "-c", "cat report.md"], &[]);
    check(root, &["../outside.sh"], &[]);
    check(root, &["cargo", "test"], &[]);
}

#[test]
fn a_script_is_trusted_by_what_it_contains() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let argv = ["sh".to_owned(), "check.sh".to_owned()];
    fs::write(root.join("check.sh"), "true\n").unwrap();
    assert_eq!(Scripts::Given.objection(root, &argv), None);
    assert_eq!(Scripts::default().objection(root, &argv).as_deref(), Some("`check.sh` is not trusted"));
    let trusted = Scripts::Trusted([("check.sh".to_owned(), content(root, "check.sh").unwrap())].into());
    assert_eq!(trusted.objection(root, &argv), None);
    let changed = Some("`check.sh` changed since it was trusted");
    fs::write(root.join("check.sh"), "true # more\n").unwrap();
    assert_eq!(trusted.objection(root, &argv).as_deref(), changed);
    fs::remove_file(root.join("check.sh")).unwrap();
    assert_eq!(trusted.objection(root, &argv).as_deref(), changed);
}
