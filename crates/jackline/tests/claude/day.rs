//! A little working day in one session: nothing an honest agent does is in its way.

use jackline_rehearsal::Script;
use serde_json::json;

use super::{World, ran, sound};

#[test]
fn an_honest_day_passes_without_a_refusal() {
    let world = World::guarded();
    world.git(&["switch", "-qc", "upstream"]);
    world.git(&["commit", "-q", "--allow-empty", "-m", "Upstream moved"]);
    world.git(&["switch", "-q", "main"]);
    let edit = json!({"file_path": "{{CWD}}/README.md", "old_string": "small", "new_string": "useful"});
    let script = Script::new()
        .bash("look", "git status --short && git log --oneline | head -5")
        .call("read", "Read", json!({"file_path": "{{CWD}}/README.md"}))
        .call("edit", "Edit", edit)
        .call("create", "Write", json!({"file_path": "{{CWD}}/src/lib.rs", "content": "// begun\n"}))
        .bash("test", "./check.sh")
        .bash("commit", "git add -A && git commit -qm 'Say what it is for'")
        .bash("rebase", "git rebase -q upstream")
        .bash("poll", "for i in 1 2 3; do git status --short > /dev/null; sleep 0.5; done; echo ready")
        .call("enter", "EnterWorktree", json!({"name": "side"}))
        .call("side", "Write", json!({"file_path": "{{CWD}}/.claude/worktrees/side/side.txt", "content": "aside\n"}))
        .bash("side-test", "./check.sh")
        .bash("side-commit", "git add side.txt && git commit -qm 'Work aside'")
        .call("leave", "ExitWorktree", json!({"action": "keep"}))
        .bash("merge", "git merge -q worktree-side && git log --oneline")
        .say("done");
    let run = world.play(script);
    sound(&run);
    let day = ["look", "read", "edit", "create", "test", "commit", "rebase", "poll", "enter", "side", "side-test"];
    for call in day.iter().chain(&["side-commit", "leave", "merge"]) {
        ran(&run, call);
        assert_eq!(world.decided(call), "allow", "{call}");
    }
    let log = "Work aside\nSay what it is for\nUpstream moved\nGuard it\nBegin\n";
    assert_eq!(world.git(&["log", "--format=%s"]), log);
    assert_eq!(run.permission_denials(), [""; 0]);
    assert!(world.records().iter().all(|record| record["data"]["verdict"] != "deny"));
}
