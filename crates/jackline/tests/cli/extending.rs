//! `jackline session`: at a terminal, without one, and from inside an agent's session.

use serde_json::Value;

use crate::World;

const LIMITED: &str = "jackline: 1
loop: { window: 2, threshold: 2, override_retries: 0, ttl_steps: 1 }
tools: { declare: { work: { kind: other } } }
limits: { steps: 2, tokens: 50, deadline: 1h }
";

fn call(n: u32) -> String {
    format!(
        r#"{{"event":"call.requested","session":"s1","at":"2026-03-01T09:00:0{n}Z","call":{{"tool":"work","args":{{"n":{n}}}}}}}"#
    )
}

#[track_caller]
fn answer(world: &World, event: &str) -> Value {
    let (_, stdout, _) = world.run(&["eval"], event);
    serde_json::from_str(&stdout).expect("an answer")
}

#[track_caller]
fn refused(world: &World, event: &str, code: &str) {
    assert_eq!(answer(world, event).get("code"), Some(&Value::from(code)));
}

#[track_caller]
fn check(world: &World, (arguments, typed): (&[&str], &str), exit: i32, want: (&str, &str)) {
    let (code, stdout, stderr) = world.at_terminal(arguments, typed);
    assert_eq!(stdout, want.0, "standard output of {arguments:?}; standard error was\n{stderr}");
    assert_eq!(stderr, want.1, "standard error of {arguments:?}");
    assert_eq!(code, Some(exit), "exit code of {arguments:?}");
}

