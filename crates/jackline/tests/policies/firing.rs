//! What fires, and what the text says of it.

use serde_json::json;

use super::{PAIRING, README, World, names};

#[test]
fn a_missing_counterpart_is_one_arrow() {
    let world = World::with("source-tests", PAIRING);
    world.write("src/a.py", "1\n");
    let seen = world.check(&[]);
    let open = &seen["outstanding"][0];
    assert_eq!((open["policy"].as_str(), open["name"].as_str()), (Some("source-tests"), Some("Source/Test Pairing")));
    assert_eq!(open["trigger_files"], json!(["src/a.py"]));
    assert_eq!(open["expected_files"], json!(["tests/a_test.py"]));
    assert_eq!(open["pairs"], json!([{ "from": "src/a.py", "to": "tests/a_test.py" }]));
    assert_eq!(open["baseline_ref"], json!(world.git(&["rev-parse", "HEAD"])));
    let text = seen["text"].as_str().expect("a text");
    assert!(text.starts_with(
        "The following policies require attention:\n\n## Source/Test Pairing\nsrc/a.py → tests/a_test.py\n"
    ));
    world.write("tests/a_test.py", "1\n");
    let seen = world.check(&[]);
    assert_eq!((names(&seen["outstanding"]).len(), seen["settled"][0]["settled_by"].as_str()), (0, Some("satisfied")));
    assert!(world.queued().contains(&"passed.json".to_owned()), "{:?}", world.queued());
}

#[test]
fn two_sources_are_two_arrows_and_no_cross_product() {
    let world = World::with("source-tests", PAIRING);
    world.write("src/a.py", "1\n");
    world.write("src/b.py", "1\n");
    let seen = world.check(&[]);
    assert_eq!(seen["text"].as_str().map(|text| text.matches('→').count()), Some(2), "{seen}");
}

#[test]
fn a_test_alone_asks_for_its_source_and_an_expected_file_alone_for_nothing() {
    let world = World::with("source-tests", PAIRING);
    world.policy("api", "---\npair: {trigger: 'api/{path}.py', expects: 'docs/{path}.md'}\n---\nDocument it.\n");
    world.commit("another");
    world.write("tests/a_test.py", "1\n");
    world.write("docs/x.md", "1\n");
    let seen = world.check(&[]);
    assert_eq!(names(&seen["outstanding"]), ["source-tests"]);
    assert_eq!(seen["outstanding"][0]["expected_files"], json!(["src/a.py"]));
}

#[test]
fn safety_is_written_down_as_skipped() {
    let world = World::with("readme", README);
    world.write("src/a.py", "1\n");
    world.write("README.md", "# other\n");
    let seen = world.check(&[]);
    assert_eq!(
        (names(&seen["settled"]), seen["settled"][0]["settled_by"].as_str()),
        (vec!["readme".to_owned()], Some("safety"))
    );
    let entry = world.entry("skipped");
    assert_eq!((entry["policy_name"].as_str(), entry["matched_files"].clone()), (Some("readme"), json!(["README.md"])));
}

#[test]
fn a_prompt_policy_stays_outstanding_until_it_is_settled() {
    let world = World::with("readme", README);
    world.write("src/a.py", "1\n");
    for _ in 0..3 {
        assert_eq!(world.outstanding(), ["readme"]);
    }
    assert_eq!(world.queued(), ["queued.json"]);
    // The change is taken back: nothing is wanted any more.
    std::fs::remove_file(world.repo("src/a.py")).expect("removed");
    assert_eq!(world.outstanding(), [""; 0]);
    assert_eq!(world.entry("skipped")["settled_by"], "irrelevant");
}

#[test]
fn names_with_any_letter_and_deletions_count() {
    let world = World::with("docs", "---\ntrigger: docs/**\n---\nLook at {trigger_files}.\n");
    world.write("docs/old.md", "1\n");
    world.write("docs/é ü.md", "1\n");
    world.write("docs/sp ace.md", "1\n");
    let seen = world.check(&[]);
    assert_eq!(seen["outstanding"][0]["trigger_files"], json!(["docs/old.md", "docs/sp ace.md", "docs/é ü.md"]));
    assert!(
        seen["text"].as_str().is_some_and(|text| text.contains("Look at docs/old.md, docs/sp ace.md, docs/é ü.md.")),
        "{seen}"
    );
    world.commit("docs");
    std::fs::remove_file(world.repo("docs/old.md")).expect("removed");
    assert_eq!(world.check(&[])["outstanding"][0]["trigger_files"], json!(["docs/old.md"]));
}

