//! A baseline that moves back, or is no more, makes nothing of what fired satisfied.

use serde_json::json;

use super::World;
use super::sessions::{allowed, blocked, hook, stop, world};

const PAIRING: &str = "---\nname: Rule\nset: ['src/{path}.py', 'tests/{path}_test.py']\n---\nWrite the test.\n";
const SAFE: &str = "---\nname: Rule\ntrigger: src/**\nsafety: tests/**\n---\nLook.\n";

/// A repository whose last commit has a source and its test.
fn paired(policy: &str, remote: bool) -> World {
    let world = world(policy);
    world.write("src/a.py", "1\n");
    world.write("tests/a_test.py", "1\n");
    world.commit("a source and its test");
    if remote {
        let bare = world.path("remote.git").display().to_string();
        world.git(&["clone", "-q", "--bare", ".", &bare]);
        world.git(&["remote", "add", "origin", &bare]);
        world.git(&["fetch", "-q", "origin"]);
    }
    world
}

#[test]
fn what_fired_is_not_satisfied_by_a_baseline_that_moves_back() {
    let moves: [(&[&str], bool); 5] = [
        (&["reset", "-q", "--soft", "HEAD~1"], false),
        (&["symbolic-ref", "HEAD", "refs/heads/none"], false),
        (&["symbolic-ref", "HEAD", "refs/heads/none"], true),
        (&["update-ref", "refs/remotes/origin/main", "HEAD~1"], false),
        (&["update-ref", "refs/remotes/origin/main", "HEAD~1"], true),
    ];
    for policy in [PAIRING, SAFE] {
        for (back, remote) in moves {
            let world = paired(policy, remote);
            world.write("src/a.py", "2\n");
            blocked(&world, "s1");
            world.git(back);
            blocked(&world, "s1");
            world.write("tests/a_test.py", "2\n");
            allowed(&world, "s1");
        }
    }
}

#[test]
fn without_a_commit_the_branch_of_the_remote_is_compared_to() {
    let world = paired(PAIRING, true);
    world.write("src/a.py", "2\n");
    world.git(&["symbolic-ref", "HEAD", "refs/heads/none"]);
    blocked(&world, "s1");
}

#[test]
fn what_fired_for_more_files_than_are_remembered_outlasts_its_commit() {
    let world = world(PAIRING);
    for n in 0..201 {
        world.write(&format!("src/n{n}.py"), "1\n");
    }
    blocked(&world, "s1");
    world.git(&["checkout", "-q", "--orphan", "o"]);
    world.commit("all of it");
    world.git(&["branch", "-q", "-D", "main"]);
    for gone in [".git/logs", ".git/ORIG_HEAD"] {
        let path = world.repo(gone);
        drop(if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) });
    }
    world.git(&["gc", "-q", "--prune=now"]);
    blocked(&world, "s1");
}

#[test]
fn what_was_put_aside_is_asked_for_when_it_comes_back() {
    let by_branch: [&[&[&str]]; 2] = [
        &[&["checkout", "-q", "-b", "b"], &["commit", "-qam", "x"], &["checkout", "-q", "main"]],
        &[&["merge", "-q", "b"]],
    ];
    let by_stash: [&[&[&str]]; 2] = [&[&["stash", "-q"]], &[&["stash", "pop", "-q"], &["commit", "-qam", "x"]]];
    for [aside, back] in [by_branch, by_stash] {
        let world = paired(PAIRING, false);
        world.write("src/a.py", "2\n");
        blocked(&world, "s1");
        aside.iter().for_each(|words| drop(world.git(words)));
        allowed(&world, "s1");
        back.iter().for_each(|words| drop(world.git(words)));
        blocked(&world, "s1");
        world.write("tests/a_test.py", "2\n");
        world.commit("and its test");
        allowed(&world, "s1");
    }
}

#[test]
fn another_branch_is_not_what_was_put_aside() {
    let world = paired(PAIRING, false);
    world.git(&["checkout", "-q", "-b", "feat"]);
    world.write("src/a.py", "2\n");
    world.commit("a branch");
    world.write("src/a.py", "3\n");
    blocked(&world, "s1");
    world.git(&["stash", "-q"]);
    allowed(&world, "s1");
    world.git(&["checkout", "-q", "main"]);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    allowed(&world, "s1");
    world.git(&["checkout", "-q", "feat"]);
    world.git(&["stash", "pop", "-q"]);
    world.git(&["commit", "-qam", "back"]);
    blocked(&world, "s1");
}

#[test]
fn what_was_answered_and_taken_back_is_asked_for_again() {
    let world = paired(PAIRING, false);
    world.write("src/a.py", "2\n");
    blocked(&world, "s1");
    world.write("tests/a_test.py", "2\n");
    allowed(&world, "s1");
    world.git(&["checkout", "-q", "tests/a_test.py"]);
    world.commit("without the test");
    blocked(&world, "s1");
}

#[test]
fn what_is_changed_after_an_answer_asks_for_another() {
    let world = paired(PAIRING, false);
    world.write("src/a.py", "2\n");
    blocked(&world, "s1");
    world.write("tests/a_test.py", "2\n");
    allowed(&world, "s1");
    world.commit("both");
    allowed(&world, "s1");
    world.write("src/a.py", "3\n");
    blocked(&world, "s1");
}

#[test]
fn policies_that_vanish_in_a_session_are_told_of_once() {
    let world = world(PAIRING);
    hook(&world, "s1", "SessionStart", json!({ "source": "startup" }));
    world.git(&["sparse-checkout", "set", "--no-cone", "/*", "!.jackline"]);
    world.write("src/a.py", "2\n");
    let answer = stop(&world, "s1");
    let gone = "1 of 1 policies that were there when the session began are gone";
    assert!(answer["reason"].as_str().unwrap_or_default().contains(gone), "{answer}");
    allowed(&world, "s1");
}

#[test]
fn a_policy_that_another_stands_for_is_told_by_its_name() {
    let world = world(PAIRING);
    hook(&world, "s1", "SessionStart", json!({ "source": "startup" }));
    world.git(&["mv", ".jackline/policies/rule.md", ".jackline/policies/other.md"]);
    let answer = stop(&world, "s1");
    let gone = "1 of 1 policies that were there when the session began are gone: .jackline/policies/rule.md";
    assert!(answer["reason"].as_str().unwrap_or_default().contains(gone), "{answer}");
    allowed(&world, "s1");
}

#[test]
fn a_policy_that_says_something_else_is_told_to_the_person_once() {
    let world = world(PAIRING);
    hook(&world, "s1", "SessionStart", json!({ "source": "startup" }));
    world.policy("rule", "---\nname: Rule\ntrigger: nothing/**\n---\nNever.\n");
    hook(&world, "s1", "SessionStart", json!({ "source": "compact" }));
    let changed = "`.jackline/policies/rule.md`: it does not say any more what it said when the session began";
    let answer = stop(&world, "s1");
    assert!(answer["decision"].is_null() && answer.to_string().contains(changed), "{answer}");
    assert!(!stop(&world, "s1").to_string().contains(changed), "it is told once");
    world.policy("rule", "");
    let answer = stop(&world, "s1");
    assert!(answer.to_string().contains("the file policy `.jackline/policies/rule.md` cannot be used"), "{answer}");
}
