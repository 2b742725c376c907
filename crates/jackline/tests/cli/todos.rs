//! `jackline todo`, `fact` and `session show`: at a terminal, without one, and what a record says of who acted.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use serde_json::{Value, json};

use crate::World;

const DEFINED: &str = "jackline: 1
loop: false
todos: { require: [ { content: 'the report is there', checks: [ { file_exists: report.md } ] } ] }
";

fn event(value: &Value) -> String {
    let mut value = value.clone();
    value["session"] = json!("s1");
    value["host"] = json!("claude");
    value["at"] = value.get("at").cloned().unwrap_or_else(|| json!("2026-03-01T09:00:00Z"));
    format!("{value}\n")
}

#[track_caller]
fn answer(world: &World, value: &Value) -> Value {
    let (_, stdout, _) = world.run(&["eval"], &event(value));
    serde_json::from_str(&stdout).expect("an answer")
}

#[track_caller]
fn id(answer: &Value) -> String {
    answer["result"]["id"].as_str().unwrap_or_else(|| panic!("no id in {answer}")).to_owned()
}

/// A todo without checks that was claimed with a file as its evidence.
fn claimed(world: &World) -> String {
    world.write("ws/a.txt", "x");
    let id = id(&answer(world, &json!({ "event": "todo.create", "todo": { "content": "look around" } })));
    answer(world, &json!({ "event": "todo.start", "todo": { "id": id } }));
    let claim = json!({ "id": id, "explanation": "I looked around, everywhere", "evidence": [{ "file": "a.txt" }] });
    assert_eq!(answer(world, &json!({ "event": "todo.claim", "todo": claim }))["verdict"], "allow");
    id
}

fn records(world: &World, kind: &str) -> Vec<Value> {
    let (_, exported, _) = world.run(&["audit", "export"], "");
    let all = exported.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    all.filter(|record| record["kind"] == kind).collect()
}

#[test]
fn a_person_approves_with_a_reason_and_the_log_names_a_human() {
    let world = World::defined(DEFINED);
    let id = claimed(&world);
    let (code, stdout, stderr) = world.at_terminal(&["todo", "approve", &id, "--reason", "I looked"], "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("Take as done: look around (claimed)? [y/N] "), "{stdout}");
    assert!(stdout.contains(&format!("todo {id} is verified; recorded in session s1 #")), "{stdout}");
    let record = records(&world, "todo.verified").pop().expect("recorded");
    assert_eq!((&record["actor"], &record["data"]["reason"]), (&json!("human"), &json!("I looked")));
    assert_eq!((&record["before"]["status"], &record["after"]["status"]), (&json!("claimed"), &json!("verified")));
    assert_eq!(record["target"], format!("todo:{id}"));
    let (code, _, stderr) = world.at_terminal(&["todo", "reject", &id, "--reason", "no", "--yes"], "");
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("error: A todo that is verified cannot be rejected"), "{stderr}");
    let refused = records(&world, "todo.refused").pop().expect("recorded");
    assert_eq!(refused["actor"], "human");
    assert_eq!(world.run(&["audit", "verify"], "").0, Some(0));
}

#[test]
fn a_person_sends_back_or_does_without() {
    let world = World::defined(DEFINED);
    let id = claimed(&world);
    let end = id.get(24..).expect("long enough");
    let (code, stdout, _) = world.at_terminal(&["todo", "reject", end, "--reason", "look again", "--yes"], "");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("is in_progress"), "{stdout}");
    let arguments = ["todo", "waive", &id, "--reason", "not needed", "--yes", "--format", "json"];
    let (code, stdout, _) = world.at_terminal(&arguments, "");
    assert_eq!(code, Some(0));
    let told: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&told["id"], &told["status"], &told["session"]), (&json!(id), &json!("waived"), &json!("s1")));
    let (_, stdout, _) = world.run(&["todo", "show", &id], "");
    for line in ["waived", "because   not needed (dev)", "todo.rejected by human  look again", "todo.created by agent"]
    {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    let (code, _, stderr) = world.at_terminal(&["todo", "waive", &id, "--reason", " ", "--yes"], "");
    assert_eq!((code, stderr.lines().next()), (Some(2), Some("error: the reason is empty")));
}

