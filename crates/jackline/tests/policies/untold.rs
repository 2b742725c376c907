//! What is on record when nothing can be told: it stays outstanding, and a fault of ours holds a stop once by itself.

use std::fs;

use serde_json::{Value, json};

use super::World;
use super::queue::{self, event};
use super::sessions::{PROMPT, RULE, allowed, blocked, hook, prompt, stop, world};

/// Has git fail, until what is given back is called.
fn broken(world: &World) -> impl Fn() {
    let (index, aside) = (world.repo(".git/index"), world.repo(".git/aside"));
    fs::rename(&index, &aside).expect("moved");
    fs::write(&index, "bad\n").expect("broken");
    move || fs::rename(&aside, &index).expect("moved back")
}

#[test]
fn what_fired_stays_outstanding_while_nothing_can_be_told() {
    let world = world(RULE);
    world.write("src/new.py", "1\n");
    blocked(&world, "s1");
    let mend = broken(&world);
    for _ in 0..3 {
        let answer = hook(&world, "s1", "Stop", json!({ "last_assistant_message": "done" }));
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(
            reason.contains("## Rule\nIt fired, for src/new.py, and whether it still does cannot be told"),
            "{answer}"
        );
    }
    mend();
    blocked(&world, "s1");
    fs::remove_file(world.repo("src/new.py")).expect("removed");
    allowed(&world, "s1");
}

#[test]
fn more_repositories_than_are_looked_into_let_nothing_go() {
    let world = world(RULE);
    world.write("src/new.py", "1\n");
    blocked(&world, "s1");
    for n in 0..66 {
        world.write(&format!("n/{n}/.git/HEAD"), "ref: refs/heads/main\n");
        fs::create_dir_all(world.repo(&format!("n/{n}/.git/objects"))).expect("made");
        fs::create_dir_all(world.repo(&format!("n/{n}/.git/refs"))).expect("made");
        world.write(&format!("n/{n}/x"), "1\n");
    }
    for _ in 0..2 {
        blocked(&world, "s1");
    }
}

#[test]
fn what_more_repositories_than_git_is_asked_about_hold_counts_as_new() {
    let world = world(PROMPT);
    prompt(&world, "s1");
    for n in 0..66 {
        world.git(&["init", "-q", &format!("src/n{n:02}")]);
    }
    world.write("src/n65/x.py", "1\n");
    let reason = |answer: &Value| answer["reason"].as_str().unwrap_or_default().to_owned();
    for _ in 0..3 {
        let answer = stop(&world, "s1");
        assert!(reason(&answer).contains("## Rule\n") && !reason(&answer).contains("could not"), "{answer}");
    }
    let seen = world.check(&[]);
    let files = seen["outstanding"][0]["trigger_files"].as_array().expect("files");
    assert!(files.contains(&json!("src/n65/x.py")) && files.contains(&json!("src/n65")), "{seen}");
}

#[test]
fn a_prompt_whose_commit_is_gone_makes_no_less_count() {
    let world = world(PROMPT);
    world.write("src/a.py", "1\n");
    world.commit("a file");
    prompt(&world, "s1");
    world.write("src/a.py", "2\n");
    world.git(&["checkout", "-q", "--orphan", "other"]);
    world.commit("the agent commits");
    world.git(&["branch", "-D", "main"]);
    world.git(&["reflog", "expire", "--expire=now", "--all"]);
    for left in [".git/logs", ".git/ORIG_HEAD"] {
        let left = world.repo(left);
        drop(if left.is_dir() { fs::remove_dir_all(left) } else { fs::remove_file(left) });
    }
    world.git(&["gc", "-q", "--prune=now"]);
    for _ in 0..3 {
        let answer = stop(&world, "s1");
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("## Rule\nDo it."), "{answer}");
    }
    let answer = hook(&world, "s1", "Stop", json!({ "last_assistant_message": "<promise>Rule</promise>" }));
    assert_eq!(answer["decision"], Value::Null, "{answer}");
}

