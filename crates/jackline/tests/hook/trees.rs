//! Other work trees of the project's repository, and other projects: where a session is judged that is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Answered, RULES, World, answered};

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

/// A client that was started in another directory than the one that is wired.
struct Started<'a> {
    world: &'a World,
    project: PathBuf,
    session: &'a str,
}

impl<'a> Started<'a> {
    fn new(world: &'a World, project: PathBuf) -> Self {
        Self { world, project, session: "s1" }
    }

    fn tell(&self, event: &str, fields: Value) -> Answered {
        let mut message = self.world.message(event, fields);
        message["session_id"] = json!(self.session);
        message["cwd"] = json!(self.project);
        let mut hook = self.world.hook();
        hook.current_dir(&self.project).env("CLAUDE_PROJECT_DIR", &self.project);
        answered(&mut hook, message.to_string().as_bytes())
    }

    fn bash(&self, id: &str, command: &str) -> Answered {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id });
        let asked = self.tell("PreToolUse", call.clone());
        if asked.stdout.is_empty() && asked.exit == Some(0) {
            self.tell("PostToolUse", with_response(call)).silent();
        }
        asked
    }

    fn writes(&self, id: &str, path: PathBuf) -> Answered {
        let input = json!({ "file_path": path, "content": "" });
        let call = json!({ "tool_name": "Write", "tool_input": input, "tool_use_id": id });
        let asked = self.tell("PreToolUse", call.clone());
        if asked.stdout.is_empty() && asked.exit == Some(0) {
            self.tell("PostToolUse", with_response(call)).silent();
        }
        asked
    }
}

fn with_response(mut call: Value) -> Value {
    call["tool_response"] = json!({ "stdout": "", "interrupted": false });
    call
}

fn git(dir: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=dev", "-c", "user.email=dev@example.com"]).args(words);
    git.current_dir(dir).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", dir).stdout(Stdio::null());
    assert!(git.stderr(Stdio::null()).status().unwrap().success(), "{words:?}");
}

/// A repository with this definition and another work tree of it.
fn repository(definition: &str, tree: &str) -> (World, PathBuf) {
    let world = World::new(Some(definition));
    let root = world.root();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-q", "-m", "first"]);
    git(&root, &["worktree", "add", "-q", "-b", "other", tree]);
    let tree = root.join(tree).canonicalize().unwrap();
    (world, tree)
}

#[test]
fn a_session_in_another_work_tree_is_judged_there() {
    for tree in ["../wt", ".claude/worktrees/wt"] {
        let (world, tree) = repository(PLACED, tree);
        let (root, client) = (world.root(), Started::new(&world, tree.clone()));
        for (id, at) in [("c1", &tree), ("c2", &root)] {
            client.writes(id, at.join("infra/main.tf")).denied("Path 'infra/main.tf' is protected");
            for ours in [".claude/settings.json", ".claude/settings.local.json", "jackline.yaml"] {
                client.writes(&format!("{id}{ours}"), at.join(ours)).denied("part of what guards this session");
            }
        }
        client.bash("c3", "./test.sh").silent();
        client.bash("c4", "git -C . commit -am x").silent();
        client.writes("c5", tree.join("a.txt")).silent();
        client.bash("c6", "git -C . commit -am x").denied("requires: test");
        fs::create_dir(tree.join("new")).unwrap();
        fs::write(tree.join("new/main.tf"), "").unwrap();
        client.bash("c7", "cp -r new infra").denied("Path 'infra/main.tf' is protected");
    }
}

#[test]
fn the_workspace_of_a_session_in_another_work_tree_is_that_tree() {
    let (world, tree) = repository(RULES, "../wt");
    let client = Started::new(&world, tree.join("sub"));
    fs::create_dir(tree.join("sub")).unwrap();
    client.writes("c1", tree.join("a.txt")).silent();
    client.writes("c2", world.root().join("a.txt")).denied("outside the workspace");
    let pinned = json!({ "root": tree, "home": world.root() });
    let pins = |record: &Value| {
        let pin = |change: &Value| change["pinned"]["pin"].clone();
        record["changes"].as_array().is_some_and(|all| {
            all.iter().map(pin).any(|pin| pin["root"] == pinned["root"] && pin["home"] == pinned["home"])
        })
    };
    assert!(world.records().iter().any(pins), "it is at home where it is wired: {:?}", world.records());
    // From a third one the host comes back to the one where it was started.
    let third = world.top().join("third");
    fs::create_dir(&third).unwrap();
    let moved = |tool: &str, response: Value| {
        let call = json!({ "tool_name": tool, "tool_input": {}, "tool_use_id": tool, "tool_response": response });
        client.tell("PostToolUse", call).silent();
    };
    moved("EnterWorktree", json!({ "worktreePath": third }));
    client.writes("c3", third.join("a.txt")).silent();
    client.writes("c4", tree.join("b.txt")).denied("outside the workspace");
    moved("ExitWorktree", json!({ "action": "keep", "originalCwd": tree }));
    client.writes("c5", tree.join("b.txt")).silent();
    client.writes("c6", world.root().join("b.txt")).denied("outside the workspace");
    // Who only works there was not started there.
    let went = Started { session: "s2", project: world.root(), world: &world };
    went.writes("c1", world.root().join("a.txt")).silent();
    went.writes("c2", tree.join("a.txt")).denied("outside the workspace");
}

#[test]
fn a_package_is_a_package_in_another_work_tree() {
    let world = World::new(None);
    let top = world.top();
    fs::write(world.root().join("jackline.yaml"), RULES).unwrap();
    git(&top, &["init", "-q"]);
    git(&top, &["add", "project"]);
    git(&top, &["commit", "-q", "-m", "first"]);
    git(&top, &["worktree", "add", "-q", "-b", "other", "wt"]);
    let client = Started::new(&world, top.join("wt/project"));
    client.writes("c1", top.join("wt/project/a.txt")).silent();
    client.writes("c2", top.join("wt/a.txt")).denied("outside the workspace");
}

#[test]
fn a_link_to_the_repository_alone_makes_no_work_tree() {
    let (world, tree) = repository(RULES, "../wt");
    let planted = world.root().join("sub");
    fs::create_dir(&planted).unwrap();
    fs::copy(tree.join(".git"), planted.join(".git")).unwrap();
    Started::new(&world, planted).writes("c1", world.root().join("a.txt")).silent();
}

#[test]
fn a_work_tree_has_a_definition_that_the_project_lacks() {
    let (world, tree) = repository(RULES, "../wt");
    fs::remove_file(world.root().join("jackline.yaml")).unwrap();
    Started::new(&world, tree).bash("c1", "git commit -m x").denied("requires: test");
}

#[test]
fn another_project_is_no_work_tree() {
    let world = World::new(Some(RULES));
    let copy = world.top().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::write(copy.join("jackline.yaml"), "jackline: 1\n").unwrap();
    // What was wired counts, whatever the host says where it is.
    Started::new(&world, copy).bash("c0", "git commit -m x").denied("requires: test");
    let below = world.root().join("sub");
    fs::create_dir(&below).unwrap();
    for (id, project) in [("c1", below), ("c2", world.root()), ("c3", world.top())] {
        Started::new(&world, project).bash(id, &format!("ls {id}")).silent();
    }
    // A link to the project is the project.
    std::os::unix::fs::symlink(world.root(), world.top().join("link")).unwrap();
    Started::new(&world, world.top().join("link")).bash("c4", "ls c4").silent();
}
