//! Since when a file counts as changed.

use serde_json::json;

use super::World;

const SINCE_PROMPT: &str = "---\nname: Created\ncreated: src/**/*.py\ncompare_to: prompt\n---\nRegister it.\n";

#[test]
fn since_a_prompt_only_new_content_counts() {
    let world = World::with("created", SINCE_PROMPT);
    world.policy("touched", "---\ntrigger: src/**\ncompare_to: prompt\n---\nLook.\n");
    world.write("src/a.py", "1\n");
    world.commit("a");
    world.write("src/dirty.py", "before the prompt\n");
    let ran = world.run(&["policy", "check", "--event", "prompt"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    assert_eq!(super::names(&world.check(&[])["outstanding"]), [""; 0], "what was dirty then does not count");
    world.write("src/a.py", "2\n");
    world.write("src/new.py", "1\n");
    let seen = world.check(&[]);
    assert_eq!(super::names(&seen["outstanding"]), ["created", "touched"]);
    assert_eq!(seen["outstanding"][0]["trigger_files"], json!(["src/new.py"]));
    assert_eq!(seen["outstanding"][1]["trigger_files"], json!(["src/a.py", "src/new.py"]));
    assert!(seen["outstanding"][0]["baseline_ref"].as_str().is_some_and(|time| time.parse::<u64>().is_ok()), "{seen}");
    world.write("src/dirty.py", "after the prompt\n");
    let seen = world.check(&[]);
    assert_eq!(seen["outstanding"][1]["trigger_files"], json!(["src/a.py", "src/dirty.py", "src/new.py"]));
    // Committing it changes nothing: what counts is what is there.
    world.commit("the agent commits");
    assert_eq!(super::names(&world.check(&[])["outstanding"]), ["created", "touched"]);
}

#[test]
fn a_later_prompt_settles_nothing() {
    let world = World::with("created", SINCE_PROMPT);
    world.run(&["policy", "check", "--event", "prompt"]);
    world.write("src/new.py", "1\n");
    assert_eq!(world.outstanding(), ["created"]);
    world.run(&["policy", "check", "--event", "prompt"]);
    assert_eq!(world.outstanding(), ["created"]);
    std::fs::remove_file(world.repo("src/new.py")).expect("removed");
    assert_eq!(world.outstanding(), [""; 0]);
    world.write("src/old.py", "1\n");
    world.run(&["policy", "check", "--event", "prompt"]);
    assert_eq!(world.outstanding(), [""; 0], "nothing waits, so the prompt counts");
}

#[test]
fn without_a_baseline_everything_uncommitted_counts() {
    let world = World::with("created", SINCE_PROMPT);
    world.write("src/new.py", "1\n");
    let seen = world.check(&[]);
    assert_eq!(seen["outstanding"][0]["baseline_ref"], "prompt", "{seen}");
}

#[test]
fn a_baseline_that_was_tampered_with_is_not_believed() {
    let world = World::with("created", SINCE_PROMPT);
    world.run(&["policy", "check", "--event", "prompt"]);
    let dir = world.repo(".jackline/tmp/policy/baselines");
    let file = std::fs::read_dir(&dir).expect("baselines").flatten().next().expect("one").path();
    let kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("read")).expect("JSON");
    for key in ["timestamp", "commit", "staged_files", "untracked_files", "digests"] {
        assert!(kept.get(key).is_some(), "{key} is missing: {kept}");
    }
    world.write("src/new.py", "1\n");
    let mut forged = kept;
    forged["digests"]["src/new.py"] = json!(jackline_core::sha::Digest::of(b"1\n"));
    std::fs::write(&file, forged.to_string()).expect("written");
    let seen = world.check(&[]);
    assert_eq!(super::names(&seen["outstanding"]), ["created"], "{seen}");
    let told = seen["faults"][0]["message"].as_str().unwrap_or_default();
    assert!(told.contains("the baseline of the last prompt is gone or was changed"), "{seen}");
}

#[test]
fn no_remote_falls_back_to_what_is_checked_out_and_nothing_is_staged() {
    let world = World::with("any", "---\ntrigger: '**'\ncompare_to: default_tip\n---\nLook.\n");
    world.write("x", "1\n");
    let before = std::fs::read(world.repo(".git/index")).expect("an index");
    assert_eq!(world.check(&[])["outstanding"][0]["trigger_files"], json!(["x"]));
    assert_eq!(std::fs::read(world.repo(".git/index")).expect("an index"), before);
}

#[test]
fn a_remote_whose_default_branch_is_not_known_is_told() {
    let world = World::with("any", "---\ntrigger: '**'\n---\nLook.\n");
    world.git(&["update-ref", "refs/remotes/upstream/main", "HEAD"]);
    let told = world.check(&[])["faults"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("compared to what is checked out"), "{told}");
    world.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert_eq!(world.check(&[])["faults"], json!([]));
}