#[test]
fn a_fault_holds_a_stop_once_by_itself() {
    let world = world(RULE);
    world.write("src/new.py", "1\n");
    let verdict = |second: u32, message: &str| event(&world, &queue::stop("s1", second, message));
    assert_eq!(verdict(0, "Done.")["code"], "files/outstanding");
    let mend = broken(&world);
    let answer = verdict(1, "<promise>rule</promise>");
    assert_eq!((&answer["verdict"], &answer["code"]), (&json!("deny"), &json!("fault/probe")), "{answer}");
    let answer = verdict(2, "Done.");
    assert_eq!((&answer["verdict"], &answer["stopped"]), (&json!("allow"), &json!("fault")), "{answer}");
    mend();
    assert_eq!(verdict(3, "Done.")["verdict"], "allow", "the promise stands for the same content");
    world.write("src/new.py", "2\n");
    assert_eq!(verdict(4, "Done.")["verdict"], "deny");
}

/// Has git refuse the repository, until what is given back is called.
fn refused(world: &World) -> impl Fn() {
    let file = world.repo(".git/config");
    let before = fs::read_to_string(&file).expect("settings");
    fs::write(&file, before.replace("repositoryformatversion = 0", "repositoryformatversion = 99")).expect("written");
    move || fs::write(&file, &before).expect("written back")
}

#[test]
fn a_repository_that_git_refuses_to_read_is_no_repository_without_branches() {
    let world = world(RULE);
    world.policy("other", PROMPT);
    world.commit("another policy");
    let remote = world.path("remote.git").display().to_string();
    world.git(&["clone", "-q", "--bare", ".", &remote]);
    world.git(&["remote", "add", "origin", &remote]);
    world.git(&["fetch", "-q", "origin"]);
    prompt(&world, "s1");
    world.write("src/a.py", "1\n");
    world.commit("the agent commits");
    prompt(&world, "s1");
    let mend = refused(&world);
    let answer = stop(&world, "s1");
    assert!(answer["reason"].to_string().contains("Expected git repo version"), "{answer}");
    let ran = world.run(&["policy", "check", "--base", "origin/main"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("Expected git repo version") && !ran.stderr.contains("is no commit"), "{ran:?}");
    mend();
    blocked(&world, "s1");
}

#[test]
fn a_branch_that_is_not_there_is_no_fault() {
    let world = world(RULE);
    world.write("src/a.py", "1\n");
    world.git(&["tag", "tree", "HEAD^{tree}"]);
    for name in ["none", "tree", "refs/remotes/origin/HEAD"] {
        let ran = world.run(&["policy", "check", "--base", name]);
        assert!(ran.stderr.contains(&format!("`{name}` is no commit of this repository")), "{ran:?}");
    }
    // What the remote calls its default branch may be gone, and only the name be left.
    world.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    world.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/none"]);
    assert_eq!(world.outstanding(), ["rule"]);
    world.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
    assert_eq!(world.outstanding(), ["rule"]);
}

#[test]
fn words_that_were_said_before_the_firing_are_no_answer() {
    let world = world(RULE);
    world.write("src/new.py", "1\n");
    let said = json!({ "last_assistant_message": "done <promise>Rule</promise>" });
    let line = |at: &str| {
        let content = json!([{ "type": "text", "text": "done <promise>Rule</promise>" }]);
        let message = json!({ "role": "assistant", "content": content });
        format!("{}\n", json!({ "type": "assistant", "timestamp": at, "message": message }))
    };
    let before = line("2020-01-01T00:00:00Z");
    fs::write(world.path("t.jsonl"), &before).expect("written");
    for _ in 0..2 {
        let answer = hook(&world, "s1", "Stop", said.clone());
        assert_eq!(answer["decision"], "block", "{answer}");
        assert!(answer["reason"].to_string().contains("made before it fired"), "{answer}");
    }
    // The transcript knows that the same words were said anew.
    fs::write(world.path("t.jsonl"), before + &line("2999-01-01T00:00:00Z")).expect("written");
    let answer = hook(&world, "s1", "Stop", said);
    assert_eq!(answer["decision"], Value::Null, "{answer}");
}

#[test]
fn a_secret_in_a_files_name_is_in_no_log_and_held_all_the_same() {
    let world = world(RULE);
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    world.write(&format!("src/{secret}"), "1\n");
    blocked(&world, "s1");
    world.commit("the agent commits");
    blocked(&world, "s1");
    let mut left = vec![world.path("home")];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).expect("there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap_or_default();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    fs::remove_file(world.repo(&format!("src/{secret}"))).expect("removed");
    world.commit("taken back");
    allowed(&world, "s1");
}
