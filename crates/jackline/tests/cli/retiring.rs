//! `jackline store gc`: what goes, what stays, who may, and what everything says afterwards.

use std::fs;

use serde_json::Value;

use crate::World;

/// A session of one call, at a day of the past, that ends unless it is told to do something else.
fn session(id: &str, day: &str, end: &str) -> String {
    let at = |second: u32| format!(r#""session":"{id}","at":"2026-03-{day}T09:00:0{second}Z","host":"claude""#);
    let call = r#""call":{"id":"c1","tool":"Bash","args":{"command":"git push"}}"#;
    format!(
        "{{\"event\":\"session.started\",{}}}\n{{\"event\":\"call.requested\",{},{call}}}\n{{\"event\":\"{end}\",{}}}\n",
        at(0),
        at(1),
        at(2)
    )
}

/// Three old sessions that ended.
fn old() -> World {
    let world = World::defined(crate::DEFINITION);
    for (id, day) in [("first", "01"), ("second", "02"), ("third", "03")] {
        let (code, ..) = world.run(&["eval"], &session(id, day, "session.ended"));
        assert_eq!(code, Some(0));
    }
    world
}

#[track_caller]
fn json(world: &World, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = world.at_terminal(arguments, "");
    assert_eq!(code, Some(0), "{stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

fn sessions(world: &World) -> Vec<String> {
    let (_, stdout, _) = world.run(&["sessions", "--all", "--format", "json"], "");
    let listed: Value = serde_json::from_str(&stdout).expect("JSON");
    let ids = listed.get("sessions").and_then(Value::as_array).expect("a list").iter();
    ids.map(|one| one["session"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn a_dry_run_shows_what_would_go_and_changes_nothing() {
    let world = old();
    let before = sessions(&world);
    let (code, stdout, stderr) = world.run(&["store", "gc", "--dry-run"], "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let rows: Vec<&str> = stdout.lines().collect();
    assert!(
        rows[0].starts_with("retire   second  6 records, ") && rows[0].ends_with(", last written 2026-03-02  TOP/ws"),
        "{stdout}"
    );
    assert!(rows[1].starts_with("retire   first  6 records, "), "{stdout}");
    assert_eq!(rows[2], "kept: 1 the latest of a workspace");
    assert!(rows[3].starts_with("would retire 2 sessions, "), "{stdout}");
    let value = json(&world, &["store", "gc", "--dry-run", "--format", "json", "--keep", "0"]);
    assert_eq!(fates(&value), [("first", "retired"), ("second", "retired"), ("third", "retired")]);
    assert_eq!(value["dry_run"], true);
    let bytes: u64 = value["sessions"].as_array().expect("a list").iter().filter_map(|one| one["bytes"].as_u64()).sum();
    assert_eq!(value["bytes"], bytes);
    assert_eq!(sessions(&world), before);
    let recent = json(&world, &["store", "gc", "--dry-run", "--format", "json", "--older-than", "9999d"]);
    assert!(fates(&recent).iter().all(|(_, why)| *why == "recent"));
}

#[test]
fn only_a_person_retires() {
    let world = old();
    let (code, stdout, stderr) = world.run(&["store", "gc", "--yes"], "");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: this is for people, and no terminal is attached\n"), "{stderr}");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    command.args(["store", "gc", "--yes"]).current_dir(world.path("ws")).env_clear();
    command.env("HOME", world.path("home")).env("CLAUDECODE", "1");
    let (code, _, stderr) = world.spawn_at_terminal(command, "");
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: this is for people, and an agent's session is around"), "{stderr}");
    let (code, _, stderr) = world.at_terminal(&["store", "gc"], "n\n");
    assert_eq!((code, stderr.as_str()), (Some(2), "error: nothing was changed\n"));
    let (code, _, stderr) = world.at_terminal(&["store", "gc", "--format", "json"], "y\n");
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: with `--format json` nothing can be asked\n"), "{stderr}");
    assert_eq!(sessions(&world).len(), 3);
    let asked = r#"{"event":"call.requested","session":"agent","call":{"id":"c1","tool":"Bash","args":{"command":"jackline store gc --yes"}}}"#;
    let (_, answer, _) = world.run(&["eval"], asked);
    assert!(answer.contains("self/operator-command"), "{answer}");
}

#[test]
fn whole_sessions_go_and_everyone_says_so() {
    let world = old();
    let (code, stdout, stderr) = world.at_terminal(&["store", "gc"], "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("Retire 2 sessions, ") && stdout.contains(" for good? [y/N] "), "{stdout}");
    assert!(stdout.contains("\nretired 2 sessions, "), "{stdout}");
    assert_eq!(sessions(&world), ["store-retired", "third"]);
    assert_eq!(fs::read_dir(world.path("home/.local/state/jackline/sessions")).expect("there").count(), 2);
    for command in [
        &["log", "first"][..],
        &["explain", "first"],
        &["audit", "show", "first"],
        &["audit", "verify", "--session", "first"],
    ] {
        let (code, _, stderr) = world.run(command, "");
        assert_eq!(code, Some(2), "{command:?}");
        assert!(stderr.starts_with("error: session `first` was retired on 20"), "{command:?}: {stderr}");
        assert!(stderr.ends_with(" by dev\n  help: its records were not archived\n"), "{command:?}: {stderr}");
    }
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.ends_with("2 chains verified\n"), "{stdout}");
    let (code, stdout, _) = world.run(&["log", "store-retired"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("session.retired records 1 to 6 of session first (dev)"), "{stdout}");
    // Nothing is left to do, and that is fine without a person.
    let (code, stdout, _) = world.run(&["store", "gc"], "");
    assert_eq!((code, stdout.lines().last()), (Some(0), Some("nothing was retired")));
    // The id may be used again.
    assert_eq!(world.run(&["eval"], &session("first", "09", "session.ended")).0, Some(0));
    assert_eq!(world.run(&["audit", "verify"], "").0, Some(0));
    assert_eq!(world.run(&["log", "first"], "").0, Some(0));
}

#[test]
fn a_head_of_a_retired_session_is_retired_not_forged_and_not_fine() {
    let world = old();
    let head = |seq: usize| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["audit", "export", "--session", "first"]).current_dir(world.path("ws")).env_clear();
        let output = command.env("HOME", world.path("home")).output().expect("ran");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let record: Value = serde_json::from_str(text.lines().nth(seq - 1).expect("there")).expect("JSON");
        format!("first:{seq}:{}", record["hash"].as_str().expect("a hash"))
    };
    let (second, last) = (head(2), head(6));
    assert_eq!(world.at_terminal(&["store", "gc", "--yes"], "").0, Some(0));
    for (known, words) in [
        (&second, "record 2 is retired, nothing is left to show its hash"),
        (&last, "record 6 is retired, its hash is the one that is known"),
    ] {
        let (code, stdout, _) = world.run(&["audit", "verify", "--head", known], "");
        assert_eq!(code, Some(0), "the store's own checkpoint stands behind it: {stdout}");
        assert!(stdout.contains(words), "{stdout}");
    }
    let forged = format!("first:6:{}", "0".repeat(64));
    let (code, stdout, _) = world.run(&["audit", "verify", "--head", &forged], "");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("it is retired, and its hash is not the one known from elsewhere"), "{stdout}");
    let beyond = format!("first:7:{}", "0".repeat(64));
    assert_eq!(world.run(&["audit", "verify", "--head", &beyond], "").0, Some(1));
    // Without a head behind the record that tells of it, it is retired, and not fine.
    fs::remove_dir_all(world.path("home/.local/state/jackline/checkpoints")).expect("removed");
    let (code, stdout, _) = world.run(&["audit", "verify", "--head", &second], "");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("is retired") && stdout.contains("no known head stands behind that"), "{stdout}");
    assert!(!stdout.contains("broken"), "{stdout}");
}

#[test]
fn an_archive_verifies_and_takes_the_checkpoints_too() {
    let world = old();
    let (code, stdout, stderr) =
        world.at_terminal(&["store", "gc", "--yes", "--archive", "../archive", "--format", "json"], "");
    assert_eq!(code, Some(0), "{stderr}");
    let value: Value = serde_json::from_str(&stdout).expect("JSON");
    let gone: Vec<&Value> =
        value["sessions"].as_array().expect("a list").iter().filter(|one| one["fate"] == "retired").collect();
    assert_eq!(gone.len(), 2);
    let mut files: Vec<_> =
        fs::read_dir(world.path("archive")).expect("there").map(|entry| entry.expect("there").path()).collect();
    files.sort();
    assert_eq!(files.len(), 4, "{files:?}");
    let (heads, records): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.display().to_string().ends_with(".checkpoints.jsonl"));
    for (file, signed) in records.iter().zip(&heads) {
        let (file, signed) = (file.display().to_string(), signed.display().to_string());
        let (code, stdout, stderr) = world.run(&["audit", "verify", &file, "--checkpoint", &signed], "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        assert!(stdout.ends_with("6 records, head #6 HASH\n1 chain verified\n"), "{stdout}");
    }
    let (_, _, stderr) = world.run(&["log", "first"], "");
    assert!(stderr.contains("  help: its records were moved to `TOP/archive/HASH.jsonl`"), "{stderr}");
    let inside = world.path("home/.local/state/jackline/sessions/x").display().to_string();
    let (code, _, stderr) = world.at_terminal(&["store", "gc", "--yes", "--keep", "0", "--archive", &inside], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("lies in the store itself"), "{stderr}");
}

#[test]
fn what_somebody_waits_for_stays() {
    let world = World::defined("jackline: 1\ncompletion: { files: [report.md] }\n");
    let at = r#""at":"2026-03-01T09:00:00Z""#;
    let ended = |id: &str| format!(r#"{{"event":"session.ended","session":"{id}",{at}}}"#);
    let todo = format!(
        r#"{{"event":"todo.create","session":"todo",{at},"todo":{{"content":"x","checks":[{{"file_exists":"a"}}]}}}}"#
    );
    let parked = format!(
        "{{\"event\":\"park\",\"session\":\"parked\",{at},\"reason\":\"no access\"}}\n{{\"event\":\"stop.requested\",\"session\":\"parked\",{at}}}"
    );
    world.run(&["eval"], &session("open", "01", "prompt.submitted"));
    world.run(&["eval"], &session("done", "01", "session.ended"));
    world.run(&["eval"], &format!("{todo}\n{}\n", ended("todo")));
    world.run(&["eval"], &format!("{parked}\n{}\n", ended("parked")));
    let gc = ["store", "gc", "--dry-run", "--keep", "0", "--format", "json"];
    assert_eq!(
        fates(&json(&world, &gc)),
        [("done", "retired"), ("open", "open"), ("parked", "parked"), ("todo", "todos")]
    );
    // Once it was left behind for long, it is not open any more; while an exception is in force, all of them stay.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 60 * 60);
    for session in fs::read_dir(world.path("home/.local/state/jackline/sessions")).expect("there") {
        let log = session.expect("there").path().join("audit.jsonl");
        fs::File::options().append(true).open(log).expect("there").set_modified(long_ago).expect("set");
    }
    assert_eq!(fates(&json(&world, &gc))[1], ("open", "retired"));
    let (code, _, stderr) = world.at_terminal(&["off", "--for", "1h", "--reason", "x", "--yes"], "");
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(fates(&json(&world, &gc))[1], ("open", "excepted"));
}

/// Every session with what becomes of it, or why it stays.
fn fates(value: &Value) -> Vec<(&str, &str)> {
    let all = value["sessions"].as_array().expect("a list").iter();
    let mut fates: Vec<(&str, &str)> = all
        .map(|one| {
            (one["session"].as_str().expect("an id"), one["why"].as_str().or(one["fate"].as_str()).expect("a word"))
        })
        .collect();
    fates.sort_unstable();
    fates
}

#[test]
fn a_session_whose_head_somebody_holds_stays() {
    let world = old();
    let signed = |session: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["audit", "checkpoint", "--session", session]).current_dir(world.path("ws")).env_clear();
        command.env("HOME", world.path("home")).output().expect("ran").stdout
    };
    fs::write(world.path("held.jsonl"), signed("second")).expect("written");
    let gc = ["store", "gc", "--dry-run", "--keep", "0", "--format", "json", "--checkpoint", "../held.jsonl"];
    assert_eq!(fates(&json(&world, &gc)), [("first", "retired"), ("second", "signed"), ("third", "retired")]);
    fs::write(world.path("held.jsonl"), "{}\n").expect("written");
    let (code, _, stderr) = world.run(&gc, "");
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("error: `../held.jsonl` cannot be read: checkpoint is not an object of"), "{stderr}");
    let (code, _, stderr) = world.run(&["store", "gc", "--older-than", "soon"], "");
    assert_eq!(
        (code, stderr.as_str()),
        (Some(2), "error: `soon` is no duration\n  help: write it as in `30d`, `12h` or `90m`\n")
    );
}

#[test]
fn a_broken_chain_is_evidence_and_stays() {
    let world = old();
    let log = world.stored("audit.jsonl");
    let text = fs::read_to_string(&log).expect("readable");
    fs::write(&log, text.replacen("git push", "git pull", 1)).expect("written");
    let (code, stdout, stderr) = world.at_terminal(&["store", "gc", "--yes", "--keep", "0"], "");
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("\nbroken   ") || stdout.starts_with("broken   "), "{stdout}");
    assert!(stderr.starts_with("error: a session does not verify, and was left alone\n"), "{stderr}");
    assert!(log.exists());
}

/// A log of some eighteen mebibytes, all of it old, in a session that has one call left of its budget.
fn long() -> World {
    let world = World::defined("jackline: 1\nloop: false\nstore: { sync: os }\nlimits: { steps: 1151 }\n");
    let text = "lorem ipsum ".repeat(300);
    world.run(&["eval"], "{\"event\":\"session.started\",\"session\":\"long\",\"at\":\"2026-03-01T09:00:00Z\"}\n");
    for portion in 0..23 {
        let call = |n: u32| {
            format!(
                r#"{{"event":"call.requested","session":"long","at":"2026-03-01T10:00:00Z","call":{{"id":"c{n}","tool":"Note","args":{{"n":{n},"a":"{text}","b":"{text}","c":"{text}","d":"{text}"}}}}}}"#
            )
        };
        let events: Vec<String> = (portion * 50..(portion + 1) * 50).map(call).collect();
        assert_eq!(world.run(&["eval"], &events.join("\n")).0, Some(0));
    }
    world
}

/// The head of a record of the log.
fn head(world: &World, seq: usize) -> String {
    let text = fs::read_to_string(world.stored("audit.jsonl")).expect("readable");
    let record: Value = serde_json::from_str(text.lines().nth(seq - 1).expect("there")).expect("JSON");
    format!("long:{seq}:{}", record.get("hash").and_then(Value::as_str).expect("a hash"))
}

#[test]
fn the_beginning_of_a_long_log_goes_and_its_state_stays() {
    let world = long();
    let before = fs::metadata(world.stored("audit.jsonl")).expect("there").len();
    let (early, late) = (head(&world, 3), head(&world, 2_000));
    let gc = ["store", "gc", "--yes", "--archive", "../archive", "--format", "json"];
    let value = json(&world, &gc);
    let one = &value["sessions"][0];
    let last = one["retired"]["last"].as_u64().expect("a number");
    assert_eq!((&one["fate"], &one["retired"]["first"]), (&"shortened".into(), &1.into()));
    let after = fs::metadata(world.stored("audit.jsonl")).expect("there").len();
    assert!(after >= 16 << 20 && after < before && before - after > 100_000, "{before} to {after}");
    check_heads(&world, (&early, &late), last);
    check_readers(&world, last);
    check_archive(&world, (&early, &late));

    // Without its state file: it goes on where it was, with one call left.
    fs::remove_file(world.stored("state")).expect("removed");
    let verdict = |id: &str| {
        let next = format!(
            r#"{{"event":"call.requested","session":"long","call":{{"id":"{id}","tool":"Note","args":{{}}}}}}"#
        );
        let answer: Value = serde_json::from_str(&world.run(&["eval"], &next).1).expect("JSON");
        (answer["verdict"].clone(), answer["code"].clone())
    };
    assert_eq!(verdict("last"), ("allow".into(), Value::Null));
    assert_eq!(verdict("one more"), ("deny".into(), "budget/steps".into()));
    // What was carried over is part of the proof.
    let carried = world.stored(&format!("carried-{last}"));
    let text = fs::read_to_string(&carried).expect("readable");
    fs::write(&carried, text.replacen("\"steps\":", "\"steps\": ", 1)).expect("written");
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("the state that was carried over its retired beginning was changed"), "{stdout}");
    fs::remove_file(world.stored("state")).expect("removed");
    assert_eq!(verdict("forged"), ("deny".into(), "fault/store".into()));
}