/// The records of the session, as they were exported.
fn records(world: &World) -> Vec<Value> {
    let (_, exported, _) = world.run(&["audit", "export"], "");
    exported.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn a_person_grants_more_calls_and_the_log_names_them() {
    let world = World::defined(LIMITED);
    (0..2).for_each(|n| assert_eq!(answer(&world, &call(n))["verdict"], "allow"));
    refused(&world, &call(2), "budget/steps");
    let (code, stdout, stderr) =
        world.at_terminal(&["session", "extend", "--steps", "1", "--for", "9999h", "--reason", "nearly there"], "y\n");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: that cannot be granted\n"), "{stderr}");
    let (code, stdout, stderr) =
        world.at_terminal(&["session", "extend", "--steps", "2", "--reason", "nearly there"], "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("Grant session s1 2 calls more? [y/N] recorded in session s1 #"), "{stdout}");
    assert!(stdout.contains("\n  steps 3 of 5\n"), "{stdout}");
    let records = records(&world);
    let record = records.iter().find(|record| record["kind"] == "session.extended").expect("recorded");
    assert_eq!((&record["actor"], &record["data"]["extension"]["by"]), (&"human".into(), &"dev".into()));
    assert_eq!(record["data"]["extension"]["reason"], "nearly there");
    // The deadline is long over by the clock that the grant was made at.
    refused(&world, &call(3), "budget/deadline");
    let (code, ..) = world.at_terminal(&["session", "extend", "--for", "1h", "--reason", "go on", "--yes"], "");
    assert_eq!(code, Some(0));
    assert_eq!(answer(&world, &call(4))["verdict"], "allow");
    assert_eq!(answer(&world, &call(4))["code"], "budget/steps", "the refused call was a step, too");
    let (code, ..) = world.at_terminal(&["session", "extend", "--steps", "9", "--reason", "go on", "--yes"], "");
    assert_eq!(code, Some(0));
    assert_eq!(answer(&world, &call(5))["verdict"], "allow");
    let (code, stdout, _) = world.run(&["log", "s1"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("session.extended 2 calls; nearly there (dev)"), "{stdout}");
    assert_eq!(world.run(&["audit", "verify"], "").0, Some(0));
}

#[test]
fn a_grant_gives_as_much_as_it_says() {
    let world = World::defined("jackline: 1\nloop: false\nlimits: { steps: 2 }\n");
    (0..2).for_each(|n| assert_eq!(answer(&world, &call(n))["verdict"], "allow"));
    (2..8).for_each(|n| refused(&world, &call(n), "budget/steps"));
    let (code, stdout, _) = world.at_terminal(&["session", "extend", "--steps", "3", "--reason", "r", "--yes"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("\n  steps 8 of 11\n"), "{stdout}");
    (0..3).for_each(|n| assert_eq!(answer(&world, &call(n))["verdict"], "allow"));
    refused(&world, &call(3), "budget/steps");
}

#[test]
fn what_could_be_granted_is_named() {
    let world = World::defined(LIMITED);
    let (code, _, stderr) = world.run(&["session", "extend", "--reason", "r"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--for") && stderr.contains("--tokens"), "{stderr}");
    let (code, _, stderr) = world.run(&["allow", "loop", "--reason", "r"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--once") && stderr.contains("--for"), "{stderr}");
    answer(&world, &call(1));
    let (code, _, stderr) = world.at_terminal(&["session", "snapshot", "", "--yes"], "");
    assert_eq!((code, stderr.as_str()), (Some(2), "error: a snapshot's name has between 1 and 256 bytes\n"));
}

#[test]
fn what_is_not_limited_is_not_extended() {
    let world = World::defined(LIMITED);
    answer(&world, &call(1));
    check(
        &world,
        (&["session", "extend", "--cost", "5", "--reason", "more"], "y\n"),
        2,
        (
            "",
            "error: no definition in force has a limit on `cost`
  help: `jackline status` shows the budgets of a session
",
        ),
    );
}

#[test]
fn a_halt_is_lifted_by_resume() {
    let world = World::defined(LIMITED);
    let again = call(1);
    answer(&world, &again);
    refused(&world, &again, "loop/override");
    check(
        &world,
        (&["session", "resume"], ""),
        2,
        ("", "error: no agent of session `s1` is halted\n  help: `jackline status` shows what holds\n"),
    );
    let halting = World::defined(&LIMITED.replace("steps: 2", "steps: 99"));
    answer(&halting, &again);
    refused(&halting, &again, "loop/override");
    refused(&halting, &again, "loop/persisted");
    refused(&halting, &call(2), "run/halted");
    let (code, stdout, stderr) = halting.at_terminal(&["session", "resume"], "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("Let main of session s1 go on? [y/N] recorded in session s1 #"), "{stdout}");
    // By now the clock has gone on, and the deadline with it.
    refused(&halting, &call(3), "budget/deadline");
    let lapsed = records(&halting).into_iter().find(|record| record["kind"] == "constraint.lapsed").expect("noted");
    assert_eq!((&lapsed["before"]["type"], &lapsed["data"]["by"]), (&"HALT".into(), &"resume".into()));
}

#[test]
fn snapshot_restore_and_reset_are_a_persons() {
    let world = World::played();
    let (code, stdout, _) = world.at_terminal(&["session", "snapshot", "before"], "y\n");
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("Keep what guards remember of session s1 as `before`? [y/N] recorded"), "{stdout}");
    assert_eq!(world.at_terminal(&["session", "restore", "before", "--session", "s1", "--yes"], "").0, Some(0));
    assert_eq!(world.at_terminal(&["session", "reset", "--yes"], "").0, Some(0));
    check(
        &world,
        (&["session", "restore", "after"], "y\n"),
        2,
        ("", "error: there is no snapshot `after` in this session\n  help: there are `before`\n"),
    );
    check(
        &world,
        (&["session", "reset", "--session", "nobody"], "y\n"),
        2,
        ("", "error: there is no session `nobody`\n  help: `jackline sessions --all` lists them\n"),
    );
    let acts = records(&world).into_iter().filter(|record| {
        record["kind"]
            .as_str()
            .is_some_and(|kind| ["session.snapshot", "session.restore", "session.reset"].contains(&kind))
    });
    let actors: Vec<Value> = acts.map(|record| record["actor"].clone()).collect();
    assert_eq!(actors, ["human", "human", "human"]);
}

#[test]
fn an_agent_does_none_of_it() {
    let world = World::defined(LIMITED);
    answer(&world, &call(1));
    for arguments in [
        &["session", "reset", "--yes"][..],
        &["session", "resume", "--yes"],
        &["session", "snapshot", "x", "--yes"],
        &["session", "extend", "--steps", "9", "--reason", "x", "--yes"],
    ] {
        let (code, stdout, stderr) = world.run(arguments, "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
        let told = stderr.contains("no terminal is attached") || stderr.contains("is halted");
        assert!(told, "{arguments:?}: {stderr}");
    }
    for event in [
        r#"{"event":"session.resumed","session":"s1"}"#,
        r#"{"event":"session.extended","session":"s1","extension":{"steps":9,"reason":"r","by":"dev"}}"#,
    ] {
        refused(&world, event, "event/invalid");
    }
    let shell = r#"{"event":"call.requested","session":"s2","call":{"tool":"Bash","args":{"command":"jackline session extend --steps 9 --reason x --yes"}}}"#;
    refused(&world, shell, "self/operator-command");
}

#[test]
fn a_spent_budget_is_explained_by_its_line() {
    let world = World::defined("jackline: 1\nloop: false\nlimits:\n  tokens: 9\n  steps: 1\n");
    answer(&world, &call(1));
    refused(&world, &call(2), "budget/steps");
    let (code, stdout, _) = world.run(&["explain", "last"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("guard budget, jackline.yaml line 5\n"), "{stdout}");
    assert_eq!(stdout.to_lowercase().matches("report what is left").count(), 1, "advice is given once: {stdout}");
    let (_, stdout, _) = world.run(&["status"], "");
    assert!(stdout.contains("steps 2 of 1, used up (project)"), "{stdout}");
}
