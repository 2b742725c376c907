//! The queue is a view: what the log does not back does not count.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{PAIRING, README, World};

/// The answer of one event of a session.
#[track_caller]
pub(super) fn event(world: &World, event: &Value) -> Value {
    let ran = world.run_in(&world.path("repo"), &["eval"], &format!("{event}\n"));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"))
}

pub(super) fn stop(session: &str, second: u32, message: &str) -> Value {
    json!({ "event": "stop.requested", "session": session, "at": format!("2026-01-01T00:00:{second:02}Z"), "message": message })
}

fn fired() -> World {
    let world = World::with("readme", README);
    world.write("jackline.yaml", "jackline: 1\n");
    world.commit("definition");
    world.write("src/a.py", "1\n");
    world
}

#[test]
fn files_are_their_owners_alone_and_ignored_by_git() {
    let world = fired();
    world.check(&[]);
    let mode = |name: &str| std::fs::metadata(world.repo(name)).expect(name).permissions().mode() & 0o777;
    assert_eq!(mode(".jackline/tmp/policy/queue"), 0o700);
    let entry =
        std::fs::read_dir(world.repo(".jackline/tmp/policy/queue")).expect("there").flatten().next().expect("one");
    assert_eq!(entry.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(world.git(&["status", "--porcelain"]), "?? src/");
    let keys = [
        "policy_name",
        "trigger_hash",
        "status",
        "created_at",
        "evaluated_at",
        "baseline_ref",
        "trigger_files",
        "expected_files",
        "matched_files",
        "action_result",
        "content_digest",
    ];
    let entry = world.entry("queued");
    assert!(keys.iter().all(|key| entry.get(key).is_some()), "{entry}");
}

#[test]
fn a_forged_entry_settles_nothing() {
    let world = fired();
    assert_eq!(event(&world, &stop("s1", 0, "Done."))["verdict"], "deny");
    let mut entry = world.entry("queued");
    let hash = entry["trigger_hash"].as_str().expect("a hash").to_owned();
    entry["status"] = json!("passed");
    entry["settled_by"] = json!("promise");
    let dir = world.repo(".jackline/tmp/policy/queue");
    std::fs::remove_file(dir.join(format!("{hash}.queued.json"))).expect("removed");
    std::fs::write(dir.join(format!("{hash}.passed.json")), entry.to_string()).expect("forged");
    for session in ["s1", "s2"] {
        assert_eq!(event(&world, &stop(session, 1, "Done."))["verdict"], "deny", "{session}");
    }
    assert!(world.run(&["policy", "status"]).stdout.contains("queued"));
}

#[test]
fn an_entry_that_says_it_was_satisfied_is_held_against_the_log_too() {
    let world = fired();
    assert_eq!(event(&world, &stop("s1", 0, "Done."))["verdict"], "deny");
    let mut entry = world.entry("queued");
    let hash = entry["trigger_hash"].as_str().expect("a hash").to_owned();
    (entry["status"], entry["settled_by"], entry["action_result"]) = (json!("passed"), json!("satisfied"), json!(null));
    let dir = world.repo(".jackline/tmp/policy/queue");
    std::fs::remove_file(dir.join(format!("{hash}.queued.json"))).expect("removed");
    std::fs::write(dir.join(format!("{hash}.passed.json")), entry.to_string()).expect("forged");
    let status = world.run(&["policy", "status"]).stdout;
    assert!(status.contains("the log does not say so"), "{status}");
}

#[test]
fn what_one_session_settled_stands_in_the_next_for_the_same_content() {
    let world = fired();
    assert_eq!(event(&world, &stop("s1", 0, "Done."))["verdict"], "deny");
    assert_eq!(event(&world, &stop("s1", 1, "<promise>readme</promise>"))["verdict"], "allow");
    assert_eq!(event(&world, &stop("s2", 2, "Done."))["verdict"], "allow", "its log says so");
    world.write("src/a.py", "2\n");
    assert_eq!(event(&world, &stop("s2", 3, "Done."))["verdict"], "deny");
}

#[test]
fn a_promise_in_a_look_by_command_is_no_agents_promise() {
    let world = fired();
    world.check(&[]);
    let file = world.transcript("<promise>readme</promise>", None);
    assert_eq!(super::names(&world.check(&["--transcript", &file])["outstanding"]), [""; 0]);
    assert_eq!(event(&world, &stop("s1", 1, "Done."))["verdict"], "deny");
}

#[test]
fn a_damaged_entry_is_removed_recorded_and_written_anew() {
    let world = fired();
    world.policy("second", "---\ntrigger: src/**\n---\nLook.\n");
    world.check(&[]);
    let hash = world.entry("queued")["trigger_hash"].as_str().expect("a hash").to_owned();
    let file = world.repo(&format!(".jackline/tmp/policy/queue/{hash}.queued.json"));
    let damage: [&dyn Fn(); 3] = [
        &|| std::fs::write(&file, "{\"half").expect("damaged"),
        &|| std::fs::write(&file, " ".repeat(4 * 1024 * 1024 + 1)).expect("damaged"),
        &|| {
            std::fs::remove_file(&file).expect("removed");
            std::fs::create_dir_all(file.join("x")).expect("made");
        },
    ];
    for damage in damage {
        damage();
        let status = world.run(&["policy", "status"]).stdout;
        assert!(status.contains(&format!("damaged: {hash}.queued.json")) && file.exists(), "{status}");
        let seen = world.check(&[]);
        assert_eq!(super::names(&seen["outstanding"]), ["readme", "second"]);
        assert!(seen["faults"][0]["message"].as_str().is_some_and(|text| text.contains("damaged")), "{seen}");
        assert_eq!(world.queued(), ["queued.json", "queued.json"]);
    }
}

#[test]
fn a_damaged_entry_that_fires_no_more_is_removed_too() {
    let world = fired();
    world.check(&[]);
    let place = |name: &str| world.repo(&format!(".jackline/tmp/policy/queue/{name}.json"));
    for name in ["aaaaaaaaaaaa.queued", "bbbbbbbbbbbb.failed", "cccccccccccc.passed"] {
        std::fs::write(place(name), "{").expect("damaged");
    }
    let seen = world.check(&[]);
    let removed: Vec<&str> =
        seen["faults"].as_array().into_iter().flatten().filter_map(|fault| fault["file"].as_str()).collect();
    let want =
        ["aaaaaaaaaaaa.queued", "bbbbbbbbbbbb.failed"].map(|name| format!(".jackline/tmp/policy/queue/{name}.json"));
    assert_eq!(removed, want, "{seen}");
    assert_eq!(world.queued(), ["passed.json", "queued.json"]);
    assert!(!world.read(".jackline/tmp/policy/policy_state.json").contains("aaaaaaaaaaaa"));
    let status = world.run(&["policy", "status"]).stdout;
    assert!(
        status.contains("damaged: cccccccccccc.passed.json (it is recorded and removed when it fires again"),
        "{status}"
    );
    assert!(!status.contains("aaaaaaaaaaaa"), "{status}");
}

#[test]
fn a_queue_that_was_removed_comes_back() {
    let world = fired();
    world.check(&[]);
    std::fs::remove_dir_all(world.repo(".jackline/tmp")).expect("removed");
    world.check(&[]);
    assert_eq!(world.queued(), ["queued.json"]);
    let status = world.run(&["policy", "status"]).stdout;
    assert!(status.contains("queued readme: src/a.py") && !status.contains("does not count"), "{status}");
    let summary: Value = serde_json::from_str(&world.read(".jackline/tmp/policy/policy_state.json")).expect("JSON");
    assert_eq!(summary["entries"]["queued"], 1, "{summary}");
}

#[test]
fn clearing_has_everything_fire_anew() {
    let world = fired();
    event(&world, &stop("s1", 0, "Done."));
    event(&world, &stop("s1", 1, "<promise>readme</promise>"));
    assert_eq!(event(&world, &stop("s1", 2, "Done."))["verdict"], "allow");
    let ran = world.run(&["policy", "clear"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (Some(0), "cleared 1 entry\n"), "{ran:?}");
    assert_eq!(event(&world, &stop("s1", 3, "Done."))["verdict"], "deny");
    assert_eq!(world.run(&["audit", "verify"]).exit, Some(0));
}

#[test]
fn what_fired_and_what_settled_it_is_on_record() {
    let world = fired();
    event(&world, &stop("s1", 0, "Done."));
    let answer = event(&world, &stop("s1", 1, "<promise>readme</promise>"));
    assert!(
        answer["notices"][0].as_str().is_some_and(|text| text.contains("promised") && text.contains("README Accuracy")),
        "{answer}"
    );
    let log = world.run(&["audit", "export", "--session", "s1"]).stdout;
    let kinds: Vec<String> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|record| record["kind"].as_str().map(str::to_owned))
        .filter(|kind| kind.starts_with("policy."))
        .collect();
    assert_eq!(kinds, ["policy.fired", "policy.settled"]);
}

#[test]
fn a_person_may_let_a_single_policy_pass() {
    let world = fired();
    assert_eq!(event(&world, &stop("s1", 0, "Done."))["verdict"], "deny");
    let words = ["allow", "readme", "--for", "10m", "--reason", "a trial", "--yes"];
    let ran = super::trust::at_terminal(&world, &words);
    assert!(ran.contains("exception"), "{ran}");
    let passed = event(&world, &json!({ "event": "stop.requested", "session": "s1", "message": "Done." }));
    assert_eq!(
        (passed["verdict"].as_str(), passed["stopped"].as_str()),
        (Some("allow"), Some("incomplete")),
        "{passed}"
    );
}

#[test]
fn each_finding_says_its_own_and_the_agent_is_told_all_at_once() {
    let world = fired();
    world.policy("pairing", PAIRING);
    let answer = event(&world, &stop("s1", 0, "Done."));
    let told = |finding: &Value| finding["reason"].as_str().unwrap_or_default().to_owned();
    let own: Vec<String> = answer["findings"].as_array().expect("findings").iter().map(told).collect();
    assert_eq!(
        own,
        [
            "## Source/Test Pairing\nsrc/a.py → tests/a_test.py\n\nWrite the test.",
            "## README Accuracy\nVerify README.md."
        ]
    );
    let whole = answer["reason"].as_str().expect("a reason");
    assert!(own.iter().all(|own| whole.matches(own.as_str()).count() == 1), "{whole}");
    let shown = super::sessions::stop(&world, "s2");
    let shown = shown["reason"].as_str().expect("a reason");
    assert!(shown.starts_with(whole) && own.iter().all(|own| shown.matches(own.as_str()).count() == 1), "{shown}");
}
