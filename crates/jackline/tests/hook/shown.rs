//! What is shown of a call: pages that are asked for, outcomes that are cut, and what the log keeps of it.

use serde_json::{Value, json};

use crate::world::World;

const BOUNDED: &str =
    "jackline: 1\npolicies: [ { read_before_write: {} } ]\nreads: { lines_max: 3 }\noutputs: { bytes_max: 100000 }\n";

fn file(world: &World, content: &str, lines: (u64, u64, u64)) -> Value {
    let (shown, start, total) = lines;
    let path = world.root().join("long.txt");
    json!({ "type": "text", "file": { "filePath": path, "content": content, "numLines": shown, "startLine": start, "totalLines": total } })
}

#[test]
fn a_page_is_asked_for_shown_and_kept_as_counts() {
    let world = World::new(Some(BOUNDED));
    let path = world.root().join("long.txt");
    std::fs::write(&path, "1\n2\n3\n4\n5\n").unwrap();
    let asked = world.asks("c1", "Read", json!({ "file_path": path })).json();
    let paged = json!({ "file_path": path, "limit": 3 });
    assert_eq!(asked, json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": paged } }));
    let shown = world.ran("c1", "Read", paged, file(&world, "1\n2\n3", (3, 1, 6))).json();
    let content = "1\n2\n3\n[lines_shown: 3, lines_remaining: 2, has_more: true, next_offset: 4]";
    assert_eq!(shown["hookSpecificOutput"]["updatedToolOutput"], file(&world, content, (3, 1, 6)));
    world.asks("c2", "Write", json!({ "file_path": path, "content": "x" })).silent();
    let records = world.records();
    let decisions: Vec<&Value> = records.iter().filter(|record| record["kind"] == "decision").collect();
    let (edit, emitted) = (&decisions[1]["data"]["edits"][0], &decisions[1]["data"]["emitted"][0]);
    assert_eq!((&edit["meta"]["lines_remaining"], &edit["meta"]["exact"]), (&json!(2), &json!(true)));
    assert_eq!(edit["value"]["sha256"].as_str().map(str::len), Some(64), "{edit}");
    assert_eq!((&emitted["type"], &emitted["path"]), (&json!("READ_TRUNCATED"), &json!("long.txt")));
    assert_eq!(decisions[0]["data"]["edits"][0]["target"], "args");
    let log = world.jackline(&["log", "s1"]).stdout;
    assert!(log.contains("Read finished → 3 of 5 lines shown\n"), "{log}");
}

#[test]
fn a_large_cut_leaves_a_whole_record() {
    let world = World::new(Some(BOUNDED));
    let command = json!({ "command": "yes" });
    world.asks("c1", "Bash", command.clone()).silent();
    let response = json!({ "stdout": "y\n".repeat(200_000), "stderr": "", "interrupted": false });
    let shown = world.ran("c1", "Bash", command, response).json();
    let stdout = shown["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("y\ny\n") && stdout.len() < 1_100, "{} bytes", stdout.len());
    let records = world.records();
    let decision = records.last().unwrap();
    assert_eq!(decision["data"]["edits"][0]["meta"]["lines_remaining"], 199_500);
    assert_eq!(decision.get("replayable"), None, "nothing of the decision itself had to be clipped");
}

#[test]
fn a_refused_read_is_not_rewritten() {
    let world = World::new(Some(
        "jackline: 1\nreads: {}\npolicies: [ { rule: { tool: Read, reason: not here, verdict: ask } } ]\n",
    ));
    let asked = world.asks("c1", "Read", json!({ "file_path": "a" })).json();
    assert_eq!(asked["hookSpecificOutput"]["permissionDecision"], "ask");
    assert_eq!(asked["hookSpecificOutput"].get("updatedInput"), None);
}
