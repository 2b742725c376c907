//! What settles a firing, and for what: only a promise or a command that passed, for exactly these files, this content
//! and this policy's text. All else is looked at anew.

use std::fs;

use serde_json::{Value, json};

use super::queue::{event, stop};
use super::trust::at_terminal;
use super::{PAIRING, README, World, names};

/// A workspace with a definition and policies, all committed.
fn world(policies: &[(&str, &str)]) -> World {
    let world = World::new();
    world.write("jackline.yaml", "jackline: 1\n");
    policies.iter().for_each(|(name, text)| world.policy(name, text));
    world.commit("Policies");
    world
}

/// What a stop of this session comes to.
#[track_caller]
fn verdict(world: &World, second: u32, message: &str) -> String {
    event(world, &stop("s1", second, message))["verdict"].as_str().unwrap_or_default().to_owned()
}

const RULE: &str = "---\nname: Rule\ntrigger: src/**\n---\nLook.\n";

#[test]
fn what_was_superseded_is_open_again_when_it_fires_again() {
    let world = world(&[("rule", RULE)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    world.write("src/b.py", "1\n");
    assert_eq!(verdict(&world, 1, "Done."), "deny");
    fs::remove_file(world.repo("src/b.py")).expect("removed");
    assert_eq!(verdict(&world, 2, "Done."), "deny", "nothing was done or promised");
}

#[test]
fn what_was_about_nothing_for_a_while_is_open_again() {
    let world = world(&[("rule", RULE)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    fs::rename(world.repo("src"), world.path("aside")).expect("moved");
    assert_eq!(verdict(&world, 1, "Done."), "allow");
    fs::rename(world.path("aside"), world.repo("src")).expect("moved back");
    assert_eq!(verdict(&world, 2, "Done."), "deny");
}

#[test]
fn what_was_satisfied_is_asked_for_again_once_it_is_not() {
    let world = world(&[("pairing", PAIRING), ("readme", README)]);
    world.write("src/a.py", "1\n");
    assert_eq!(world.outstanding(), ["pairing", "readme"]);
    world.write("tests/a_test.py", "1\n");
    world.write("README.md", "# more\n");
    assert_eq!(world.outstanding(), [""; 0]);
    fs::remove_file(world.repo("tests/a_test.py")).expect("removed");
    world.write("README.md", "# r\n");
    assert_eq!(world.outstanding(), ["pairing", "readme"]);
    assert_eq!(world.queued(), ["queued.json", "queued.json", "skipped.json"], "what was met once was of other files");
}

#[test]
fn what_was_met_later_has_passed_and_stays_so() {
    let pair = "---\npair: {trigger: 'src/{path}.py', expects: 'docs/{path}.md'}\n---\nBoth.\n";
    let world = world(&[("both", pair), ("readme", README)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    assert_eq!(world.queued(), ["queued.json", "queued.json"]);
    world.write("docs/a.md", "1\n");
    world.write("README.md", "# more\n");
    for second in 1..4 {
        assert_eq!(verdict(&world, second, "Done."), "allow");
        assert_eq!(world.queued(), ["passed.json", "passed.json"], "at stop {second}");
    }
    // What was met when it was first seen was never asked for.
    world.write("src/b.py", "1\n");
    world.write("docs/b.md", "1\n");
    assert_eq!(verdict(&world, 4, "Done."), "allow");
    assert_eq!(world.queued(), ["passed.json", "passed.json", "skipped.json", "skipped.json"]);
}

#[test]
fn a_promise_is_about_the_files_that_were_asked_for() {
    let pair = "---\npair: {trigger: 'src/{path}.py', expects: ['tests/{path}.py', 'docs/{path}.md']}\n---\nBoth.\n";
    let world = world(&[("both", pair)]);
    world.write("src/a.py", "1\n");
    world.write("docs/a.md", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    assert_eq!(verdict(&world, 1, "<promise>both</promise>"), "allow", "no test is needed");
    fs::remove_file(world.repo("docs/a.md")).expect("removed");
    assert_eq!(verdict(&world, 2, "Done."), "deny", "the page was not spoken of");
}

#[test]
fn a_promise_is_about_the_content_that_fired() {
    let world = world(&[("rule", RULE)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    world.write("src/a.py", "2\n");
    assert_eq!(verdict(&world, 1, "<promise>rule</promise>"), "deny", "this content never fired before");
    assert_eq!(verdict(&world, 2, "<promise>rule</promise>"), "allow");
}

#[test]
fn a_promise_stands_when_only_what_is_compared_to_moves_on() {
    for compare_to in ["base", "default_tip"] {
        let world = world(&[("rule", &RULE.replace("trigger", &format!("compare_to: {compare_to}\ntrigger")))]);
        let remote = world.path("remote.git").display().to_string();
        world.git(&["clone", "-q", "--bare", ".", &remote]);
        world.git(&["remote", "add", "origin", &remote]);
        world.git(&["fetch", "-q", "origin"]);
        world.git(&["checkout", "-q", "-b", "work"]);
        world.write("src/a.py", "1\n");
        world.commit("work");
        assert_eq!(verdict(&world, 0, "Done."), "deny");
        assert_eq!(verdict(&world, 1, "<promise>rule</promise>"), "allow");
        world.git(&["checkout", "-q", "main"]);
        world.write("docs/more.md", "1\n");
        world.commit("elsewhere");
        world.git(&["push", "-q", "origin", "main"]);
        world.git(&["checkout", "-q", "work"]);
        world.git(&["rebase", "-q", "main"]);
        assert_eq!(verdict(&world, 2, "Done."), "allow", "{compare_to}: the same files with the same content");
        world.write("src/a.py", "2\n");
        assert_eq!(verdict(&world, 3, "Done."), "deny", "{compare_to}");
        world.write("src/a.py", "1\n");
        assert_eq!(verdict(&world, 4, "Done."), "deny", "{compare_to}: it changed since it was settled");
    }
}

#[test]
fn a_promise_is_about_the_policy_as_it_was() {
    let world = world(&[("rule", RULE)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    assert_eq!(verdict(&world, 1, "<promise>rule</promise>"), "allow");
    world.policy("rule", "---\npair: {trigger: 'src/{path}.py', expects: 'tests/{path}.py'}\n---\nTest it.\n");
    assert_eq!(verdict(&world, 2, "Done."), "deny");
}

#[test]
fn a_command_that_becomes_another_is_not_settled_by_the_former() {
    let command = |words: &str| format!("---\ntrigger: src/**\naction: {{command: '{words} {{file}}'}}\n---\n");
    let world = world(&[("run", &command("true"))]);
    world.write("src/a.py", "1\n");
    at_terminal(&world, &["trust", "--yes"]);
    assert_eq!(world.check(&[])["settled"][0]["settled_by"], "command");
    world.policy("run", &command("false"));
    let seen = world.check(&[]);
    let text = seen["text"].as_str().expect("a text");
    assert!(text.contains("it was skipped: `.jackline/policies/run.md` changed since it was trusted"), "{text}");
    at_terminal(&world, &["trust", "--yes"]);
    let seen = world.check(&[]);
    assert_eq!(seen["outstanding"][0]["action_result"]["exit_code"], json!(1), "{seen}");
}

/// What a command of this policy comes to once its only file is deleted.
fn after_deletion(action: &str) -> Value {
    let world = world(&[("run", &format!("---\ntrigger: src/**\naction: {{{action}}}\n---\n"))]);
    world.write("src/a.py", "1\n");
    world.commit("source");
    fs::remove_file(world.repo("src/a.py")).expect("removed");
    world.check(&["--trust"])
}

#[test]
fn a_command_runs_for_a_deletion_too() {
    for action in ["command: 'false'", "command: 'false', run_for: all_matches"] {
        let seen = after_deletion(action);
        assert_eq!(seen["outstanding"][0]["action_result"]["exit_code"], json!(1), "{seen}");
    }
    assert_eq!(after_deletion("command: 'true'")["settled"][0]["settled_by"], "command");
}

#[test]
fn a_command_about_files_that_are_all_deleted_is_skipped_aloud() {
    for action in ["command: 'false {file}'", "command: 'false {files}', run_for: all_matches"] {
        let seen = after_deletion(action);
        let settled = &seen["settled"][0];
        assert_eq!((settled["status"].as_str(), settled["settled_by"].as_str()), (Some("skipped"), Some("deleted")));
        let result = &settled["action_result"];
        assert_eq!(result["exit_code"], json!(null), "it did not run");
        assert_eq!(result["output"], "it was not run: its files are deleted, or links");
    }
}

#[test]
fn a_command_passes_only_for_the_files_it_ran_on() {
    let lint = "---\ntrigger: src/**\naction: {command: 'sh lint.sh {file}'}\n---\n";
    let make = "---\ntrigger: src/a.py\naction: {command: 'sh make.sh'}\n---\n";
    let world = world(&[("a-lint", lint), ("b-make", make)]);
    world.write("lint.sh", "echo \"$1\" >> linted.log\n! grep -q BAD \"$1\"\n");
    world.write("make.sh", "mkdir -p src\necho BAD > src/made.py\n");
    world.write(".gitignore", "linted.log\n");
    world.commit("scripts");
    world.write("src/a.py", "1\n");
    let seen = world.check(&["--trust"]);
    assert_eq!(names(&seen["outstanding"]), ["a-lint"], "{seen}");
    assert!(world.read("linted.log").contains("src/made.py"), "it ran on what the other made");
    assert_eq!(names(&world.check(&["--trust"])["outstanding"]), ["a-lint"]);
}

#[test]
fn what_a_look_by_command_ran_settles_nothing_for_an_agent() {
    let world = world(&[("lint", "---\ntrigger: src/**\naction: {command: 'mylint {file}'}\n---\n")]);
    world.write("src/a.py", "1\n");
    at_terminal(&world, &["trust", "--yes"]);
    assert_eq!(verdict(&world, 0, "Done."), "deny", "there is no such program");
    let fake = world.path("fake/mylint");
    fs::create_dir_all(world.path("fake")).expect("made");
    fs::write(&fake, "#!/bin/sh\nexit 0\n").expect("written");
    fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("made a program");
    let mut look = std::process::Command::new(env!("CARGO_BIN_EXE_jackline"));
    look.args(["policy", "check"]).current_dir(world.path("repo")).env_clear().env("HOME", world.path("home"));
    look.env("PATH", format!("{}:/usr/bin:/bin", world.path("fake").display()));
    let output = look.output().expect("ran");
    assert!(output.status.success(), "it settles its own look: {output:?}");
    assert_eq!(verdict(&world, 1, "Done."), "deny", "and nobody else's");
    assert_eq!(event(&world, &stop("s2", 2, "Done."))["verdict"], "deny");
}

#[test]
fn taking_a_policy_away_is_no_answer_to_it() {
    let world = world(&[("rule", RULE)]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    fs::rename(world.repo(".jackline/policies"), world.path("aside")).expect("moved");
    let answer = event(&world, &stop("s1", 1, "Done."));
    assert_eq!(answer["verdict"], "deny", "{answer}");
    let told = |key: &str| answer[key].to_string();
    assert!(told("reason").contains("its file `.jackline/policies/rule.md` went or became unreadable"), "{answer}");
    assert!(told("notices").contains("it is gone, and what it asked for is still outstanding"), "{answer}");
    fs::rename(world.path("aside"), world.repo(".jackline/policies")).expect("moved back");
    world.policy("rule", "---\ntrigger: 'src/{'\n---\nBroken.\n");
    assert_eq!(verdict(&world, 2, "Done."), "deny", "nor is breaking it");
    world.policy("rule", RULE);
    assert_eq!(verdict(&world, 3, "<promise>rule</promise>"), "allow");
}

#[test]
fn policies_of_two_folders_with_one_file_name_are_two() {
    let world = world(&[("rule", RULE)]);
    let settings = world.path("home/.config/jackline");
    fs::create_dir_all(&settings).expect("made");
    fs::write(settings.join("jackline.yaml"), "jackline: 1\nfile_policies: {dir: team}\n").expect("written");
    world.write("team/rule.md", "---\nname: Team rule\ntrigger: src/**\n---\nAsk the team.\n");
    world.commit("of the team");
    world.write("src/a.py", "1\n");
    let answer = event(&world, &stop("s1", 0, "Done."));
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("## Rule\nLook.") && reason.contains("## Team rule\nAsk the team."), "{answer}");
    let answer = event(&world, &stop("s1", 1, "<promise>Team rule</promise>"));
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("## Rule") && !reason.contains("## Team rule"), "{answer}");
    assert_eq!(world.queued(), ["queued.json"], "each folder has its own queue");
    assert_eq!(verdict(&world, 2, "And <promise>Rule</promise>"), "allow");
    assert_eq!(verdict(&world, 3, "Done."), "allow", "both stay settled");
    let status = world.run(&["policy", "status"]).stdout;
    assert_eq!(status.lines().count(), 2, "{status}");
    assert!(!status.contains("does not count"), "{status}");
}

#[test]
fn a_name_with_a_tick_can_be_promised_as_it_is_told() {
    let world = world(&[("rule", &RULE.replace("name: Rule", "name: ✓ Checks"))]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    assert_eq!(verdict(&world, 1, "<promise>✓ Checks</promise>"), "allow");
}

#[test]
fn a_file_that_git_is_told_to_ignore_stays_asked_for() {
    for (name, policy) in [
        ("set", PAIRING.to_owned()),
        ("trigger", README.to_owned()),
        ("created", "---\nname: New\ncreated: src/**\n---\nLook.\n".to_owned()),
        ("prompt", README.replace("---\nVerify", "compare_to: prompt\n---\nVerify")),
    ] {
        let world = world(&[(name, &policy)]);
        world.write("src/a.py", "1\n");
        assert_eq!(verdict(&world, 0, "Done."), "deny", "{name}");
        world.write("src/.gitignore", "*\n");
        assert_eq!(verdict(&world, 1, "Done."), "deny", "{name}");
        fs::remove_dir_all(world.repo("src")).expect("removed");
        assert_eq!(verdict(&world, 2, "Done."), "allow", "{name}: it is no more");
    }
}

#[test]
fn a_policy_that_is_gone_can_be_promised_and_forgotten() {
    let world = world(&[("rule", RULE), ("other", "---\nname: Other\ntrigger: src/**\n---\nLook.\n")]);
    world.write("src/a.py", "1\n");
    assert_eq!(verdict(&world, 0, "Done."), "deny");
    fs::remove_dir_all(world.repo(".jackline/policies")).expect("removed");
    let answer = event(&world, &stop("s1", 1, "<promise>Rule</promise>"));
    assert!(answer["reason"].as_str().is_some_and(|text| text.contains("## Other") && !text.contains("## Rule")));
    fs::create_dir_all(world.repo(".jackline/policies")).expect("made");
    let ran = world.run(&["policy", "clear", "--yes"]);
    assert!(ran.exit == Some(2) && ran.stderr.contains("no terminal is attached"), "{ran:?}");
    assert_eq!(at_terminal(&world, &["policy", "clear", "--yes"]), "cleared 2 entries\n");
    assert_eq!(verdict(&world, 2, "Done."), "allow");
}
