//! Feedback in the client's form: beside an outcome, a failure, a denial, and at the end of a turn.

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
    std::fs::write(world.root().join("AGENTS.md"), "").unwrap();
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
