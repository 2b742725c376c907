//! A store that cannot be used: the answer is a typed refusal, the program ends well, nothing that was told is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Eval, SESSION, Told, World, count, requested, shown, tree, verdict};

fn look(number: u64) -> Value {
    requested(&format!("c{number}"), "look", json!({ "number": number }))
}

/// Asks once; the answer must be the refusal, and the program must go on and end well.
#[track_caller]
fn check_refused(world: &World) {
    let mut eval = world.eval();
    for number in 0..2 {
        let answer = eval.ask(&look(number));
        assert_eq!(verdict(&answer), "deny fault/store");
        assert!(answer["seq"].is_null() && answer["hash"].is_null(), "{answer}");
        let reason = answer["reason"].as_str().unwrap();
        assert!(reason.starts_with("Jackline could not decide: ") && reason.contains("jackline doctor"), "{reason}");
    }
    assert_eq!(eval.end(), Some(0));
}

#[test]
fn a_file_where_the_store_should_be() {
    let world = World::new("jackline: 1\n");
    fs::write(world.store(), "in the way").unwrap();
    check_refused(&world);
    assert_eq!(fs::read_to_string(world.store()).unwrap(), "in the way");
    fs::remove_file(world.store()).unwrap();
    fs::create_dir(world.store()).unwrap();
    fs::write(world.store().join("sessions"), "in the way").unwrap();
    check_refused(&world);
}

#[test]
fn a_link_planted_where_the_session_is_kept() {
    let world = World::new("jackline: 1\n");
    world.eval().ask(&look(0));
    let (own, elsewhere) = (world.session_dir(), world.top().join("elsewhere"));
    fs::rename(&own, &elsewhere).unwrap();
    symlink(&elsewhere, &own).unwrap();
    let before = fs::read(elsewhere.join("audit.jsonl")).unwrap();
    check_refused(&world);
    assert_eq!(fs::read(elsewhere.join("audit.jsonl")).unwrap(), before, "it was written through the link");
}

#[test]
fn links_planted_where_its_files_are() {
    for name in ["audit.jsonl", "state"] {
        let world = World::new("jackline: 1\n");
        world.eval().ask(&look(0));
        let (file, elsewhere) = (world.session_dir().join(name), world.top().join("elsewhere"));
        fs::rename(&file, &elsewhere).unwrap();
        symlink(&elsewhere, &file).unwrap();
        let before = fs::read(&elsewhere).unwrap();
        check_refused(&world);
        assert_eq!(fs::read(&elsewhere).unwrap(), before, "{name} was written through the link");
    }
}

#[test]
fn a_dangling_link_creates_nothing_elsewhere() {
    let world = World::new("jackline: 1\n");
    fs::create_dir(world.store()).unwrap();
    symlink(world.top().join("elsewhere"), world.store().join("sessions")).unwrap();
    check_refused(&world);
    assert!(!world.top().join("elsewhere").exists());
}

/// Fills a store until it refuses; gives what was told before.
fn fill(eval: &mut Eval) -> Vec<Told> {
    let mut told = Vec::new();
    for number in 0..10_000 {
        let answer = eval.ask(&look(number));
        match Told::of(&answer) {
            Some(kept) => told.push(kept),
            None => {
                assert_eq!(verdict(&answer), "deny fault/store");
                return told;
            }
        }
    }
    panic!("the disk never became full");
}

#[test]
fn a_log_that_may_not_grow_refuses_and_loses_nothing() {
    let world = World::new("jackline: 1\n");
    // 1 KiB blocks. The kernel would end a program that does not ignore the signal, instead of failing its write.
    let limited = format!("ulimit -f 64; exec {} \"$@\"", env!("CARGO_BIN_EXE_jackline"));
    let mut command = Command::new("bash");
    command.args(["-c", &limited, "jackline", "eval", "--definition"]).arg(world.definition());
    command.arg("--store").arg(world.store()).current_dir(world.root()).env("HOME", world.home());
    let mut eval = Eval::start(&mut command);
    let mut told = fill(&mut eval);
    assert!(told.len() > 10, "only {} were told", told.len());
    assert_eq!(eval.verdict(&look(20_000)), "deny fault/store", "it stays full");
    assert_eq!(eval.end(), Some(0));
    world.holds(SESSION, &told);
    // With room again the session goes on where it was.
    told.push(Told::of(&world.eval().ask(&look(30_000))).unwrap());
    let records = world.holds(SESSION, &told);
    assert_eq!(count(&records, "decision"), told.len(), "a refused event left a decision behind");
}

/// Runs inside a mount namespace: a store on a disk of half a mebibyte, filled, looked at and verified there.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=512k jackline-test "$STORE" || exit 77
for n in $(seq 1 2000); do
  echo '{"event":"call.requested","session":"s1","call":{"id":"c'$n'","tool":"look","args":{"n":'$n'}}}'
done | "$JACKLINE" eval --definition "$DEFINITION" --store "$STORE" > "$TOP/answers" || exit 3
"$JACKLINE" audit verify --store "$STORE" --session s1 > "$TOP/verified" || exit 4
"$JACKLINE" audit export --store "$STORE" --session s1 > "$TOP/exported" || exit 5
"#;

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let world = World::new("jackline: 1\n");
    fs::create_dir(world.store()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", FULL_DISK]).current_dir(world.root());
    command.env("STORE", world.store()).env("TOP", world.top()).env("DEFINITION", world.definition());
    command.env("JACKLINE", env!("CARGO_BIN_EXE_jackline")).env("HOME", world.home()).stdin(Stdio::null());
    let output = match command.output() {
        Ok(output) if output.status.code() != Some(77) && !no_namespace(&output.stderr) => output,
        // Containers often forbid it; the test of a log that may not grow stands in.
        _ => return println!("no mount namespace here: not tested"),
    };
    assert!(output.status.success(), "{}", shown(&output));
    let answers = fs::read_to_string(world.top().join("answers")).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2_000, "every event is answered");
    let told: Vec<Told> = answers.iter().filter_map(Told::of).collect();
    assert!(told.len() > 50 && told.len() < 2_000, "{} were told", told.len());
    let refused = answers.iter().filter(|answer| Told::of(answer).is_none());
    refused.for_each(|answer| assert_eq!(verdict(answer), "deny fault/store"));
    let exported = fs::read_to_string(world.top().join("exported")).unwrap();
    for told in &told {
        assert!(exported.contains(&format!("\"hash\":\"{}\"", told.hash)), "decision {} was lost", told.seq);
    }
}

fn no_namespace(stderr: &[u8]) -> bool {
    let said = String::from_utf8_lossy(stderr);
    said.contains("unshare: ") || said.contains("Operation not permitted")
}

#[test]
fn without_a_home_it_says_what_is_missing() {
    let world = World::new("jackline: 1\n");
    let definition = world.definition();
    let mut command = world.jackline(&["eval", "--definition", definition.to_str().unwrap()]);
    let output = command.env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no place for the state") && said.contains("HOME"), "{said}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn nothing_is_kept_where_nothing_was_asked_for() {
    let world = World::new("jackline: 1\n");
    let before = tree(&world.top());
    let mut command = world.jackline(&["eval", "--store", "none", "--definition"]);
    let mut eval = Eval::start(command.arg(world.definition()));
    assert_eq!(eval.verdict(&look(0)), "allow");
    assert_eq!(eval.end(), Some(0));
    assert_eq!(tree(&world.top()), before);
}
