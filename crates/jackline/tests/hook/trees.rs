//! Other work trees of the project's repository, and other projects: where a session is judged that is there.

use std::fs;

use serde_json::json;

use crate::world::{RULES, World};

/// What is placed below a root and what must be fresh, with nothing against paths elsewhere.
const PLACED: &str = r#"
jackline: 1
steps:
  test:   { tool: "@shell", command: "./test.sh*" }
  commit: { tool: "@shell", command: "git * commit*" }
policies:
  - sequence: { requires: { commit: [test] }, fresh: true }
  - paths: { outside: allow, protect: ["infra/**"] }
"#;

#[test]
fn a_move_to_another_work_tree_takes_nothing_from_the_first() {
    let world = World::new(Some(PLACED));
    let (root, tree) = (world.root(), world.top().join("wt1"));
    fs::create_dir_all(&tree).unwrap();
    let write = |id: &str, path| world.asks(id, "Write", json!({ "file_path": path, "content": "" }));
    world.ran("c1", "EnterWorktree", json!({ "name": "wt1" }), json!({ "worktreePath": tree })).silent();
    write("c2", root.join("infra/main.tf")).denied("Path 'infra/main.tf' is protected");
    write("c3", tree.join("infra/main.tf")).denied("Path 'infra/main.tf' is protected");
    fs::create_dir(root.join("new")).unwrap();
    fs::write(root.join("new/main.tf"), "").unwrap();
    let copied = world.bash("c4", &format!("cp -r new {}", root.join("infra").display()));
    copied.denied("Path 'infra/main.tf' is protected");
    write("c5", world.top().join("infra/main.tf")).silent();
    world.bash("c6", "./test.sh").silent();
    let commit = |id: &str| world.bash(id, &format!("git -C {} commit -am x", root.display()));
    commit("c7").silent();
    let written = json!({ "file_path": world.top().join("notes.txt"), "content": "" });
    world.asks("c8", "Write", written.clone()).silent();
    world.ran("c8", "Write", written, json!({})).silent();
    commit("c9").silent();
    let written = json!({ "file_path": root.join("a.txt"), "content": "" });
    world.asks("c10", "Write", written.clone()).silent();
    world.ran("c10", "Write", written, json!({})).silent();
    commit("c11").denied("requires: test");
}

#[test]
fn a_sub_agent_that_moves_to_another_work_tree_takes_nobody_along() {
    let world = World::new(Some(RULES));
    let tree = world.top().join("wt1");
    fs::create_dir_all(&tree).unwrap();
    let entered = json!({
        "agent_id": "a1", "tool_name": "EnterWorktree", "tool_input": { "name": "wt1" }, "tool_use_id": "c1",
        "tool_response": { "worktreePath": tree },
    });
    world.tell("PostToolUse", entered).silent();
    let write = |id: &str, path| world.asks(id, "Write", json!({ "file_path": path, "content": "" }));
    write("c2", world.root().join("a.txt")).silent();
    write("c3", tree.join("a.txt")).denied("outside the workspace");
    assert!(!world.kinds().contains(&"session.moved".to_owned()));
}