#[test]
fn they_are_a_persons_acts() {
    let world = World::defined(DEFINED);
    let id = claimed(&world);
    for command in ["approve", "reject", "waive"] {
        let (code, stdout, stderr) = world.run(&["todo", command, &id, "--reason", "r", "--yes"], "");
        assert_eq!((code, stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains("no terminal is attached"), "{stderr}");
    }
    let (code, _, stderr) = world.run(&["todo", "add", "x", "--yes"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no terminal is attached"), "{stderr}");
    let command = json!({ "command": format!("jackline todo approve {id} --reason r --yes") });
    let call = json!({ "event": "call.requested", "call": { "id": "c1", "tool": "Bash", "args": command } });
    assert_eq!(answer(&world, &call)["code"], "self/operator-command");
    for allowed in ["jackline todo list", "jackline todo show x", "jackline fact list"] {
        let call = json!({ "event": "call.requested", "call": { "tool": "Bash", "args": { "command": allowed } } });
        assert_eq!(answer(&world, &call)["verdict"], "allow", "{allowed}");
    }
    assert_eq!(answer(&world, &json!({ "event": "todo.list" }))["result"]["todos"][1]["status"], "claimed");
}

#[test]
fn a_person_adds_a_todo_whose_checks_are_theirs() {
    let world = World::defined(DEFINED);
    claimed(&world);
    let check = r#"{"command_exit_zero": ["/bin/sh", "-c", "test -f a.txt"]}"#;
    let (code, stdout, stderr) = world.at_terminal(&["todo", "add", "a is there", "--check", check], "y\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    let (_, listed, _) = world.run(&["todo", "list", "--format", "json"], "");
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let todo = &listed["todos"][2];
    assert_eq!((&todo["author"], &todo["status"]), (&json!("human"), &json!("pending")));
    let id = todo["id"].as_str().expect("an id");
    answer(&world, &json!({ "event": "todo.start", "todo": { "id": id } }));
    let claim = json!({ "id": id, "explanation": "it was there all the time, look" });
    answer(&world, &json!({ "event": "todo.claim", "todo": claim }));
    assert_eq!(
        answer(&world, &json!({ "event": "todo.verify", "todo": { "id": id } }))["result"]["status"],
        "verified"
    );
    assert_eq!(records(&world, "todo.verified").pop().expect("recorded")["actor"], "runtime");
    let (code, _, stderr) = world.at_terminal(&["todo", "add", "x", "--check", "{", "--yes"], "");
    assert_eq!(code, Some(2), "{stderr}");
    let (code, _, stderr) = world.at_terminal(&["todo", "add", "x", "--check", r#"{"looks": 1}"#, "--yes"], "");
    assert_eq!(code, Some(1));
    assert!(stderr.contains("there is no check type `looks`"), "{stderr}");
}

#[test]
fn what_is_meant_must_be_one_todo() {
    let world = World::defined(DEFINED);
    let (code, _, stderr) = world.run(&["todo", "list"], "");
    assert_eq!(code, Some(2), "{stderr}");
    claimed(&world);
    let (code, _, stderr) = world.run(&["todo", "show", "nothing"], "");
    assert_eq!((code, stderr.lines().next()), (Some(2), Some("error: there is no todo `nothing`")));
    let (code, _, stderr) = world.run(&["todo", "show", "019ca8a0"], "");
    assert_eq!((code, stderr.lines().next()), (Some(2), Some("error: `019ca8a0` may be any of 2 todos")));
    let (code, stdout, _) = world.run(&["todo", "list"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("[ ] ") && stdout.ends_with("\n2 todos, 2 open\n"), "{stdout}");
    assert!(stdout.contains("the report is there (owner)"), "{stdout}");
}

#[test]
fn an_untrusted_definitions_commands_are_skipped_aloud() {
    let world = World::defined(
        "jackline: 1\ntodos: { require: [ { content: x, checks: [ { command_exit_zero: [/bin/sh, -c, 'touch ran'] } ] } ] }\n",
    );
    let listed = answer(&world, &json!({ "event": "todo.list" }));
    let id = listed["result"]["todos"][0]["id"].as_str().expect("an id").to_owned();
    answer(&world, &json!({ "event": "todo.start", "todo": { "id": id } }));
    answer(
        &world,
        &json!({ "event": "todo.claim", "todo": { "id": id, "explanation": "I did all that was asked of me" } }),
    );
    let verified = answer(&world, &json!({ "event": "todo.verify", "todo": { "id": id } }));
    assert_eq!(verified["code"], "todo/checks");
    assert!(verified["reason"].as_str().expect("one").contains("jackline trust"), "{verified}");
    assert!(!world.path("ws/ran").exists(), "it ran");
}

#[test]
fn a_session_on_one_page() {
    let world = World::defined(DEFINED);
    let prompt = json!({ "event": "prompt.submitted", "prompt": "write <b>the</b> report @dev" });
    answer(&world, &prompt);
    let call = json!({ "id": "c1", "tool": "Read", "args": { "file_path": "a.txt" } });
    answer(&world, &json!({ "event": "call.requested", "call": call }));
    answer(&world, &json!({ "event": "call.finished", "call": call, "ok": true }));
    let fact = json!({ "event": "fact.record", "fact": { "text": "the port is 8080", "sources": ["c1"] } });
    assert_eq!(answer(&world, &fact)["verdict"], "allow");
    let id = claimed(&world);
    world.at_terminal(&["todo", "approve", &id, "--reason", "I looked", "--yes"], "");
    answer(
        &world,
        &json!({ "event": "call.requested", "call": { "tool": "Write", "args": { "file_path": "jackline.yaml" } } }),
    );
    answer(&world, &json!({ "event": "stop.requested", "message": "done" }));
    let (code, page, stderr) = world.run(&["session", "show", "--format", "markdown"], "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for part in [
        "# Session s1\n",
        "- outcome: complete\n",
        "## Asked\n\n- write &lt;b&gt;the&lt;/b&gt; report &#64;dev\n",
        "- 2 calls: 1 succeeded, 0 failed, 1 refused\n",
        "## Proven\n\n- approved by dev (I looked): look around\n",
        "  - evidence: a.txt \\(sha256 HASH\\)\n",
        "## Left open\n\n- pending: the report is there\n  - not evaluated: file\\_exists report.md\n",
        "- the port is 8080 (from c1)\n",
        "- self/protected: ",
        " records, head HASH\n",
    ] {
        assert!(page.contains(part), "{part:?} is not in\n{page}");
    }
    let (_, page, _) = world.run(&["session", "show", "s1", "--format", "json"], "");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    assert_eq!((&page["stopped"]["how"], &page["calls"]["refused"]), (&json!("complete"), &json!(1)));
    assert_eq!(page["todos"][1]["verified_by"]["actor"], "human");
    let (_, page, _) = world.run(&["session", "show"], "");
    assert!(page.contains("\nProven\n- approved by dev (I looked): look around\n"), "{page}");
    let (code, stdout, _) = world.run(&["fact", "list"], "");
    assert_eq!(code, Some(0));
    assert!(stdout.contains("the port is 8080\n    from c1\n"), "{stdout}");
}

#[test]
fn the_timeline_shows_what_was_asked_and_what_became_of_it() {
    let world = World::defined(DEFINED);
    claimed(&world);
    let (code, stdout, _) = world.run(&["log"], "");
    assert_eq!(code, Some(0));
    for part in [
        "todo.create look around\n",
        "-- todo.created by runtime: the report is there --",
        "-- todo.created by agent: look around --",
        "-- todo.claimed by agent: look around --",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

#[test]
fn what_a_person_sends_back_comes_with_its_reason_and_not_with_the_same_evidence() {
    let world = World::defined(&format!("{DEFINED}completion: {{ todos: verified }}\n"));
    let id = claimed(&world);
    let (code, ..) = world.at_terminal(&["todo", "reject", &id, "--reason", "redo section 2", "--yes"], "");
    assert_eq!(code, Some(0));
    let listed = answer(&world, &json!({ "event": "todo.list" }));
    assert_eq!(listed["result"]["todos"][1]["rejected_by"]["reason"], "redo section 2");
    let stop = answer(&world, &json!({ "event": "stop.requested" }));
    let reason = stop["reason"].as_str().expect("blocked");
    assert!(reason.contains("look around (in_progress, sent back: redo section 2)"), "{reason}");
    let claim = json!({ "id": id, "explanation": "I looked around, everywhere", "evidence": [{ "file": "a.txt" }] });
    let again = answer(&world, &json!({ "event": "todo.claim", "todo": claim }));
    assert_eq!(again["reason"], "File `a.txt` is as it was when the claim was sent back.");
    world.write("ws/a.txt", "y");
    assert_eq!(answer(&world, &json!({ "event": "todo.claim", "todo": claim }))["verdict"], "allow");
    let (_, page, _) = world.run(&["session", "show"], "");
    assert!(page.contains("  - the agent says: I looked around, everywhere\n"), "{page}");
    assert!(page.contains("  - sent back by dev (redo section 2)\n"), "{page}");
}

#[test]
fn why_it_parked_and_what_completion_saw_is_on_the_page() {
    let world = World::defined("jackline: 1\nloop: false\ncompletion: { files: [report.md] }\n");
    answer(&world, &json!({ "event": "stop.requested", "message": "<park>no deploy key</park>" }));
    for (arguments, want) in [
        (&["session", "show"][..], "- outcome: parked: no deploy key\n"),
        (&["session", "show", "--format", "markdown"], "- outcome: parked: no deploy key\n"),
        (&["session", "show", "--format", "json"], "\"parked\":\"no deploy key\""),
        (&["sessions"], "parked: no deploy key"),
        (&["sessions", "--format", "json"], "\"parked\":\"no deploy key\""),
        (&["status"], "stopped: parked (no deploy key)"),
    ] {
        let (_, stdout, _) = world.run(arguments, "");
        assert!(stdout.contains(want), "{arguments:?}: {stdout}");
    }
    answer(&world, &json!({ "event": "prompt.submitted" }));
    answer(&world, &json!({ "event": "stop.requested", "message": "Done." }));
    let (_, page, _) = world.run(&["session", "show"], "");
    assert!(page.contains("Proven\n- nothing was proven\n"), "{page}");
    assert!(page.contains("Left open\n- 1 required output file(s) not found: report.md\n"), "{page}");
    world.write("ws/report.md", "x");
    answer(&world, &json!({ "event": "stop.requested", "message": "Done." }));
    let (_, page, _) = world.run(&["session", "show"], "");
    assert!(page.contains("Proven\n- all that `completion` demands held (record "), "{page}");
    assert!(page.contains("\n- file report.md: it is there\n"), "{page}");
    assert!(page.contains("Left open\n- nothing is open\n"), "{page}");
}
