//! Feedback in the client's form: beside an outcome, a failure, a denial, and at the end of a turn.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::world::World;

const DEFINITION: &str = r#"jackline: 1
policies: [ { rule: { tool: "@shell", command: "rm*", reason: "keep it" } } ]
feedback:
  - { static: "Stay on course.", every_n_calls: 2 }
  - { name: Guide, static: "Follow it.", on_file_created: AGENTS.md, severity: caution }
"#;
const BLOCK: &str = "<feedback provider='Static'>\nStay on course.\n</feedback>";

fn context(answer: &Value) -> &Value {
    &answer["hookSpecificOutput"]["additionalContext"]
}

#[test]
fn it_stands_beside_outcomes_failures_and_denials() {
    let world = World::new(Some(DEFINITION));
    let command = |n: u8| json!({ "command": format!("echo {n}") });
    let response = json!({ "stdout": "", "interrupted": false });
    world.ran("c1", "Bash", command(1), response.clone()).silent();
    let second = world.ran("c2", "Bash", command(2), response.clone()).json();
    assert_eq!(second, json!({ "hookSpecificOutput": { "hookEventName": "PostToolUse", "additionalContext": BLOCK } }));
    world.ran("c2", "Bash", command(2), response.clone()).silent();
    world.ran("c3", "Bash", command(3), response).silent();
    let call = json!({ "tool_name": "Bash", "tool_input": command(4), "tool_use_id": "c4", "error": "Exit code 1" });
    let failed = world.tell("PostToolUseFailure", call).json();
    assert_eq!(context(&failed), BLOCK);
    world.asks("c5", "Bash", json!({ "command": "rm a" })).json();
    let denied = world.asks("c6", "Bash", json!({ "command": "rm b" })).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(context(&denied), BLOCK);
}

#[test]
fn calls_that_no_gate_saw_are_counted_at_the_end_of_a_turn() {
    let world = World::new(Some(DEFINITION));
    fs::write(world.root().join("AGENTS.md"), "").unwrap();
    let unknown = |id: &str| json!({ "tool_name": "Teleport", "tool_input": { "to": id }, "tool_use_id": id, "tool_response": "no such tool" });
    let batch = json!({ "tool_calls": [unknown("c1"), unknown("c2")] });
    let told = world.tell("PostToolBatch", batch.clone()).json();
    let guide = "<feedback provider='Guide'>\nFollow it.\n</feedback>";
    assert_eq!(*context(&told), json!(format!("{guide}\n\n{BLOCK}")));
    world.tell("PostToolBatch", batch).silent();
    let given: Vec<Value> = world.records().into_iter().filter(|record| record["kind"] == "feedback.given").collect();
    assert_eq!(given.len(), 2, "{given:?}");
    assert_eq!(
        (&given[0]["data"], &given[1]["data"]["call_index"]),
        (
            &json!({ "provider": "Guide", "severity": "caution", "call_index": 1, "trigger": ["on_file_created"] }),
            &json!(2)
        )
    );
    let log = world.jackline(&["log", "s1"]).stdout;
    assert!(log.contains("-- feedback of Guide (caution) --\n"), "{log}");
}

/// Trusts the definition as `jackline trust` does, which wants a terminal.
fn trust(world: &World) {
    let accepted = fs::read_dir(world.store().join("accepted")).unwrap();
    for file in accepted.map(|entry| entry.unwrap().path()) {
        let mut kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        kept["trusted"] = json!(true);
        fs::write(&file, kept.to_string()).unwrap();
    }
}

#[test]
fn a_command_that_hangs_is_ended_in_time_and_silences_nobody() {
    let hangs = "jackline: 1\nfeedback:\n  - { command: [sleep, '30'], every_n_calls: 2 }\n  - { static: x, every_n_calls: 2 }\n";
    let world = World::new(Some(hangs));
    let response = json!({ "stdout": "", "interrupted": false });
    world.ran("c1", "Bash", json!({ "command": "echo 1" }), response.clone()).silent();
    trust(&world);
    let began = Instant::now();
    let told = world.ran("c2", "Bash", json!({ "command": "echo 2" }), response).json();
    assert_eq!(context(&told), "<feedback provider='Static'>\nx\n</feedback>");
    assert!(began.elapsed() < Duration::from_secs(10), "the host had lost patience: {:?}", began.elapsed());
    let failed: Vec<Value> = world.records().into_iter().filter(|record| record["kind"] == "feedback.failed").collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["data"]["fault"], "it took longer than it may");
    let explained =
        world.jackline(&["explain", "s1", failed[0]["seq"].as_u64().map(|seq| seq + 2).unwrap().to_string().as_str()]);
    assert!(explained.stdout.contains("  <feedback provider='Static'>\n  x\n"), "{explained:?}");
    assert!(explained.stdout.contains("the command sleep 30: it took longer than it may after "), "{explained:?}");
}
