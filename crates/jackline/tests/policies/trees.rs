//! A session that its host moves to another work tree: each is judged, and leaving one ends nothing.

use std::fs;

use serde_json::{Value, json};

use super::World;
use super::sessions::{PROMPT, RULE, allowed, blocked, hook, prompt, stop, world};

/// Has the host move a session to a work tree of its own, as Claude Code's tool tells it.
fn enter(world: &World, session: &str) -> std::path::PathBuf {
    let tree = world.path("tree");
    world.git(&["worktree", "add", "-q", &tree.display().to_string()]);
    let call = json!({
        "tool_name": "EnterWorktree", "tool_input": { "name": "tree" }, "tool_use_id": "t1",
        "tool_response": { "worktreePath": tree, "worktreeBranch": "tree" },
    });
    hook(world, session, "PostToolUse", call);
    tree
}

fn leave(world: &World, session: &str) {
    let call = json!({
        "tool_name": "ExitWorktree", "tool_input": { "action": "keep" }, "tool_use_id": "t2", "tool_response": { "ok": true },
    });
    hook(world, session, "PostToolUse", call);
}

#[test]
fn another_work_tree_ends_nothing_that_is_outstanding() {
    for policy in [RULE, PROMPT] {
        let world = world(policy);
        prompt(&world, "s1");
        world.write("src/a.py", "1\n");
        blocked(&world, "s1");
        enter(&world, "s1");
        let answer = stop(&world, "s1");
        let reason = answer["reason"].as_str().unwrap_or_default();
        let told =
            format!("## Rule\nIn the work tree `{}`, where this session was before:", world.path("repo").display());
        assert!(answer["decision"] == "block" && reason.contains(&told), "{answer}");
        fs::remove_file(world.repo("src/a.py")).expect("removed");
        allowed(&world, "s1");
        leave(&world, "s1");
        allowed(&world, "s1");
    }
}

#[test]
fn what_was_changed_before_a_move_to_another_work_tree_is_judged() {
    for policy in [RULE, PROMPT] {
        let world = world(policy);
        prompt(&world, "s1");
        world.write("src/a.py", "1\n");
        enter(&world, "s1");
        blocked(&world, "s1");
        let said = json!({ "stop_hook_active": true, "last_assistant_message": "<promise>Rule</promise>" });
        let answer = hook(&world, "s1", "Stop", said);
        assert_eq!(answer["decision"], Value::Null, "{answer}");
        allowed(&world, "s1");
        assert!(world.run(&["policy", "status"]).stdout.contains("promise"), "the queue of the first tree says so");
    }
}

#[test]
fn each_work_tree_is_judged_by_itself() {
    for policy in [RULE, PROMPT] {
        let world = world(policy);
        prompt(&world, "s1");
        let tree = enter(&world, "s1");
        allowed(&world, "s1");
        prompt(&world, "s1");
        fs::create_dir(tree.join("src")).expect("made");
        fs::write(tree.join("src/a.py"), "1\n").expect("written");
        let answer = stop(&world, "s1");
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(answer["decision"] == "block" && !reason.contains("In the work tree"), "{answer}");
        leave(&world, "s1");
        let answer = stop(&world, "s1");
        let reason = answer["reason"].as_str().unwrap_or_default();
        let told = format!("In the work tree `{}`, where this session was before:", tree.display());
        assert!(answer["decision"] == "block" && reason.contains(&told), "leaving it ends nothing: {answer}");
        fs::remove_file(tree.join("src/a.py")).expect("removed");
        allowed(&world, "s1");
    }
}

#[test]
fn a_work_tree_that_is_gone_lets_nothing_go() {
    let world = world(RULE);
    prompt(&world, "s1");
    let tree = enter(&world, "s1");
    fs::create_dir(tree.join("src")).expect("made");
    fs::write(tree.join("src/a.py"), "1\n").expect("written");
    blocked(&world, "s1");
    leave(&world, "s1");
    fs::rename(&tree, world.path("aside")).expect("moved");
    blocked(&world, "s1");
    let said = json!({ "stop_hook_active": true, "last_assistant_message": "<promise>Rule</promise>" });
    assert_eq!(hook(&world, "s1", "Stop", said)["decision"], Value::Null);
}
