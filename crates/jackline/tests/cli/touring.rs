//! `tour`: the first minute on the real binary, in places with and without what it would like to find.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::World;

/// What the agent is denied, in this order.
const DENIALS: &[(&str, &str)] = &[
    ("$ git commit -qm 'First version'", "sequence/missing"),
    ("$ git commit -qm 'First version'", "sequence/missing"),
    ("Write greeting.txt", "read-before-write/unread"),
    ("Write .env.local", "paths/protected"),
    ("$ echo MODE=debug >> .env", "paths/protected"),
    ("Edit jackline.yaml", "self/protected"),
    ("$ echo '{}' > .claude/settings.json", "self/protected"),
    ("$ jackline off --for 30m", "self/operator-command"),
];

/// The tour with the search path of the test, so that git is found if it is there.
fn tour(world: &World, options: &[&str]) -> Command {
    fs::create_dir_all(world.path("tmp")).expect("made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.arg("tour").args(options).current_dir(world.path("ws")).env_clear();
    command.env("HOME", world.path("home")).env("TMPDIR", world.path("tmp"));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// A search path with the shell and nothing else on it.
fn only_a_shell(world: &World) -> PathBuf {
    fs::create_dir_all(world.path("bin")).expect("made");
    std::os::unix::fs::symlink("/bin/sh", world.path("bin/sh")).expect("linked");
    world.path("bin")
}

fn names(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).expect("readable").map(|entry| entry.expect("readable").path()).collect()
}

#[track_caller]
fn nothing_is_left(world: &World) {
    for dir in ["tmp", "home", "ws"] {
        assert_eq!(names(&world.path(dir)), Vec::<PathBuf>::new(), "something was left in {dir}");
    }
}

#[track_caller]
fn goes_as_scripted(world: &World, command: Command) -> String {
    let (code, stdout, stderr) = world.spawn(command, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let denied: Vec<(&str, &str)> = stdout.lines().filter_map(|line| line.split_once("✗ deny")).collect();
    let denied: Vec<(&str, &str)> = denied.into_iter().map(|(what, code)| (what.trim(), code.trim())).collect();
    assert_eq!(denied, DENIALS);
    assert!(stdout.contains("✗ it does not hold\n      broken at record 6 of session tour (line 6): "), "{stdout}");
    stdout
}

#[test]
fn the_tour_goes_as_scripted_and_leaves_nothing() {
    let world = World::empty();
    let stdout = goes_as_scripted(&world, tour(&world, &["--fast"]));
    nothing_is_left(&world);
    assert!(stdout.lines().count() <= 70, "{} lines are more than are read", stdout.lines().count());
    assert!(stdout.lines().all(|line| line.chars().count() <= 100), "{stdout}");
    assert!(!stdout.contains("TOP") && !stdout.contains('\x1b'), "{stdout}");
}

#[test]
fn neither_a_home_nor_git_is_needed() {
    let world = World::empty();
    let mut command = tour(&world, &[]);
    command.env_remove("HOME").env("PATH", only_a_shell(&world));
    let stdout = goes_as_scripted(&world, command);
    assert!(stdout.contains("Git does not work here"), "{stdout}");
    assert!(stdout.contains("✓ allow  it failed: "), "{stdout}");
    nothing_is_left(&world);
}

#[test]
fn the_users_environment_does_not_reach_it() {
    let world = World::defined("polices: []\n");
    world.write("home/.config/jackline/jackline.yaml", "no definition");
    world.write("home/.gitconfig", "[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgSign = true\n");
    let mut command = tour(&world, &[]);
    command.env("JACKLINE_HOME", world.path("state")).env("JACKLINE_DEFINITION", world.path("ws/jackline.yaml"));
    command.env("CLAUDECODE", "1").env("CLAUDE_PROJECT_DIR", world.path("ws")).env("GIT_DIR", world.path("ws"));
    goes_as_scripted(&world, command);
    assert!(!world.path("state").exists());
    assert_eq!(names(&world.path("ws")), [world.path("ws/jackline.yaml")]);
    assert_eq!(names(&world.path("tmp")), Vec::<PathBuf>::new());
}

#[test]
fn what_is_kept_can_be_looked_at() {
    let world = World::empty();
    let stdout = goes_as_scripted(&world, tour(&world, &["--keep"]));
    let [dir] = <[PathBuf; 1]>::try_from(names(&world.path("tmp"))).expect("one scratch directory");
    let shown = dir.display().to_string().replace(&world.path("").display().to_string(), "TOP/");
    assert!(stdout.contains(&format!("The scratch directory stays: {shown}\n")), "{stdout}");
    assert_eq!(fs::metadata(&dir).expect("there").permissions().mode() & 0o777, 0o700);
    let read = |name: &str| fs::read_to_string(dir.join("repository").join(name)).expect("there");
    assert_eq!(read("greeting.txt"), "Hello, Ada!\n", "what was allowed was done");
    assert_eq!(read(".env"), "MODE=production\n", "what was denied was not");
    assert!(read(".claude/settings.local.json").contains("\"hook\""));
    let store = dir.join("store").display().to_string();
    let (code, stdout, _) = world.run(&["audit", "verify", "--store", &store], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.ends_with("1 chain verified\n"), "{stdout}");
}

#[test]
fn its_definition_is_fine() {
    let world = World::defined(include_str!("../../src/tour/definition.yaml"));
    world.check(&["check"], 0, "jackline.yaml: fine\n", "");
}

#[test]
fn a_surprise_is_a_fault_and_cleared_away() {
    let world = World::empty();
    world.write("bin/git", "#!/bin/sh\ncase $1 in commit) echo broken >&2; exit 1 ;; esac\n");
    fs::set_permissions(world.path("bin/git"), fs::Permissions::from_mode(0o755)).expect("set");
    let mut command = tour(&world, &[]);
    command.env("PATH", only_a_shell(&world));
    let (code, stdout, stderr) = world.spawn(command, "");
    assert_eq!(code, Some(3), "{stdout}");
    assert_eq!(stderr, "error: `$ git commit -qm 'First version'` was allowed and did not work\n");
    assert!(stdout.ends_with("it failed: broken\n"), "{stdout}");
    nothing_is_left(&world);
    let mut command = tour(&world, &["--keep"]);
    command.env("PATH", world.path("bin"));
    let (code, _, stderr) = world.spawn(command, "");
    assert_eq!((code, names(&world.path("tmp")).len()), (Some(3), 1), "{stderr}");
    assert!(stderr.contains("\n  help: the scratch directory stays: TOP/tmp/jackline-tour-"), "{stderr}");
}

#[test]
fn without_a_place_for_it_there_is_no_tour() {
    let world = World::empty();
    let mut command = tour(&world, &[]);
    command.env("TMPDIR", world.path("nowhere"));
    let (code, stdout, stderr) = world.spawn(command, "");
    assert_eq!((code, stdout.as_str()), (Some(3), ""));
    assert!(stderr.starts_with("error: no scratch directory can be made in `TOP/nowhere`: "), "{stderr}");
    assert!(stderr.ends_with("\n  help: set TMPDIR to a directory that can be written\n"), "{stderr}");
}

#[test]
fn a_tour_that_is_broken_off_is_cleared_away() {
    let world = World::empty();
    let mut child = tour(&world, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut String::new()).expect("read");
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("sent");
    output.read_to_string(&mut String::new()).expect("read");
    let ended = child.wait_with_output().expect("ended");
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "error: the tour was broken off\n");
    nothing_is_left(&world);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let world = World::empty();
    let mut child = tour(&world, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("ended");
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), [].as_slice()));
    nothing_is_left(&world);
}

/// The README shows a part of the tour: every line of it is printed, in this order.
#[test]
fn the_readme_shows_what_is_printed() {
    let readme = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("there");
    let after = readme.split_once("-- tour").expect("the command").1;
    let excerpt = after.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an excerpt");
    let world = World::empty();
    let stdout = goes_as_scripted(&world, tour(&world, &[]));
    let mut printed = stdout.lines();
    for line in excerpt.lines().filter(|line| !line.is_empty()) {
        assert!(printed.any(|there| unhashed(there) == unhashed(line)), "not printed there: {line}\n{stdout}");
    }
    assert!(excerpt.lines().count() > 10, "the excerpt is short");
}

/// A line without the digits of shortened hashes.
fn unhashed(line: &str) -> String {
    let parts = line.split('…').map(|part| part.trim_end_matches(|c: char| c.is_ascii_hexdigit()));
    if line.contains('…') { parts.collect::<Vec<_>>().join("…") } else { line.to_owned() }
}