#[test]
fn one_bad_policy_is_told_and_the_others_hold() {
    let world = World::with("good", README);
    world.policy("bad", "---\nset: ['src/{my-var}.py', 'b']\n---\nx\n");
    world.policy("worse", "---\ntrigger: 'src/{path.py'\n---\nx\n");
    world.commit("bad ones");
    world.write("src/a.py", "1\n");
    let seen = world.check(&[]);
    assert_eq!(names(&seen["outstanding"]), ["good"]);
    let files: Vec<&str> =
        seen["faults"].as_array().expect("a list").iter().filter_map(|fault| fault["file"].as_str()).collect();
    assert_eq!(files, [".jackline/policies/bad.md", ".jackline/policies/worse.md"]);
    assert_eq!(seen["faults"][0]["line"], 2);
    // Nothing outstanding, and yet not fine: a policy that cannot be used judges nothing.
    std::fs::remove_file(world.repo("src/a.py")).expect("removed");
    assert_eq!(world.run(&["policy", "check"]).exit, Some(1));
    let checked = world.run(&["policy", "list"]);
    assert_eq!(checked.exit, Some(1));
    assert!(
        checked.stdout.contains("error: pattern `src/{my-var}.py` has")
            && checked.stdout.contains("  --> .jackline/policies/bad.md:2:7\n"),
        "{checked:?}"
    );
}

#[test]
fn policies_of_the_older_layout_are_read_from_any_directory_below() {
    let world = World::new();
    world.write(".deepwork/rules/readme.md", "---\nname: README\ncompare_to: base\ntrigger: src/**\n---\nVerify it.\n");
    world.commit("rules");
    world.write("src/deep/a.py", "1\n");
    let ran = world.run_in(&world.repo("src/deep"), &["policy", "check"], "");
    assert_eq!(ran.exit, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("## README\nVerify it."), "{ran:?}");
    assert!(world.repo(".deepwork/tmp/policy/queue").is_dir());
    world.write(".deepwork/config.yml", "policy:\n  enabled: false\n");
    assert_eq!(world.run(&["policy", "check"]).exit, Some(0));
    world.write(".deepwork/config.yml", "policy:\n  policies_dir: other\n  output_mode: individual\n");
    world.write("other/a.md", "---\ntrigger: src/**\n---\nA.\n");
    world.write("other/b.md", "---\ntrigger: src/**\n---\nB.\n");
    let ran = world.run(&["policy", "check"]);
    assert!(ran.stdout.contains("## a\nA.") && ran.stdout.contains("1 more: b"), "{ran:?}");
}

#[test]
fn a_pull_request_is_annotated() {
    let world = World::with("source-tests", PAIRING);
    world.git(&["checkout", "-q", "-b", "work"]);
    world.write("src/a.py", "1\n");
    world.commit("source without test");
    let ran = world.run(&["policy", "check", "--base", "main", "--format", "github"]);
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Some(1), "::error file=src/a.py,title=Source/Test Pairing::tests/a_test.py must change along with it\n",)
    );
    let ran = world.run(&["policy", "check", "--base", "no-such-branch"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`no-such-branch` is no commit of this repository"), "{ran:?}");
    assert!(ran.stderr.contains("fetch it first") && ran.stderr.contains("fetch-depth: 0"), "{ran:?}");
    let ran = world.run(&["policy", "check", "--event", "prompt", "--base", "main"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    world.write("tests/a_test.py", "1\n");
    world.commit("and its test");
    assert_eq!(world.run(&["policy", "check", "--base", "main", "--format", "github"]).exit, Some(0));
}

#[test]
fn without_a_repository_it_cannot_be_told() {
    let world = World::with("readme", README);
    std::fs::rename(world.repo(".git"), world.path("away")).expect("moved");
    let ran = world.run(&["policy", "check"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("there is no git repository"), "{ran:?}");
}

#[test]
fn pairs_that_are_left_out_are_counted_as_pairs() {
    let world = World::with("pairing", super::PAIRING);
    for number in 0..1200 {
        world.write(&format!("src/{number:04}.py"), "1\n");
    }
    let text = world.check(&[])["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("\nand 1180 more\n"), "{text}");
}

#[test]
fn secrets_are_not_shown() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let world = World::with("rule", &format!("---\ntrigger: src/**\n---\nLog in with {token}.\n"));
    world.write(&format!("src/{token}.py"), "1\n");
    let ran = world.run(&["policy", "check", "--format", "json"]);
    assert!(ran.stdout.contains("Log in with") && !ran.stdout.contains(&token), "{ran:?}");
}

#[test]
fn the_person_is_told_of_a_bad_policy_when_the_stop_is_held_too() {
    let world = World::with("rule", "---\ntrigger: src/**\n---\nLook.\n");
    world.write("jackline.yaml", "jackline: 1\n");
    world.policy("bad", "---\ntriger: a\n---\nx\n");
    world.commit("definition");
    world.write("src/a.py", "1\n");
    let repo = world.path("repo");
    let message = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s1", "cwd": repo, "stop_hook_active": false,
        "transcript_path": world.path("t.jsonl"),
    });
    let ran = world.run_in(&repo, &["hook", "claude"], &message.to_string());
    let reply: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(reply["decision"], "block", "{reply}");
    assert!(reply["systemMessage"].as_str().is_some_and(|text| text.contains("bad.md")), "{reply}");
}