/// What `verify` says of heads from before and after.
#[track_caller]
fn check_heads(world: &World, (early, late): (&str, &str), last: u64) {
    let (code, stdout, _) = world.run(&["audit", "verify"], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains(&format!("\n  records 1 to {last} were retired on 20")), "{stdout}");
    let (code, stdout, _) = world.run(&["audit", "verify", "--head", early, "--head", late], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(
        stdout.contains("\n  record 3 of a known head is retired: what is left cannot show its hash\n"),
        "{stdout}"
    );
    // A head from before, and none from after: told, and not fine.
    fs::remove_dir_all(world.path("home/.local/state/jackline/checkpoints")).expect("removed");
    for known in [early, late] {
        let (code, stdout, _) = world.run(&["audit", "verify", "--head", known], "");
        assert_eq!(code, Some(1), "{stdout}");
        assert!(stdout.contains("no known head stands behind that") && !stdout.contains("broken"), "{stdout}");
    }
}

/// Everyone who reads the log says what is missing.
#[track_caller]
fn check_readers(world: &World, last: u64) {
    let row = format!("-- records 1 to {last} were retired; `jackline audit verify` tells when --\n");
    let (_, stdout, _) = world.run(&["log", "long", "-n", "0"], "");
    assert!(stdout.starts_with(&row), "{}", stdout.lines().next().unwrap_or_default());
    assert!(stdout.contains(&format!("records.retired records 1 to {last}, to ")), "the record itself is shown");
    for command in [&["explain", "long", "3"][..], &["audit", "show", "long", "3"]] {
        let (code, _, stderr) = world.run(command, "");
        assert_eq!(code, Some(2));
        assert!(stderr.starts_with(&format!("error: record 3 was retired, with all up to {last}\n")), "{stderr}");
    }
    let (_, _, stderr) = world.run(&["audit", "export", "--session", "long"], "");
    assert!(stderr.starts_with(&format!("note: long: records 1 to {last} were retired")), "{stderr}");
    for (command, want) in [
        (&["sessions"][..], format!(" records, {last} of them retired")),
        (&["sessions"], "2026-03-01 09:00:00".to_owned()),
        (&["status"], format!("since record {last}, up to which all were retired")),
        (&["session", "show", "long"], format!("records 1 to {last} were retired")),
    ] {
        let (_, stdout, _) = world.run(command, "");
        assert!(stdout.contains(&want), "{command:?}: {stdout}");
    }
}

/// The archive verifies alone, and with what is left behind it as a whole.
#[track_caller]
fn check_archive(world: &World, (early, late): (&str, &str)) {
    let archive = fs::read_dir(world.path("archive")).expect("there").next().expect("one").expect("there").path();
    assert_eq!(world.run(&["audit", "verify", &archive.display().to_string(), "--head", early], "").0, Some(0));
    let log = fs::read(world.stored("audit.jsonl")).expect("readable");
    fs::write(world.path("whole.jsonl"), [fs::read(&archive).expect("readable"), log].concat()).expect("written");
    let whole = world.path("whole.jsonl").display().to_string();
    let (code, stdout, _) = world.run(&["audit", "verify", &whole, "--head", early, "--head", late], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(!stdout.contains("retired"), "{stdout}");
}
